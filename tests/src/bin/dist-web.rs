//! `cargo dist-web`: builds the npm package into `target/npm`, the page into `target/web`, and the program for WASI into `target`,
//! with all that this needs: the compiler's targets, the generator of the glue and the page's dependencies are installed if they
//! aren't there. npm itself must be. `cargo dist-web --kernels` measures instead what takes the time in the module.

use std::process::ExitCode;

use portaborg_tests::{wasi, web};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--kernels") {
        return match web::kernels() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        };
    }
    match web::build().and_then(|package| Ok((web::page(&package)?, package, wasi::build()?))) {
        Ok((page, package, program)) => {
            let kib = |bytes: u64| bytes.div_ceil(1024);
            println!("{}", package.tarball.display());
            let [module, threads, writer] = package.module_bytes().map(kib);
            println!(
                "{} KiB, module {module} KiB, with threads {threads} KiB, for writing {writer} KiB",
                kib(package.tarball_bytes())
            );
            println!("{}", page.display());
            for file in [program.module, program.component] {
                println!(
                    "{}, {} KiB",
                    file.display(),
                    kib(std::fs::metadata(&file).map_or(0, |metadata| metadata.len()))
                );
            }
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &str) -> ExitCode {
    eprintln!("dist-web: {error}");
    ExitCode::FAILURE
}
