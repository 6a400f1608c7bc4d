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
    /// The file exists and is not one that the site publishes, so nobody may read it.
    #[error("{path} is not read: {reason}")]
    NotPublished {
        /// The path.
        path: String,
        /// Why, and what to do.
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

impl SourceError {
    pub(super) fn not_published(path: &str, reason: String) -> Self {
        Self::NotPublished {
            path: path.to_owned(),
            reason,
        }
    }
}
