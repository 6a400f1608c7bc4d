//! Directives, of which the label and the content are shown, and the title of an admonition.

use super::{LineKind, Preparer, REMOVED_BLOCK};
use crate::directive::Directive;
use crate::lines::continued_prefix;
use crate::omission::{Omission, OmissionReason};

/// A container that has not ended yet.
pub(super) struct Container {
    /// The number of colons that began it; its end has at least as many.
    colons: usize,
    is_admonition: bool,
}

/// The most containers that are open at once; the contents of further ones are read as if they were outside. Bounds the time for a hostile page.
const MOST_OPEN: usize = 100;

impl Preparer<'_> {
    /// Writes the title of the admonition that this line begins. `rest` is what the title lacks.
    pub(super) fn begin_admonition(
        &mut self,
        prefix: &str,
        content: &str,
        title: &str,
        rest: &str,
    ) {
        let line = self.line;
        self.out.omissions.push(Omission {
            start_line: line,
            end_line: line,
            reason: OmissionReason::Attributes,
            text: rest.to_owned(),
        });
        self.begin_container(content, true);
        self.end_paragraph(prefix);
        self.skip_line(&format!("{prefix}{title}"));
        self.out.push(&continued_prefix(prefix), line);
    }

    /// Reads the label of a directive, which Docusaurus shows as a paragraph. Nothing else of the directive is shown.
    pub(super) fn line_directive(&mut self, prefix: &str, directive: &Directive<'_>) {
        self.end_paragraph(prefix);
        if directive.begins_container() {
            self.begin_container(directive.opening, false);
        }
        self.kind = LineKind::Text;
        self.at += prefix.len();
        self.write(prefix);
        self.skip_to_label(directive);
        if directive.label.is_empty() {
            self.write(REMOVED_BLOCK);
        }
        self.text_line(LineKind::Text);
        self.after_blank = false;
        self.end_paragraph(prefix);
    }

    /// Copies a colon, or begins a directive, of which Docusaurus shows only the label.
    pub(super) fn colon(&mut self, rest: &str) {
        let follows_colon = self.text[..self.at].ends_with(':');
        let directive = Directive::in_text(rest).filter(|_| !follows_colon);
        match directive {
            Some(directive) => self.skip_to_label(&directive),
            None => self.copy(":".len()),
        }
    }

    /// Skips the beginning of a directive. [`Self::end_labels`] skips the rest after its label.
    fn skip_to_label(&mut self, directive: &Directive<'_>) {
        let end = self.at + directive.opening.len() + directive.label.len();
        self.labels.push((end, directive.closing.len()));
        self.skip(directive.opening.len(), OmissionReason::Attributes, &[]);
        self.end_labels();
    }

    /// Skips the rest of the directives whose labels end here.
    pub(super) fn end_labels(&mut self) {
        while let Some((end, rest)) = self.labels.pop_if(|(end, _)| *end <= self.at) {
            // A longer construct, such as code, may begin in the label and end after it.
            if end == self.at {
                self.skip(rest, OmissionReason::Attributes, &[]);
            }
        }
    }

    /// Ends the outermost container that has at most as many colons as this line, with those inside. Returns false if there is none, so that the line is
    /// text.
    pub(super) fn end_container(&mut self, content: &str) -> bool {
        let outermost = self.container_ended_by(content);
        if let Some(outermost) = outermost {
            self.containers.truncate(outermost);
            self.count_admonitions();
        }
        outermost.is_some()
    }

    pub(super) fn ends_container(&self, content: &str) -> bool {
        self.container_ended_by(content).is_some()
    }

    fn container_ended_by(&self, content: &str) -> Option<usize> {
        let colons = content.trim_end();
        if colons.len() < 3 || colons.bytes().any(|byte| byte != b':') {
            return None;
        }
        let mut containers = self.containers.iter();
        containers.position(|container| container.colons <= colons.len())
    }

    fn begin_container(&mut self, opening: &str, is_admonition: bool) {
        let colons = opening.bytes().take_while(|byte| *byte == b':').count();
        if self.containers.len() < MOST_OPEN {
            self.containers.push(Container {
                colons,
                is_admonition,
            });
            self.count_admonitions();
        }
    }

    /// Records the number of admonitions that are open from this line on.
    fn count_admonitions(&mut self) {
        let open = self.containers.iter().filter(|it| it.is_admonition);
        let count = open.count();
        self.out.admonitions.push((self.line, count));
    }
}
