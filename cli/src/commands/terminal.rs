//! Formats an answer's Markdown for a terminal, without backslash escapes. Pure.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Returns Markdown whose text has no escapes. Images become their alternative text, and the address of a link follows its text in
/// parentheses. Everything else is unchanged.
pub(super) fn shown(markdown: &str) -> String {
    let mut shown = String::with_capacity(markdown.len());
    let mut at = 0;
    let mut links = Vec::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match event {
            Event::Text(text) if range.start >= at => {
                let between = &markdown[at..range.start];
                // The text begins after its escaping backslash.
                shown.push_str(between.strip_suffix('\\').unwrap_or(between));
                shown.push_str(&text);
                at = range.end;
            }
            Event::Start(tag @ (Tag::Link { .. } | Tag::Image { .. })) if range.start >= at => {
                shown.push_str(&markdown[at..range.start]);
                let (mark, address) = match tag {
                    Tag::Link { dest_url, .. } => ("[", Some(dest_url)),
                    _ => ("![", None),
                };
                // Autolinks have no brackets and stay unchanged.
                let has_text = markdown[range.start..].starts_with(mark);
                links.push(has_text.then_some(address));
                at = range.start + if has_text { mark.len() } else { 0 };
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                let Some(Some(address)) = links.pop() else {
                    continue;
                };
                // Code at the end of a link's text is kept unchanged.
                let end = range.end.max(at);
                let rest = &markdown[at..end];
                shown.push_str(rest.rfind("](").map_or("", |end| &rest[..end]));
                if let Some(address) = address {
                    shown.push_str(&format!(" ({address})"));
                }
                at = end;
            }
            _ => {}
        }
    }
    shown.push_str(&markdown[at..]);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_no_escapes_and_markup_stays() {
        for (markdown, expected) in [
            ("#### \\--watch\n\nText.", "#### --watch\n\nText."),
            ("a\\_b \\[2\\] **c** [1]", "a_b [2] **c** [1]"),
            (
                "`a\\_b` and\n\n```js\nc\\*d\n```\n\n[1]",
                "`a\\_b` and\n\n```js\nc\\*d\n```\n\n[1]",
            ),
            ("1\\. no item\n- item \\# x", "1. no item\n- item # x"),
            (
                "| a \\| b | `c` |\n| --- | --- |\n| d | e |",
                "| a | b | `c` |\n| --- | --- |\n| d | e |",
            ),
            ("C:\\\\new &#35;", "C:\\new #"),
            ("![a robot](/img/r.png) [1]", "a robot [1]"),
            (
                "See [the `API`](/docs/api#x), [b](https://b.example).",
                "See the `API` (/docs/api#x), b (https://b.example).",
            ),
            ("[![a](/a.png)](/docs/a) b", "a (/docs/a) b"),
            ("<https://a.example> \\<b>", "<https://a.example> <b>"),
        ] {
            assert_eq!(shown(markdown), expected, "{markdown}");
        }
    }
}
