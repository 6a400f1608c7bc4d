//! Finds code blocks in a model's streamed text. Pure.

/// Reads the text outside sentences for code blocks.
#[derive(Debug, Default)]
pub(crate) struct CodeReader {
    line: String,
    /// The closing fence of the open block, and the block's lines without indentation.
    open: Option<(String, Vec<String>)>,
}

impl CodeReader {
    /// Reads a piece; returns the lines of each block that ended.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Vec<String>> {
        let mut ended = Vec::new();
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece.trim_end_matches('\n'));
            if piece.ends_with('\n') {
                ended.extend(self.end_line());
            }
        }
        ended
    }

    /// Ends the line because a sentence begins: text before a sentence cannot open a block.
    pub(crate) fn interrupt(&mut self) -> Option<Vec<String>> {
        self.end_line()
    }

    fn end_line(&mut self) -> Option<Vec<String>> {
        let line = std::mem::take(&mut self.line);
        // Strips the marks of the enclosing quotes.
        let bare = line.trim_start_matches(['>', ' ']);
        match &mut self.open {
            Some((fence, _)) if bare.trim_end() == fence => {
                return self.open.take().map(|(_, lines)| lines);
            }
            Some((_, lines)) => lines.push(bare.to_owned()),
            None => {
                let item =
                    bare.trim_start_matches(|c: char| c.is_ascii_digit() || "-. ".contains(c));
                let ticks = item.len() - item.trim_start_matches('`').len();
                if ticks >= 3 {
                    self.open = Some(("`".repeat(ticks), Vec::new()));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_code_are_read_however_they_come() {
        let text = "\n\n```js title=\"a\"\na `b`\n\n  c\n```\n\n1. ````\n   ```\n   ````\n> ```\n> d\n> ```\n## e\n\n```\nopen";
        let expected = [vec!["a `b`", "", "c"], vec!["```"], vec!["d"]];
        let whole = [text.to_owned()].to_vec();
        let characters = text.chars().map(String::from).collect();
        for pieces in [whole, characters] {
            let mut reader = CodeReader::default();
            let read: Vec<Vec<String>> =
                pieces.iter().flat_map(|piece| reader.push(piece)).collect();
            assert_eq!(read, expected);
            assert_eq!(reader.interrupt(), None);
        }
    }
}
