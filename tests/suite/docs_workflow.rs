//! The upload of the workflow that docs repositories copy, with the AWS CLI against moto.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Output,
};

use bookrag::{
    book::{Inputs, default_source, list_pages, missing_docs, page_file, read_document},
    chunk::{ChunkPolicy, chunk_document},
    source::{FileCache, FolderSource, S3Source, Source, SourceError},
};
use bookrag_tests::{emulator::beside_python, functions::command_folder, moto::Moto};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::local_cloud::copy;

const URL: &str = "s3://books/book";

/// Returns the script of the workflow's step with this name.
pub(crate) fn script_of_step(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/docs-workflow.yml");
    let workflow: Value = serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let steps = workflow["jobs"]["ingest"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).unwrap();
    step["run"].as_str().unwrap().to_owned()
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn git(repository: &Path, arguments: &[&str]) {
    let mut command = std::process::Command::new("git");
    let status = command.args(arguments).current_dir(repository).status();
    assert!(status.unwrap().success());
}

/// Copies the script of the upload to where the workflow runs it.
pub(crate) fn copy_script(repository: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/upload_book.py");
    fs::create_dir_all(repository.join(".github")).unwrap();
    fs::copy(script, repository.join(".github/upload_book.py")).unwrap();
}

/// Returns the folders of the programs that the workflow runs.
pub(crate) fn program_folders() -> String {
    let aws = beside_python("aws");
    let (aws, bookrag) = (aws.parent().unwrap(), command_folder());
    format!(
        "{}:{}:/usr/local/bin:/usr/bin:/bin",
        bookrag.display(),
        aws.display()
    )
}

/// Uploads a repository as the workflow does, with the site's folder in it and that of its build.
async fn run_upload(moto: &Moto, repository: &Path, site: &str, build: &str) -> Output {
    copy_script(repository);
    let script = script_of_step("Upload the book");
    let uploaded = Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script])
        .current_dir(repository)
        .env_clear()
        .env("PATH", program_folders())
        .env("HOME", repository)
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_DEFAULT_REGION", "us-east-1")
        .envs(moto.environment())
        .env("BOOKRAG_SOURCE", URL)
        .env("ALLOW_MASS_DELETION", "false")
        .env("SITE", site)
        .env("BUILD", build)
        .output();
    uploaded.await.unwrap()
}

/// Like [`run_upload`], and returns what was printed.
async fn upload(moto: &Moto, repository: &Path, site: &str, build: &str) -> String {
    let uploaded = run_upload(moto, repository, site, build).await;
    assert!(uploaded.status.success(), "{uploaded:?}");
    String::from_utf8(uploaded.stdout).unwrap()
}

/// Returns everything that is read of a book: its pages with their chunks, which depend on all that the pages use.
async fn content(source: Source) -> BTreeMap<String, Value> {
    let (source, settings) = source.opened().await.unwrap();
    let listing = source.listing().await.unwrap();
    let files = FileCache::default();
    let mut pages = BTreeMap::new();
    for page in list_pages(&settings, &listing.paths) {
        let bytes = source.read_page(&page.source).await.unwrap().unwrap();
        let inputs = source.inputs(&settings, &page, &bytes, &files);
        let inputs = inputs.await.unwrap();
        let read = match read_document(&settings, "", &page, &bytes, &inputs) {
            Ok(document) => json!({
                "document": format!("{document:?}"),
                "chunks": chunk_document(&document, &ChunkPolicy::ADAPTIVE),
            }),
            Err(reason) => json!(reason.to_string()),
        };
        pages.insert(page.source, read);
    }
    pages
}

/// Uploads a site's folder to a bucket of its own, and checks that the same is read from both.
async fn reads_the_same(site: &Path) -> BTreeMap<String, Value> {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    let home = tempfile::tempdir().unwrap();
    upload(&moto, home.path(), site.to_str().unwrap(), "").await;
    let of_folder = content(Source::Folder(FolderSource::open(site).unwrap())).await;
    let of_bucket = content(bucket(&moto)).await;
    assert_eq!(of_folder, of_bucket, "{}", site.display());
    of_folder
}

fn bucket(moto: &Moto) -> Source {
    Source::S3(S3Source::new(moto.client(), URL).unwrap())
}

async fn keys(moto: &Moto) -> BTreeSet<String> {
    bucket(moto).list().await.unwrap()
}

