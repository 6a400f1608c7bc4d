//! Shortcodes of emojis, such as `:rocket:`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use text::marks::REMOVED;

/// What may be a shortcode (remark-emoji 4.0).
pub(super) static SHORTCODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r":(\+1|[A-Za-z0-9_-]+):").expect("the pattern is a constant"));

/// Marks the shortcodes in text that is no Markdown, such as that of attributes and expressions: Docusaurus shows them as they are written.
pub(super) fn verbatim(text: &str) -> Cow<'_, str> {
    // The last colon may begin another shortcode.
    SHORTCODE.replace_all(text, |code: &Captures<'_>| {
        format!(":{REMOVED}{}:{REMOVED}", &code[1])
    })
}

#[cfg(test)]
mod tests {
    use crate::markdown::parse_blocks;
    use crate::mdx::tests::{MARKDOWN, MDX};
    use crate::mdx::{PageValues, prepare};
    use crate::slug::Slugger;

    #[test]
    fn only_shortcodes_in_markdown_are_emojis() {
        for (page, shown) in [
            ("Go :rocket: {'a :rocket: b'}", "Go 🚀 a :rocket: b"),
            ("{':x:rocket:'} :rocket:", ":x:rocket: 🚀"),
            ("export const a = ':rocket:'\n\n{a}", ":rocket:"),
            ("{`a :rocket:`}", "a :rocket:"),
            ("<Card title=\"Go :rocket: :+1:\" />", "Go :rocket: :+1:"),
            ("<Card>:rocket:</Card>", "🚀"),
            ("## :rocket: {':rocket:'}", "🚀 :rocket:"),
            ("## A <Term tip=\"b\" title=\":rocket:\" />", "A :rocket:"),
            ("<h2>{':rocket:'}</h2>", ":rocket:"),
            ("| {':rocket:'} | :rocket: |\n|-|-|", ":rocket: | 🚀"),
            ("- {':rocket:'}", "- :rocket:"),
            ("<TabItem value=\":rocket:\">\n\n</TabItem>", ":rocket:"),
            ("<Admonition title=\":rocket:\" />", "Info: :rocket:"),
            ("{'10:20:30'}", "10:20:30"),
        ] {
            let partials = std::collections::BTreeMap::new();
            let prepared = prepare(page, 1, MDX, &partials, PageValues::default());
            let lines: Vec<&str> = page.lines().collect();
            let parsed = parse_blocks(&prepared, &lines, MDX, &mut Slugger::default());
            let texts: Vec<&str> = parsed.blocks.iter().map(|it| it.text.as_str()).collect();
            assert_eq!(texts, [shown], "{page}");
        }
    }

    #[test]
    fn shortcodes_in_a_block_of_html_are_shown_as_they_are_written() {
        let page = "<div>\n:rocket:\n</div>\n\n:rocket:";
        let partials = std::collections::BTreeMap::new();
        let prepared = prepare(page, 1, MARKDOWN, &partials, PageValues::default());
        let lines: Vec<&str> = page.lines().collect();
        let parsed = parse_blocks(&prepared, &lines, MARKDOWN, &mut Slugger::default());
        let texts: Vec<&str> = parsed.blocks.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, [":rocket:", "🚀"]);
    }
}
