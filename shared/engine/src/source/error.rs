//! The reasons that files of the book cannot be read.

use book::SettingsError;

/// The reason that a file could not be listed or read. An absent file is not an error.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The folder or bucket itself does not exist.
    #[error("{0} does not exist")]
    NotFound(String),
    /// A bucket is named, and this build reads only folders.
    #[error(
        "{0} is a bucket, and this build reads only folders; build bookrag with `--features cloud`"
    )]
    NotInThisBuild(String),
    /// Access is denied to this path; other files may be readable.
    #[error("{path} may not be read: {reason}")]
    Forbidden {
        /// The path.
        path: String,
        /// The message of the system or service.
        reason: String,
    },
    /// A folder or bucket holds several sites.
    #[error("{at} holds several sites, of which one must be named: {}", sites.join(", "))]
    SeveralSites {
        /// The folder or bucket.
        at: String,
        /// The sites' folders.
        sites: Vec<String>,
    },
    /// The site's settings are invalid. The author must correct them; retrying does not help.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Any transient failure.
    #[error("{path} could not be read: {reason}")]
    Unavailable {
        /// The path.
        path: String,
        /// The message of the system or service.
        reason: String,
    },
}