/// Returns the sources of the pages that are read from the bucket.
async fn pages(moto: &Moto) -> Vec<String> {
    let (source, settings) = bucket(moto).opened().await.unwrap();
    let listing = source.listing().await.unwrap();
    assert_eq!(missing_docs(&settings, &listing.paths), None);
    let pages = list_pages(&settings, &listing.paths);
    for page in &pages {
        assert_eq!(default_source(&settings, page), page.source);
        assert!(listing.etags.contains_key(&page.source), "{page:?}");
        assert!(
            source.read(&page.source).await.unwrap().is_some(),
            "{page:?}"
        );
    }
    pages.into_iter().map(|page| page.source).collect()
}

#[tokio::test]
async fn an_uploaded_book_is_read_as_in_its_folder() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let book = tempfile::tempdir().unwrap();
    for part in ["book", "translations", "broken-pages"] {
        copy(&fixtures.join(part), book.path());
    }
    let read = reads_the_same(book.path()).await;
    assert!(read.len() > 15, "{:?}", read.keys());
    let site = tempfile::tempdir().unwrap();
    let page = "---\ntags: [x]\n---\nimport Hello from '!!raw-loader!./hello.py'\nimport R from '@site/src/r'\n\n# A\n\n{Hello}\n\n<R/>\n";
    write(
        site.path(),
        &[
            (
                "docusaurus.config.js",
                "module.exports = {presets: ['classic']}",
            ),
            ("versions.json", "[\"1.0\"]"),
            ("synonyms.txt", "hello, hi\n"),
            ("docs/a.mdx", page),
            ("docs/hello.py", "print('hello')\n"),
            ("docs/tags.yml", "x: {label: Greetings}\n"),
            ("docs/_category_.json", "{\"label\": \"All\"}"),
            ("src/r.js", "export {default} from '../parts/_r.mdx'\n"),
            ("parts/_r.mdx", "From a module.\n"),
            ("versioned_docs/version-1.0/a.md", "# A of version 1.0\n"),
            ("blog/authors.yml", "ann: {name: Ann}\n"),
            (
                "blog/2026-01-01-post.md",
                "---\nauthors: ann\n---\nA post.\n",
            ),
            ("src/pages/about.md", "# About\n"),
        ],
    );
    let read = json!(reads_the_same(site.path()).await).to_string();
    for text in [
        "print('hello')",
        "From a module.",
        "Greetings",
        "Ann",
        "version 1.0",
    ] {
        assert!(read.contains(text), "{text}: {read}");
    }
}

#[tokio::test]
async fn folders_beside_the_site_are_uploaded_as_they_are_in_the_repository() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    let repository = tempfile::tempdir().unwrap();
    let root = repository.path();
    let own = "module.exports = {presets: ['classic']}";
    write(
        root,
        &[
            ("website/docusaurus.config.js", own),
            ("website/docs/own.md", "# Own\n"),
            ("website/blog/a.md", "# A post\n"),
            (
                "website/bookrag.questions/blog/a.md.txt",
                "#\nwhat is new?\n",
            ),
            ("website/blog/no.txt", "no"),
            ("website/build/no.md", "# No\n"),
            ("website/.docusaurus/no.md", "# No\n"),
            (
                "docs/a.mdx",
                "import Part from '../shared/_part.mdx'\n\n<Part/>\n",
            ),
            ("docs/b/b.md", "# B\n"),
            ("docs/build/c.md", "# C\n"),
            ("docs/node_modules/no.md", "# No\n"),
            ("docs/docusaurus.config.js", "an example"),
            ("shared/_part.mdx", "A part.\n"),
            ("shared/_unused.mdx", "No.\n"),
            ("internal/no.md", "# No\n"),
            ("README.md", "# No\n"),
        ],
    );

    // A site without other folders is at the prefix itself.
    upload(&moto, root, "website", "").await;
    let expected = [
        "blog/a.md",
        "bookrag.questions/blog/a.md.txt",
        "docs/own.md",
        "docusaurus.config.js",
    ]
    .map(str::to_owned);
    assert_eq!(keys(&moto).await, expected.into());

    let beside = "module.exports = {presets: [['classic', {docs: {path: '../docs'}}]]}";
    write(root, &[("website/docusaurus.config.js", beside)]);
    upload(&moto, root, "./website/", "").await;
    let expected = [
        "docs/a.mdx",
        "docs/b/b.md",
        "docs/build/c.md",
        "shared/_part.mdx",
        "website/blog/a.md",
        "website/bookrag.questions/blog/a.md.txt",
        "website/docusaurus.config.js",
    ];
    assert_eq!(keys(&moto).await, expected.map(str::to_owned).into());
    let expected = [
        "../docs/a.mdx",
        "../docs/b/b.md",
        "../docs/build/c.md",
        "blog/a.md",
    ];
    assert_eq!(pages(&moto).await, expected);
    let (source, settings) = bucket(&moto).opened().await.unwrap();
    assert_eq!(source.path_of_site("docs/a.mdx"), "../docs/a.mdx");
    assert_eq!(source.path_of_site("website/blog/a.md"), "blog/a.md");
    let part = source.read("../shared/_part.mdx").await.unwrap();
    assert_eq!(part.as_deref(), Some(b"A part.\n".as_slice()));
    // Nothing outside of the prefix is read.
    moto.put("books", "secret.md", "a secret").await;
    assert_eq!(source.read("../../secret.md").await.unwrap(), None);
    assert_eq!(settings.instances[0].path, "../docs");
    let folder = FolderSource::open(&root.join("website")).unwrap();
    assert_eq!(content(source).await, content(Source::Folder(folder)).await);

    fs::remove_file(root.join("docs/b/b.md")).unwrap();
    let printed = upload(&moto, root, "website", "").await;
    assert_eq!(
        printed,
        "delete docs/b/b.md\nuploaded 0, unchanged 6, deleted 1\n"
    );
    let expected = ["../docs/a.mdx", "../docs/build/c.md", "blog/a.md"];
    assert_eq!(pages(&moto).await, expected);
}

