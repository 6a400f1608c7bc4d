//! The languages of a book that its embedder does not read.

use std::collections::BTreeMap;

use super::{Ingest, IngestError};
use crate::book::list_pages;

/// Pages of a locale that are looked at: enough to outweigh one that is not translated yet.
const PAGES: usize = 5;

impl Ingest {
    /// The locales whose pages the embedder does not make sense of, sorted. Questions there are answered by words alone.
    ///
    /// A locale is one of them if the embedder does not read lines with a quarter of the letters: pages in any language
    /// have code, front matter and names in Latin letters.
    ///
    /// # Errors
    /// If files cannot be listed or read.
    pub async fn unread_locales(&self) -> Result<Vec<String>, IngestError> {
        let listing = self.source.listing().await?;
        let mut by_locale: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in list_pages(&self.settings, &listing.paths) {
            by_locale.entry(file.locale).or_default().push(file.source);
        }
        let mut unread_locales = Vec::new();
        for (locale, sources) in by_locale {
            let (mut letters, mut unread) = (0, 0);
            for source in sources.iter().take(PAGES) {
                let page = self.source.read(source).await?.unwrap_or_default();
                for line in String::from_utf8_lossy(&page).lines() {
                    let of_line = line.chars().filter(|c| c.is_alphabetic()).count();
                    letters += of_line;
                    unread += of_line * usize::from(!self.embedder.reads(line));
                }
            }
            if unread > 0 && 4 * unread >= letters {
                unread_locales.push(locale);
            }
        }
        Ok(unread_locales)
    }
}
