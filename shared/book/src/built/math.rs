//! A formula in an HTML page.

use std::mem::take;
use std::ops::Range;

use crate::webpage::{Start, attribute};

/// A `<math>` element while it is read. Its source in TeX, which most generators add as an annotation, replaces its symbols.
#[derive(Debug, Default)]
pub(super) struct Math {
    /// The offset at which its content begins.
    pub(super) from: usize,
    is_display: bool,
    /// The encoding of the open annotation; empty outside of one.
    encoding: Option<String>,
    tex: String,
    symbols: String,
    /// The places of texts that are not shown.
    unshown: Vec<Range<usize>>,
}

impl Math {
    pub(super) fn new(tag: &Start) -> Self {
        Self {
            from: tag.span.end,
            is_display: attribute(tag, "display").is_some_and(|display| display == "block"),
            tex: attribute(tag, "alttext").unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Reads a start tag within the formula.
    pub(super) fn start(&mut self, tag: &Start) {
        if tag.name.starts_with(b"annotation") && !tag.self_closing {
            self.encoding = Some(attribute(tag, "encoding").unwrap_or_default());
        }
    }

    /// Reads an end tag. Returns true if it ends the formula.
    pub(super) fn end(&mut self, name: &[u8]) -> bool {
        if name.starts_with(b"annotation") {
            self.encoding = None;
        }
        name == b"math"
    }

    /// Reads a text.
    pub(super) fn push(&mut self, text: &str, source: Range<usize>) {
        match self.encoding.as_deref() {
            Some("application/x-tex") => self.tex.push_str(text),
            None if self.tex.is_empty() => {
                self.symbols.push_str(text);
                self.unshown.push(source);
            }
            _ => self.unshown.push(source),
        }
    }

    /// Returns the formula as text, its TeX with dollar signs or else its symbols, and the places of what is not shown.
    pub(super) fn finish(&mut self) -> (String, Vec<Range<usize>>) {
        let unshown = take(&mut self.unshown);
        match (self.tex.trim(), self.is_display) {
            ("", _) => (take(&mut self.symbols), Vec::new()),
            (tex, false) => (format!("${tex}$"), unshown),
            (tex, true) => (format!("$${tex}$$"), unshown),
        }
    }
}
