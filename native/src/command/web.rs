//! `web`: the page that opens repositories in a browser, with one beside it.

use crate::app::App;
use crate::client::host;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::stdout::print;
use crate::repository::session::{location_of, open_repository_at};
use crate::web::{self, Names, REPOSITORY, Rest, ServedFolder, Service, Site, Start, Tls, Token};
use clap::Args;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

/// This command serves a page that opens repositories in a browser on this machine, and starts the browser. With a repository, the page
/// is given that one, to read only. The passphrase is typed into the page, and nothing that is opened there leaves the browser.
#[derive(Debug, Args)]
pub struct Options {
    /// the repository that the page opens; without it (and --repo and BORG_REPO), one is chosen in the page
    #[arg(value_name = "REPO")]
    repository: Option<String>,

    /// the port to listen at, 0 for any that is free (default: 26742, or any that is free)
    #[arg(long, value_name = "N")]
    port: Option<u16>,

    /// do not start a browser
    #[arg(long)]
    no_open: bool,

    /// the address or name to listen at (default: 127.0.0.1); others than this machine's own need --cert and --key
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,

    /// certificate for TLS and those that vouch for it (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// the certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// write the page into a new or empty folder, for another server, with a README for it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["repository", "port", "no_open", "listen", "cert", "key"])]
    export: Option<PathBuf>,
}

/// Serves until Ctrl-C, or exports.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    if let Some(folder) = &options.export {
        return web::export(&page()?, folder);
    }
    let address = options.address()?;
    let tls = options.tls(address)?.map(Arc::new);
    let page = page()?;
    let repository = options.open(app)?;
    let listener = options.bind(address)?;
    let address = listener.local_addr().map_err(no_listener)?;

    let names = Names::new(address, options.listen.as_deref(), tls.clone());
    let mut url = names.url(&options.shown_host(address));
    let repository = match repository {
        Some((rest, location)) => {
            let token = Token::new()?;
            let name: String = location.bytes().map(in_fragment).collect();
            url.push_str(&format!("#repository={REPOSITORY}&token={}&name={name}", token.text()));
            print(&format!("Repository {location}, to read only, is open to whoever has this address:\n\n"))?;
            Some((rest, token))
        }
        None => {
            print("The page is at:\n\n")?;
            None
        }
    };
    print(&format!("    {url}\n\nCtrl-C ends it.\n"))?;
    let service = Arc::new(Service::new(names, page, repository));
    let mut start = options.start_browser(app, &url);
    let opened = service.clone();
    let is_over = || {
        if opened.is_opened() {
            start = None;
        }
        interrupt::requested()
    };
    web::serve(listener, tls.as_deref(), service, is_over).map_err(no_listener)?;
    // That is how one ends it.
    if interrupt::is_cancelled() { Ok(()) } else { interrupt::check() }
}

fn page() -> Result<Site, Failure> {
    Site::embedded().ok_or_else(|| {
        Failure::command("this program was built without the page: run cargo dist-web, then build it again")
    })
}

impl Options {
    /// Where to listen.
    fn address(&self) -> Result<SocketAddr, Failure> {
        let port = self.port.unwrap_or(DEFAULT_PORT);
        let Some(given) = &self.listen else { return Ok((Ipv4Addr::LOCALHOST, port).into()) };
        let found = (given.trim_matches(['[', ']']), port)
            .to_socket_addrs()
            .and_then(|mut found| found.next().ok_or_else(|| io::Error::other("no such host")));
        found.map_err(|error| Failure::argument("--listen", format_args!("{given}: {error}")))
    }

    fn tls(&self, address: SocketAddr) -> Result<Option<Tls>, Failure> {
        match (&self.cert, &self.key) {
            (Some(chain), Some(key)) => Ok(Some(Tls::read(chain, key).map_err(Failure::error)?)),
            _ if address.ip().is_loopback() => Ok(None),
            _ => Err(Failure::command(format_args!(
                "{} is reached from other machines, and without TLS anyone on the way could forge the page into which the \
                 passphrase is typed: give --cert and --key, or listen on this machine only",
                address.ip()
            ))),
        }
    }

    /// The repository that is served, and where it is.
    fn open(&self, app: &App) -> Result<Option<(Rest, String)>, Failure> {
        let given = self.repository.as_deref().or(app.common.repo.as_deref()).filter(|text| !text.is_empty());
        let Some(text) = given else { return Ok(None) };
        let location = location_of(app, text)?;
        let repository = open_repository_at(&location)?; // or the page would say what can be said here
        let folder = ServedFolder::open(&location.path);
        let folder = folder.map_err(|error| Failure::error(format_args!("{location}: {error}")))?;
        for namespace in folder.linked_namespaces() {
            let name = namespace.name();
            app.warning(&format!("{location}/{name} is a symbolic link, which is not followed: it is not served."));
        }
        Ok(Some((Rest::new(folder, repository.store.0.permissions()), location.to_string())))
    }

    fn bind(&self, address: SocketAddr) -> Result<TcpListener, Failure> {
        match TcpListener::bind(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && self.port.is_none() => {
                TcpListener::bind((address.ip(), 0))
            }
            bound => bound,
        }
        .map_err(|error| Failure::error(format_args!("can not listen at {address}: {error}")))
    }

    /// The host in the address that is shown.
    fn shown_host(&self, address: SocketAddr) -> String {
        match &self.listen {
            Some(_) if address.ip().is_unspecified() => host::fqdn(),
            Some(given) if given.parse::<IpAddr>().is_err() => given.clone(),
            _ => address.ip().to_string(),
        }
    }

    fn start_browser(&self, app: &App, url: &str) -> Option<Start> {
        if self.no_open {
            return None;
        }
        let started = Start::browser(url);
        if let Err(error) = &started {
            app.info(&format!("No browser was started ({error})."));
        }
        started.ok()
    }
}

/// A byte as it may stand in a URL's fragment.
fn in_fragment(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

fn no_listener(error: io::Error) -> Failure {
    Failure::error(format_args!("can not serve: {error}"))
}

/// BORG2 on a telephone's keys. A browser keeps what the page remembers by its port, so it is always the same one if that can be.
const DEFAULT_PORT: u16 = 26742;
