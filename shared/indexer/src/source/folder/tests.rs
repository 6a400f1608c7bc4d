//! What is listed and read of a folder.

use std::os::unix::fs::symlink;

use super::*;

#[tokio::test]
async fn links_do_not_lead_out_and_what_is_no_file_is_not_waited_for() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.md"), "secret").unwrap();
    let site = tempfile::tempdir().unwrap();
    let docs = site.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    std::fs::write(docs.join("page.md"), "# Page").unwrap();
    symlink("page.md", docs.join("again.md")).unwrap();
    symlink(outside.path().join("secret.md"), docs.join("secret.md")).unwrap();
    symlink("/dev/zero", docs.join("endless.md")).unwrap();
    std::os::unix::net::UnixListener::bind(docs.join("socket.md")).unwrap();
    let source = FolderSource::open(site.path()).unwrap();
    let again = source.read("docs/again.md").await.unwrap();
    assert_eq!(again.as_deref(), Some(b"# Page".as_slice()));
    symlink("loop.md", docs.join("loop.md")).unwrap();
    symlink("not-mounted/page.md", docs.join("dangling.md")).unwrap();
    for refused in ["secret", "endless", "socket", "loop", "dangling"] {
        let refused = &format!("docs/{refused}.md");
        let error = source.read(refused).await.unwrap_err();
        assert!(matches!(error, SourceError::Forbidden { .. }), "{error}");
    }
    let absolute = outside.path().join("secret.md");
    for absent in ["../secret.md", absolute.to_str().unwrap(), "docs/../../x"] {
        assert_eq!(source.read(absent).await.unwrap(), None, "{absent}");
    }
}

#[tokio::test]
async fn pages_in_src_are_listed_and_what_tools_made_is_not() {
    let site = tempfile::tempdir().unwrap();
    for folder in ["docs", "src/pages", "build", "node_modules/a"] {
        let folder = site.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.md"), "# A").unwrap();
    }
    let listing = FolderSource::open(site.path()).unwrap().listing().await;
    let expected = ["docs/a.md", "src/pages/a.md"].map(str::to_owned);
    assert_eq!(listing.unwrap().paths, expected.into());
}

#[tokio::test]
async fn the_folders_of_a_build_are_listed_whatever_their_names() {
    let site = tempfile::tempdir().unwrap();
    std::fs::write(site.path().join("index.html"), "<main>").unwrap();
    for folder in ["docs", "build", "static"] {
        let folder = site.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.html"), "<main>").unwrap();
    }
    let listing = FolderSource::open(site.path()).unwrap().listing().await;
    let expected = ["build/a.html", "docs/a.html", "index.html", "static/a.html"];
    assert_eq!(listing.unwrap().paths, expected.map(str::to_owned).into());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_cannot_be_listed_is_named_and_the_rest_is_listed() {
    use std::os::unix::ffi::OsStrExt;

    let site = tempfile::tempdir().unwrap();
    let docs = site.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    std::fs::write(docs.join("page.md"), "# Page").unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    std::fs::write(docs.join(name), "# Page").unwrap();
    // A path longer than the system's limit, which binds root as well.
    std::fs::create_dir(docs.join("x".repeat(250))).unwrap();
    let long = site.path().join("./".repeat(1_950));
    let listing = FolderSource::open(&long).unwrap().listing().await;
    let listing = listing.unwrap();
    assert!(listing.paths.contains("docs/page.md"));
    assert_eq!(listing.not_utf8, ["docs/caf\u{fffd}.md".to_owned()].into());
    let unreadable: Vec<String> = listing.unreadable.into_keys().collect();
    assert_eq!(unreadable, [format!("docs/{}/", "x".repeat(250))]);
}
