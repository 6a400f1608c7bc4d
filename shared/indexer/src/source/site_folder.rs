//! Where a site is in the folder that its files are read from, such as a repository.

use std::path::{Component, Path};

use book::{is_outside, joined};

/// The site's folder in the root of what is read: `website`; empty if it is the root. A file of the site has its path in the site's folder, and a
/// file beside it a path that begins with `..`, so that no two files share a path and the site's own paths do not depend on the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SiteFolder(String);

impl SiteFolder {
    pub(super) fn new(path: &str) -> Self {
        Self(joined("", path))
    }

    /// Returns the path in the root of a file or folder, given by its path in the site; `None` if it is outside of the root.
    pub(super) fn in_root(&self, path: &str) -> Option<String> {
        if path.split('/').any(|name| name == "..") {
            let in_root = joined(&self.0, path);
            return is_plain(&in_root).then_some(in_root);
        }
        // Kept unchanged, because a key of a bucket may have empty parts.
        Some(match self.0.as_str() {
            "" => path.to_owned(),
            site => format!("{site}/{path}"),
        })
    }

    /// Returns the path in the site of a file, given by its path in the root.
    pub(super) fn of_root(&self, path: &str) -> String {
        let mut folders = self.0.split('/').filter(|name| !name.is_empty()).peekable();
        let mut rest = path;
        while let Some(below) = folders
            .peek()
            .and_then(|name| rest.strip_prefix(name)?.strip_prefix('/'))
        {
            rest = below;
            folders.next();
        }
        "../".repeat(folders.count()) + rest
    }

    /// Returns the path in the site that a folder's files have; `None` if the folder is outside of the root.
    pub(super) fn folder(&self, path: &str) -> Option<String> {
        let in_root = self.in_root(path)?;
        let folder = self.of_root(&format!("{in_root}/"));
        Some(folder.trim_end_matches('/').to_owned())
    }
}

/// True for a relative path of plain names, without `..`.
pub(super) fn is_plain(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !is_outside(path) && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_of_the_site_are_those_below_it_and_others_begin_with_dots() {
        let site = SiteFolder::new("apps/website/");
        for (in_root, of_site) in [
            ("apps/website/docs/a.md", "docs/a.md"),
            ("apps/docs/a.md", "../docs/a.md"),
            ("apps/website2/a.md", "../website2/a.md"),
            ("docs/a.md", "../../docs/a.md"),
            ("website/a.md", "../../website/a.md"),
        ] {
            assert_eq!(site.of_root(in_root), of_site);
            assert_eq!(site.in_root(of_site).as_deref(), Some(in_root));
        }
        for outside in ["../../../a.md", "../../..", "docs/../../../../a.md"] {
            assert_eq!(site.in_root(outside), None, "{outside}");
        }
        let root = SiteFolder::default();
        assert_eq!(root.of_root("docs/a.md"), "docs/a.md");
        assert_eq!(root.in_root("../a.md"), None);
        assert_eq!(root.in_root("docs//a.md").as_deref(), Some("docs//a.md"));
    }

    #[test]
    fn a_folder_has_one_path() {
        let site = SiteFolder::new("apps/website");
        for (path, expected) in [
            ("docs", Some("docs")),
            ("../website/docs", Some("docs")),
            ("../../apps/docs", Some("../docs")),
            ("../..", Some("../..")),
            ("..", Some("..")),
            ("../../..", None),
        ] {
            assert_eq!(site.folder(path).as_deref(), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn no_path_leads_out_of_the_root(site in "(a|b)(/(a|b)){0,2}|", path in "((a|b|\\.\\.|\\.|)/){0,6}(a|\\.\\.)") {
            let site = SiteFolder::new(&site);
            if let Some(in_root) = site.in_root(&path) {
                prop_assert!(in_root.split('/').all(|name| name != ".."), "{}", in_root);
            }
        }
    }
}
