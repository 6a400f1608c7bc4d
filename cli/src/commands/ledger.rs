//! `bookrag chunks --ledger`: checks that every piece of every page is in a chunk, or is listed with the reason why it is not.

use std::collections::BTreeMap;

use bookrag::chunk::{ChunkPolicy, LedgerEntry, chunk_document, ledger};

use super::{Exit, Output, output};
use crate::pages::{ReadPages, Unread};

/// Prints the ledger of a book. Partial if text is lost or a page could not be read.
pub(super) fn run(read: &ReadPages, policy: &ChunkPolicy, output: Output) -> Exit {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let (mut in_chunks, mut lost) = (0, 0);
    for page in &read.pages {
        let source = &page.file.source;
        let document = match &page.document {
            Ok(document) => document,
            Err(reason) => {
                let what = match reason {
                    Unread::Skipped(_) => "skipped",
                    Unread::Unreadable(_) => "not read",
                };
                *reasons.entry(format!("page {what}")).or_default() += 1;
                if output == Output::Json {
                    output::json(&serde_json::json!({"source": source, what: reason.to_string()}));
                } else {
                    output::line(&format!("{source}: {what}: {reason}"));
                }
                continue;
            }
        };
        for entry in ledger(&page.text, document, &chunk_document(document, policy)) {
            in_chunks += usize::from(!entry.chunks.is_empty());
            lost += usize::from(!entry.unaccounted.is_empty());
            for omission in &entry.left_out {
                *reasons.entry(omission.reason.to_string()).or_default() += 1;
            }
            if output == Output::Json {
                output::json(&line(source, &entry));
            } else if !entry.unaccounted.is_empty() {
                let words = entry.unaccounted.join(" ");
                output::line(&format!(
                    "{source}, line {}: lost: {words}",
                    entry.start_line
                ));
            }
        }
    }
    if output == Output::Text {
        output::line(&format!(
            "{} pages: {in_chunks} pieces in chunks, {lost} lost",
            read.pages.len()
        ));
        for (reason, count) in reasons {
            output::line(&format!("  left out: {count:>6}  {reason}"));
        }
    }
    if lost > 0 || read.are_incomplete() {
        Exit::Partial
    } else {
        Exit::Done
    }
}

fn line(source: &str, entry: &LedgerEntry) -> serde_json::Value {
    let left_out: Vec<_> = entry
        .left_out
        .iter()
        .map(|omission| {
            serde_json::json!({
                "reason": omission.reason.to_string(),
                "start_line": omission.start_line,
                "end_line": omission.end_line,
                "text": omission.text,
            })
        })
        .collect();
    serde_json::json!({
        "source": source,
        "start_line": entry.start_line,
        "end_line": entry.end_line,
        "chunks": entry.chunks,
        "left_out": left_out,
        "unaccounted": entry.unaccounted,
    })
}
