//! The server that a URL names.

use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use proto::{FailureCode, HttpUrl, Params};

use crate::failure::Failure;
use crate::settings::text;

/// How long a name may take to be resolved.
const RESOLVE_LIMIT: Duration = Duration::from_secs(5);
/// How long the server may take for the first connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// How many of a name's addresses are tried.
const ADDRESSES_TRIED: usize = 4;

/// The URL that the parameters name, if they name one.
pub fn url(params: &Params) -> Result<Option<HttpUrl>, String> {
    let url = text(params, "url")?;
    if url.is_empty() {
        return Ok(None);
    }
    HttpUrl::parse(url).map(Some).map_err(|reason| format!("url: {reason}"))
}

/// A connection to the URL's server: the first of its addresses that takes one is used by the whole session.
pub fn reach(url: &HttpUrl) -> Result<OwnedFd, Failure> {
    let mut last_error = None;
    for address in resolve(url)?.into_iter().take(ADDRESSES_TRIED) {
        let (local, options) = (net::LocalEnd::default(), net::Options::default());
        match net::connect_tcp(address, &local, &options, CONNECT_LIMIT) {
            Ok(socket) => return Ok(socket),
            Err(error) => last_error = Some((address, error)),
        }
    }
    Err(unreachable(&match last_error {
        Some((address, error)) => format!("{address} takes no connection: {error}"),
        None => format!("the name {} has no address", url.host),
    }))
}

/// Resolves aside: the system's resolver knows no time limit.
fn resolve(url: &HttpUrl) -> Result<Vec<SocketAddr>, Failure> {
    let (sender, answer) = channel();
    let (host, port) = (url.host.clone(), url.port);
    thread::spawn(move || {
        let addresses = (host.as_str(), port).to_socket_addrs();
        // Nobody listens after the limit.
        let _ = sender.send(addresses.map(Iterator::collect::<Vec<_>>));
    });
    match answer.recv_timeout(RESOLVE_LIMIT) {
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => {
            Err(unreachable(&format!("the name {} has no address: {error}", url.host)))
        }
        Err(_) => Err(unreachable(&format!("the name {} was not resolved within 5 s", url.host))),
    }
}

fn unreachable(reason: &str) -> Failure {
    let reason = format!("the URL's server can't be reached from the source host: {reason}");
    Failure::new(FailureCode::Unreachable, reason)
}

/// What every connection asks: as little as wrk, whose requests must cost a server the same.
pub fn request(url: Option<&HttpUrl>) -> Vec<u8> {
    // Without a URL the responder answers whatever is asked.
    let (target, host) = url.map_or_else(
        || ("/".to_owned(), "benchweb".to_owned()),
        |url| (url.target(), url.authority()),
    );
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
}
