//! The syntax of a page's Markdown.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    /// MDX: tags and expressions are JSX, and indentation makes no code.
    Mdx,
    Markdown,
}

/// The containers that are admonitions unless a plugin's options name others (`@docusaurus/mdx-loader` 3.10, `remark/admonitions`).
pub(super) const ADMONITIONS: [&str; 9] = [
    "secondary",
    "info",
    "success",
    "danger",
    "note",
    "tip",
    "warning",
    "important",
    "caution",
];

/// The comments that select lines for highlighting unless the config names others (`@docusaurus/theme-classic` 3.10, `options`).
const MAGIC_COMMENTS: [&str; 3] = ["highlight-next-line", "highlight-start", "highlight-end"];

/// Extensions that the site's settings and plugins add to Markdown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect<'a> {
    pub(super) flavor: Flavor,
    /// True if `$` marks formulas.
    pub(super) math: bool,
    /// True if `<!-- #id -->` sets a heading's id.
    pub(super) comment_ids: bool,
    /// True if shortcodes such as `:gear:` are shown as emojis.
    pub(super) emoji: bool,
    /// The containers that are admonitions; `None` for [`ADMONITIONS`].
    pub(super) admonitions: Option<&'a [String]>,
    /// The comments in code that select lines for highlighting; `None` for Docusaurus's own.
    pub(super) magic_comments: Option<&'a [String]>,
}

impl Dialect<'_> {
    pub(super) fn is_admonition(self, name: &str) -> bool {
        is_among(name, self.admonitions, &ADMONITIONS)
    }

    pub(super) fn is_magic_comment(self, comment: &str) -> bool {
        is_among(comment, self.magic_comments, &MAGIC_COMMENTS)
    }
}

fn is_among(word: &str, given: Option<&[String]>, default: &[&str]) -> bool {
    match given {
        Some(given) => given.iter().any(|other| other == word),
        None => default.contains(&word),
    }
}
