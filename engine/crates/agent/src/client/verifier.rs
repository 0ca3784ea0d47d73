//! Which certificate an engine shows, and whether it is the pinned one.

use std::sync::{Mutex, PoisonError};

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{DigitallySignedStruct, Error, SignatureScheme};

use crate::serve::fingerprint;

/// Accepts the one pinned certificate, or notes which one was shown.
#[derive(Debug)]
pub struct Verifier {
    pinned: Option<String>,
    found: Mutex<String>,
    provider: CryptoProvider,
}

impl Verifier {
    /// Without `pinned` any certificate is accepted.
    pub fn new(pinned: Option<&str>) -> Self {
        let pinned = pinned.map(str::to_ascii_lowercase);
        Self { pinned, found: Mutex::default(), provider: crate::tls_provider() }
    }

    /// The fingerprint that was shown; empty before.
    pub fn found(&self) -> String {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let found = fingerprint(certificate);
        let is_accepted = self.pinned.as_ref().is_none_or(|pinned| *pinned == found);
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
        if is_accepted {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::General("the certificate is not the pinned one".to_owned()))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
