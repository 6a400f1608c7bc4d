//! Checks token signatures with `ring`, which TLS uses too; `jsonwebtoken` has no cryptography of its own.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result, new_error};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};

/// Makes `ring` the provider for checking tokens. Further calls change nothing.
pub(super) fn install() {
    static RING: CryptoProvider = CryptoProvider {
        signer_factory: no_signer,
        verifier_factory: verifier,
        key_utils: KeyUtils::new_unimplemented(),
    };
    // An error means that it is already installed; nothing else in this process installs one.
    let _ = RING.install_default();
}

/// Tokens are only verified here, never signed.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the type of a provider's function"
)]
fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(new_error(ErrorKind::UnsupportedAlgorithm))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the type of a provider's function"
)]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    let scheme = match algorithm {
        Algorithm::HS256 => Scheme::Secret,
        Algorithm::RS256 => Scheme::PublicKey(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::ES256 => Scheme::PublicKey(&ECDSA_P256_SHA256_FIXED),
        Algorithm::EdDSA => Scheme::PublicKey(&ED25519),
        _ => return Err(new_error(ErrorKind::InvalidAlgorithm)),
    };
    // A public key is not secret, so it must not verify a token as an HMAC key.
    if key.family() != algorithm.family() {
        return Err(new_error(ErrorKind::InvalidAlgorithm));
    }
    Ok(Box::new(RingVerifier {
        algorithm: *algorithm,
        scheme,
        key: key.clone(),
    }))
}

struct RingVerifier {
    algorithm: Algorithm,
    scheme: Scheme,
    key: DecodingKey,
}

enum Scheme {
    /// HMAC with SHA-256.
    Secret,
    PublicKey(&'static dyn VerificationAlgorithm),
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let key = self.key.try_get_as_bytes().map_err(|_| Error::new())?;
        let verified = match self.scheme {
            Scheme::Secret => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, key);
                hmac::verify(&key, message, signature)
            }
            Scheme::PublicKey(algorithm) => {
                UnparsedPublicKey::new(algorithm, key).verify(message, signature)
            }
        };
        verified.map_err(|_| Error::new())
    }
}
