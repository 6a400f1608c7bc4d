//! Hashes that show whether a page must be read again.

use md5::Md5;
use sha2::{Digest, Sha256};

use crate::inputs::Inputs;

/// The version of the reader. Raise it if the same bytes are read differently, so that pages are read again.
pub const READER_VERSION: u32 = 19;

/// Returns a hash of the page's bytes, everything it uses, and the reader's version. If it is unchanged, the page need not be read
/// again.
#[must_use]
pub fn fingerprint(reading_key: &str, bytes: &[u8], inputs: &Inputs) -> String {
    let etags: Vec<(&str, Option<String>)> = inputs
        .iter()
        .map(|(path, input)| (path.as_str(), input.content().map(etag)))
        .collect();
    let etags = etags.iter().map(|(path, etag)| (*path, etag.as_deref()));
    fingerprint_by_etags(reading_key, &etag(bytes), etags)
}

/// Returns the [`fingerprint`] from [`etag`]s: the page's, and those of the other files it used or looked for, by path; `None` for a
/// file that does not exist.
pub fn fingerprint_by_etags<'a>(
    reading_key: &str,
    page: &str,
    inputs: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) -> String {
    let mut hash = Sha256::new();
    hash.update(READER_VERSION.to_le_bytes());
    let files = inputs.flat_map(|(path, etag)| [path, etag.unwrap_or_default()]);
    for text in [reading_key, page].into_iter().chain(files) {
        // Hashing the length as well makes different lists of texts distinct.
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hex(&hash.finalize())
}

/// Returns the `ETag` that S3 gives to an object with these bytes: their MD5 in hexadecimal. Objects uploaded in parts or encrypted
/// with a KMS key have another one.
#[must_use]
pub fn etag(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

/// Formats bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}
