//! What a page can read of the folder, the commit and the bucket that it is in.

#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use book::page_file;

const CONFIG: &str = "module.exports = {i18n: {defaultLocale: 'en', locales: ['en', 'de']}, presets: [['classic', {}]]}";

/// The files of a repository whose site is in `site`. The ignore file is written last.
const FILES: [(&str, &str); 13] = [
    ("site/docusaurus.config.js", CONFIG),
    ("site/docs/page.mdx", "# Page\n"),
    ("site/.env", "SECRET of the site"),
    ("site/node_modules/x/.npmrc", "SECRET of npm"),
    ("site/node_modules/x/a.js", "SECRET of a package"),
    (".env", "SECRET of the repository"),
    (".config/key.txt", "SECRET of a tool"),
    ("README.md", "# Readme\n"),
    ("src/main.py", "print(1)"),
    ("ignored/key.txt", "SECRET in a folder"),
    ("ignored/_part.mdx", "SECRET Markdown"),
    ("key.pem", "SECRET key"),
    (
        ".gitignore",
        "/ignored/\n*.pem\n!public.pem\nmade/\ni18n/\n",
    ),
];

struct Repository(tempfile::TempDir);

impl Repository {
    /// A repository that tracks the files which its ignore file does not name, below a folder with a secret.
    fn new() -> Self {
        let repository = Self::without_git();
        repository.git(&["init", "--quiet", "-b", "main"]);
        repository.commit();
        repository
    }

