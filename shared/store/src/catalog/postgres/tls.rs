//! TLS to a database: the trusted authorities and the accepted names.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How a server's certificate is verified. `sslmode=require` is treated like `verify-full`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Identity {
    /// Issued for the host by a trusted authority: `verify-full`.
    Host,
    /// Issued for any name by a trusted authority: `verify-ca`.
    Authority,
}

/// Returns a client that trusts Mozilla's roots and these authorities.
pub(super) fn connector(
    identity: Identity,
    authorities: &[CertificateDer<'static>],
) -> MakeRustlsConnect {
    MakeRustlsConnect::new(client(identity, authorities))
}

fn client(identity: Identity, authorities: &[CertificateDer<'static>]) -> ClientConfig {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    // The configuration has already rejected unreadable certificates.
    roots.add_parsable_certificates(authorities.iter().cloned());
    let provider = Arc::new(ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring supports the default TLS versions");
    match identity {
        Identity::Host => config.with_root_certificates(roots),
        Identity::Authority => config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyName { roots, algorithms })),
    }
    .with_no_client_auth()
}

/// Verifies the issuer of a certificate but ignores its name.
#[derive(Debug)]
struct AnyName {
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let (roots, algorithms) = (&self.roots, self.algorithms.all);
        verify_server_cert_signed_by_trust_anchor(
            &certificate,
            roots,
            intermediates,
            now,
            algorithms,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rustls::pki_types::PrivateKeyDer;
    use rustls::pki_types::pem::PemObject;
    use rustls::{CertificateError, ClientConnection, ServerConfig, ServerConnection};

    use super::*;

    /// The name in `fixtures/tls/server.pem`, which `authority.pem` issued.
    const HOST: &str = "db.example.org";

    fn fixture(name: &str) -> Vec<u8> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/tls");
        std::fs::read(folder.join(name)).unwrap()
    }

    pub(in crate::catalog::postgres) fn certificate(name: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(&fixture(name)).unwrap()
    }

    pub(in crate::catalog::postgres) fn server_config() -> Arc<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let key = PrivateKeyDer::try_from(fixture("server.key.der")).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate("server.pem")], key);
        Arc::new(config.unwrap())
    }

    /// The client's verdict on the server's certificate, after connecting to `name`.
    fn handshake(client: ClientConfig, name: &'static str) -> Result<(), Error> {
        let name = ServerName::try_from(name).unwrap();
        let mut client = ClientConnection::new(Arc::new(client), name)?;
        let mut server = ServerConnection::new(server_config())?;
        while client.is_handshaking() {
            let mut sent = Vec::new();
            client.write_tls(&mut sent).unwrap();
            server.read_tls(&mut sent.as_slice()).unwrap();
            server.process_new_packets()?;
            let mut answered = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut answered).unwrap();
            }
            client.read_tls(&mut answered.as_slice()).unwrap();
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn an_authority_counts_once_it_is_named() {
        let known = [certificate("authority.pem")];
        for identity in [Identity::Host, Identity::Authority] {
            handshake(client(identity, &known), HOST).unwrap();
            let refused = handshake(client(identity, &[]), HOST).unwrap_err();
            let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
            assert_eq!(refused, unknown, "{identity:?}");
        }
    }

    #[test]
    fn only_verify_ca_takes_a_certificate_of_another_name() {
        let known = [certificate("authority.pem")];
        handshake(client(Identity::Authority, &known), "other.example.org").unwrap();
        let refused = handshake(client(Identity::Host, &known), "other.example.org");
        let refused = refused.unwrap_err();
        let is_name = matches!(
            refused,
            Error::InvalidCertificate(CertificateError::NotValidForNameContext { .. })
        );
        assert!(is_name, "{refused}");
    }
}
