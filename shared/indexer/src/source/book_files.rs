//! The files that a book consists of.

use std::collections::{BTreeMap, BTreeSet};

use super::{FileCache, Source, SourceError};
use book::{
    Input, PageFile, SiteSettings, category_files_among, default_source, generated_urls,
    imported_by_name, is_settings_file, makes_page, may_hold_pages, missing_docs, pages_among,
};

/// The files that a book consists of: a copy of them is read as the same book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BookFiles {
    /// The files with what they are for, by path.
    pub files: BTreeMap<String, FileKind>,
    /// Files, and folders (paths end in `/`), that exist but cannot be read, with the reasons.
    pub unreadable: BTreeMap<String, String>,
    /// The number of pages.
    pub pages: usize,
    /// Why these are not the whole book that the settings describe.
    pub missing: Option<String>,
    /// Files that are not part of the book although a page is or imports them, with the reasons.
    pub left_out: BTreeMap<String, String>,
}

/// What a file of a book is for, in the order in which a copy is made: each page then has what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// [Settings](is_settings_file).
    Settings,
    /// A file that pages use, which may be a page itself.
    Input,
    /// A page.
    Page,
}

impl FileKind {
    /// Returns the kind's name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Input => "input",
            Self::Page => "page",
        }
    }
}

impl Source {
    /// Returns the files that the book consists of, with settings from [`Self::opened`].
    ///
    /// # Errors
    /// A transient failure, or if the site's folder itself cannot be listed.
    pub async fn book_files(&self, settings: &SiteSettings) -> Result<BookFiles, SourceError> {
        let listing = self.listing().await?;
        let folders = listing.unreadable.iter();
        let unreadable = folders.filter(|(folder, _)| may_hold_pages(settings, folder));
        let not_built = listing.not_built.iter();
        let missing = missing_docs(settings, &listing.paths);
        let mut book = BookFiles {
            unreadable: unreadable
                .map(|(folder, reason)| (folder.clone(), reason.clone()))
                .chain(not_built.map(|folder| (folder.clone(), "it is not built".to_owned())))
                .collect(),
            missing: missing.filter(|_| listing.unreadable.is_empty()),
            ..BookFiles::default()
        };
        for path in listing.paths.iter().filter(|path| is_settings_file(path)) {
            match self.read(path).await {
                Ok(Some(_)) => book.add(path, FileKind::Settings),
                Ok(None) => {}
                Err(error) => book.leave_out(error)?,
            }
        }
        for path in category_files_among(settings, &listing.paths) {
            match self.read(&path).await {
                Ok(Some(_)) => book.add(&path, FileKind::Input),
                Ok(None) => {}
                Err(error) => book.leave_out(error)?,
            }
        }
        let files = FileCache::default();
        for page in pages_among(settings, &listing.paths) {
            let bytes = match self.read_page(&page.source).await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => continue,
                Err(error) => {
                    book.leave_out(error)?;
                    continue;
                }
            };
            if !makes_page(settings, &page, &bytes) {
                continue;
            }
            book.pages += 1;
            book.add(&page.source, FileKind::Page);
            // Only with its original is a file a translation, even if each locale has one, so that the original is no page.
            let original = default_source(settings, &page);
            book.files.entry(original).or_insert(FileKind::Input);
            match self.inputs(settings, &page, &bytes, &files).await {
                Ok(inputs) => book.add_inputs(settings, &page, &inputs),
                Err(error) => book.leave_out(error)?,
            }
        }
        Ok(book)
    }

    /// Returns the URL paths of the pages that Docusaurus generates for categories, which need not be pages of the book.
    ///
    /// # Errors
    /// If the site's own folder cannot be listed.
    pub async fn generated_urls(
        &self,
        settings: &SiteSettings,
    ) -> Result<BTreeSet<String>, SourceError> {
        let mut files = BTreeMap::new();
        for path in category_files_among(settings, &self.list().await?) {
            // A file that cannot be read is reported with the pages that use it.
            let content = self.read(&path).await.ok().flatten();
            files.insert(path, Input::from(content));
        }
        Ok(generated_urls(settings, &files))
    }
}

impl BookFiles {
    fn add(&mut self, path: &str, kind: FileKind) {
        let known = self.files.entry(path.to_owned()).or_insert(kind);
        *known = kind.min(*known);
    }

    fn add_inputs(
        &mut self,
        settings: &SiteSettings,
        page: &PageFile,
        inputs: &BTreeMap<String, Input>,
    ) {
        let paths: BTreeSet<String> = inputs.keys().cloned().collect();
        let named = imported_by_name(settings, page, &paths);
        for (path, input) in inputs {
            match input {
                Input::Content(_) => self.add(path, FileKind::Input),
                Input::Absent if named.contains(&path.as_str()) => {
                    let reason = format!("{} imports it, and it does not exist", page.source);
                    self.left_out.insert(path.clone(), reason);
                }
                Input::Absent => {}
                Input::Refused(reason) => {
                    let reason = format!("{} uses it: {reason}", page.source);
                    self.left_out.insert(path.clone(), reason);
                }
            }
        }
    }

