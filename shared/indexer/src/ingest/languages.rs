//! Detects the languages of a book that its embedder cannot read.

use std::collections::BTreeMap;

use super::{Ingest, IngestError};
use book::{Inputs, PageFile, page_file, pages_among, read_document};

/// The most pages sampled per locale, spread over its list, so that a run over an unchanged book stays fast.
const PAGES: usize = 12;
/// Characters sampled at the start of a page. What follows is often code, which uses Latin letters in every language.
const CHARACTERS: usize = 4_000;
/// A locale counts as unread if at least one page in this many is unread: some pages are not translated, others are mostly code.
const ONE_IN: usize = 5;

impl Ingest {
    /// Returns the locales whose pages the embedder cannot read, sorted. Questions in them use full-text search only.
    ///
    /// # Errors
    /// If files cannot be listed or read.
    pub async fn unread_locales(&self) -> Result<Vec<String>, IngestError> {
        let listing = self.source.listing().await?;
        let mut by_locale: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in pages_among(&self.settings, &listing.paths) {
            let files = by_locale.entry(file.locale).or_default();
            files.push(file.source);
        }
        let mut unread_locales = Vec::new();
        for (locale, files) in by_locale {
            let sample = files.len().min(PAGES);
            let mut unread = 0;
            for number in 0..sample {
                let path = &files[number * files.len() / sample];
                let Some(file) = page_file(&self.settings, path) else {
                    continue;
                };
                // The run itself reports pages that cannot be read.
                let page = self.source.read(path).await.ok().flatten();
                let page = self.text_of(&file, &page.unwrap_or_default());
                unread += usize::from(!is_read(&page, |line| self.embedder.reads(line)));
            }
            if unread > 0 && ONE_IN * unread >= sample {
                unread_locales.push(locale);
            }
        }
        Ok(unread_locales)
    }

    /// Returns the text of a page. A file of HTML begins with scripts and navigation, so its text is read.
    fn text_of(&self, file: &PageFile, bytes: &[u8]) -> String {
        if file.is_html() {
            let page = read_document(&self.settings, "", file, bytes, &Inputs::new());
            let blocks = page.map(|page| page.blocks).unwrap_or_default();
            blocks.into_iter().map(|block| block.text + "\n").collect()
        } else {
            String::from_utf8_lossy(bytes).into_owned()
        }
    }
}

/// True if the embedder reads the lines that hold more than half of the letters.
fn is_read(text: &str, reads: impl Fn(&str) -> bool) -> bool {
    let text: String = text.chars().take(CHARACTERS).collect();
    let (mut letters, mut read) = (0, 0);
    for line in text.lines() {
        let of_line = line.chars().filter(|c| c.is_alphabetic()).count();
        letters += of_line;
        read += of_line * usize::from(reads(line));
    }
    letters == 0 || 2 * read > letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_judged_by_the_letters_of_its_lines() {
        let page = |text: &str| is_read(text, |line| !line.contains('ہ'));
        assert!(page("title: Probe\nیہ\n"));
        assert!(page("---\n\n42\n"), "nothing to read");
        assert!(!page("cd a\nیہ کیا ہے؟\n"));
        assert!(page(&format!(
            "{}\n{}",
            "a".repeat(CHARACTERS),
            "ہ".repeat(2 * CHARACTERS)
        )));
    }
}
