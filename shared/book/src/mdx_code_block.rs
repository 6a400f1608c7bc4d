//! Fences named `mdx-code-block`, which protect MDX from translation tools. Docusaurus removes them before it parses a page.

use std::borrow::Cow;

const NAME: &str = "mdx-code-block";

/// Docusaurus removes fences of these lengths only, the shorter ones first.
const FENCES: [&str; 2] = ["```", "````"];

/// A page's body without the fences' opening and closing lines.
pub(super) struct Unwrapped<'a> {
    pub(super) text: Cow<'a, str>,
    /// The lines of the body that remain, and those that were removed, from 0. Empty if none was removed.
    kept: Vec<u32>,
    pub(super) removed: Vec<u32>,
}

impl<'a> Unwrapped<'a> {
    pub(super) fn new(body: &'a str) -> Self {
        let mut unwrapped = Self {
            text: Cow::Borrowed(body),
            kept: Vec::new(),
            removed: Vec::new(),
        };
        if !body.contains(NAME) {
            return unwrapped;
        }
        let mut lines: Vec<(u32, &str)> = (0..).zip(body.split('\n')).collect();
        for fence in FENCES {
            unwrapped.removed.extend(remove(&mut lines, fence));
        }
        if !unwrapped.removed.is_empty() {
            unwrapped.removed.sort_unstable();
            let texts: Vec<&str> = lines.iter().map(|(_, text)| *text).collect();
            unwrapped.text = Cow::Owned(texts.join("\n"));
            unwrapped.kept = lines.into_iter().map(|(line, _)| line).collect();
        }
        unwrapped
    }

    /// Returns the line of the body that became this line of the text, both from 0.
    pub(super) fn source_line(&self, line: u32) -> u32 {
        let kept = usize::try_from(line).ok().and_then(|at| self.kept.get(at));
        let removed = u32::try_from(self.removed.len()).unwrap_or(u32::MAX);
        kept.copied()
            .unwrap_or_else(|| line.saturating_add(removed))
    }
}

/// Removes the lines of fences of one length, and returns their numbers.
///
/// As in Docusaurus, an end closes the fence even if it is inside another one, at least one line stands between start and end, and the
/// line after an end does not start a fence, because the line break before it belongs to that end.
fn remove(lines: &mut Vec<(u32, &str)>, fence: &str) -> Vec<u32> {
    let mut ends = (0..lines.len())
        .filter(|at| lines[*at].1.trim_start_matches(' ') == fence)
        .peekable();
    let mut removed = Vec::new();
    let mut from = 0;
    for start in 0..lines.len() {
        if start < from || !is_start(lines[start].1, fence) {
            continue;
        }
        while ends.next_if(|end| *end < start + 2).is_some() {}
        let Some(end) = ends.next() else {
            break;
        };
        removed.extend([lines[start].0, lines[end].0]);
        from = end + 2;
    }
    lines.retain(|(line, _)| removed.binary_search(line).is_err());
    removed
}

fn is_start(line: &str, fence: &str) -> bool {
    let info = line.trim_start_matches(' ').strip_prefix(fence);
    info.is_some_and(|info| info.trim_start_matches(' ') == NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unwrapped(body: &str) -> String {
        Unwrapped::new(body).text.into_owned()
    }

    #[test]
    fn fences_are_removed_as_docusaurus_removes_them() {
        // Results of `unwrapMdxCodeBlocks` of @docusaurus/utils 3.10.2.
        for (body, result) in [
            (
                "```mdx-code-block\n<b>\n```\n\ntext\n\n````mdx-code-block\n</b>\n````",
                "<b>\n\ntext\n\n</b>",
            ),
            (
                "text\n  ```  mdx-code-block\n  a\n    ```\ntext",
                "text\n  a\ntext",
            ),
            (
                "> ```mdx-code-block\n> a\n> ```",
                "> ```mdx-code-block\n> a\n> ```",
            ),
            ("```mdx-code-block \na\n```", "```mdx-code-block \na\n```"),
            ("```mdx-code-block\na\n``` ", "```mdx-code-block\na\n``` "),
            ("```mdx-code-block\n```\na\n```", "```\na"),
            ("```mdx-code-block\n\n```", ""),
            (
                "```mdx-code-block\na\n```\n```mdx-code-block\nb\n```\n",
                "a\n```mdx-code-block\nb\n```\n",
            ),
            (
                "```mdx-code-block\na\n```\n\n```mdx-code-block\nb\n```\n",
                "a\n\nb\n",
            ),
            ("````mdx-code-block\n```js\nx\n```\n````", "```js\nx\n```"),
            ("```mdx-code-block\n```js\nx\n```\n```", "```js\nx\n```"),
            ("~~~mdx-code-block\na\n~~~", "~~~mdx-code-block\na\n~~~"),
            (
                "`````mdx-code-block\na\n`````",
                "`````mdx-code-block\na\n`````",
            ),
            ("````md\n```mdx-code-block\na\n```\n````", "````md\na\n````"),
            ("```mdx-code-block\na", "```mdx-code-block\na"),
            (
                "\t```mdx-code-block\n\ta\n\t```",
                "\t```mdx-code-block\n\ta\n\t```",
            ),
            (
                "```mdx-code-block title\na\n```",
                "```mdx-code-block title\na\n```",
            ),
            (
                "````mdx-code-block\n```mdx-code-block\na\n```\n````\n",
                "a\n",
            ),
            ("```mdx-code-block\n````mdx-code-block\na\n````\n```", "a"),
        ] {
            assert_eq!(unwrapped(body), result, "{body:?}");
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let body = "a\n```mdx-code-block\nb\n```\nc\n````mdx-code-block\nd\n````";
        let page = Unwrapped::new(body);
        let source: Vec<&str> = body.split('\n').collect();
        for (line, text) in (0..).zip(page.text.split('\n')) {
            assert_eq!(source[page.source_line(line) as usize], text);
        }
        assert_eq!(page.removed, [1, 3, 5, 7]);
        assert_eq!(page.source_line(4), 8);
        assert_eq!(Unwrapped::new("a\nb").source_line(1), 1);
    }

    #[test]
    fn fences_that_never_end_take_linear_time() {
        let body = "```mdx-code-block\n".repeat(200_000);
        assert_eq!(unwrapped(&body), body);
    }
}
