//! TLS.

use super::{Client, PROTOCOL, Server};
use crate::repository::permissions::Permissions;
use crate::web::Tls;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

#[test]
fn the_page_comes_over_tls_under_the_names_of_the_certificate() {
    let made = rcgen::generate_simple_self_signed(["restore.example.org".into(), "*.backup.example".into()]).unwrap();
    let folder = std::env::temp_dir().join(format!("portaborg-web-{}-pem", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
    fs::write(&chain, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = Tls::read(&chain, &key).unwrap();
    assert!(Tls::read(&key, &chain).is_err() && Tls::read(&folder.join("nothing"), &key).is_err());
    fs::remove_dir_all(&folder).unwrap();
    let server = Server::start_as("tls", Permissions::All, Some("Given.Example"), Some(tls));

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config =
        ClientConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
    let config = Arc::new(config.unwrap().with_root_certificates(roots).with_no_client_auth());
    let port = server.address.port();
    for (host, wanted) in [
        (format!("restore.example.org:{port}"), 200),
        (format!("a.backup.example:{port}"), 200),
        (format!("given.example:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("evil.example:{port}"), 421),
        (format!("10.0.0.1:{port}"), 421),
        ("restore.example.org".into(), 421),
    ] {
        let name = ServerName::try_from("restore.example.org").unwrap();
        let session = ClientConnection::new(config.clone(), name).unwrap();
        let mut client = Client::over(StreamOwned::new(session, TcpStream::connect(server.address).unwrap()), &host);
        let authorization = format!("Bearer {}", server.token);
        let origin = format!("https://{host}");
        let headers = [("Authorization", authorization.as_str()), ("Accept", PROTOCOL), ("Origin", &origin)];
        let answer = client.ask("GET", "/repository/packs/ab/abcd", &headers, b"");
        assert_eq!(answer.status, wanted, "{host}");
        assert!(wanted != 200 || answer.body == super::pack(), "{host}");
    }
    // Who doesn't speak it hears nothing of the page.
    let mut plain = TcpStream::connect(server.address).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: restore.example.org\r\n\r\n").unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP"), "{said:?}");
}