#[tokio::test]
async fn what_is_not_published_is_not_uploaded() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    let parent = tempfile::tempdir().unwrap();
    let root = &parent.path().join("repository");
    let config = "module.exports = {presets: [['classic', {docs: {path: '../docs'}}]]}";
    write(
        root,
        &[
            ("../secret.md", "SECRET"),
            ("website/docusaurus.config.js", config),
            ("website/.docusaurus/no.md", "SECRET"),
            ("website/blog/.hidden/no.md", "SECRET"),
            ("website/node_modules/a/no.md", "SECRET"),
            ("docs/a.md", "# A\n"),
            ("docs/a/.hidden.md", "SECRET"),
            ("docs/a/node_modules/no.md", "SECRET"),
            (".env", "SECRET"),
            (".gitignore", "key.md"),
            ("key.md", "SECRET"),
            ("README.md", "# Readme\n"),
        ],
    );
    for (target, link) in [
        ("../README.md", "docs/readme.md"),
        ("../.env", "docs/env.md"),
        ("../.git/config", "docs/config.md"),
        ("../key.md", "docs/[key].md"),
        ("../../secret.md", "docs/outside.md"),
        ("gone.md", "docs/gone.md"),
        ("..", "docs/up"),
    ] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    git(root, &["init", "--quiet"]);
    git(root, &["add", "--all"]);
    upload(&moto, root, "website", "").await;
    let objects = moto.client().list_objects_v2().bucket("books").send().await;
    let objects = objects.unwrap();
    let keys: Vec<&str> = objects
        .contents()
        .iter()
        .filter_map(|it| it.key())
        .collect();
    let expected = [
        "book/docs/a.md",
        "book/docs/readme.md",
        "book/website/docusaurus.config.js",
    ];
    assert_eq!(keys, expected);
    // As on a laptop, a link to settings that are not published is an error.
    std::os::unix::fs::symlink("../key.md", root.join("website/synonyms.txt")).unwrap();
    let refused = run_upload(&moto, root, "website", "").await;
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{refused:?}");
    assert!(errors.contains("synonyms.txt is not read"), "{errors}");
    // Objects that something else put there are not read either.
    moto.put("books", "book/.env", "SECRET").await;
    moto.put("books", "book/docs/node_modules/no.md", "SECRET")
        .await;
    let (source, _) = bucket(&moto).opened().await.unwrap();
    let listed = source.list().await.unwrap();
    assert_eq!(listed.len(), 3, "{listed:?}");
    for path in ["../.env", "../docs/node_modules/no.md"] {
        let error = source.read(path).await.unwrap_err();
        assert!(matches!(error, SourceError::NotPublished { .. }), "{error}");
    }
}

#[tokio::test]
async fn docs_that_only_a_build_makes_are_read_from_what_is_uploaded() {
    let made = "module.exports = {presets: [['classic', {docs: {path: 'target/docs'}}]]}";
    let hidden = "const versions = require('./versions.json');
        module.exports = {presets: [['classic', {docs: {includeCurrentVersion: false, lastVersion: versions[0]}}]]}";
    for (config, versions, written, page) in [
        (made, "[]", "docs/a.md", "../docs/a.md"),
        (made, "[]", "website/docs/a.md", "docs/a.md"),
        (hidden, "[\"2.0\"]", "website/docs/a.md", "docs/a.md"),
    ] {
        let moto = Moto::start().await;
        moto.create_bucket("books").await;
        let repository = tempfile::tempdir().unwrap();
        write(
            repository.path(),
            &[
                ("website/docusaurus.config.js", config),
                ("website/versions.json", versions),
                ("website/package.json", "{}"),
                (written, "# A\n"),
            ],
        );
        // Folders beside the site's are those of its repository.
        git(repository.path(), &["init", "--quiet"]);
        upload(&moto, repository.path(), "website", "").await;
        let keys = keys(&moto).await;
        let has_package = keys.iter().any(|key| key.ends_with("package.json"));
        assert!(!has_package, "{keys:?}");
        assert_eq!(pages(&moto).await, [page], "{config}");
        let (_, settings) = bucket(&moto).opened().await.unwrap();
        assert_eq!(settings.warnings.len(), 1, "{:?}", settings.warnings);
    }
}

