//! Checks the version of a Qdrant server.

use crate::index::IndexError;

/// The oldest version that this program was written for. The newest features that it uses are from 1.10: multivectors, prefetches, and sparse vectors
/// with `idf`.
const OLDEST: [u32; 3] = [1, 15, 2];

/// Checks a server's version. A version that is not made of numbers is accepted, because it may be a custom build.
///
/// # Errors
/// [`IndexError::TooOld`] with both versions.
pub(super) fn check(found: &str) -> Result<(), IndexError> {
    match numbers(found) {
        Some(version) if version < OLDEST => Err(IndexError::TooOld {
            found: found.to_owned(),
            needed: OLDEST.map(|number| number.to_string()).join("."),
        }),
        _ => Ok(()),
    }
}

/// Parses the numbers of `1.15.2` or `v1.15.2-dev`.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let version = version.trim_start_matches('v');
    let (version, _) = version.split_once(['-', '+']).unwrap_or((version, ""));
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qdrant_that_is_too_old_is_told_which_is_needed() {
        for found in ["1.15.1", "1.9.7", "0.11.0", "v1.14.0"] {
            let message = check(found).expect_err(found).to_string();
            assert!(message.contains(found), "{message}");
            assert!(message.contains("1.15.2"), "{message}");
        }
        for found in ["1.15.2", "1.15.10", "1.20.0-dev", "2.0.0", "nightly"] {
            check(found).expect(found);
        }
    }
}
