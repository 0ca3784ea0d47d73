//! How a controller names, in the handshake of TLS, the certificate that it has pinned.

/// So many hex digits of the fingerprint fit into a label of a DNS name, and are enough to tell two certificates apart.
const DIGITS: usize = 32;

/// The server name (SNI) by which a controller asks for the certificate with this fingerprint; None for what is no
/// fingerprint. Engines of before show the one that they have.
#[must_use]
pub fn certificate_name(fingerprint: &str) -> Option<String> {
    let digits = fingerprint.strip_prefix("sha256:")?.get(..DIGITS)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| format!("{}.benchweb-engine", digits.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_named_by_the_first_half_of_its_fingerprint() {
        let fingerprint = "sha256:70E65c609277bc4f0023b76009a7c630130050dae1bc6eaaf4d1bcdf7343d4a6";
        let name = certificate_name(fingerprint).unwrap();
        assert_eq!(name, "70e65c609277bc4f0023b76009a7c630.benchweb-engine");
        for text in ["", "sha256:", "sha256:70e65c", &fingerprint["sha256:".len()..]] {
            assert_eq!(certificate_name(text), None, "{text}");
        }
        assert_eq!(certificate_name(&format!("sha256:{}", "é".repeat(32))), None);
    }
}
