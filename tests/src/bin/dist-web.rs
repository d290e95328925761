//! `cargo dist-web`: builds the npm package into `target/npm` and the page into `target/web`, with all that this needs: the
//! compiler's target, the generator of the glue and the page's dependencies are installed if they aren't there. npm itself must be.
//! `cargo dist-web --kernels` measures instead what takes the time in the module.

use std::process::ExitCode;

use portaborg_tests::web;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--kernels") {
        return match web::kernels() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        };
    }
    match web::build().and_then(|package| web::page(&package).map(|page| (package, page))) {
        Ok((package, page)) => {
            let kib = |bytes: u64| bytes.div_ceil(1024);
            println!("{}", package.tarball.display());
            let [module, threads, writer] = package.module_bytes().map(kib);
            println!(
                "{} KiB, module {module} KiB, with threads {threads} KiB, for writing {writer} KiB",
                kib(package.tarball_bytes())
            );
            println!("{}", page.display());
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &str) -> ExitCode {
    eprintln!("dist-web: {error}");
    ExitCode::FAILURE
}
