//! The text of a file.

use crate::skip_reason::{MAX_PAGE_BYTES, SkipReason};

/// Decodes a file's text: removes the byte order mark and normalises line ends to `\n`.
pub(super) fn decode(bytes: &[u8]) -> Result<String, SkipReason> {
    if bytes.len() > MAX_PAGE_BYTES {
        return Err(SkipReason::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| SkipReason::NotUtf8 {
        line: 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // CommonMark replaces NUL in the same way; Postgres rejects it.
    Ok(with_line_feeds(text).replace('\0', "\u{fffd}"))
}

/// Normalises line ends to `\n`. A lone `\r` is a line end too, as in Markdown.
#[must_use]
pub fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
