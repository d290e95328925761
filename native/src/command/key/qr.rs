//! A key as a page to print: the text to type in, and the same as a QR code (command line, section 2, `key export`).

use crate::failure::Failure;
use portaborg_core::id::RepositoryId;
use qrcodegen::{QrCode, QrCodeEcc};
use std::fmt::Write;

/// Light modules around the code, without which readers don't find it.
const MARGIN: i32 = 4;

/// The page for this key text. Nothing in it is loaded from elsewhere or runs.
pub(super) fn page(repository: RepositoryId, text: &str) -> Result<String, Failure> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low)
        .map_err(|error| Failure::error(format_args!("the key does not fit into a QR code: {error}")))?;
    let text = escaped(text);
    Ok(format!(
        "<!doctype html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <title>Borg key {repository}</title>\n\
         <style>body {{ font-family: sans-serif; margin: 2em }} pre {{ font-size: 120% }} svg {{ width: 12cm }}</style>\n\
         </head>\n\
         <body>\n\
         <h1>Borg key of repository {repository}</h1>\n\
         <p>Keep this page in a safe place. To restore the key, scan the code or type in the text below, save it to a \
         file and run: <code>borg key import FILE</code></p>\n\
         {}\n\
         <pre>{text}</pre>\n\
         </body>\n\
         </html>\n",
        svg(&code)
    ))
}

/// One path of unit squares.
fn svg(code: &QrCode) -> String {
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|&x| code.get_module(x, y)) {
            let (x, y) = (x + MARGIN, y + MARGIN);
            write!(path, "M{x} {y}h1v1h-1z").expect("a String takes everything");
        }
    }
    let size = code.size() + 2 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/><path d=\"{path}\"/></svg>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_the_text_and_nothing_of_it_is_markup() {
        let page = page(RepositoryId([7; 32]), "BORG_KEY <b>&\nabc\n").unwrap();
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
        assert!(page.contains(&"07".repeat(32)) && page.contains("<pre>BORG_KEY &lt;b>&amp;\nabc\n</pre>"));
    }

    #[test]
    fn a_text_that_is_too_long_is_an_error() {
        assert!(page(RepositoryId([7; 32]), &"x".repeat(3000)).is_err());
    }
}
