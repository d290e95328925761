//! What every answer tells the browser to enforce.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

/// What the page may do: nothing from elsewhere runs in it, and nothing else may hold it in a frame. What it may connect to is
/// narrowed by the page itself, once a repository is chosen.
pub const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' blob:; media-src 'self' blob:; font-src 'self'; connect-src 'self' https: http:; worker-src 'self' blob:; \
    frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// The headers of every answer, in the order in which they are shown to who configures another server.
pub const HEADERS: [(&str, &str); 6] = [
    // A page of its own process, which threads need ...
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
    // ... and nothing of it can be loaded by other pages.
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Content-Security-Policy", CONTENT_POLICY),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
];

/// Adds them to an answer's.
pub fn add(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("the table has names of headers");
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_states_the_same_policy() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/index.html");
        let Ok(text) = std::fs::read_to_string(page) else { return };
        // Only a header can forbid frames.
        let stated = CONTENT_POLICY.strip_suffix("; frame-ancestors 'self'").unwrap();
        assert!(text.contains(&format!("content=\"{stated}\"")), "web/index.html does not have: {stated}");
    }
}
