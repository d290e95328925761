//! `cargo dist-web`: builds the npm package into `target/npm`, with all that this needs: the compiler's target and the
//! generator of the glue are installed if they aren't there. npm itself must be. `cargo dist-web --kernels` measures instead what
//! takes the time in the module.

use std::process::ExitCode;

use portaborg_tests::web;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--kernels") {
        return match web::kernels() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        };
    }
    match web::build() {
        Ok(package) => {
            let kib = |bytes: u64| bytes.div_ceil(1024);
            println!("{}", package.tarball.display());
            let [module, threads, writer] = package.module_bytes().map(kib);
            println!(
                "{} KiB, module {module} KiB, with threads {threads} KiB, for writing {writer} KiB",
                kib(package.tarball_bytes())
            );
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &str) -> ExitCode {
    eprintln!("dist-web: {error}");
    ExitCode::FAILURE
}
