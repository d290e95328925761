//! Reading the repository by the protocol.

use super::{PACK_BYTES, PROTOCOL, Server, pack};
use std::fs::File;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

const PACK: &str = "/repository/packs/ab/abcd";

#[test]
fn objects_are_read_whole_and_in_parts() {
    let server = Server::start("parts");
    let pack = pack();
    let whole = server.get(PACK);
    assert_eq!((whole.status, whole.header("Content-Type")), (200, Some("application/octet-stream")));
    assert_eq!(whole.header("Cache-Control"), Some("no-store, no-cache, must-revalidate, max-age=0"));
    assert!(whole.body == pack);
    for (range, part, told) in [
        ("bytes=0-0", 0..1, Some("bytes 0-0/700001")),
        ("bytes=1000-600000", 1000..600_001, Some("bytes 1000-600000/700001")),
        ("bytes=700000-", 700_000..700_001, Some("bytes 700000-700000/700001")),
        ("bytes=-5", PACK_BYTES - 5..PACK_BYTES, Some("bytes 699996-700000/700001")),
        ("bytes=699999-800000", 699_999..700_001, Some("bytes 699999-700000/700001")),
        ("bytes=700001-", 0..0, None),
        ("bytes=900000-900001", 0..0, None),
    ] {
        let answer = server.ask("GET", PACK, &[("Range", range)], b"");
        assert_eq!((answer.status, answer.header("Content-Range")), (206, told), "{range}");
        assert!(answer.body == pack[part], "{range}");
    }
    let odd = server.ask("GET", PACK, &[("Range", "bytes=0-1,3-4")], b"");
    assert_eq!((odd.status, odd.body.len()), (200, PACK_BYTES));
}

#[test]
fn several_parts_come_behind_each_other() {
    let server = Server::start("gather");
    let pack = pack();
    let pieces = r#"[["packs/ab/abcd", 10, 5], ["config/config", 1, 3], ["packs/ab/nothing", 7, 0], ["packs/ab/abcd", 0, 700001]]"#;
    let origin = format!("http://{}", server.address);
    let answer = server.ask("POST", "/repository/?cmd=gather", &[("Origin", &origin)], pieces.as_bytes());
    assert_eq!(answer.status, 200);
    assert!(answer.body == [&pack[10..15], b"rep", &pack].concat());
    let none = server.ask("POST", "/repository/?cmd=gather", &[], b"[]");
    assert_eq!((none.status, none.body.len()), (200, 0));
    for (pieces, wanted) in [
        (r#"[["config/config", 0, 12], ["config/config", 10, 3]]"#, 416),
        (r#"[["config/config", 13, 1]]"#, 416),
        (r#"[["config/nothing", 0, 1]]"#, 404),
    ] {
        assert_eq!(server.ask("POST", "/repository/?cmd=gather", &[], pieces.as_bytes()).status, wanted, "{pieces}");
    }
}

#[test]
fn folders_and_objects_are_described() {
    let server = Server::start("described");
    let listing = server.get("/repository/packs/ab/");
    assert_eq!((listing.status, listing.header("Content-Type")), (200, Some("application/json")));
    let info = &listing.json()[0];
    assert_eq!((info["name"].as_str(), info["size"].as_u64()), (Some("abcd"), Some(700_001)));
    assert_eq!(info["directory"].as_bool(), Some(false));
    assert!(info["mtime"].as_f64().unwrap() > 1e9 && info["atime"].as_f64().is_some());
    assert_eq!(server.get("/repository/packs/").json()[0]["directory"].as_bool(), Some(true));
    assert_eq!(server.get("/repository/index/").status, 404);

    let head = server.ask("HEAD", PACK, &[], b"");
    assert_eq!((head.status, head.header("Content-Length")), (200, Some("700001")));
    assert_eq!(head.header("X-BorgStore-Is-Directory"), Some("false"));
    assert!(head.header("X-BorgStore-Mtime").unwrap().parse::<f64>().unwrap() > 1e9);
    assert_eq!(server.ask("HEAD", "/repository/packs", &[], b"").header("X-BorgStore-Is-Directory"), Some("true"));
    assert_eq!(server.ask("HEAD", "/repository/packs/ab/nothing", &[], b"").status, 404);
}

#[test]
fn one_connection_serves_many_requests() {
    let server = Server::start("keep-alive");
    let authorization = format!("Bearer {}", server.token);
    let headers = [("Authorization", authorization.as_str()), ("Accept", PROTOCOL)];
    let mut client = server.client();
    for _ in 0..3 {
        assert_eq!(client.ask("GET", "/repository/config/config", &headers, b"").body, b"[repository]");
        assert_eq!(client.ask("HEAD", PACK, &headers, b"").status, 200);
        let pieces = br#"[["config/config", 0, 1]]"#;
        assert_eq!(client.ask("POST", "/repository/?cmd=gather", &headers, pieces).body, b"[");
        assert_eq!(client.ask("GET", "/", &headers, b"").status, 200);
    }
}

#[test]
fn who_reads_slowly_costs_little_and_keeps_nobody_waiting() {
    let server = Server::start("slow");
    // Holds nothing, and is more than anybody has.
    let file = File::create(server.folder.join("repository/packs/ab/huge")).unwrap();
    file.set_len(1 << 42).unwrap();
    let authorization = format!("Bearer {}", server.token);
    let headers = [("Authorization", authorization.as_str()), ("Accept", PROTOCOL), ("Range", "bytes=5-")];
    let mut slow: Vec<_> = (0..6).map(|_| server.client()).collect();
    for client in &mut slow {
        client.send("GET", "/repository/packs/ab/huge", &headers, b"");
        let head = client.head();
        assert_eq!(head.header("Content-Length"), Some("4398046511099"));
    }
    thread::sleep(Duration::from_millis(300));
    assert!(server.get(PACK).body == pack());
    for client in &mut slow {
        assert!(client.body(3 << 20).iter().all(|byte| *byte == 0));
    }
}

#[test]
fn answers_on_their_way_arrive_after_the_end() {
    let mut server = Server::start("end");
    let authorization = format!("Bearer {}", server.token);
    let headers = [("Authorization", authorization.as_str()), ("Accept", PROTOCOL)];
    let file = File::create(server.folder.join("repository/packs/ab/long")).unwrap();
    file.set_len(32 << 20).unwrap();
    let (mut client, mut idle) = (server.client(), server.client());
    idle.ask("GET", "/", &[], b"");
    client.send("GET", "/repository/packs/ab/long", &headers, b"");
    assert_eq!(client.head().status, 200);
    let rest = thread::spawn(move || client.body(32 << 20).len());
    server.end();
    assert_eq!(rest.join().unwrap(), 32 << 20);
    assert!(TcpStream::connect(server.address).is_err());
}
