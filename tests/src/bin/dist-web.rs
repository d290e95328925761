//! `cargo dist-web`: builds the npm package into `target/npm` and the program for WASI into `target`, with all that this needs: the
//! compiler's targets and the generator of the glue are installed if they aren't there. npm itself must be.

use std::process::ExitCode;

use portaborg_tests::{wasi, web};

fn main() -> ExitCode {
    match web::build().and_then(|package| Ok((package, wasi::build()?))) {
        Ok((package, program)) => {
            let kib = |bytes: u64| bytes.div_ceil(1024);
            println!("{}", package.tarball.display());
            println!("{} KiB, module {} KiB", kib(package.tarball_bytes()), kib(package.module_bytes()));
            for file in [program.module, program.component] {
                println!(
                    "{}, {} KiB",
                    file.display(),
                    kib(std::fs::metadata(&file).map_or(0, |metadata| metadata.len()))
                );
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("dist-web: {error}");
            ExitCode::FAILURE
        }
    }
}
