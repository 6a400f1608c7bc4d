//! The syntax of a page's Markdown.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    /// MDX: tags and expressions are JSX, and indentation makes no code.
    Mdx,
    Markdown,
}

/// Extensions that the site's settings and plugins add to Markdown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) flavor: Flavor,
    /// True if `$` marks formulas.
    pub(super) math: bool,
    /// True if `<!-- #id -->` sets a heading's id.
    pub(super) comment_ids: bool,
}
