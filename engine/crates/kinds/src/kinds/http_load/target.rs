//! The server that a URL names.

use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use proto::{FailureCode, HttpUrl, Params, Reason, reason};

use crate::failure::Failure;
use crate::settings::text;

/// How long a name may take to be resolved.
const RESOLVE_LIMIT: Duration = Duration::from_secs(5);
/// How long the server may take for the first connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// How many of a name's addresses are tried.
const ADDRESSES_TRIED: usize = 4;

/// The URL that the parameters name, if they name one.
pub fn url(params: &Params) -> Result<Option<HttpUrl>, Reason> {
    let url = text(params, "url")?;
    if url.is_empty() {
        return Ok(None);
    }
    HttpUrl::parse(url).map(Some).map_err(|reason| reason!("parameter_url", why = reason))
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
    Err(unreachable(match last_error {
        Some((address, error)) => {
            let (address, why) = (address.to_string(), error.to_string());
            reason!("url_no_connection", address = address, why = why)
        }
        None => reason!("url_no_address", host = url.host.as_str()),
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
            let (host, why) = (url.host.as_str(), error.to_string());
            Err(unreachable(reason!("url_unresolved", host = host, why = why)))
        }
        Err(_) => {
            let (host, seconds) = (url.host.as_str(), RESOLVE_LIMIT.as_secs());
            Err(unreachable(reason!("url_unresolved_in_time", host = host, seconds = seconds)))
        }
    }
}

fn unreachable(why: Reason) -> Failure {
    Failure::new(FailureCode::Unreachable, reason!("url_unreachable", why = why))
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
