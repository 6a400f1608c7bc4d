//! A leaf's text as units that can be quoted: sentences, list items, table rows, code.

/// What can be quoted on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) kind: UnitKind,
    pub(super) text: String,
    /// Which paragraph it stands in: units of one paragraph are read on.
    pub(super) paragraph: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitKind {
    Sentence,
    ListItem,
    TableRow,
    Code,
    /// A formula of several lines, between two of `$$`.
    Formula,
}

/// Cuts a leaf's text in units, in order.
pub(super) fn units_of(text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut lines = text.lines().peekable();
    let mut paragraph = 0;
    while let Some(line) = lines.next() {
        let fence: String = line.chars().take_while(|c| *c == '`').collect();
        if fence.len() >= 3 {
            let mut code = vec![line];
            for line in lines.by_ref() {
                code.push(line);
                if line == fence {
                    break;
                }
            }
            paragraph += 1;
            units.push(Unit {
                kind: UnitKind::Code,
                text: code.join("\n"),
                paragraph,
            });
            continue;
        }
        if let Some(length) = formula_length(line, lines.clone()) {
            let formula: Vec<&str> = std::iter::once(line)
                .chain(lines.by_ref().take(length))
                .collect();
            paragraph += 1;
            units.push(Unit {
                kind: UnitKind::Formula,
                text: formula.join("\n"),
                paragraph,
            });
            paragraph += 1;
            continue;
        }
        if line.trim().is_empty() {
            paragraph += 1;
            continue;
        }
        if line.contains(" | ") && lines.peek().is_some_and(|next| next.contains(" | ")) {
            paragraph += 1;
            let header: Vec<&str> = line.split(" | ").collect();
            while let Some(row) = lines.next_if(|row| !row.trim().is_empty()) {
                units.push(Unit {
                    kind: UnitKind::TableRow,
                    text: read_row(&header, row),
                    paragraph,
                });
            }
            continue;
        }
        if is_list_item(line) {
            units.push(Unit {
                kind: UnitKind::ListItem,
                text: line.to_owned(),
                paragraph,
            });
            continue;
        }
        for sentence in sentences(line) {
            units.push(Unit {
                kind: UnitKind::Sentence,
                text: sentence.to_owned(),
                paragraph,
            });
        }
    }
    units
}

/// How many of the lines after this one are of the formula that it begins.
fn formula_length<'a>(line: &str, rest: impl Iterator<Item = &'a str>) -> Option<usize> {
    if line.strip_prefix("$$")?.contains('$') {
        return None;
    }
    let end = rest
        .take_while(|line| !line.trim().is_empty())
        .position(|line| line.ends_with("$$"))?;
    Some(end + 1)
}

/// A table row as one reads it aloud: `Code: E42; Meaning: low battery`.
fn read_row(header: &[&str], row: &str) -> String {
    let cells: Vec<String> = row
        .split(" | ")
        .zip(header)
        .filter(|(cell, _)| !cell.trim().is_empty())
        .map(|(cell, name)| match name.trim() {
            "" => cell.trim().to_owned(),
            name => format!("{name}: {}", cell.trim()),
        })
        .collect();
    cells.join("; ")
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with("- ") || (digits > 0 && line[digits..].starts_with(". "))
}

/// Cuts a line after `.`, `!`, `?` or `۔` before a space; not after a single letter or `e.g.`.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, c) in line.char_indices() {
        if !matches!(c, '.' | '!' | '?' | '۔' | '。') {
            continue;
        }
        let end = at + c.len_utf8();
        let rest = &line[end..];
        let next = rest.trim_start().chars().next();
        let ends = rest.starts_with(' ') && next.is_some_and(|c| !c.is_lowercase());
        let word = line[from..at].rsplit([' ', '(']).next().unwrap_or_default();
        let abbreviated = c == '.' && (word.chars().count() < 2 || word.contains('.'));
        if ends && !abbreviated {
            found.push(line[from..end].trim());
            from = end;
        }
    }
    let last = line[from..].trim();
    if !last.is_empty() {
        found.push(last);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_one_unit_if_it_ends() {
        let units = |text| -> Vec<_> {
            let units = units_of(text).into_iter();
            units.map(|unit| (unit.kind, unit.text)).collect()
        };
        let formula = "$$\nE = 12. B\n$$";
        let around = format!("It is:\n{formula}\nSo be it.");
        let seen = units(&around);
        assert_eq!(seen[1], (UnitKind::Formula, formula.to_owned()));
        assert_eq!(
            (seen.len(), &*seen[0].1, &*seen[2].1),
            (3, "It is:", "So be it.")
        );
        for text in [
            "$$ are dollars.\nMany $ of them.",
            "$$\n\nnever closed $$",
            "$$a$$ is one.",
        ] {
            let seen = units(text);
            assert!(
                seen.iter().all(|(kind, _)| *kind == UnitKind::Sentence),
                "{seen:?}"
            );
        }
    }

    #[test]
    fn units_are_what_a_reader_would_quote() {
        let text = "One is 3.5 mm. Use e.g. tape! Why?\n\n- item\n1. first\n\nCode | Meaning\nE1 | low\n\n```sh\na. b\n\n- c\n```";
        let seen: Vec<_> = units_of(text)
            .into_iter()
            .map(|unit| (unit.kind, unit.text))
            .collect();
        let expected = [
            (UnitKind::Sentence, "One is 3.5 mm."),
            (UnitKind::Sentence, "Use e.g. tape!"),
            (UnitKind::Sentence, "Why?"),
            (UnitKind::ListItem, "- item"),
            (UnitKind::ListItem, "1. first"),
            (UnitKind::TableRow, "Code: E1; Meaning: low"),
            (UnitKind::Code, "```sh\na. b\n\n- c\n```"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(kind, text)| (*kind, (*text).to_owned()))
            .collect();
        assert_eq!(seen, expected);
    }
}
