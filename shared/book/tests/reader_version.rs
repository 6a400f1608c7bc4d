//! Pages are read again when the reader's version is raised, so any change of the reader's output must raise it. This test compares the fixture
//! book's output with the one recorded for the version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use book::chunk::{ChunkPolicy, chunk_document};
use book::{Inputs, READER_VERSION, SiteSettings, hex, list_pages, missing_inputs, read_document};
use sha2::{Digest, Sha256};

fn files(root: &Path, folder: &Path, paths: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the fixture book is there") {
        let path = entry.expect("an entry of the fixture book").path();
        if path.is_dir() {
            files(root, &path, paths);
        } else {
            let relative = path.strip_prefix(root).expect("it lies below the root");
            paths.insert(relative.to_str().expect("a Unicode path").to_owned());
        }
    }
}

#[test]
fn a_change_of_what_is_read_raises_the_readers_version() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let site = manifest.join("../../tests/fixtures/book");
    let mut paths = BTreeSet::new();
    files(&site, &site, &mut paths);
    let read = |path: &str| std::fs::read(site.join(path)).ok();
    let config = "docusaurus.config.js";
    let text = read(config).expect("the fixture book has a config");
    let settings_files = BTreeMap::from([(
        config.to_owned(),
        String::from_utf8(text).expect("the config is text"),
    )]);
    let settings = SiteSettings::read(&settings_files, true).expect("the settings can be read");
    let mut hash = Sha256::new();
    for page in list_pages(&settings, &paths) {
        let bytes = read(&page.source).expect("the page is there");
        let mut inputs = Inputs::new();
        loop {
            let missing = missing_inputs(&settings, &page, &bytes, &inputs);
            if missing.is_empty() {
                break;
            }
            inputs.extend(
                missing
                    .into_keys()
                    .map(|path| (path.clone(), read(&path).into())),
            );
        }
        let Ok(document) = read_document(&settings, "site", &page, &bytes, &inputs) else {
            continue;
        };
        let placement = serde_json::to_string(&document.placement);
        let placement = placement.expect("a placement serialises");
        hash.update(format!("{} {placement}\n", document.url));
        for chunk in chunk_document(&document, &ChunkPolicy::ADAPTIVE) {
            hash.update(format!("{chunk:?}\n"));
        }
    }
    let now = format!("{READER_VERSION} {}", hex(&hash.finalize()));
    let written = std::fs::read_to_string(manifest.join("fixtures/reader_version.txt"))
        .expect("the fixture is there");
    let (version, _) = written
        .trim()
        .split_once(' ')
        .expect("a version and a hash");
    assert!(
        now == written.trim() || version != READER_VERSION.to_string(),
        "what is read has changed: raise READER_VERSION, then write its line, `VERSION {}`, into fixtures/reader_version.txt",
        now.split(' ').next_back().unwrap_or_default()
    );
    assert_eq!(
        now,
        written.trim(),
        "fixtures/reader_version.txt is of another version: write this line into it"
    );
}