    /// Records a file that is not read.
    ///
    /// # Errors
    /// The error, if it does not concern that file alone.
    fn leave_out(&mut self, error: SourceError) -> Result<(), SourceError> {
        match error {
            SourceError::NotPublished { path, reason } => self.left_out.insert(path, reason),
            SourceError::Forbidden { path, reason } => self.unreadable.insert(path, reason),
            error => return Err(error),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::site;
    use super::*;

    const HELLO: &str = "import Hello from '!!raw-loader!./hello.py'\n\n# A\n\n{Hello}\n";

    async fn book_of(files: &[(&str, &str)]) -> BookFiles {
        let (source, settings) = site(files).1.opened().await.unwrap();
        source.book_files(&settings).await.unwrap()
    }

    #[tokio::test]
    async fn a_book_is_its_settings_its_pages_and_what_these_use() {
        let book = book_of(&[
            ("bookrag.toml", "locales = ['en', 'de']\nversions = ['1.0']"),
            ("docusaurus.config.js", "module.exports = {}"),
            ("versions.json", "[\"1.0\"]"),
            ("synonyms.txt", "a, b"),
            ("docs/a.mdx", &format!("---\ntags: [x]\n---\nimport P from './_p.mdx'\nimport Q from './b.md'\nimport R from '@site/src/r'\n{HELLO}\n<P/> <Q/> <R/>\n")),
            ("docs/b.md", "# B\n"),
            ("docs/hello.py", "print('hello')"),
            ("docs/_p.mdx", "import Part from '../parts/_deep.mdx'\n\n<Part/>\n"),
            ("parts/_deep.mdx", "Deep.\n"),
            ("parts/_unused.mdx", "Unused.\n"),
            ("src/r.js", "export {default} from './r.mdx'"),
            ("src/r.mdx", "From a module.\n"),
            ("docs/_category_.json", "{\"label\": \"Docs\"}"),
            ("docs/maps/_category_.json", "{\"link\": {\"type\": \"generated-index\", \"description\": \"Maps.\"}}"),
            ("docs/none/_category_.json", "{\"link\": {\"type\": \"generated-index\"}}"),
            ("docs/tags.yml", "x: {label: X}"),
            ("docs/picture.png", ""),
            ("bookrag.questions/docs/b.md.txt", "#\nwhat is b?\n"),
            ("bookrag.questions/docs/gone.md.txt", "#\nwhat is gone?\n"),
            ("i18n/de/docusaurus-plugin-content-docs/current/b.md", "# B\n"),
            ("i18n/de/docusaurus-plugin-content-docs/current/gone.md", "# Gone\n"),
            ("versioned_docs/version-1.0/b.md", "# B\n"),
            ("package.json", "{}"),
        ])
        .await;
        let of_kind = |kind: FileKind| {
            let files = book.files.iter().filter(move |(_, it)| **it == kind);
            files.map(|(path, _)| path.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(
            of_kind(FileKind::Settings),
            [
                "bookrag.toml",
                "docusaurus.config.js",
                "synonyms.txt",
                "versions.json"
            ]
        );
        assert_eq!(
            of_kind(FileKind::Input),
            [
                "bookrag.questions/docs/b.md.txt",
                "docs/_category_.json",
                "docs/_p.mdx",
                "docs/b.md",
                "docs/hello.py",
                "docs/maps/_category_.json",
                "docs/none/_category_.json",
                "docs/tags.yml",
                "i18n/de/docusaurus-plugin-content-docs/current/b.md",
                "parts/_deep.mdx",
                "src/r.js",
                "src/r.mdx",
            ]
        );
        assert_eq!(
            of_kind(FileKind::Page),
            ["docs/a.mdx", "versioned_docs/version-1.0/b.md"]
        );
        assert_eq!(book.left_out, BTreeMap::new());
    }

    #[tokio::test]
    async fn an_original_that_each_locale_translates_belongs_to_the_book() {
        let book = book_of(&[
            ("docusaurus.config.js", "module.exports = {}"),
            ("bookrag.toml", "locales = ['en', 'de']"),
            ("docs/a.md", "# A\n"),
            (
                "i18n/en/docusaurus-plugin-content-docs/current/a.md",
                "# A\n",
            ),
            (
                "i18n/de/docusaurus-plugin-content-docs/current/a.md",
                "# A\n",
            ),
        ])
        .await;
        assert_eq!(book.pages, 2);
        assert_eq!(book.files.get("docs/a.md"), Some(&FileKind::Input));
    }

    #[tokio::test]
    async fn an_import_that_does_not_exist_is_named_with_its_page() {
        let book = book_of(&[
            ("docusaurus.config.js", "module.exports = {}"),
            ("docs/a.mdx", HELLO),
        ])
        .await;
        assert!(!book.files.contains_key("docs/hello.py"));
        let reason = "docs/a.mdx imports it, and it does not exist".to_owned();
        assert_eq!(book.left_out, [("docs/hello.py".to_owned(), reason)].into());
    }

    #[tokio::test]
    async fn a_built_site_is_its_html_and_its_sitemap() {
        let html = "<title>A</title><main>A</main>";
        let book = book_of(&[
            ("index.html", html),
            ("a/index.html", html),
            ("sitemap.xml", "<loc>https://example.org/book/</loc>"),
            ("search.json", "{}"),
            ("style.css", ""),
        ])
        .await;
        let files: Vec<&str> = book.files.keys().map(String::as_str).collect();
        assert_eq!(files, ["a/index.html", "index.html", "sitemap.xml"]);
    }
}