    fn without_git() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        repository.write("../outside.txt", "SECRET outside");
        for (path, text) in FILES {
            repository.write(path, text);
        }
        repository
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("repository")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, target: &str, path: &str) {
        symlink(target, self.root().join(path)).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        git(&self.root(), arguments);
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "next"]);
    }

    async fn folder(&self) -> (Source, SiteSettings) {
        let folder = FolderSource::open(&self.root().join("site")).unwrap();
        Source::Folder(folder).opened().await.unwrap()
    }

    async fn head(&self) -> (Source, SiteSettings) {
        let commit = GitSource::open(&self.root().join("site"), "HEAD").await;
        Source::Git(commit.unwrap()).opened().await.unwrap()
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
    command
        .args(identity)
        .args(["-c", "protocol.file.allow=always"]);
    let output = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// Returns the file that a page imports.
async fn imported((source, settings): &(Source, SiteSettings), specifier: &str) -> Input {
    let page = page_file(settings, "docs/page.mdx").unwrap();
    let text = format!("import A from '{specifier}'\n\n<A/>\n\n<pre>{{A}}</pre>\n");
    let files = FileCache::default();
    let inputs = source.inputs(settings, &page, text.as_bytes(), &files);
    let file = specifier.trim_start_matches("!!raw-loader!");
    let file = file.trim_end_matches("?raw");
    let path = match file.strip_prefix("@site/") {
        Some(path) => book::joined("", path),
        None => book::joined("docs", file),
    };
    let mut inputs = inputs.await.unwrap();
    inputs.remove(&path).unwrap()
}

async fn is_refused(site: &(Source, SiteSettings), specifier: &str, reason: &str) {
    let input = imported(site, specifier).await;
    let refused = matches!(&input, Input::Refused(why) if why.contains(reason));
    assert!(refused, "{specifier}: {input:?}");
}

async fn is_shown(site: &(Source, SiteSettings), specifier: &str, text: &str) {
    let expected = Input::Content(text.as_bytes().to_vec());
    assert_eq!(imported(site, specifier).await, expected, "{specifier}");
}

#[tokio::test]
async fn what_is_never_published_is_refused_in_every_form() {
    let repository = Repository::new();
    let site = repository.folder().await;
    for specifier in [
        "!!raw-loader!../.env",
        "../.env?raw",
        "!!raw-loader!@site/.env",
        "!!raw-loader!../../.env",
        "!!raw-loader!@site/../.git/config",
        "../../.git/HEAD?raw",
        "!!raw-loader!../../.config/key.txt",
        "!!raw-loader!../node_modules/x/.npmrc",
        "@site/node_modules/x/a.js?raw",
        "../.env.md",
    ] {
        is_refused(&site, specifier, "never read").await;
    }
    is_refused(&site, "!!raw-loader!../../../outside.txt", "outside of").await;
    for path in [".env", "../.env", "../.git/config", "node_modules/x/a.js"] {
        let error = site.0.read(path).await.unwrap_err();
        assert!(matches!(error, SourceError::NotPublished { .. }), "{error}");
    }
}

#[tokio::test]
async fn text_of_a_repository_is_shown_if_git_tracks_it() {
    let repository = Repository::new();
    repository.write("public.pem", "public");
    repository.write("forced.pem", "forced");
    repository.write("new.txt", "SECRET that is not added");
    repository.git(&["add", "--force", "forced.pem", "public.pem"]);
    let site = repository.folder().await;
    is_shown(&site, "!!raw-loader!../../src/main.py", "print(1)").await;
    is_shown(&site, "../../forced.pem?raw", "forced").await;
    is_shown(&site, "../../public.pem?raw", "public").await;
    for specifier in [
        "../../key.pem?raw",
        "../../ignored/key.txt?raw",
        "../../new.txt?raw",
    ] {
        is_refused(&site, specifier, "git does not track").await;
    }
    repository.git(&["add", "new.txt"]);
    is_shown(&site, "../../new.txt?raw", "SECRET that is not added").await;
}

#[tokio::test]
async fn markdown_is_read_before_git_tracks_it_unless_it_is_ignored() {
    let repository = Repository::new();
    repository.write("site/docs/_new.mdx", "new");
    repository.write("shared/_new.mdx", "shared");
    repository.write("site/docs/made/_part.mdx", "made");
    let site = repository.folder().await;
    is_shown(&site, "./_new.mdx", "new").await;
    is_shown(&site, "../../shared/_new.mdx", "shared").await;
    is_shown(&site, "./made/_part.mdx", "made").await;
    is_refused(&site, "../../ignored/_part.mdx", ".gitignore names").await;
    repository.write(".git/info/exclude", "shared\n");
    is_refused(&site, "../../shared/_new.mdx", ".gitignore names").await;
    repository.write("shared/.gitignore", "!*.mdx\n");
    is_refused(&site, "../../shared/_new.mdx", ".gitignore names").await;
    repository.git(&["add", "--force", "shared/_new.mdx"]);
    is_shown(&site, "../../shared/_new.mdx", "shared").await;
}

#[tokio::test]
async fn pages_and_translations_that_a_build_makes_are_read_although_git_ignores_them() {
    let repository = Repository::new();
    let translation = "i18n/de/docusaurus-plugin-content-docs/current/page.mdx";
    repository.write(&format!("site/{translation}"), "# Seite\n");
    repository.write("site/docs/made/a.md", "# Made\n");
    repository.write("site/docs/made/_category_.json", "{}");
    let (source, settings) = repository.folder().await;
    let listing = source.listing().await.unwrap();
    for path in [translation, "docs/made/a.md", "docs/made/_category_.json"] {
        assert!(source.read(path).await.unwrap().is_some(), "{path}");
    }
    let pages = book::list_pages(&settings, &listing.paths);
    // The settings of a folder may make a page.
    assert_eq!(pages.len(), 4, "{pages:?}");
}

#[tokio::test]
async fn links_are_followed_to_published_files_alone() {
    let repository = Repository::new();
    repository.write(".env.md", "SECRET");
    repository.link("../.env", "site/docs/env.md");
    repository.link("../../.env.md", "site/docs/env2.md");
    repository.link("../../.git/config", "site/docs/config.md");
    repository.link("../node_modules/x/a.js", "site/docs/package.md");
    repository.link("../../key.pem", "site/docs/key.md");
    repository.link("../../ignored/_part.mdx", "site/docs/ignored.mdx");
    repository.link("../../ignored", "site/docs/folder");
    repository.link("..", "site/docs/up");
    repository.link("../../README.md", "site/docs/readme.md");
    repository.link("../../src", "site/docs/src");
    repository.git(&["add", "--all", "--force", "site/docs", ".env", ".env.md"]);
    repository.git(&["commit", "--quiet", "-m", "links"]);
    let (folder, commit) = (repository.folder().await, repository.head().await);
    for (source, _) in [&folder, &commit] {
        for name in ["env", "env2"] {
            let error = source
                .read_page(&format!("docs/{name}.md"))
                .await
                .unwrap_err();
            assert!(matches!(error, SourceError::NotPublished { .. }), "{error}");
        }
        let read = source.read_page("docs/readme.md").await.unwrap();
        assert_eq!(read.as_deref(), Some(b"# Readme\n".as_slice()));
        for name in ["config.md", "package.md", "key.md", "ignored.mdx"] {
            let path = format!("docs/{name}");
            let error = source.read_page(&path).await.unwrap_err();
            assert!(error.to_string().starts_with(&path), "{error}");
        }
        assert!(source.read("docs/up/.env").await.is_err());
    }
    is_refused(&folder, "./folder/key.txt?raw", "git does not track").await;
    is_refused(&folder, "./folder/_part.mdx", ".gitignore names").await;
    is_refused(&folder, "./up/docs/env.md?raw", "never read").await;
    is_shown(&folder, "./src/main.py?raw", "print(1)").await;
}

#[tokio::test]
async fn without_git_the_ignore_files_of_the_folder_count() {
    let repository = Repository::without_git();
    for (path, text) in [
        ("site/.gitignore", "local/*\n!local/shown.txt\n"),
        ("site/local/key.txt", "SECRET"),
        ("site/local/shown.txt", "shown"),
        ("site/code.py", "print(2)"),
    ] {
        repository.write(path, text);
    }
    let site = repository.folder().await;
    is_refused(&site, "../local/key.txt?raw", ".gitignore names").await;
    is_refused(&site, "../.env?raw", "never read").await;
    is_refused(&site, "../../key.pem?raw", "outside of").await;
    is_shown(&site, "../local/shown.txt?raw", "shown").await;
    is_shown(&site, "../code.py?raw", "print(2)").await;
    repository.write("site/.gitignore", "code.py\n");
    is_refused(&site, "../code.py?raw", ".gitignore names").await;
    repository.write("site/.gitignore", &"a".repeat(1 << 20));
    is_refused(&site, "../code.py?raw", ".gitignore names").await;
}

#[tokio::test]
async fn a_site_that_was_saved_below_a_repository_of_other_things_is_no_part_of_it() {
    let repository = Repository::without_git();
    repository.git(&["init", "--quiet", "-b", "main"]);
    // Nothing is tracked yet.
    is_shown(&repository.folder().await, "../../README.md", "# Readme\n").await;
    repository.write("notes.txt", "SECRET of the home folder");
    repository.git(&["add", ".gitignore", ".env", "notes.txt"]);
    let site = repository.folder().await;
    is_refused(&site, "../../notes.txt?raw", "outside of").await;
    is_refused(&site, "../../README.md", "outside of").await;
    repository.git(&["add", "site/docs/page.mdx"]);
    let site = repository.folder().await;
    is_shown(&site, "../../README.md", "# Readme\n").await;
    fs::write(repository.root().join(".git/index"), "DIRC").unwrap();
    let site = repository.folder().await;
    is_refused(&site, "../../README.md", "outside of").await;
}

#[tokio::test]
async fn what_git_tracks_is_known_for_each_kind_of_repository() {
    for (init, prepare) in [
        (&["init", "--quiet"][..], &[][..]),
        (&["init", "--quiet", "--object-format=sha256"], &[]),
        (
            &["init", "--quiet"],
            &["update-index", "--index-version", "4"],
        ),
        (
            &["init", "--quiet"],
            &["add", "--intent-to-add", "later.txt"],
        ),
    ] {
        let repository = Repository::without_git();
        repository.write("later.txt", "later");
        repository.git(init);
        repository.git(&["add", "site", "src", "README.md"]);
        if !prepare.is_empty() {
            repository.git(prepare);
        }
        let site = repository.folder().await;
        is_shown(&site, "../../src/main.py?raw", "print(1)").await;
        is_refused(&site, "../../key.pem?raw", "git does not track").await;
    }
}

#[tokio::test]
async fn submodules_and_worktrees_are_read_as_their_repository_is() {
    let repository = Repository::new();
    let other = Repository::new();
    let url = other.root().display().to_string();
    repository.git(&["submodule", "--quiet", "add", &url, "parts/other"]);
    repository.write("parts/other/new.txt", "SECRET");
    let site = repository.folder().await;
    is_shown(&site, "../../parts/other/src/main.py?raw", "print(1)").await;
    is_refused(&site, "../../parts/other/new.txt?raw", "git does not track").await;
    is_refused(&site, "../../parts/other/.env?raw", "never read").await;
    let clone = repository.root().join("clone");
    git(&repository.root(), &["clone", "--quiet", &url, "clone"]);
    assert!(clone.join("src/main.py").is_file());
    is_refused(&site, "../../clone/src/main.py?raw", "git does not track").await;

    repository.git(&["worktree", "add", "--quiet", "../tree"]);
    let tree = repository.root().join("../tree");
    let folder = FolderSource::open(&tree.join("site")).unwrap();
    let site = Source::Folder(folder).opened().await.unwrap();
    is_shown(&site, "../../src/main.py?raw", "print(1)").await;
    is_refused(&site, "../../../outside.txt?raw", "outside of").await;
}

#[tokio::test]
async fn a_commit_and_a_bucket_hide_the_same_names() {
    let repository = Repository::new();
    repository.git(&["add", "--all", "--force"]);
    repository.git(&["commit", "--quiet", "-m", "everything"]);
    let memory = MemorySource::default().with_site("site");
    for (path, text) in FILES {
        let text = text.as_bytes().to_vec();
        memory.files().insert(path.to_owned(), text);
    }
    let bucket = Source::Memory(memory).opened().await.unwrap();
    for site in [repository.head().await, bucket] {
        for specifier in [
            "!!raw-loader!../.env",
            "../../.env?raw",
            "!!raw-loader!../../.git/config",
            "!!raw-loader!../node_modules/x/.npmrc",
        ] {
            is_refused(&site, specifier, "never read").await;
        }
        is_shown(&site, "../../src/main.py?raw", "print(1)").await;
        let listing = site.0.listing().await.unwrap();
        let mut paths = listing.paths.iter().chain(listing.etags.keys());
        assert!(
            paths.all(|path| private_name(path).is_none()),
            "{listing:?}"
        );
    }
}

#[tokio::test]
async fn the_settings_of_another_generator_are_noticed_in_a_folder_that_is_never_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".vitepress")).unwrap();
    fs::write(folder.path().join(".vitepress/config.ts"), "").unwrap();
    let source = Source::Folder(FolderSource::open(folder.path()).unwrap());
    let error = source.settings().await.unwrap_err().to_string();
    assert!(error.contains("a site of VitePress"), "{error}");
}
