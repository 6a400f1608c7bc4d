//! Properties of every readable page.

use std::collections::HashSet;
use std::sync::LazyLock;

use book::Document;
use book::chunk::{Chunk, ChunkPolicy, chunk_document, count_tokens, ledger};

/// What to do with words that are neither in a chunk nor left out for a reason: `print` lists them, `fail` ends the
/// run; if unset, they are ignored.
static UNACCOUNTED: LazyLock<Option<String>> =
    LazyLock::new(|| std::env::var("BOOKRAG_FUZZ_UNACCOUNTED").ok());

/// Asserts the properties of a page with this text; `again` is a second reading of the same bytes.
pub(super) fn check_document(text: &str, document: &Document, again: &Document) {
    let lines = lines_of(text);
    check_same(document, again);
    for block in &document.blocks {
        check_lines(block.start_line, block.end_line, lines);
    }
    for omission in &document.omissions {
        check_lines(omission.start_line, omission.end_line, lines);
    }
    for policy in ChunkPolicy::ALL {
        let chunks = chunk_document(document, &policy);
        assert_eq!(
            chunks,
            chunk_document(again, &policy),
            "the same bytes give other chunks"
        );
        check_chunks(document, &chunks, &policy, lines);
        check_ledger(text, document, &chunks);
    }
}

/// Compares two readings of the same bytes, and reports the first difference before the whole.
fn check_same(document: &Document, again: &Document) {
    for (block, other) in document.blocks.iter().zip(&again.blocks) {
        assert_eq!(block, other, "the same bytes give other blocks");
    }
    for (omission, other) in document.omissions.iter().zip(&again.omissions) {
        assert_eq!(omission, other, "the same bytes leave out other pieces");
    }
    assert_eq!(document, again, "the same bytes give another document");
}

fn check_chunks(document: &Document, chunks: &[Chunk], policy: &ChunkPolicy, lines: u32) {
    let has_text = document
        .blocks
        .iter()
        .any(|block| !block.text.trim().is_empty());
    assert!(!has_text || !chunks.is_empty(), "text is in no chunk");
    let mut ids = HashSet::new();
    for chunk in chunks {
        check_lines(chunk.start_line, chunk.end_line, lines);
        assert_eq!(
            chunk.token_count,
            count_tokens(&chunk.text),
            "{:?}",
            chunk.text
        );
        assert!(chunk.token_count <= policy.flag_above_tokens || chunk.oversized);
        assert!(chunk.chunk_index < chunk.chunk_count);
        assert!(
            ids.insert(chunk.chunk_id),
            "two chunks of {} have one id",
            policy.name
        );
    }
}

fn check_ledger(text: &str, document: &Document, chunks: &[Chunk]) {
    let entries = ledger(text, document, chunks);
    let Some(mode) = UNACCOUNTED.as_deref() else {
        return;
    };
    for entry in entries.iter().filter(|entry| !entry.unaccounted.is_empty()) {
        let case = format!(
            "unaccounted in lines {}-{}: {:?} of {text:?}",
            entry.start_line, entry.end_line, entry.unaccounted
        );
        assert!(mode != "fail", "{case}");
        eprintln!("{case}");
    }
}

fn check_lines(start: u32, end: u32, lines: u32) {
    assert!(
        1 <= start && start <= end && end <= lines,
        "lines {start}-{end} of {lines}"
    );
}

/// Returns the number of lines, at least one; a lone carriage return also ends a line.
fn lines_of(text: &str) -> u32 {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = text.lines().count().max(1);
    u32::try_from(lines).expect("a page is shorter")
}
