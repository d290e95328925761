//! The page.

use super::Server;
use crate::web::headers::HEADERS;

#[test]
fn files_come_with_their_types_and_all_that_isolates_them() {
    let server = Server::start("files");
    let mut client = server.client(); // one connection for all
    for (path, media_type, kept, body) in [
        ("/", "text/html; charset=utf-8", "no-cache", "<!doctype html>"),
        ("/index.html", "text/html; charset=utf-8", "no-cache", "<!doctype html>"),
        ("/service.js?x", "text/javascript; charset=utf-8", "no-cache", "'use strict'"),
        ("/assets/module-0123abcd.wasm", "application/wasm", "public, max-age=31536000, immutable", "\0asm"),
    ] {
        let answer = client.ask("GET", path, &[], b"");
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.body, body.as_bytes(), "{path}");
        assert_eq!(answer.header("Content-Type"), Some(media_type), "{path}");
        assert_eq!(answer.header("Cache-Control"), Some(kept), "{path}");
        for (name, value) in HEADERS {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
    }
}

#[test]
fn what_the_browser_has_is_not_sent_again() {
    let server = Server::start("etag");
    let mut client = server.client();
    let etag = client.ask("GET", "/", &[], b"").header("ETag").unwrap().to_owned();
    let again = client.ask("GET", "/", &[("If-None-Match", &format!("\"x\", W/{etag}"))], b"");
    assert_eq!((again.status, again.header("ETag")), (304, Some(etag.as_str())));
    assert!(again.header("Cross-Origin-Embedder-Policy").is_some());
    assert_eq!(client.ask("GET", "/", &[("If-None-Match", "\"x\"")], b"").status, 200);
}

#[test]
fn files_are_all_that_there_is_and_can_only_be_read() {
    let server = Server::start("only-read");
    for path in ["/nothing", "/assets", "/assets/", "/../index.html", "/%69ndex.html", "//index.html", "/repository"] {
        let answer = server.client().ask("GET", path, &[], b"");
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.header("Content-Security-Policy").is_some(), "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let answer = server.client().ask(method, "/", &[], b"");
        assert_eq!((answer.status, answer.header("Allow")), (405, Some("GET, HEAD")), "{method}");
    }
    let head = server.client().ask("HEAD", "/", &[], b"");
    assert_eq!((head.status, head.header("Content-Length")), (200, Some("15")));
}
