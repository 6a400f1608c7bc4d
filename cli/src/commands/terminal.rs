//! Formats an answer's Markdown for a terminal, without backslash escapes. Pure.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Control sequences of ECMA-48 (SGR). Each style has an end of its own, so that styles nest.
const BOLD: [&str; 2] = ["\x1b[1m", "\x1b[22m"];
const CYAN: [&str; 2] = ["\x1b[36m", "\x1b[39m"];

/// Whether the output has control sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Styles {
    Ansi,
    None,
}

/// Returns Markdown whose text has no escapes. Images become their alternative text, and the address of a link follows its text in
/// parentheses. With styles, headings and strong text are bold and code is cyan, without their marks. Everything else is unchanged.
pub(super) fn shown(markdown: &str, styles: Styles) -> String {
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
            event if styles == Styles::Ansi && range.start >= at => {
                let (style, inner) = match event {
                    Event::Start(Tag::Heading { .. }) => {
                        (BOLD[0], after_marks(markdown, range.start))
                    }
                    Event::Start(Tag::Strong) => (BOLD[0], range.start + 2),
                    Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                        let line = markdown[range.clone()]
                            .find('\n')
                            .map_or(range.len(), |at| at + 1);
                        (CYAN[0], range.start + line)
                    }
                    Event::Code(code) => {
                        shown.push_str(&markdown[at..range.start]);
                        shown.extend([CYAN[0], &code, CYAN[1]]);
                        at = range.end;
                        continue;
                    }
                    _ => continue,
                };
                shown.push_str(&markdown[at..range.start]);
                shown.push_str(style);
                at = inner;
            }
            Event::End(TagEnd::Heading(_)) if styles == Styles::Ansi => {
                let end = range.start + markdown[range].trim_end().len();
                shown.extend([&markdown[at..end.max(at)], BOLD[1]]);
                at = end.max(at);
            }
            Event::End(TagEnd::Strong) if styles == Styles::Ansi => {
                shown.extend([&markdown[at..(range.end - 2).max(at)], BOLD[1]]);
                at = range.end;
            }
            Event::End(TagEnd::CodeBlock) if styles == Styles::Ansi => {
                shown.truncate(shown.trim_end().len());
                shown.push_str(CYAN[1]);
                at = range.end.max(at);
            }
            _ => {}
        }
    }
    shown.push_str(&markdown[at..]);
    shown
}

/// Returns where the text of a heading begins.
fn after_marks(markdown: &str, start: usize) -> usize {
    let heading = &markdown[start..];
    start + heading.len()
        - heading
            .trim_start_matches('#')
            .trim_start_matches(' ')
            .len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_replace_the_marks_of_headings_strong_text_and_code() {
        let markdown = "#### Page › A `b`\n\nUse **c `d`** and\n\n```js title=\"x\"\ne\n\nf\n```\n\nSee [`g`](/g). [1]";
        let expected = "\x1b[1mPage › A \x1b[36mb\x1b[39m\x1b[22m\n\nUse \x1b[1mc \x1b[36md\x1b[39m\x1b[22m and\n\n\x1b[36me\n\nf\x1b[39m\n\n\
                        See \x1b[36mg\x1b[39m (/g). [1]";
        assert_eq!(shown(markdown, Styles::Ansi), expected);
    }

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
            assert_eq!(shown(markdown, Styles::None), expected, "{markdown}");
        }
    }
}
