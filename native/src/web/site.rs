//! The page's files, as data in the program.

use hyper::body::Bytes;
use std::collections::BTreeMap;

/// What `cargo dist-web` had built when this program was: names and contents.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page.
pub struct Site {
    files: BTreeMap<&'static str, File>,
}

/// A file of the page.
pub struct File {
    /// What is in it.
    pub content: Bytes,
    /// Its media type.
    pub media_type: &'static str,
    /// Names this content among all that were ever under this name, in quotes as in an `ETag`.
    pub etag: String,
    /// Whether its own name changes with its content, so that it can be kept for ever.
    pub is_immutable: bool,
}

impl Site {
    /// The page in this program; `None` if it was built without one.
    pub fn embedded() -> Option<Site> {
        (!EMBEDDED.is_empty()).then(|| Site::new(EMBEDDED))
    }

    /// A page of these files.
    pub fn new(files: &'static [(&'static str, &'static [u8])]) -> Site {
        let file = |name, content: &'static [u8]| File {
            content: Bytes::from_static(content),
            media_type: media_type(name),
            etag: format!("\"{}\"", &blake3::hash(content).to_hex()[..ETAG_DIGITS]),
            is_immutable: names_its_content(name),
        };
        Site { files: files.iter().map(|(name, content)| (*name, file(name, content))).collect() }
    }

    /// The file that a URL's path names.
    pub fn find(&self, path: &str) -> Option<&File> {
        let name = path.strip_prefix('/')?;
        self.files.get(if name.is_empty() { INDEX } else { name })
    }

    /// All files with their names.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &File)> {
        self.files.iter().map(|(name, file)| (*name, file))
    }
}

/// The type by the name's ending. What has none is data of no type: a browser makes nothing of it.
fn media_type(name: &str) -> &'static str {
    let last = name.rsplit('/').next().unwrap_or(name);
    let ending = last.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = MEDIA_TYPES.iter().find(|(known, _)| *known == ending);
    known.map_or("application/octet-stream", |(_, media_type)| media_type)
}

/// Whether it is one of those files whose name has a hash of what is in it, as in `assets/page-Dq3_x0Zk.js`.
fn names_its_content(name: &str) -> bool {
    let Some((stem, _)) = name.strip_prefix("assets/").and_then(|name| name.rsplit_once('.')) else { return false };
    let Some(at) = stem.len().checked_sub(HASH_LETTERS + 1) else { return false };
    let (before, hash) = stem.as_bytes().split_at(at);
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !before.is_empty() && hash[0] == b'-' && hash[1..].iter().all(is_letter)
}

/// What is given for the folder itself.
const INDEX: &str = "index.html";
const ETAG_DIGITS: usize = 32;
/// The hash in a built file's name, as the page's bundler makes it.
const HASH_LETTERS: usize = 8;
const MEDIA_TYPES: [(&str, &str); 14] = [
    ("css", "text/css; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_types_and_how_long_a_file_can_be_kept() {
        for (name, wanted, is_immutable) in [
            ("index.html", "text/html; charset=utf-8", false),
            ("service.js", "text/javascript; charset=utf-8", false),
            ("assets/page-Dq3_x-Zk.js", "text/javascript; charset=utf-8", true),
            ("assets/module_bg-12345678.wasm", "application/wasm", true),
            ("assets/-12345678.js", "text/javascript; charset=utf-8", false),
            ("assets/page-1234567.js", "text/javascript; charset=utf-8", false),
            ("assets/ä1234567.js", "text/javascript; charset=utf-8", false),
            ("sample/keys/0a.b/12", "application/octet-stream", false),
        ] {
            assert_eq!((media_type(name), names_its_content(name)), (wanted, is_immutable), "{name}");
        }
    }
}
