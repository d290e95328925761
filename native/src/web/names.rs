//! The names under which the server may be asked.
//!
//! A page of anyone's can have its own name point to this machine, and then asks us as if we were it ("DNS rebinding"). It asks
//! under its own name, though.

use crate::web::tls::Tls;
use hyper::Request;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// The names, and how they are written in URLs.
pub struct Names {
    scheme: &'static str,
    port: u16,
    /// In lower case, addresses of version 6 in brackets.
    hosts: Vec<String>,
    /// Other names are proved by the certificate: the browser would not ask us under any that it doesn't hold.
    tls: Option<Arc<Tls>>,
}

impl Names {
    /// The names of a server that listens at an address, which its user called `given`.
    pub fn new(address: SocketAddr, given: Option<&str>, tls: Option<Arc<Tls>>) -> Names {
        let mut hosts = vec![host_of(address.ip())];
        hosts.extend(given.map(|given| given.parse().map_or(given.to_ascii_lowercase(), host_of)));
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(str::to_owned));
        }
        let scheme = if tls.is_some() { "https" } else { "http" };
        Names { scheme, port: address.port(), hosts, tls }
    }

    /// The page's address under a name. An address that stands for all of the machine's is no name.
    pub fn url(&self, host: &str) -> String {
        let host = host.parse().map_or(host.into(), host_of);
        format!("{}://{host}:{}/", self.scheme, self.port)
    }

    /// Whether a request is for this server, by all that it says of where it goes.
    pub fn admit<B>(&self, request: &Request<B>) -> bool {
        let target = request.uri().authority().map(Authority::as_str);
        let host = only(request.headers(), HOST).ok().flatten().and_then(|host| host.to_str().ok());
        host.is_some_and(|host| self.has(host)) && target.is_none_or(|target| self.has(target))
    }

    /// Whether a request comes from the page itself, as far as it says where it comes from. Every browser says so if it is a page of
    /// somewhere else that asks for anything but simple loading.
    pub fn is_own<B>(&self, request: &Request<B>) -> bool {
        let origin = match only(request.headers(), ORIGIN) {
            Ok(None) => true,
            Ok(Some(origin)) => origin.to_str().is_ok_and(|origin| self.is_origin(origin)),
            Err(()) => false,
        };
        let site = only(request.headers(), FETCH_SITE);
        origin && site.is_ok_and(|site| site.is_none_or(|site| site == "same-origin"))
    }

    fn is_origin(&self, origin: &str) -> bool {
        origin.split_once("://").is_some_and(|(scheme, rest)| scheme == self.scheme && self.has(rest))
    }

    /// Whether this is a name with our port.
    fn has(&self, text: &str) -> bool {
        let Ok(authority) = text.parse::<Authority>() else { return false };
        let port = authority.port_u16().unwrap_or(if self.tls.is_some() { 443 } else { 80 });
        if port != self.port || authority.as_str().contains('@') {
            return false;
        }
        let host = authority.host().to_ascii_lowercase();
        self.hosts.contains(&host) || self.tls.as_ref().is_some_and(|tls| tls.is_named(host.trim_matches(['[', ']'])))
    }
}

/// The header's value, if there is one; an error if there are several.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(()),
    }
}

/// As in a URL.
fn host_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => in_brackets(address),
    }
}

fn in_brackets(address: Ipv6Addr) -> String {
    format!("[{address}]")
}

/// By which browsers tell whether a request comes from a page of the same server.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> Request<()> {
        let request = headers.iter().fold(Request::get("/"), |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap()
    }

    #[test]
    fn a_loopback_server_has_three_names_and_one_port() {
        let names = Names::new("127.0.0.1:4711".parse().unwrap(), None, None);
        for host in ["127.0.0.1:4711", "localhost:4711", "LOCALHOST:4711", "[::1]:4711"] {
            assert!(names.admit(&request(&[("Host", host)])), "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "localhost:80",
            "localhost:4712",
            "evil.example:4711",
            "localhost.evil.example:4711",
            "localhost.:4711",
            "127.0.0.1:4711@evil.example",
            "x@localhost:4711",
            "127.0.0.2:4711",
            "2130706433:4711",
            "[::]:4711",
        ] {
            assert!(!names.admit(&request(&[("Host", host)])), "{host}");
        }
        assert!(!names.admit(&request(&[])));
        assert!(!names.admit(&request(&[("Host", "localhost:4711"), ("Host", "evil.example")])));
        let absolute = Request::get("http://evil.example/").header("Host", "localhost:4711").body(()).unwrap();
        assert!(!names.admit(&absolute));
        assert_eq!(names.url("127.0.0.1"), "http://127.0.0.1:4711/");
        assert_eq!(names.url("::1"), "http://[::1]:4711/");
    }

    #[test]
    fn requests_from_elsewhere_are_told_by_their_origin() {
        let names = Names::new("127.0.0.1:4711".parse().unwrap(), None, None);
        assert!(names.is_own(&request(&[])));
        assert!(names.is_own(&request(&[("Origin", "http://localhost:4711"), ("Sec-Fetch-Site", "same-origin")])));
        for headers in [
            [("Origin", "null")].as_slice(),
            &[("Origin", "https://localhost:4711")],
            &[("Origin", "http://localhost:4712")],
            &[("Origin", "http://evil.example:4711")],
            &[("Origin", "http://localhost:4711"), ("Origin", "http://localhost:4711")],
            &[("Sec-Fetch-Site", "cross-site")],
            &[("Sec-Fetch-Site", "same-site")],
            &[("Sec-Fetch-Site", "none")],
        ] {
            assert!(!names.is_own(&request(headers)), "{headers:?}");
        }
    }
}
