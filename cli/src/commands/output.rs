//! Prints output: the only code that writes to standard output. Control characters from a book or a model are removed.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use bookrag::invisible::visible;
use serde::Serialize;

/// How a command prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// For people.
    Text,
    /// For programs: `--json`.
    Json,
}

/// True once output was lost, for example because the disk is full.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Prints a value as JSON on one line.
pub(super) fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        // Unfiltered: JSON escapes control characters, and programs need the full text.
        Ok(json) => write(&format!("{json}\n")),
        Err(error) => lose(&error.to_string()),
    }
}

/// Prints a line.
pub(super) fn line(text: &str) {
    write(&format!("{}\n", visible(text)));
}

/// Prints text without a line end.
pub(super) fn text(text: &str) {
    write(&visible(text));
}

/// Prints text for programs, such as paths, with its control characters.
pub(super) fn raw(text: &str) {
    write(text);
}

/// True if writing to standard output failed; the error was already printed. A closed pipe does not count, because its reader wants no more.
pub(super) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            lose(&format!("standard output cannot be written: {error}"));
        }
        _ => {}
    }
}

/// Prints the first error only: the next lines fail in the same way.
fn lose(error: &str) {
    if !IS_LOST.swap(true, Ordering::Relaxed) {
        eprintln!("error: {error}");
    }
}

/// Names a section: the page's title and the heading, or the title alone for the text above the first heading.
pub(super) fn place(title: &str, section: &str) -> String {
    if title == section {
        title.to_owned()
    } else {
        format!("{title} – {section}")
    }
}

/// Returns the lines of a file as people read them. The lines of HTML are left out: nobody reads them.
pub(super) fn lines_in_file(source: &str, first: u32, last: u32) -> String {
    const HTML: &str = ".html";
    if source.ends_with(HTML) {
        source.to_owned()
    } else {
        format!("{source} lines {first}–{last}")
    }
}

/// Prints progress on standard error.
pub(crate) fn status(text: &str) {
    eprintln!("{}", visible(text));
}

/// Prints an error.
pub(super) fn failure(message: &str, output: Output) {
    match output {
        Output::Json => {
            json(&serde_json::json!({"success": false, "error": {"message": message}}));
        }
        Output::Text => eprintln!("error: {}", visible(message)),
    }
}
