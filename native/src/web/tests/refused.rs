//! Who must be sent away, and what must not be done for anybody.

use super::{PROTOCOL, SECRET, Server};
use crate::repository::permissions::Permissions;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixListener;

const CONFIG: &str = "/repository/config/config";

#[test]
fn nothing_of_the_repository_is_given_without_the_token() {
    let server = Server::start("token");
    let bearer = |text: &str| format!("Bearer {text}");
    let ask = |authorization: Option<String>, path: &str| {
        let mut headers = vec![("Accept", PROTOCOL)];
        headers.extend(authorization.as_deref().map(|value| ("Authorization", value)));
        server.client().ask("GET", path, &headers, b"")
    };
    let token = server.token.as_str();
    assert_eq!(ask(Some(bearer(token)), CONFIG).status, 200);
    let query = format!("{CONFIG}?token={token}");
    for (authorization, path) in [
        (None, CONFIG),
        (None, query.as_str()),
        (None, "/repository/nothing"),
        (Some(bearer("")), CONFIG),
        (Some(bearer(&token[..42])), CONFIG),
        (Some(bearer(&token.to_ascii_lowercase())), CONFIG),
        (Some(format!("Basic {token}")), CONFIG),
    ] {
        let answer = ask(authorization, path);
        assert_eq!((answer.status, answer.header("WWW-Authenticate")), (401, Some("Bearer")), "{path}");
    }
}

