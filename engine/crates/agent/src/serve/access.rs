//! Who may speak to this engine: the bearer token and the allowed networks.

use std::net::IpAddr;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use ipnet::IpNet;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The bearer token, kept as its digest so that comparing takes the same time for every wrong one.
pub struct Token([u8; 32]);

impl Token {
    /// Takes the token from its text.
    pub fn new(text: &str) -> Self {
        Self(Sha256::digest(text.trim()).into())
    }

    /// Whether an `Authorization` header's value carries the token.
    pub fn is_carried_by(&self, authorization: &[u8]) -> bool {
        let Some((scheme, token)) = authorization.split_at_checked("Bearer ".len()) else {
            return false;
        };
        let digest: [u8; 32] = Sha256::digest(token.trim_ascii()).into();
        scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(self.0.ct_eq(&digest))
    }
}

/// Reads a token file's text.
pub fn read_token(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let path = path.display();
        anyhow!("can't read the token file {path} ({error}); make one with: (umask 077; openssl rand -hex 32 > {path})")
    })?;
    let token = text.trim();
    ensure!(
        !token.is_empty(),
        "the token file {} is empty; put one line with a secret in it",
        path.display()
    );
    ensure!(
        token.bytes().all(|byte| byte.is_ascii_graphic()),
        "the token in {} has spaces or other than plain ASCII characters; use one word",
        path.display()
    );
    Ok(token.to_owned())
}

/// The networks that may connect; all when none is named.
pub struct Allowed(pub Vec<IpNet>);

impl Allowed {
    /// Whether `address` is in an allowed network.
    pub fn admits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.is_empty() || self.0.iter().any(|network| network.contains(&address))
    }
}

/// Whether traffic may go to `address` at all: never to many hosts at once, never to none. A subnet's broadcast address
/// can't be told by its look; the kernel refuses it to sockets that don't ask for broadcasts, as ours don't.
pub fn is_single_host(address: IpAddr) -> bool {
    match address.to_canonical() {
        // 0.0.0.0/8 is "this network" and 240.0.0.0/4 reserved, with the broadcast address in it (RFC 6890).
        IpAddr::V4(address) => {
            let first = address.octets()[0];
            !address.is_multicast() && first != 0 && first < 240
        }
        IpAddr::V6(address) => !address.is_multicast() && !address.is_unspecified(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_after_bearer_counts() {
        let token = Token::new("secret\n");
        assert!(token.is_carried_by(b"Bearer secret"));
        assert!(token.is_carried_by(b"bearer secret"));
        for wrong in
            [&b"Bearer secre"[..], b"Bearer secrets", b"Basic secret", b"secret", b"", b"Bearer "]
        {
            assert!(!token.is_carried_by(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn an_allowed_network_admits_its_addresses_also_when_mapped_to_version_6() {
        let allowed = Allowed(vec!["192.0.2.0/24".parse().unwrap()]);
        assert!(allowed.admits("192.0.2.9".parse().unwrap()));
        assert!(allowed.admits("::ffff:192.0.2.9".parse().unwrap()));
        assert!(!allowed.admits("198.51.100.1".parse().unwrap()));
        assert!(Allowed(Vec::new()).admits("198.51.100.1".parse().unwrap()));
    }

    #[test]
    fn multicast_broadcast_and_unspecified_addresses_are_no_peers() {
        for address in [
            "224.0.0.1",
            "255.255.255.255",
            "0.0.0.0",
            "0.1.2.3",
            "240.0.0.1",
            "ff02::1",
            "::",
            "::ffff:224.0.0.1",
        ] {
            assert!(!is_single_host(address.parse().unwrap()), "{address}");
        }
        assert!(is_single_host("192.0.2.1".parse().unwrap()));
    }
}
