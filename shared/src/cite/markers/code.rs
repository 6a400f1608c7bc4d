//! Where a text that comes in pieces is Markdown code, as well as one can say without waiting for its end.

/// The shortest fence.
const FENCE: usize = 3;

/// Follows a text one character at a time. A run of backticks opens code until a run of that length, at most to the end of
/// its line: a lone backtick must not hide the markers of a whole answer.
#[derive(Debug)]
pub(super) struct Code {
    fence: Option<Fence>,
    /// The length of the run that opened a code span, or 0.
    span: usize,
    /// The run of backticks or tildes that is being read.
    run: usize,
    mark: char,
    /// Whether that run, or else what comes next, is the first on its line but for list markers and quote signs.
    first: bool,
    before: char,
}

#[derive(Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    line: FenceLine,
}

#[derive(Debug, PartialEq, Eq)]
enum FenceLine {
    OpenMode,
    Inside,
    Closing,
}

impl Default for Code {
    fn default() -> Self {
        Self {
            fence: None,
            span: 0,
            run: 0,
            mark: '`',
            first: true,
            before: '\n',
        }
    }
}

impl Code {
    /// Whether what was read last is code, or opens or closes it.
    pub(super) fn is_inside(&self) -> bool {
        self.fence.is_some() || self.span > 0 || self.run > 0
    }

    /// Reads a character.
    pub(super) fn push(&mut self, c: char) {
        let goes_on = self.run > 0 && c == self.mark;
        let escaped = self.before == '\\' && !self.is_inside();
        let begins = self.run == 0 && !escaped && (c == '`' || (c == '~' && self.first));
        self.before = c;
        if goes_on || begins {
            self.run += 1;
            self.mark = c;
            return;
        }
        self.end_run();
        if c == '\n' {
            self.end_line();
            return;
        }
        let leads = matches!(c, '>' | '-' | '*' | '+' | '.' | ')') || c.is_ascii_digit();
        if !c.is_whitespace() {
            self.first = self.first && leads;
            if let Some(fence) = &mut self.fence
                && fence.line == FenceLine::Closing
            {
                fence.line = FenceLine::Inside;
            }
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run == 0 {
            return;
        }
        let first = std::mem::replace(&mut self.first, false);
        match &mut self.fence {
            // No fence has a backtick behind it on its line: it was a code span.
            Some(fence)
                if fence.line == FenceLine::OpenMode && fence.mark == '`' && self.mark == '`' =>
            {
                self.span = if fence.length == run { 0 } else { fence.length };
                self.fence = None;
            }
            Some(fence) if first && fence.mark == self.mark && run >= fence.length => {
                fence.line = FenceLine::Closing;
            }
            Some(_) => {}
            None if first && run >= FENCE => {
                self.fence = Some(Fence {
                    mark: self.mark,
                    length: run,
                    line: FenceLine::OpenMode,
                });
            }
            None if self.mark == '`' && self.span == 0 => self.span = run,
            None if self.mark == '`' && self.span == run => self.span = 0,
            None => {}
        }
    }

    fn end_line(&mut self) {
        self.span = 0;
        self.first = true;
        match &mut self.fence {
            Some(fence) if fence.line == FenceLine::Closing => self.fence = None,
            Some(fence) => fence.line = FenceLine::Inside,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with code replaced by dots.
    fn prose(text: &str) -> String {
        let mut code = Code::default();
        let read = |c| {
            code.push(c);
            if code.is_inside() && c != '\n' {
                '.'
            } else {
                c
            }
        };
        text.chars().map(read).collect()
    }

    #[test]
    fn spans_and_fences_are_code() {
        let cases = [
            ("a `b` c", "a ... c"),
            ("a ``b ` c`` d", "a ......... d"),
            ("a ` b\nc", "a ...\nc"),
            ("a \\` b", "a \\` b"),
            ("```sh\na\n```\nb", ".....\n.\n...\nb"),
            ("~~~\n```\n~~~\nb", "...\n...\n...\nb"),
            ("````\n```\n````` \nb", "....\n...\n......\nb"),
            ("```\n``` a\n```\nb", "...\n.....\n...\nb"),
            ("- ```\n  a\n  ```\nb", "- ...\n...\n.....\nb"),
            ("``` ``` b", "....... b"),
            ("a ~~b~~ c", "a ~~b~~ c"),
        ];
        for (text, expected) in cases {
            assert_eq!(prose(text), expected, "{text:?}");
        }
    }
}
