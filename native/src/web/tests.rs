//! The server, by real requests over real sockets.

mod client;
mod page;
mod refused;
mod repository;
mod secure;

use crate::repository::permissions::Permissions;
use crate::web::{Names, Rest, ServedFolder, Service, Site, Tls, Token, serve};
use client::{Answer, Client};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A server of a small page and a folder that looks like a repository, until it is dropped.
struct Server {
    address: SocketAddr,
    token: String,
    folder: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(name: &str) -> Server {
        Server::start_as(name, Permissions::All, None, None)
    }

    fn start_as(name: &str, permissions: Permissions, given: Option<&str>, tls: Option<Tls>) -> Server {
        let folder = folder(name);
        let tls = tls.map(Arc::new);
        let token = Token::new().unwrap();
        let text = token.text().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let rest = Rest::new(ServedFolder::open(&folder.join("repository")).unwrap(), permissions);
        let names = Names::new(address, given, tls.clone());
        let service = Arc::new(Service::new(names, Site::new(FILES), Some((rest, token))));
        let over = Arc::new(AtomicBool::new(false));
        let ends = over.clone();
        let run = move || serve(listener, tls.as_deref(), service, || ends.load(Ordering::Relaxed)).unwrap();
        Server { address, token: text, folder, over, thread: Some(thread::spawn(run)) }
    }

    fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// What the page asks, with all that it sends.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let authorization = format!("Bearer {}", self.token);
        let mut all = vec![("Authorization", authorization.as_str()), ("Accept", PROTOCOL)];
        all.extend(headers);
        self.client().ask(method, path, &all, body)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    fn end(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A folder with a secret, and in it one that looks like a repository, from which links lead out.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("portaborg-web-{}-{name}", std::process::id()));
    let repository = folder.join("repository");
    let write = |path: &str, content: &[u8]| {
        let path = repository.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    fs::create_dir_all(&repository).unwrap();
    fs::write(folder.join("secret"), SECRET).unwrap();
    write("config/config", b"[repository]");
    write("config/half.tmp", b"x");
    write("packs/ab/abcd", &pack());
    write("README", b"not an object");
    link(&folder.join("secret"), &repository.join("packs/ab/ab11"));
    link(Path::new("abcd"), &repository.join("packs/ab/ab22"));
    link(&folder, &repository.join("keys"));
    folder
}

fn link(target: &Path, link: &Path) {
    symlink(target, link).unwrap();
}

/// More than one piece, each byte of which tells where it is.
fn pack() -> Vec<u8> {
    (0..PACK_BYTES).map(|place| (place % 251) as u8).collect()
}

const PROTOCOL: &str = "application/vnd.x.borgstore.rest.v1";
const PACK_BYTES: usize = 700_001;
const SECRET: &[u8] = b"nobody's business";
const FILES: &[(&str, &[u8])] =
    &[("index.html", b"<!doctype html>"), ("assets/module-0123abcd.wasm", b"\0asm"), ("service.js", b"'use strict'")];