#[tokio::test]
async fn pages_that_are_scripts_are_uploaded_as_they_were_built() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    let repository = tempfile::tempdir().unwrap();
    let config = "module.exports = {i18n: {defaultLocale: 'en', locales: ['en', 'de']}, presets: ['classic']}";
    let html = "<title>A</title><main><h1>A</h1><p>Built.</p></main>";
    write(
        repository.path(),
        &[
            ("docusaurus.config.js", config),
            ("docs/a.md", "# A\n"),
            ("src/pages/index.js", "export default () => 1"),
            ("src/pages/team/about.tsx", "export default () => 1"),
            ("i18n/de/code.json", "{}"),
            ("build/index.html", html),
            ("build/team/about/index.html", html),
            ("build/de/team/about.html", html),
            ("build/docs/a/index.html", html),
            ("build/404.html", html),
        ],
    );
    upload(&moto, repository.path(), ".", "build").await;
    let expected = [
        "build/de/team/about.html",
        "build/index.html",
        "build/team/about/index.html",
        "docs/a.md",
    ];
    assert_eq!(pages(&moto).await, expected);

    fs::remove_dir_all(repository.path().join("build/team")).unwrap();
    upload(&moto, repository.path(), ".", "build").await;
    assert_eq!(pages(&moto).await, [expected[0], expected[1], expected[3]]);
}

#[tokio::test]
async fn a_built_site_is_uploaded_and_read_as_in_a_folder() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    let repository = tempfile::tempdir().unwrap();
    let html =
        |title: &str| format!("<title>{title}</title><main><h1>{title}</h1><p>Built.</p></main>");
    write(
        repository.path(),
        &[
            ("mkdocs.yml", "site_name: A"),
            ("docs/index.md", "# A\n"),
            ("site/index.html", &html("A")),
            ("site/sitemap.xml", "<loc>https://example.org/book/</loc>"),
            ("site/build/b.html", &html("B")),
            ("site/404.html", &html("None")),
            ("site/search.json", "{}"),
        ],
    );
    upload(&moto, repository.path(), "site", "").await;
    let expected = ["build/b.html", "index.html", "sitemap.xml"];
    assert_eq!(keys(&moto).await, expected.map(str::to_owned).into());
    assert_eq!(pages(&moto).await, ["build/b.html", "index.html"]);

    let folder = FolderSource::open(&repository.path().join("site")).unwrap();
    for source in [bucket(&moto), Source::Folder(folder)] {
        let (source, settings) = source.opened().await.unwrap();
        let page = page_file(&settings, "build/b.html").unwrap();
        let bytes = source.read(&page.source).await.unwrap().unwrap();
        let document = read_document(&settings, "", &page, &bytes, &Inputs::new()).unwrap();
        assert_eq!(
            (document.url.as_str(), document.title.as_str()),
            ("/book/build/b.html", "B")
        );
    }
}

#[tokio::test]
async fn a_bucket_with_several_sites_or_without_the_docs_is_refused_by_name() {
    let moto = Moto::start().await;
    moto.create_bucket("books").await;
    let config = "module.exports = {presets: [['classic', {docs: {path: '../docs'}}]]}";
    moto.put("books", "book/docusaurus.config.js", config).await;
    let error = bucket(&moto).opened().await.unwrap_err();
    assert!(matches!(error, SourceError::Settings(_)), "{error}");
    let named = "docusaurus.config.js, line 1: the folder `../docs` is outside of s3://books/book";
    assert!(error.to_string().starts_with(named), "{error}");

    moto.put("books", "book/a/docusaurus.config.js", config)
        .await;
    moto.put("books", "book/b/docusaurus.config.js", config)
        .await;
    let client = moto.client();
    let deleted = client
        .delete_object()
        .bucket("books")
        .key("book/docusaurus.config.js");
    deleted.send().await.unwrap();
    let error = bucket(&moto).opened().await.unwrap_err().to_string();
    let expected = "s3://books/book holds several sites, of which one must be named: a, b";
    assert_eq!(error, expected);
}
