//! Notations of Twoslash in code: queries, flags of the compiler, and lines that are cut off. Sites that use it do not show them.

use std::sync::LazyLock;

use regex::Regex;

/// A query of a type (`^?`), completions (`^|`) or a highlight (`^^^`), each below its code, or a flag of the compiler.
static NOTATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*//\s*(?:\^(?:\?|\||\^+)(?: .*)?|@(?<flag>\w+)(?::.*)?)$")
        .expect("the pattern is a constant")
});

/// True if the code of a fence with this info string has notations of Twoslash.
pub(super) fn uses_twoslash(info: &str) -> bool {
    info.split_whitespace()
        .skip(1)
        .any(|word| word == "twoslash")
}

/// Splits lines of code into those that are shown and those that are not.
pub(super) fn split_twoslash(code: Vec<&str>) -> (Vec<&str>, Vec<&str>) {
    let (mut shown, mut hidden) = (Vec::new(), Vec::new());
    let mut is_cut = false;
    let mut is_over = false;
    for line in code {
        match line.trim() {
            "// ---cut---" | "// ---cut-before---" => {
                hidden.append(&mut shown);
                hidden.push(line);
            }
            "// ---cut-after---" => {
                is_over = true;
                hidden.push(line);
            }
            "// ---cut-start---" => {
                is_cut = true;
                hidden.push(line);
            }
            "// ---cut-end---" => {
                is_cut = false;
                hidden.push(line);
            }
            _ if is_cut || is_over || is_notation(line) => hidden.push(line),
            _ => shown.push(line),
        }
    }
    (shown, hidden)
}

fn is_notation(line: &str) -> bool {
    // The names of files are shown.
    NOTATION.captures(line).is_some_and(|found| {
        found
            .name("flag")
            .is_none_or(|flag| flag.as_str() != "filename")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_are_not_shown() {
        for (code, expected) in [
            ("const c = 1;\n//    ^?\nc;", "const c = 1;\nc;"),
            (
                "// @errors: 2322\n// @noErrors\n// @filename: a.ts\nc; // ^?",
                "// @filename: a.ts\nc; // ^?",
            ),
            (
                "console.e\n//       ^|\nconst a\n//    ^^^ a note\n// see @c",
                "console.e\nconst a\n// see @c",
            ),
            ("a\n// ---cut---\nb\n// ---cut-after---\nc", "b"),
            ("a\n// ---cut-start---\nb\n// ---cut-end---\nc", "a\nc"),
        ] {
            let (shown, hidden) = split_twoslash(code.lines().collect());
            assert_eq!(shown.join("\n"), expected);
            assert_eq!(shown.len() + hidden.len(), code.lines().count());
        }
        assert!(uses_twoslash("ts title=\"a\" twoslash") && !uses_twoslash("twoslash"));
    }
}
