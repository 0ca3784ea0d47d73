//! How an engine proves to a controller that it knows the token, before the controller sends the token.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::cookie::{PROOF_LENGTH, hex, keyed_digest};

/// Length of a nonce in hex digits: 32 bytes.
pub const NONCE_DIGITS: usize = 64;

/// The key of a token's proofs: its SHA-256, so that an engine needs to keep no token.
pub type TokenKey = [u8; 32];

/// The key of `token`'s proofs.
#[must_use]
pub fn token_key(token: &str) -> TokenKey {
    Sha256::digest(token).into()
}

/// Whether `text` may be a proof's nonce: 64 lower-case hex digits.
#[must_use]
pub fn is_nonce(text: &str) -> bool {
    text.len() == NONCE_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The proof for a controller's nonce, in hex. It is bound to the certificate of the engine that makes it: on a
/// connection with another certificate, as of somebody in between, it proves nothing.
#[must_use]
pub fn token_proof(key: &TokenKey, nonce: &str, fingerprint: &str) -> String {
    hex(&digest(key, nonce, fingerprint))
}

/// Whether one of `proofs` is that of the token's key, compared in constant time.
#[must_use]
pub fn is_proven<'a>(
    key: &TokenKey,
    nonce: &str,
    fingerprint: &str,
    proofs: impl IntoIterator<Item = &'a str>,
) -> bool {
    let wanted = token_proof(key, nonce, fingerprint);
    proofs.into_iter().any(|proof| wanted.as_bytes().ct_eq(proof.as_bytes()).into())
}

fn digest(key: &TokenKey, nonce: &str, fingerprint: &str) -> [u8; PROOF_LENGTH] {
    keyed_digest(key, format!("benchweb proof v1\n{nonce}\n{fingerprint}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"; // pragma: allowlist secret
    const FINGERPRINT: &str =
        "sha256:70e65c609277bc4f0023b76009a7c630130050dae1bc6eaaf4d1bcdf7343d4a6";

    #[test]
    fn a_proof_is_that_of_the_protocols_description() {
        let key = token_key("the-token-of-the-test-of-the-engine");
        let proof = token_proof(&key, NONCE, FINGERPRINT);
        assert_eq!(proof, "3bf7c1788545971c1f31aa84afcf56a3d3bb58a2b717c821bd16a1324a87e37d"); // pragma: allowlist secret
    }

    #[test]
    fn it_holds_for_its_token_nonce_and_certificate_only() {
        let (key, other) = (token_key("one"), token_key("other"));
        let proof = token_proof(&key, NONCE, FINGERPRINT);
        let proofs = ["", "00", proof.as_str()];
        assert!(is_proven(&key, NONCE, FINGERPRINT, proofs));
        assert!(!is_proven(&other, NONCE, FINGERPRINT, proofs));
        assert!(!is_proven(&key, &"0".repeat(64), FINGERPRINT, proofs));
        assert!(!is_proven(&key, NONCE, "sha256:00", proofs));
        assert!(!is_proven(&key, NONCE, FINGERPRINT, []));
    }

    #[test]
    fn a_nonce_is_64_lower_case_hex_digits() {
        assert!(is_nonce(NONCE));
        for text in ["", &NONCE[1..], &NONCE.to_uppercase(), &format!("{NONCE}0"), &"\n".repeat(64)]
        {
            assert!(!is_nonce(text), "{text}");
        }
    }
}
