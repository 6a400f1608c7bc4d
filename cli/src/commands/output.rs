//! Prints output: the only code that writes to standard output. Control characters from a book or a model are removed.

use std::io::Write;

use bookrag::cite::visible;
use serde::Serialize;

/// Prints a value as JSON on one line. If the pipe is closed, the output is silently dropped.
pub(super) fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        // Unfiltered: JSON escapes control characters, and programs need the full text.
        Ok(text) => {
            let _ = writeln!(std::io::stdout(), "{text}");
        }
        Err(error) => eprintln!("error: {error}"),
    }
}

/// Prints a line. If the pipe is closed, the output is silently dropped.
pub(super) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{}", visible(text));
}

/// Prints text without a line end and flushes it.
pub(super) fn text(text: &str) {
    let mut out = std::io::stdout();
    let _ = out
        .write_all(visible(text).as_bytes())
        .and_then(|()| out.flush());
}

/// Names a section: the page's title and the heading, or the title alone for the text above the first heading.
pub(super) fn place(title: &str, section: &str) -> String {
    if title == section {
        title.to_owned()
    } else {
        format!("{title} – {section}")
    }
}

/// Prints progress on standard error.
pub(super) fn status(text: &str) {
    eprintln!("{}", visible(text));
}

/// Prints an error.
pub(super) fn failure(message: &str, as_json: bool) {
    if as_json {
        json(&serde_json::json!({"success": false, "error": {"message": message}}));
    } else {
        eprintln!("error: {}", visible(message));
    }
}
