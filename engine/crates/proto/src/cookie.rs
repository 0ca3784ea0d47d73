//! The session's shared secret, and what is derived from it.

use std::fmt;

use hmac::{Hmac, Mac};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Length of the tag that finds a session without telling its cookie.
pub const TAG_LENGTH: usize = 16;
/// Length of a proof (HMAC-SHA-256).
pub const PROOF_LENGTH: usize = 32;

/// The secret that both ends of a session share.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cookie(#[cfg_attr(test, schemars(with = "String"))] [u8; 32]);

/// A cookie that is not 64 hex digits.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the cookie must be 64 hex digits, new for each session")]
pub struct CookieError;

impl Cookie {
    /// Makes a cookie of 32 random bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads a cookie from 64 hex digits.
    ///
    /// # Errors
    /// When `text` is anything else.
    pub fn parse(text: &str) -> Result<Self, CookieError> {
        let digits: Vec<u8> = text
            .chars()
            .map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok()))
            .collect::<Option<_>>()
            .ok_or(CookieError)?;
        let bytes: Vec<u8> =
            digits.chunks(2).map(|pair| pair[0] << 4 | pair[pair.len() - 1]).collect();
        if digits.len() != 64 {
            return Err(CookieError);
        }
        Ok(Self(bytes.try_into().map_err(|_| CookieError)?))
    }

    /// The tag that finds the session: the first half of the cookie's SHA-256.
    #[must_use]
    pub fn tag(&self) -> [u8; TAG_LENGTH] {
        let digest = Sha256::digest(self.0);
        let mut tag = [0; TAG_LENGTH];
        tag.copy_from_slice(&digest[..TAG_LENGTH]);
        tag
    }

    /// The cookie of what runs within the session under this label: who knows it doesn't know the session's.
    #[must_use]
    pub fn derived(&self, label: &[u8]) -> Self {
        Self(keyed_digest(&self.0, label))
    }

    /// HMAC-SHA-256 of `message`, keyed with the cookie.
    #[must_use]
    pub fn proof(&self, message: &[u8]) -> [u8; PROOF_LENGTH] {
        keyed_digest(&self.0, message)
    }

    /// Whether `proof` is the proof of `message`, in constant time.
    #[must_use]
    pub fn proves(&self, message: &[u8], proof: &[u8; PROOF_LENGTH]) -> bool {
        self.proof(message).ct_eq(proof).into()
    }

    fn to_hex(&self) -> String {
        hex(&self.0)
    }
}

/// Lower-case hex digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

pub(crate) fn keyed_digest(key: &[u8], message: &[u8]) -> [u8; PROOF_LENGTH] {
    // HMAC takes a key of any length, so this can't fail.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// Hides the secret from logs.
impl fmt::Debug for Cookie {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cookie(…)")
    }
}

impl Serialize for Cookie {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for Cookie {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_from_hex_and_its_debug_text_hides_it() {
        let cookie = Cookie::parse(&"0f".repeat(32)).unwrap();
        assert_eq!(cookie, Cookie::new([0x0f; 32]));
        assert_eq!(cookie.to_hex(), "0f".repeat(32));
        assert_eq!(format!("{cookie:?}"), "Cookie(…)");
    }

    #[test]
    fn a_derived_cookie_is_the_same_at_both_ends_and_another_for_each_label() {
        let cookie = Cookie::new([1; 32]);
        assert_eq!(cookie.derived(b"load"), Cookie::new([1; 32]).derived(b"load"));
        assert_ne!(cookie.derived(b"load"), cookie);
        assert_ne!(cookie.derived(b"load"), cookie.derived(b"other"));
    }

    #[test]
    fn short_long_and_non_hex_cookies_are_refused() {
        for text in ["", "0f", &"0f".repeat(33), &"zz".repeat(32), &"0".repeat(63)] {
            assert_eq!(Cookie::parse(text), Err(CookieError));
        }
    }
}
