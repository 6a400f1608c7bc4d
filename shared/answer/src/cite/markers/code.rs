//! Detects Markdown code in a streamed text, without waiting for its end.

const FENCE: usize = 3;

/// Follows a text one character at a time. A run of backticks opens code until an equal run or the end of the line, so that a lone backtick cannot
/// hide an answer's markers.
#[derive(Debug)]
pub(super) struct Code {
    fence: Option<Fence>,
    /// The length of the run that opened the code span, or 0.
    span: usize,
    /// The length of the current run of backticks or tildes.
    run: usize,
    mark: char,
    /// True while the current run, or the next character if there is none, has only list markers and quote signs before it on its line.
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
    Opening,
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
    /// True if the last character is code, or opens or closes it.
    pub(super) fn is_inside(&self) -> bool {
        self.fence.is_some() || self.span > 0 || self.run > 0
    }

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
            // A fence cannot have a backtick after it on its line, so this was a code span.
            Some(fence)
                if fence.line == FenceLine::Opening && fence.mark == '`' && self.mark == '`' =>
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
                    line: FenceLine::Opening,
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

    /// Returns the text with code replaced by dots.
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
