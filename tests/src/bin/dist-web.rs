//! `cargo dist-web`: builds the npm package into `target/npm`, with all that this needs: the compiler's target and the
//! generator of the glue are installed if they aren't there. npm itself must be.

use std::process::ExitCode;

use portaborg_tests::web;

fn main() -> ExitCode {
    match web::build() {
        Ok(package) => {
            let kib = |bytes: u64| bytes.div_ceil(1024);
            println!("{}", package.tarball.display());
            let [module, threads] = package.module_bytes().map(kib);
            println!("{} KiB, module {module} KiB, with threads {threads} KiB", kib(package.tarball_bytes()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("dist-web: {error}");
            ExitCode::FAILURE
        }
    }
}
