//! URLs that an engine may send HTTP requests to, and the prefixes that its operator allows.

use std::fmt;

use crate::{Reason, reason};

/// An `http` URL, taken apart; only what can't be read in two ways is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpUrl {
    /// The host's name or address, lower case; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path, `/` at least.
    path: String,
    /// What follows the question mark, if there is one.
    query: Option<String>,
}

const DEFAULT_PORT: u16 = 80;
const HOST_NAME_LIMIT: usize = 253;

impl HttpUrl {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// When it is none, or has a part that an engine doesn't send to; why, and what to give instead.
    pub fn parse(text: &str) -> Result<Self, Reason> {
        let quoted = format!("{text:?}");
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
            return Err(reason!("url_character", url = quoted));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(reason!("url_none", url = quoted));
        };
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(reason!("url_scheme", url = quoted, scheme = scheme));
        }
        if rest.contains('#') {
            return Err(reason!("url_fragment", url = quoted));
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        if authority.contains('@') {
            return Err(reason!("url_password"));
        }
        let (host, port) = split_authority(authority)
            .ok_or_else(|| reason!("url_host", host = format!("{authority:?}")))?;
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (target, None),
        };
        let path = if path.is_empty() { "/" } else { path };
        check_path(path)?;
        Ok(Self { host, port, path: path.to_owned(), query })
    }

    /// What the request line names: path and query.
    #[must_use]
    pub fn target(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// Scheme, host and port, and the root of its paths.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}/", self.authority())
    }

    /// What the Host header names.
    #[must_use]
    pub fn authority(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == DEFAULT_PORT { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "http://{}{}", self.authority(), self.target())
    }
}

/// Host and port; none when it is not exactly that.
fn split_authority(authority: &str) -> Option<(String, u16)> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        host.parse::<std::net::Ipv6Addr>().ok()?;
        let port = if port.is_empty() { None } else { Some(port.strip_prefix(':')?) };
        (host, port)
    } else {
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        (Some(host).filter(|host| is_host_name(host))?, port)
    };
    let port = match port {
        None => DEFAULT_PORT,
        // "+80" is a number and no port.
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok()?,
        Some(_) => return None,
    };
    (port > 0).then(|| (host.to_ascii_lowercase(), port))
}

fn is_host_name(host: &str) -> bool {
    (1..=HOST_NAME_LIMIT).contains(&host.len())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// A path that a server might take for another one would pass by an operator's prefix.
fn check_path(path: &str) -> Result<(), Reason> {
    let quoted = || format!("{path:?}");
    for segment in path.split('/') {
        let plain = decoded(segment).ok_or_else(|| reason!("url_percent", path = quoted()))?;
        if plain == b"." || plain == b".." || plain.iter().any(|byte| b"/\\\0".contains(byte)) {
            let segment = format!("{segment:?}");
            return Err(reason!("url_segment", path = quoted(), segment = segment));
        }
    }
    Ok(())
}

fn decoded(segment: &str) -> Option<Vec<u8>> {
    let mut bytes = segment.bytes();
    let mut plain = Vec::with_capacity(segment.len());
    while let Some(byte) = bytes.next() {
        let byte = if byte == b'%' {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
            u8::try_from(high * 16 + low).ok()?
        } else {
            byte
        };
        plain.push(byte);
    }
    Some(plain)
}

/// What an operator allows: a host and port, and a part of the tree of its paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlPrefix(HttpUrl);

impl UrlPrefix {
    /// Takes a prefix apart.
    ///
    /// # Errors
    /// When it is no `http` URL, or has a query, which prefixes can't be compared by.
    pub fn parse(text: &str) -> Result<Self, Reason> {
        let url = HttpUrl::parse(text)?;
        match url.query {
            None => Ok(Self(url)),
            Some(_) => Err(reason!("url_query", url = format!("{text:?}"))),
        }
    }

    /// Whether the URL is of this host and port, and its path is this one or below it.
    #[must_use]
    pub fn admits(&self, url: &HttpUrl) -> bool {
        let prefix = self.0.path.strip_suffix('/').unwrap_or(&self.0.path);
        let rest = url.path.strip_prefix(prefix);
        self.0.host == url.host
            && self.0.port == url.port
            && (url.path == self.0.path || rest.is_some_and(|rest| rest.starts_with('/')))
    }
}

impl fmt::Display for UrlPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::{HttpUrl, UrlPrefix};

    fn admits(prefix: &str, url: &str) -> bool {
        let prefix = UrlPrefix::parse(prefix).expect("the test's prefix is one");
        HttpUrl::parse(url).is_ok_and(|url| prefix.admits(&url))
    }

    #[test]
    fn a_url_is_taken_apart_and_put_together_again() {
        let url = HttpUrl::parse("HTTP://Example.org:8080/a/b?c=/d?e").expect("a URL");
        assert_eq!((url.host.as_str(), url.port), ("example.org", 8080));
        assert_eq!(url.target(), "/a/b?c=/d?e");
        assert_eq!(url.to_string(), "http://example.org:8080/a/b?c=/d?e");
        assert_eq!(HttpUrl::parse("http://h?x").expect("a URL").to_string(), "http://h/?x");
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets() {
        let url = HttpUrl::parse("http://[::1]:81/").expect("a URL");
        assert_eq!((url.host.as_str(), url.port, url.authority()), ("::1", 81, "[::1]:81".into()));
        assert!(HttpUrl::parse("http://::1/").is_err());
        assert!(HttpUrl::parse("http://[::1]81/").is_err());
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for text in [
            "https://h/",
            "ftp://h/",
            "h/",
            "http://",
            "http:///x",
            "http://h:0/",
            "http://h:70000/",
            "http://h:+80/",
            "http://h:/",
            "http://u@h/",
            "http://u:p@h/",
            "http://h\\@g/",
            "http://h/ x",
            "http://h/\r\nHost: g",
            "http://h/a/../b",
            "http://h/a/%2E%2e/b",
            "http://h/a%2fb",
            "http://h/%",
            "http://h/%zz",
            "http://h/#x",
            "http://h/./",
            "http://h%00/",
            "http://é/",
        ] {
            assert!(HttpUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_prefix_admits_its_path_and_what_is_below_it_and_nothing_else() {
        assert!(admits("http://h", "http://h:80/any/thing?x=1"));
        assert!(admits("http://h:8080/a", "http://H:8080/a"));
        assert!(admits("http://h:8080/a", "http://h:8080/a/b?c"));
        assert!(admits("http://h/a/", "http://h/a/b"));
        for other in [
            "http://h/a",
            "http://h:8080/ab",
            "http://h:8080/",
            "http://h:8080/A",
            "http://g:8080/a",
            "http://h.:8080/a",
            "http://h:8080/a%2f..%2fb",
            "http://h:8080/a/../b",
        ] {
            assert!(!admits("http://h:8080/a", other), "{other}");
        }
        assert!(!admits("http://h/a/", "http://h/a"));
    }

    #[test]
    fn a_prefix_with_a_query_is_refused() {
        assert!(UrlPrefix::parse("http://h/?x").is_err());
    }
}
