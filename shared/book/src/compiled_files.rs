//! Files in a block of TypeScript that only the site's compiler reads: `// file: types.ts noEmit`, a notation of remark-typescript-tools.

use std::sync::LazyLock;

use regex::Regex;

/// The line that a file begins with.
static FILE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^// file: [\w\-./\[\]]+(?: (?<flags>.*))?$").expect("the pattern is a constant")
});

/// Splits lines of code into those that are shown and those that are not: files with the flag `noEmit`, and the name of a file that is shown alone.
pub(super) fn split_files<'a>(language: &str, code: Vec<&'a str>) -> (Vec<&'a str>, Vec<&'a str>) {
    let files: Vec<(usize, bool)> = code
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at, is_hidden(FILE.captures(line.trim_end())?))))
        .collect();
    let names = files.iter().filter(|(_, is_hidden)| !is_hidden).count();
    if !matches!(language, "ts" | "tsx") || names == files.len() {
        return (code, Vec::new());
    }
    let (mut shown, mut hidden) = (Vec::new(), Vec::new());
    for (at, line) in code.into_iter().enumerate() {
        let file = files.iter().rfind(|(from, _)| *from <= at);
        let is_shown =
            file.is_none_or(|(from, is_hidden)| !is_hidden && (names > 1 || *from != at));
        if is_shown {
            shown.push(line);
        } else {
            hidden.push(line);
        }
    }
    (shown, hidden)
}

fn is_hidden(file: regex::Captures<'_>) -> bool {
    let flags = file.name("flags").map_or("", |flags| flags.as_str());
    flags.split_whitespace().any(|flag| flag == "noEmit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_for_the_compiler_alone_are_not_shown() {
        for (language, code, expected) in [
            (
                "ts",
                "// file: a.ts noEmit\na\n// file: b.ts\nb\n\nc",
                "b\n\nc",
            ),
            (
                "tsx",
                "// file: a.ts\na\n// file: b.ts noEmit\nb\n// file: c.ts\nc",
                "// file: a.ts\na\n// file: c.ts\nc",
            ),
            ("ts", "// file: a.ts\na", "// file: a.ts\na"),
            ("js", "// file: a.ts noEmit\na", "// file: a.ts noEmit\na"),
            ("ts", "a", "a"),
        ] {
            let (shown, hidden) = split_files(language, code.lines().collect());
            assert_eq!(shown.join("\n"), expected);
            assert_eq!(shown.len() + hidden.len(), code.lines().count());
        }
    }
}
