//! What commands print: the only place that writes to standard output. What a book or a model says to the terminal itself is left out.

use std::io::Write;

use bookrag::cite::visible;
use serde::Serialize;

/// Prints a value as JSON on one line. A closed pipe ends the output quietly.
pub(super) fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        // As it is: JSON escapes what a terminal would obey, and programs want all of it.
        Ok(text) => {
            let _ = writeln!(std::io::stdout(), "{text}");
        }
        Err(error) => eprintln!("error: {error}"),
    }
}

/// Prints a line. A closed pipe ends the output quietly.
pub(super) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{}", visible(text));
}

/// Prints text without a line end, at once.
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

/// Tells on standard error what a person waits for.
pub(super) fn status(text: &str) {
    eprintln!("{}", visible(text));
}

/// Tells what failed.
pub(super) fn failure(message: &str, as_json: bool) {
    if as_json {
        json(&serde_json::json!({"success": false, "error": {"message": message}}));
    } else {
        eprintln!("error: {}", visible(message));
    }
}
