//! Classifies Postgres errors by what a caller can do.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use rustls::CertificateError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::catalog::CatalogError;

/// SQLSTATE classes of transient errors: connections, resources, operator intervention, system errors.
const PASSING_CLASSES: [&str; 4] = ["08", "53", "57", "58"];

/// SQLSTATE codes of transient errors: conflicts with other transactions, and idle timeouts.
const PASSING: [SqlState; 4] = [
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
];

/// The error of `tokio-postgres` if the server does not support TLS.
const NO_TLS: &str = "server does not support TLS";

#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: CatalogError,
    /// True if the connection broke, so that a repeatable statement can be retried on another one.
    pub(super) connection_lost: bool,
    pub(super) code: Option<SqlState>,
}

impl Failure {
    pub(super) fn timeout(limit: Duration) -> Self {
        Self {
            error: CatalogError::Unavailable(format!("no answer within {limit:?}")),
            connection_lost: false,
            code: None,
        }
    }

    /// True if the connection may be unusable, because it broke or the failure is not the server's answer.
    pub(super) fn is_of_connection(&self) -> bool {
        self.connection_lost || self.code.is_none()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if let Some(answer) = error.as_db_error() {
            let code = answer.code();
            let text = format!("{} ({})", answer.message(), code.code());
            let passing = PASSING.contains(code)
                || PASSING_CLASSES
                    .iter()
                    .any(|class| code.code().starts_with(class));
            return Self {
                error: if passing {
                    CatalogError::Unavailable(text)
                } else {
                    CatalogError::Rejected(text)
                },
                connection_lost: *code == SqlState::ADMIN_SHUTDOWN
                    || *code == SqlState::CRASH_SHUTDOWN
                    || code.code().starts_with("08"),
                code: Some(code.clone()),
            };
        }
        if let Some(problem) = tls_problem(&error) {
            return Self {
                error: CatalogError::Rejected(problem.to_owned()),
                connection_lost: false,
                code: None,
            };
        }
        // Omit the causes, because some name the host; report only the kind of I/O error.
        let io = error
            .source()
            .and_then(|cause| cause.downcast_ref::<io::Error>());
        match io.map(io::Error::kind) {
            // Not a network error: an invalid value, message or certificate.
            Some(kind @ (io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)) => Self {
                error: CatalogError::Rejected(format!("{error}: {kind}")),
                connection_lost: false,
                code: None,
            },
            Some(kind) => Self {
                error: CatalogError::Unavailable(format!("{error}: {kind}")),
                connection_lost: true,
                code: None,
            },
            None if error.is_closed() => Self {
                error: CatalogError::Unavailable(error.to_string()),
                connection_lost: true,
                code: None,
            },
            None => Self {
                error: CatalogError::Rejected(error.to_string()),
                connection_lost: false,
                code: None,
            },
        }
    }
}

/// Explains why a server's certificate is rejected, and what to do about it.
fn tls_problem(error: &Error) -> Option<&'static str> {
    let cause = error.source()?;
    if cause.to_string() == NO_TLS {
        return Some("the server does not accept TLS connections, but sslmode=require needs one");
    }
    let cause = cause.downcast_ref::<io::Error>()?.get_ref()?;
    match cause.downcast_ref()? {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => Some(
            "the server's certificate is signed by an authority that is not known here; name its certificate in \
             BOOKRAG_DATABASE_CA",
        ),
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => Some(
            "the server's certificate is for another host; correct the host, or set sslmode=verify-ca if that is intended",
        ),
        _ => None,
    }
}

impl From<Failure> for CatalogError {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

impl From<Error> for CatalogError {
    fn from(error: Error) -> Self {
        Failure::from(error).error
    }
}
