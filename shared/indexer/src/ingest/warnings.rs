//! Warnings of pages. Equal ones have one cause, and are one line.

use std::collections::BTreeMap;

/// The warnings of pages, in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageWarnings {
    lines: Vec<Line>,
    /// The place in `lines` of each warning.
    places: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// The first page with the warning.
    source: String,
    warning: String,
    /// The number of other pages.
    others: usize,
}

impl PageWarnings {
    /// Adds the warning of a page.
    pub fn add(&mut self, source: &str, warning: &str) {
        // Problems on the same line of two pages have different causes.
        let same = self.places.get(warning);
        match same.filter(|_| !warning.starts_with("line ")) {
            Some(place) => self.lines[*place].others += 1,
            None => {
                self.places.insert(warning.to_owned(), self.lines.len());
                self.lines.push(Line {
                    source: source.to_owned(),
                    warning: warning.to_owned(),
                    others: 0,
                });
            }
        }
    }

    /// Returns each warning after its page, or after its first page and the number of others.
    pub fn lines(&self) -> impl Iterator<Item = (String, &str)> {
        self.lines.iter().map(|line| {
            let pages = match line.others {
                0 => line.source.clone(),
                1 => format!("{} and 1 other page", line.source),
                others => format!("{} and {others} other pages", line.source),
            };
            (pages, line.warning.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_warnings_are_one_line_with_the_number_of_pages() {
        let mut warnings = PageWarnings::default();
        for (source, warning) in [
            ("a", "x"),
            ("b", "y"),
            ("b", "x"),
            ("c", "x"),
            ("c", "z"),
            ("d", "z"),
            ("c", "line 1: x"),
            ("d", "line 1: x"),
        ] {
            warnings.add(source, warning);
        }
        let lines = warnings.lines();
        let lines: Vec<String> = lines.map(|(at, what)| format!("{at}: {what}")).collect();
        assert_eq!(
            lines,
            [
                "a and 2 other pages: x",
                "b: y",
                "c and 1 other page: z",
                "c: line 1: x",
                "d: line 1: x"
            ]
        );
    }
}
