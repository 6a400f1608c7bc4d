//! Moves labels to their block, such as the title of code or the name of an admonition, and removes closing questions to the reader.

use std::sync::LazyLock;

use regex::Regex;

use super::{BlockKind, QuotableBlock};

/// The name of an admonition, with an optional title that is no sentence.
static ADMONITION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(note|tip|info|caution|warning|danger|important|success|secondary)(: [^\n]*[^\n.!?…。！？])?$",
    )
    .expect("the pattern is a constant")
});
/// The most words of an admonition's name with its title. A longer text is a note of its own.
const MAX_TITLED_WORDS: usize = 8;
/// The most words of an admonition's title that can serve as its name.
const NAME_WORDS: usize = 3;
/// A Markdown link as written in a quote.
static LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\*{0,2}\[(?:[^\[\]\\]|\\.)+\]\([^()\s]+\)\*{0,2}$")
        .expect("the pattern is a constant")
});
/// A paragraph that begins with a question to the reader, such as "Ready to simulate? Continue with …".
static ASKS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[^.!?]{8,200}\?\s").expect("the pattern is a constant"));

/// Appends a block. The previous block is merged into the new one if it is a title of code or the name of an admonition, but not if it is the label of
/// a tab, which is shown above the whole panel.
pub(super) fn push(blocks: &mut Vec<QuotableBlock>, mut block: QuotableBlock, is_next_line: bool) {
    if block.kind == BlockKind::Heading {
        close_section(blocks);
    }
    let before = blocks.last().filter(|before| !block.is_labelled_by(before));
    let label = before.filter(|label| match &block.kind {
        BlockKind::Code(_) => label.is_short_line() && (is_next_line || label.is_label()),
        BlockKind::Paragraph => is_admonition(label),
        _ => false,
    });
    if let Some(label) = label {
        block.text = format!("{}\n{}", label.text, block.text);
        match &mut block.kind {
            BlockKind::Code(code) => code.title.clone_from(&label.text),
            _ => block.markdown = format!("**{}:** {}", name_of(&label.markdown), block.markdown),
        }
        blocks.pop();
    }
    blocks.push(block);
}

/// Returns the name of an admonition; its title alone if that can serve as a name, such as "Pro Tip".
fn name_of(label: &str) -> &str {
    let title = label.split_once(": ").map_or("", |(_, title)| title);
    let is_name = title.split_whitespace().count() <= NAME_WORDS
        && title
            .split_whitespace()
            .any(|word| ADMONITION.is_match(word));
    if is_name { title } else { label }
}

/// Removes questions to the reader and admonition names from the end of a section, but never all its blocks.
pub(super) fn close_section(blocks: &mut Vec<QuotableBlock>) {
    while let [.., before, last] = &**blocks
        && before.kind != BlockKind::Heading
        && last.kind == BlockKind::Paragraph
        && (asks_the_reader(last) || is_admonition(last))
    {
        blocks.pop();
    }
}

/// True for a question to the reader with what to do next, but not for a question that the paragraph answers.
fn asks_the_reader(block: &QuotableBlock) -> bool {
    ASKS.is_match(&block.text) && !block.asks()
}

/// True if Markdown is a single link.
pub(super) fn is_link(markdown: &str) -> bool {
    LINK.is_match(markdown)
}

fn is_admonition(block: &QuotableBlock) -> bool {
    block.kind == BlockKind::Paragraph && is_admonition_name(&block.text)
}

/// True for the name of an admonition, with an optional title.
pub(crate) fn is_admonition_name(text: &str) -> bool {
    text.split_whitespace().count() <= MAX_TITLED_WORDS && ADMONITION.is_match(text)
}
