//! Encryption with the person's certificate, so that browsers of other machines can connect.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::{Error, Kind};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The files of a certificate, as PEM.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The certificate, and those that vouch for it.
    pub chain: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What encrypts connections with this certificate.
pub(crate) fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, Error> {
    let chain = CertificateDer::pem_file_iter(&certificate.chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(&certificate.chain, &error))?;
    let key = PrivateKeyDer::from_pem_file(&certificate.key)
        .map_err(|error| unreadable(&certificate.key, &error))?;
    let unusable = |error| {
        let attempt = format!("cannot use the certificate in {}", certificate.chain.display());
        Error::caused(Kind::Usage, attempt, &error).hint("give a certificate and its own private key")
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unreadable(path: &Path, error: &pem::Error) -> Error {
    Error::caused(Kind::Usage, format!("cannot read {} as PEM", path.display()), error)
}
