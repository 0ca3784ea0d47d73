//! The engine's certificate: self-signed, made once, known by its fingerprint.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::version::TLS13;

use crate::serve::sessions::store::private_file;

const CERTIFICATE_FILE: &str = "certificate.der";
const KEY_FILE: &str = "key.der";

/// The certificate with its key.
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Identity {
    /// Reads the identity from the state folder, or makes it there.
    pub fn open(state_folder: &Path) -> Result<Self> {
        let (certificate_path, key_path) =
            (state_folder.join(CERTIFICATE_FILE), state_folder.join(KEY_FILE));
        if !certificate_path.exists() {
            make(&certificate_path, &key_path).context("can't make the engine's certificate")?;
        }
        let read =
            |path: &Path| fs::read(path).with_context(|| format!("can't read {}", path.display()));
        Ok(Self { certificate: read(&certificate_path)?.into(), key: read(&key_path)? })
    }

    /// What controllers pin.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.certificate)
    }

    /// A TLS 1.3 server with this identity.
    pub fn acceptor(&self) -> Result<TlsAcceptor> {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(crate::tls_provider()))
                .with_protocol_versions(&[&TLS13])?
                .with_no_client_auth()
                .with_single_cert(vec![self.certificate.clone()], key)
                .context("the certificate and key in the state folder don't fit; remove both to make new ones")?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// `sha256:` and the lower-case hex of the DER certificate's SHA-256.
pub fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    format!("sha256:{}", proto::hex(&Sha256::digest(certificate)))
}

/// The key is written first: a certificate without its key would never be mended.
fn make(certificate_path: &Path, key_path: &Path) -> Result<()> {
    let made = rcgen::generate_simple_self_signed(["benchweb-engine".to_owned()])?;
    private_file(key_path)?.write_all(&made.signing_key.serialize_der())?;
    let temporary = certificate_path.with_extension("new");
    private_file(&temporary)?.write_all(made.cert.der())?;
    fs::rename(temporary, certificate_path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_identity_is_made_once_and_its_key_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let first = Identity::open(folder.path()).unwrap();
        assert_eq!(first.fingerprint().len(), "sha256:".len() + 64);
        assert_eq!(Identity::open(folder.path()).unwrap().fingerprint(), first.fingerprint());
        let mode = fs::metadata(folder.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(first.acceptor().is_ok());
    }
}
