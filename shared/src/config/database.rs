//! Reads the certificate authorities that databases may use.

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::settings::Settings;

/// The beginning of PEM certificates.
const PEM_BEGINS: &str = "-----BEGIN";

/// Reads the certificate authorities of `BOOKRAG_DATABASE_CA`, which is a PEM or its file path. Problems are reported to `settings`.
pub(super) fn authorities(settings: &mut Settings<'_>) -> Vec<CertificateDer<'static>> {
    const NAME: &str = "BOOKRAG_DATABASE_CA";
    let Some(value) = settings.text(NAME) else {
        return Vec::new();
    };
    let read = if value.starts_with(PEM_BEGINS) {
        // Some settings editors require a PEM on one line.
        certificates(value.replace("\\n", "\n").as_bytes())
    } else {
        let read = std::fs::read(&value);
        let read = read.map_err(|error| format!("names `{value}`, which cannot be read: {error}"));
        read.and_then(|pem| {
            certificates(&pem).map_err(|problem| format!("names `{value}`, which {problem}"))
        })
    };
    read.unwrap_or_else(|problem| {
        settings.report(format!("{NAME} {problem}"));
        Vec::new()
    })
}

/// Reads all certificates of a PEM.
///
/// # Errors
/// A phrase that follows the name of the PEM.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.unwrap_or_default();
    if read.is_empty() {
        return Err("holds no PEM of a certificate (-----BEGIN CERTIFICATE-----)".to_owned());
    }
    let mut roots = RootCertStore::empty();
    for certificate in &read {
        let added = roots.add(certificate.clone());
        added.map_err(|error| format!("holds a certificate that cannot be used: {error}"))?;
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTHORITY: &str = include_str!("../../fixtures/tls/authority.pem");

    fn read(value: &str) -> Result<usize, String> {
        let variables = [("BOOKRAG_DATABASE_CA".to_owned(), value.to_owned())].into();
        let mut settings = Settings::new(&variables);
        let authorities = authorities(&mut settings);
        match settings.into_problems().pop() {
            Some(problem) => Err(problem),
            None => Ok(authorities.len()),
        }
    }

    #[test]
    fn authorities_are_named_by_their_file_or_given_themselves() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tls/authority.pem");
        let in_one_line = AUTHORITY.trim().replace('\n', "\\n");
        let two = [AUTHORITY, AUTHORITY].concat();
        for (value, count) in [(path, 1), (AUTHORITY, 1), (&in_one_line, 1), (&two, 2)] {
            assert_eq!(read(value), Ok(count), "{value}");
        }
    }

    #[test]
    fn what_holds_no_certificate_is_refused_by_name() {
        let empty = "-----BEGIN CERTIFICATE-----";
        let damaged = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----";
        let missing = "/no/such/authority.pem";
        for value in [empty, damaged, missing, "-----BEGIN"] {
            let problem = read(value).expect_err(value);
            assert!(problem.starts_with("BOOKRAG_DATABASE_CA "), "{problem}");
        }
        let problem = read(missing).expect_err("no file");
        assert!(problem.contains(missing), "{problem}");
    }
}
