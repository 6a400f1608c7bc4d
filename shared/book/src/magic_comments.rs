//! Comments in code that select lines for highlighting. Docusaurus does not show their lines (`@docusaurus/theme-common` 3.10,
//! `codeBlockUtils`).

use std::sync::LazyLock;

use regex::Regex;

use crate::dialect::Dialect;

/// Lines selected by number, as in `{1,3-4}`; then all comments are shown.
static LINE_NUMBERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{[0-9,-]+\}").expect("the pattern is a constant"));

/// A kind of comment: the marks at its start and end, with optional white space between them.
type Comment = (&'static [&'static str], &'static [&'static str]);

const JS: Comment = (&["//"], &[]);
const JS_BLOCK: Comment = (&["/*"], &["*/"]);
const JSX: Comment = (&["{", "/*"], &["*/", "}"]);
const BASH: Comment = (&["#"], &[]);
const HTML: Comment = (&["<!--"], &["-->"]);
const LUA: Comment = (&["--"], &[]);
const WASM: Comment = (&[";;"], &[]);
const TEX: Comment = (&["%"], &[]);
const QUOTE: Comment = (&["'"], &[]);
const LEFT_QUOTE: Comment = (&["‘"], &[]);
const RIGHT_QUOTE: Comment = (&["’"], &[]);
const CONTINUED_QUOTE: Comment = (&["_", "'"], &[]);
const REM: Comment = (&["rem"], &[]);
const FORTRAN: Comment = (&["!"], &[]);
const ML: Comment = (&["(*"], &["*)"]);
const COBOL: Comment = (&["*>"], &[]);

fn comments_of(language: &str) -> &'static [Comment] {
    match language {
        "js" | "javascript" | "ts" | "typescript" => &[JS, JS_BLOCK],
        "jsx" | "tsx" => &[JS, JS_BLOCK, JSX],
        "html" => &[JS, JS_BLOCK, HTML],
        "python" | "py" | "bash" => &[BASH],
        "markdown" | "md" => &[HTML, JSX, BASH],
        "tex" | "latex" | "matlab" => &[TEX],
        "lua" | "haskell" => &[LUA],
        "sql" => &[LUA, JS_BLOCK],
        "wasm" => &[WASM],
        "vb" | "vba" | "visual-basic" => &[QUOTE, LEFT_QUOTE, RIGHT_QUOTE, REM],
        "vbnet" => &[QUOTE, LEFT_QUOTE, RIGHT_QUOTE, CONTINUED_QUOTE, REM],
        "batch" => &[REM],
        "basic" => &[REM, FORTRAN],
        "fsharp" => &[JS, ML],
        "ocaml" | "sml" => &[ML],
        "fortran" => &[FORTRAN],
        "cobol" => &[COBOL],
        _ => &[JS, JS_BLOCK, JSX, BASH, HTML],
    }
}

/// Splits code into the lines that are shown and those that only select lines. `info` is what its fence says: the language, and
/// anything after it.
pub(super) fn split_magic_comments<'a>(
    code: &'a str,
    info: &str,
    dialect: Dialect<'_>,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let (language, rest) = info.split_once([' ', '\t']).unwrap_or((info, ""));
    if LINE_NUMBERS.is_match(rest) {
        return (code.lines().collect(), Vec::new());
    }
    let comments = comments_of(&language.to_lowercase());
    code.lines().partition(|line| {
        let mut texts = comments
            .iter()
            .filter_map(|comment| text_of(line, *comment));
        !texts.any(|text| dialect.is_magic_comment(text))
    })
}

/// Returns the text of a comment that has a line of its own.
fn text_of(line: &str, (start, end): Comment) -> Option<&str> {
    let text = start.iter().try_fold(line, |rest, mark| {
        let (begin, text) = rest.trim_start().split_at_checked(mark.len())?;
        // `REM` is a word, in any case.
        let is_whole = mark.ends_with(|c: char| !c.is_alphanumeric())
            || !text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        (begin.eq_ignore_ascii_case(mark) && is_whole).then_some(text)
    })?;
    let text = end
        .iter()
        .rev()
        .try_fold(text, |rest, mark| rest.trim_end().strip_suffix(mark))?;
    Some(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdx::tests::MDX;

    /// The lines that are shown of code whose fence has this info string.
    fn shown<'a>(info: &str, code: &'a str, magic_comments: Option<&[String]>) -> Vec<&'a str> {
        let dialect = Dialect {
            magic_comments,
            ..MDX
        };
        split_magic_comments(code, info, dialect).0
    }

    #[test]
    fn a_comment_is_magic_in_the_languages_that_have_it() {
        for (language, comment, is_magic) in [
            ("js", "// highlight-next-line", true),
            ("js", "  /* highlight-start */  ", true),
            ("js", "{/* highlight-start */}", false),
            ("JSX", "{ /* highlight-end */ }", true),
            ("jsx", "{/* highlight-end", false),
            ("js", "a(); // highlight-end", false),
            ("js", "// highlight-next-line now", false),
            ("python", "# highlight-next-line", true),
            ("python", "// highlight-next-line", false),
            ("ocaml", "(* highlight-next-line *)", true),
            ("batch", "REM highlight-next-line", true),
            ("batch", "rem\thighlight-next-line", true),
            ("batch", "REMhighlight-next-line", false),
            ("fortran", "! highlight-start", true),
            ("vb", "‘ highlight-next-line", true),
            ("vbnet", "_ ' highlight-next-line", true),
            ("vb", "_ ' highlight-next-line", false),
            ("sql", "-- highlight-next-line", true),
            ("yaml", "-- highlight-next-line", false),
            ("yaml", "# highlight-next-line", true),
            ("lisp", "; highlight-next-line", false),
            ("", "<!-- highlight-next-line -->", true),
            ("js{1}", "# highlight-next-line", true),
            ("js {1}", "// highlight-next-line", false),
            ("js title=\"a\" {1,3-4}", "// highlight-next-line", false),
        ] {
            let code = format!("{comment}\ncode");
            let lines = shown(language, &code, None).len();
            assert_eq!(lines == 1, is_magic, "{language}: {comment}");
        }
    }

    #[test]
    fn the_config_names_other_comments() {
        let given = ["This will error", "diff-add"].map(str::to_owned);
        let code = "// This will error\n// highlight-next-line\nopen();\n# diff-add\n";
        let all: Vec<&str> = code.lines().collect();
        assert_eq!(shown("js", code, Some(&given)), &all[1..]);
        assert_eq!(shown("js", code, Some(&[])), all);
        assert_eq!(shown("text", code, Some(&given)), &all[1..3]);
    }
}
