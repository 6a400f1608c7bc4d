//! Finds the Docusaurus site that a folder holds, or whose docs it holds.

use std::path::{Path, PathBuf};

use bookrag::source::{FolderSource, Source, repository_of};

/// The folder in which no sites are looked for.
const SKIPPED_FOLDER: &str = "node_modules";

/// Returns the sites at and below a folder, up to `depth` folders below it, in path order. Sites within sites, such as examples, are left out.
pub(super) fn sites_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    if has_docusaurus_config(folder) {
        return vec![folder.to_owned()];
    }
    // A folder that cannot be listed is reported when pages are listed, if any may be in it.
    let Some(deeper) = depth.checked_sub(1) else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| {
        let name = entry.file_name();
        let is_skipped = name == SKIPPED_FOLDER || name.to_string_lossy().starts_with('.');
        !is_skipped && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    let sites = folders.iter().flat_map(|below| sites_below(below, deeper));
    sites.collect()
}

/// Returns the site whose config names a folder as one of its folders of pages; `None` if none or several do. Sites are looked for in the folder's
/// repository; without one, above the folder and beside it.
pub(super) async fn site_of_docs(docs: &Path) -> Option<PathBuf> {
    let mut sites = match repository_of(docs) {
        Some(repository) => sites_below(repository, usize::MAX),
        None => docs
            .parent()
            .map(|above| sites_below(above, 1))
            .unwrap_or_default(),
    };
    sites.extend(
        docs.ancestors()
            .skip(1)
            .filter(|it| has_docusaurus_config(it))
            .map(Path::to_owned),
    );
    sites.sort();
    sites.dedup();
    let mut owners = Vec::new();
    for site in sites {
        if reads(&site, docs).await {
            owners.push(site);
        }
    }
    owners.pop().filter(|_| owners.is_empty())
}

/// True if a site's config names a folder. A site whose settings cannot be read names none.
async fn reads(site: &Path, docs: &Path) -> bool {
    let Ok(source) = FolderSource::open(site) else {
        return false;
    };
    let Ok((Source::Folder(source), settings)) = Source::Folder(source).opened().await else {
        return false;
    };
    let folders = settings.instances.iter();
    let mut folders = folders.filter_map(|it| source.full_path(&it.path)?.canonicalize().ok());
    folders.any(|folder| folder == docs)
}

fn has_docusaurus_config(folder: &Path) -> bool {
    super::has_file(folder, "docusaurus")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_sites_below_a_folder_are_found_and_their_own_examples_are_not() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "website/docusaurus.config.ts",
            "website/docusaurus.config.js",
            "website/example/docusaurus.config.js",
            "packages/a/site/docusaurus.config.mjs",
            "node_modules/b/docusaurus.config.js",
            ".cache/docusaurus.config.js",
            "docs/docusaurus.config.md",
        ] {
            write(root.path(), path, "");
        }
        let found = |depth| {
            let sites = sites_below(root.path(), depth).into_iter();
            sites
                .map(|site| site.strip_prefix(root.path()).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found(usize::MAX),
            [Path::new("packages/a/site"), Path::new("website")]
        );
        assert_eq!(found(1), [Path::new("website")]);
        assert_eq!(found(0), Vec::<PathBuf>::new());
    }

    #[tokio::test]
    async fn docs_belong_to_the_one_site_that_names_them() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let config = "module.exports = {presets: [['classic', {docs: {path: '../docs'}}]]}";
        write(&root, "website/docusaurus.config.js", config);
        write(&root, "docs/a.md", "# A\n");
        write(&root, "notes/a.md", "# A\n");
        write(&root, "website/blog/a.md", "# A\n");
        let owner = async |docs: &str| site_of_docs(&root.join(docs)).await;
        assert_eq!(owner("docs").await, Some(root.join("website")));
        assert_eq!(owner("website/blog").await, Some(root.join("website")));
        assert_eq!(owner("notes").await, None);
        write(&root, "other/docusaurus.config.js", config);
        assert_eq!(owner("docs").await, None);
    }
}
