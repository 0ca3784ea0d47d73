//! The engine's certificate: self-signed, known by its fingerprint, and replaced without a gap.
//!
//! A controller says in the handshake (SNI) which certificate it has pinned. So a new one can be announced, pinned by
//! one controller after the other, and be that of everybody else once the first has used it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::version::TLS13;

use crate::serve::announcement;
use crate::serve::private_file::private_file;

const CERTIFICATE_FILE: &str = "certificate.der";
const KEY_FILE: &str = "key.der";
const NEXT_CERTIFICATE_FILE: &str = "certificate.next.der";
const NEXT_KEY_FILE: &str = "key.next.der";

/// A certificate with its key, ready to be served.
pub struct Identity {
    /// What controllers pin.
    pub fingerprint: String,
    /// A TLS 1.3 server with this identity.
    pub config: Arc<ServerConfig>,
}

/// The certificates that this engine can show.
pub struct Identities {
    folder: PathBuf,
    known: RwLock<Known>,
}

#[derive(Clone)]
struct Known {
    /// Shown to whoever names none.
    current: Arc<Identity>,
    /// Announced, and shown to whoever has pinned it.
    next: Option<Arc<Identity>>,
    /// Those of before, until the engine ends: connections that are made anew in a run find what was pinned.
    former: Vec<Arc<Identity>>,
}

impl Identities {
    /// Reads the identity from the state folder, or makes it there, and the announced one.
    pub fn open(state_folder: &Path) -> Result<Self> {
        let folder = state_folder.to_owned();
        finish_renaming(&folder).context("can't put the engine's new certificate in place")?;
        if !folder.join(CERTIFICATE_FILE).exists() {
            make(&folder, CERTIFICATE_FILE, KEY_FILE)
                .context("can't make the engine's certificate")?;
        }
        let current = read(&folder, CERTIFICATE_FILE, KEY_FILE)?;
        let next = folder.join(NEXT_CERTIFICATE_FILE).exists();
        let next = next.then(|| read(&folder, NEXT_CERTIFICATE_FILE, NEXT_KEY_FILE)).transpose()?;
        let known = RwLock::new(Known { current, next, former: Vec::new() });
        Ok(Self { folder, known })
    }

    pub fn current(&self) -> Arc<Identity> {
        self.known().current
    }

    /// The identity for a handshake with this server name: the one that it names, else the current one.
    pub fn named(&self, server_name: Option<&str>) -> Arc<Identity> {
        let known = self.known();
        let all = known.next.iter().chain([&known.current]).chain(&known.former);
        let is_named = |it: &&Arc<Identity>| {
            proto::certificate_name(&it.fingerprint).as_deref() == server_name
        };
        Arc::clone(all.clone().find(is_named).unwrap_or(&known.current))
    }

    /// The fingerprint of the next certificate, which is made unless there is one; it is shown to whoever names it.
    pub fn announce(&self) -> Result<String> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = &known.next {
            return Ok(next.fingerprint.clone());
        }
        make(&self.folder, NEXT_CERTIFICATE_FILE, NEXT_KEY_FILE)?;
        let next = read(&self.folder, NEXT_CERTIFICATE_FILE, NEXT_KEY_FILE)?;
        let fingerprint = next.fingerprint.clone();
        known.next = Some(next);
        Ok(fingerprint)
    }

    /// Notes that a token came over a connection with this identity: the announced one is the current one from then on.
    /// Answers whether that is new.
    pub fn use_for_all(&self, used: &Identity) -> bool {
        if self.known().next.is_none_or(|next| next.fingerprint != used.fingerprint) {
            return false;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let Some(next) = known.next.take() else { return false };
        announcement::change_fingerprint(&self.folder, &next.fingerprint);
        let former = std::mem::replace(&mut known.current, next);
        known.former.push(former);
        if let Err(error) = put_in_place(&self.folder) {
            note!(
                "the new certificate can't be put in place ({error}); that is tried again at the next start"
            );
        }
        true
    }

    fn known(&self) -> Known {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// `sha256:` and the lower-case hex of the DER certificate's SHA-256.
pub fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    format!("sha256:{}", proto::hex(&Sha256::digest(certificate)))
}

fn read(folder: &Path, certificate_file: &str, key_file: &str) -> Result<Arc<Identity>> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).with_context(|| format!("can't read {}", path.display()))
    };
    let certificate = CertificateDer::from(read(certificate_file)?);
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(read(key_file)?));
    let fingerprint = fingerprint(&certificate);
    let mut config = ServerConfig::builder_with_provider(Arc::new(crate::tls_provider()))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .context(
            "the certificate and key in the state folder don't fit; remove both to make new ones",
        )?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(Identity { fingerprint, config: Arc::new(config) }))
}

