//! Finds the line of a byte offset in a text.

/// The offsets at which the lines of a text begin. Many offsets are looked up, so the lines are counted once.
pub(super) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(super) fn new(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_on_the_line_that_begins_at_or_before_it() {
        let lines = LineStarts::new("ab\n\ncd");
        let found: Vec<usize> = (0..8).map(|offset| lines.line(offset)).collect();
        assert_eq!(found, [1, 1, 1, 2, 3, 3, 3, 3]);
        assert_eq!(LineStarts::new("").line(0), 1);
    }
}
