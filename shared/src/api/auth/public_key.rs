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
    let read = if algorithm == RSA_ENCRYPTION.as_ref() {
        rsa_der(key)
    } else if algorithm == ECDSA_P256.as_ref() {
        p256_point(key)
    } else if algorithm == ED25519.as_ref() {
        ed25519(key)
    } else {
        None
    };
    read.ok_or_else(|| {
        format!(
            "fits no algorithm: RS256 takes RSA of {} to {} bits, ES256 the curve P-256, EdDSA Ed25519",
            RSA_BITS.start(),
            RSA_BITS.end()
        )
    })
}

/// Returns the RSA key with this modulus and exponent, without leading zeros; `None` if its length is not accepted.
pub(super) fn rsa(modulus: &[u8], exponent: &[u8]) -> Option<(Algorithm, DecodingKey)> {
    let numbers = [integer(modulus)?, integer(exponent)?].concat();
    rsa_der(&written(SEQUENCE, &numbers)?)
}

/// Returns the key of the curve P-256 with these coordinates; `None` if their lengths are wrong.
pub(super) fn p256(x: &[u8], y: &[u8]) -> Option<(Algorithm, DecodingKey)> {
    p256_point(&[&[UNCOMPRESSED], x, y].concat())
}

/// Returns the Ed25519 key with these bytes; `None` if their number is wrong.
pub(super) fn ed25519(key: &[u8]) -> Option<(Algorithm, DecodingKey)> {
    let key = (key.len() == ED25519_KEY_BYTES).then(|| DecodingKey::from_ed_der(key))?;
    Some((Algorithm::EdDSA, key))
}

fn rsa_der(key: &[u8]) -> Option<(Algorithm, DecodingKey)> {
    let is_accepted = modulus_bits(key).is_some_and(|bits| RSA_BITS.contains(&bits));
    is_accepted.then(|| (Algorithm::RS256, DecodingKey::from_rsa_der(key)))
}

fn p256_point(key: &[u8]) -> Option<(Algorithm, DecodingKey)> {
    let is_point = key.len() == P256_POINT_BYTES && key[0] == UNCOMPRESSED;
    is_point.then(|| (Algorithm::ES256, DecodingKey::from_ec_der(key)))
}

/// Writes a positive number.
fn integer(bytes: &[u8]) -> Option<Vec<u8>> {
    let first = bytes.iter().position(|byte| *byte != 0)?;
    let mut number = bytes[first..].to_vec();
    // The highest bit is the sign.
    if number[0] >= 0x80 {
        number.insert(0, 0);
    }
    written(INTEGER, &number)
}

/// Writes an element; `None` if it is too long for two bytes of length.
fn written(tag: u8, content: &[u8]) -> Option<Vec<u8>> {
    let [high, low] = u16::try_from(content.len()).ok()?.to_be_bytes();
    let mut element = match (high, low) {
        (0, 0..=0x7f) => vec![tag, low],
        (0, _) => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    element.extend_from_slice(content);
    Some(element)
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
