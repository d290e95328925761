//! `cargo dist-web`: builds the npm package into `target/npm` and the page into `target/web`, with all that this needs: the
//! compiler's target, the generator of the glue and the page's dependencies are installed if they aren't there. npm itself must be.

use std::process::ExitCode;

use portaborg_tests::web;

fn main() -> ExitCode {
    match web::build().and_then(|package| web::page(&package).map(|page| (package, page))) {
        Ok((package, page)) => {
            let kib = |bytes: u64| bytes.div_ceil(1024);
            println!("{}", package.tarball.display());
            println!("{} KiB, module {} KiB", kib(package.tarball_bytes()), kib(package.module_bytes()));
            println!("{}", page.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("dist-web: {error}");
            ExitCode::FAILURE
        }
    }
}