/// The key is written first: a certificate without its key would never be mended.
fn make(folder: &Path, certificate_file: &str, key_file: &str) -> Result<()> {
    let made = rcgen::generate_simple_self_signed(["benchweb-engine".to_owned()])?;
    private_file(&folder.join(key_file))?.write_all(&made.signing_key.serialize_der())?;
    let temporary = folder.join(certificate_file).with_extension("new");
    private_file(&temporary)?.write_all(made.cert.der())?;
    fs::rename(temporary, folder.join(certificate_file))?;
    Ok(())
}

/// The key goes first here too, so that [`finish_renaming`] can tell a half-done step from a certificate that waits.
fn put_in_place(folder: &Path) -> io::Result<()> {
    fs::rename(folder.join(NEXT_KEY_FILE), folder.join(KEY_FILE))?;
    fs::rename(folder.join(NEXT_CERTIFICATE_FILE), folder.join(CERTIFICATE_FILE))
}

fn finish_renaming(folder: &Path) -> io::Result<()> {
    let next = folder.join(NEXT_CERTIFICATE_FILE);
    if next.exists() && !folder.join(NEXT_KEY_FILE).exists() {
        fs::rename(next, folder.join(CERTIFICATE_FILE))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn shown(identities: &Identities, fingerprint: &str) -> String {
        identities.named(proto::certificate_name(fingerprint).as_deref()).fingerprint.clone()
    }

    #[test]
    fn the_identity_is_made_once_and_its_key_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let first = Identities::open(folder.path()).unwrap().current();
        assert_eq!(first.fingerprint.len(), "sha256:".len() + 64);
        let again = Identities::open(folder.path()).unwrap().current();
        assert_eq!(again.fingerprint, first.fingerprint);
        let mode = fs::metadata(folder.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn each_controller_is_shown_what_it_pinned_until_the_next_was_used_and_the_engine_started_again()
     {
        let folder = tempfile::tempdir().unwrap();
        let identities = Identities::open(folder.path()).unwrap();
        let old = identities.current().fingerprint.clone();
        let new = identities.announce().unwrap();
        assert_eq!(identities.announce().unwrap(), new);
        assert!(!identities.use_for_all(&identities.named(None)));
        assert_eq!(
            (shown(&identities, &old), shown(&identities, &new)),
            (old.clone(), new.clone())
        );
        assert_eq!(identities.named(None).fingerprint, old);
        // Announced is announced, whatever ends in between.
        let identities = Identities::open(folder.path()).unwrap();
        let next = identities.named(proto::certificate_name(&new).as_deref());
        assert!(identities.use_for_all(&next) && !identities.use_for_all(&next));
        assert_eq!(identities.named(None).fingerprint, new);
        assert_eq!(shown(&identities, &old), old);
        let identities = Identities::open(folder.path()).unwrap();
        assert_eq!(shown(&identities, &old), new);
    }

    #[test]
    fn a_step_that_was_half_done_is_finished_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let new = Identities::open(folder.path()).unwrap().announce().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::rename(path(NEXT_KEY_FILE), path(KEY_FILE)).unwrap();
        assert_eq!(Identities::open(folder.path()).unwrap().current().fingerprint, new);
    }
}
