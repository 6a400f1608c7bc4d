//! Reads a public key from PEM and determines its only algorithm.

use jsonwebtoken::{Algorithm, DecodingKey};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::alg_id::{ECDSA_P256, ED25519, RSA_ENCRYPTION};
use rustls::pki_types::pem::PemObject;

/// Tags of DER (X.690).
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

/// Marks an uncompressed point, which has two coordinates of 32 bytes (SEC 1, section 2.3.3).
const UNCOMPRESSED: u8 = 4;
const P256_POINT_BYTES: usize = 65;
const ED25519_KEY_BYTES: usize = 32;
/// Accepted RSA modulus lengths, in bits.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2_048..=8_192;

/// Reads the first public key of a PEM.
///
/// # Errors
///
/// A phrase that follows the name of the PEM.
pub(super) fn read(pem: &str) -> Result<(Algorithm, DecodingKey), String> {
    let key = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes())
        .map_err(|_| "holds no PEM of a public key (-----BEGIN PUBLIC KEY-----)".to_owned())?;
    let (algorithm, key) = algorithm_and_key(&key).ok_or("holds a public key that is damaged")?;
    if algorithm == RSA_ENCRYPTION.as_ref()
        && modulus_bits(key).is_some_and(|bits| RSA_BITS.contains(&bits))
    {
        Ok((Algorithm::RS256, DecodingKey::from_rsa_der(key)))
    } else if algorithm == ECDSA_P256.as_ref()
        && key.len() == P256_POINT_BYTES
        && key[0] == UNCOMPRESSED
    {
        Ok((Algorithm::ES256, DecodingKey::from_ec_der(key)))
    } else if algorithm == ED25519.as_ref() && key.len() == ED25519_KEY_BYTES {
        Ok((Algorithm::EdDSA, DecodingKey::from_ed_der(key)))
    } else {
        Err(format!(
            "fits no algorithm: RS256 takes RSA of {} to {} bits, ES256 the curve P-256, EdDSA Ed25519",
            RSA_BITS.start(),
            RSA_BITS.end()
        ))
    }
}

/// Returns the parts of a `SubjectPublicKeyInfo` (RFC 5280, section 4.1).
fn algorithm_and_key(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (info, []) = element(SEQUENCE, der)? else {
        return None;
    };
    let (algorithm, rest) = element(SEQUENCE, info)?;
    // The first byte is the number of unused bits, which must be 0.
    let ([0, key @ ..], []) = element(BIT_STRING, rest)? else {
        return None;
    };
    Some((algorithm, key))
}

/// Returns the length of an `RSAPublicKey`'s modulus (RFC 8017, appendix A.1.1).
fn modulus_bits(der: &[u8]) -> Option<usize> {
    let (key, _) = element(SEQUENCE, der)?;
    let (modulus, _) = element(INTEGER, key)?;
    let first = modulus.iter().position(|byte| *byte != 0)?;
    let unused = modulus[first].leading_zeros();
    Some((modulus.len() - first) * 8 - usize::try_from(unused).ok()?)
}

/// Returns the content of the first element, which must have this tag, and the bytes after it.
fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let [found, length, rest @ ..] = der else {
        return None;
    };
    if *found != tag {
        return None;
    }
    match length {
        0..=0x7f => rest.split_at_checked(usize::from(*length)),
        0x81 => {
            let (length, rest) = rest.split_first()?;
            rest.split_at_checked(usize::from(*length))
        }
        0x82 => {
            let (length, rest) = rest.split_first_chunk()?;
            rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
        }
        // No key needs a length of more than two bytes.
        _ => None,
    }
}
