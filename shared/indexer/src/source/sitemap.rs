//! Reads the sitemap of a built site.

use book::SITEMAP;

use super::{Source, SourceError};

impl Source {
    /// Returns the beginning of the sitemap, whose first addresses say where the site is. A sitemap may be far larger than a page. The inner
    /// error is the reason that it cannot be read; the site is read nevertheless.
    ///
    /// # Errors
    /// A transient failure.
    pub(super) async fn sitemap(&self) -> Result<Result<Option<String>, SourceError>, SourceError> {
        match self.read(SITEMAP).await {
            Err(error @ SourceError::Unavailable { .. }) => Err(error),
            Err(unread) => Ok(Err(unread)),
            Ok(bytes) => Ok(Ok(
                bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use book::MAX_PAGE_BYTES;

    use super::super::FolderSource;
    use super::super::tests::site;
    use super::*;

    #[tokio::test]
    async fn the_sitemap_of_a_build_is_read_for_its_base_url() {
        let (_, source) = site(&[
            ("index.html", "<title>A</title><main>A</main>"),
            ("sitemap.xml", "<loc>https://example.org/book/</loc>"),
        ]);
        let settings = source.settings().await.unwrap();
        assert!(settings.is_build);
        assert_eq!(settings.base_url, "/book/");
    }

    #[tokio::test]
    async fn a_sitemap_of_any_size_stops_no_build() {
        let front = "<title>A</title><main>A</main>";
        let entries = "<loc>https://example.org/book/a/page</loc>\n".repeat(150_000);
        assert!(entries.len() > MAX_PAGE_BYTES);
        let large = format!("<loc>https://example.org/book/</loc>\n{entries}");
        let (files, source) = site(&[("index.html", front), ("sitemap.xml", &large)]);
        let settings = source.settings().await.unwrap();
        assert_eq!(settings.base_url, "/book/");
        assert_eq!(settings.warnings, Vec::<String>::new());
        let odd = [b"\xff".as_slice(), large.as_bytes()].concat();
        files.files().insert("sitemap.xml".to_owned(), odd);
        assert_eq!(source.settings().await.unwrap().base_url, "/book/");
    }

    #[tokio::test]
    async fn a_sitemap_is_not_read_if_the_front_page_has_its_address() {
        let canonical =
            "<title>A</title><link rel=canonical href=https://example.org/b/><main>A</main>";
        let (memory, source) = site(&[("index.html", canonical), ("sitemap.xml", "<loc>")]);
        assert_eq!(source.settings().await.unwrap().base_url, "/b/");
        let read = memory.take_read();
        assert!(!read.iter().any(|path| path == "sitemap.xml"), "{read:?}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_sitemap_that_cannot_be_read_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let front = "<title>A</title><main>A</main>";
        std::fs::write(folder.path().join("index.html"), front).unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("sitemap.xml")).unwrap();
        let source = Source::Folder(FolderSource::open(folder.path()).unwrap());
        let settings = source.settings().await.unwrap();
        assert_eq!(settings.base_url, "/");
        assert!(
            settings.warnings[0].starts_with("sitemap.xml may not be read"),
            "{:?}",
            settings.warnings
        );
    }
}