#[test]
fn a_name_that_was_made_to_point_here_gets_nothing() {
    let server = Server::start("rebinding");
    let port = server.address.port();
    let authorization = format!("Bearer {}", server.token);
    for (host, wanted) in [
        (format!("localhost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        (format!("evil.example:{port}"), 421),
        (format!("localhost.evil.example:{port}"), 421),
        ("localhost".into(), 421),
        ("127.0.0.1:1".into(), 421),
        (String::new(), 421),
    ] {
        let headers = [("Host", host.as_str()), ("Authorization", authorization.as_str()), ("Accept", PROTOCOL)];
        for path in ["/", CONFIG] {
            assert_eq!(server.client().ask("GET", path, &headers, b"").status, wanted, "{host} {path}");
        }
    }
}

#[test]
fn pages_from_elsewhere_get_nothing_even_with_the_token() {
    let server = Server::start("origin");
    let own = format!("http://{}", server.address);
    for (headers, wanted) in [
        ([("Origin", own.as_str()), ("Sec-Fetch-Site", "same-origin")], 200),
        ([("Origin", "https://evil.example"), ("Sec-Fetch-Site", "same-origin")], 403),
        ([("Origin", "null"), ("Sec-Fetch-Site", "same-origin")], 403),
        ([("Origin", own.as_str()), ("Sec-Fetch-Site", "cross-site")], 403),
    ] {
        let answer = server.ask("GET", CONFIG, &headers, b"");
        assert_eq!(answer.status, wanted, "{headers:?}");
        assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control-")), "{answer:?}");
    }
    // What a browser asks before it would send the token for somebody else.
    let headers = [("Origin", "https://evil.example"), ("Access-Control-Request-Method", "GET")];
    let preflight = server.client().ask("OPTIONS", CONFIG, &headers, b"");
    assert_eq!(preflight.status, 403);
}

#[test]
fn other_protocols_are_not_spoken() {
    let server = Server::start("accept");
    let authorization = format!("Bearer {}", server.token);
    let ask = |accept: &str| {
        let headers = [("Authorization", authorization.as_str()), ("Accept", accept)];
        server.client().ask("GET", CONFIG, &headers, b"").status
    };
    assert_eq!(ask(PROTOCOL), 200);
    assert_eq!(ask("*/*"), 406);
    assert_eq!(ask("application/vnd.x.borgstore.rest.v11"), 406);
}

#[test]
fn nothing_outside_the_repository_is_reached() {
    let server = Server::start("outside");
    UnixListener::bind(server.folder.join("repository/packs/ab/ab33")).unwrap();
    for (path, wanted) in [
        ("../secret", 400),
        ("..", 400),
        ("packs/../../secret", 400),
        ("packs/..%2f..%2fsecret", 400),
        ("packs/%2e%2e/%2e%2e/secret", 404),
        ("/etc/passwd", 400),
        ("//etc/passwd", 400),
        ("packs//ab/abcd", 400),
        ("packs/./ab/abcd", 400),
        ("packs\\ab\\abcd", 400),
        ("README", 400),
        ("keys/secret", 404),
        ("keys", 403),
        ("keys/repository/config/config", 404),
        ("packs/ab/ab11", 403),
        ("packs/ab/ab22", 403),
        ("packs/ab/ab33", 403),
        ("packs/ab", 404),
        ("packs/ab/abcd/x", 404),
        ("config/half.tmp", 400),
        ("config/nothing", 404),
    ] {
        let answer = server.get(&format!("/repository/{path}"));
        assert_eq!(answer.status, wanted, "{path}");
        assert_ne!(answer.body, SECRET, "{path}");
        let listed = server.get(&format!("/repository/{path}/"));
        assert!(path == "packs/ab" || !(200..300).contains(&listed.status), "{path}/: {listed:?}");
        let gathered = format!("[[{:?}, 0, 1]]", path);
        let gathered = server.ask("POST", "/repository/?cmd=gather", &[], gathered.as_bytes());
        assert!((400..500).contains(&gathered.status), "{path}: {gathered:?}");
    }
    let names = |path: &str| -> Vec<String> {
        let listing = server.get(path).json();
        listing.as_array().unwrap().iter().map(|info| info["name"].as_str().unwrap().into()).collect()
    };
    assert_eq!(names("/repository/"), ["config", "packs"]);
    assert_eq!(names("/repository/packs/ab/"), ["abcd"]);
    assert_eq!(names("/repository/config/"), ["config"]);
}

#[test]
fn nothing_is_written() {
    let server = Server::start("writes");
    for (method, path, wanted) in [
        ("POST", "packs/ab/abcd", 403),
        ("POST", "packs/ab/new", 403),
        ("DELETE", "packs/ab/abcd", 403),
        ("POST", "?cmd=create", 403),
        ("DELETE", "?cmd=destroy", 403),
        ("POST", "packs/cd?cmd=mkdir", 403),
        ("DELETE", "packs/ab?cmd=rmdir", 403),
        ("POST", "?cmd=move&current=packs/ab/abcd&new=packs/ab/new", 403),
        ("POST", "?cmd=defrag&algorithm=sha256&namespace=packs&levels=1", 403),
        ("POST", "?x=1&cmd=defrag", 403),
        ("POST", "packs/ab/abcd?cmd=hash", 400),
        ("GET", "packs/ab/abcd?cmd=destroy", 400),
        ("PUT", "packs/ab/abcd", 405),
        ("PATCH", "packs/ab/abcd", 405),
    ] {
        let answer = server.ask(method, &format!("/repository/{path}"), &[], b"[]");
        assert_eq!(answer.status, wanted, "{method} {path}");
    }
    let packs = server.folder.join("repository/packs");
    assert_eq!(fs::read_dir(&packs).unwrap().count(), 1);
    assert_eq!(fs::read_dir(packs.join("ab")).unwrap().count(), 3);
    assert_eq!(fs::read(packs.join("ab/abcd")).unwrap(), super::pack());
}

#[test]
fn what_the_user_may_not_read_is_not_given_to_the_page() {
    let server = Server::start_as("permissions", Permissions::WriteOnly, None, None);
    assert_eq!(server.get("/repository/packs/ab/abcd").status, 403);
    assert_eq!(server.get(CONFIG).status, 200);
}

#[test]
fn nonsense_harms_nobody() {
    let server = Server::start("nonsense");
    let long = format!("/{}", "a".repeat(200_000));
    let mut client = server.client();
    let many: Vec<(&str, &str)> = (0..1000).map(|_| ("X-Header", "x")).collect();
    client.send("GET", "/", &many, b"");
    assert_eq!(client.head().status, 431);
    spill(&server, &format!("GET {long} HTTP/1.1\r\n\r\n"));
    let many = format!("[{}[\"config/config\", 0, 1]]", "[\"config/config\", 0, 1],".repeat(100_000));
    let head = format!("Host: {}\r\nAuthorization: Bearer {}\r\nAccept: {PROTOCOL}\r\n", server.address, server.token);
    let length = many.len();
    spill(&server, &format!("POST /repository/?cmd=gather HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n{many}"));
    spill(&server, "\x16\x03\x01\0");
    for body in
        ["", "{}", "[1]", "[[\"config/config\", -1, 1]]", "[[\"config/config\", 0]]", "[[\"config/config\", 0, 1e30]]"]
    {
        let answer = server.ask("POST", "/repository/?cmd=gather", &[], body.as_bytes());
        assert_eq!(answer.status, 400, "{body}");
    }
    let most = u64::MAX;
    let body = format!("[[\"config/config\", 0, {most}], [\"config/config\", 0, {most}]]");
    assert_eq!(server.ask("POST", "/repository/?cmd=gather", &[], body.as_bytes()).status, 400);
    let body = format!("[[\"config/config\", {most}, 1]]");
    assert_eq!(server.ask("POST", "/repository/?cmd=gather", &[], body.as_bytes()).status, 416);
    assert_eq!(server.get(CONFIG).status, 200);
}

/// Sends what the server may cut off at any point. It must not be answered as if it were fine.
fn spill(server: &Server, text: &str) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP/1.1 2"), "{}", String::from_utf8_lossy(&said));
}
