//! Proof to a browser on another machine that the page is ours, and that nobody reads along.

use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::version::TLS13;

/// A certificate and its key.
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate: CertificateDer<'static>,
}

impl Tls {
    /// Reads a chain of certificates, the server's first, and the key, both PEM. An error is a message for the user.
    pub fn read(chain: &Path, key: &Path) -> Result<Tls, String> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let certificates = CertificateDer::pem_file_iter(chain).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let certificates = certificates.map_err(|error| failed(chain, &error))?;
        let own = certificates.first().ok_or_else(|| failed(chain, &"there is no certificate in it"))?.clone();
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
        // Every browser that can run the page speaks this version.
        let config =
            ServerConfig::builder_with_provider(Arc::new(default_provider())).with_protocol_versions(&[&TLS13]);
        let config = config.map_err(|error| error.to_string())?.with_no_client_auth();
        let mut config = config.with_single_cert(certificates, secret).map_err(|error| failed(chain, &error))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { config: Arc::new(config), certificate: own })
    }

    /// What greets a browser.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.clone())
    }

    /// Whether the certificate is for a name or an address.
    pub fn is_named(&self, name: &str) -> bool {
        let (Ok(certificate), Ok(name)) = (ParsedCertificate::try_from(&self.certificate), ServerName::try_from(name))
        else {
            return false;
        };
        verify_server_name(&certificate, &name).is_ok()
    }
}
