//! The roles that the input bytes can play.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use book::{
    Inputs, PageFile, SettingsError, SiteSettings, list_pages, missing_inputs, page_file,
    read_document,
};

use super::laws::check_document;

/// Page paths; each site reads one of them.
const MDX_PAGE: &str = "docs/02-part/01-page.mdx";
const MD_PAGE: &str = "docs/02-part/01-page.md";

/// Sites whose page is the input: the name and text of the settings file, and the page's path.
const SITES: [(&str, &str, &str); 6] = [
    ("bookrag.toml", "", MDX_PAGE),
    ("bookrag.toml", "math = false", MDX_PAGE),
    ("bookrag.toml", "markdown_format = 'md'", MD_PAGE),
    (
        "bookrag.toml",
        "markdown_format = 'md'\nmath = false",
        MD_PAGE,
    ),
    ("bookrag.toml", "markdown_format = 'detect'", MD_PAGE),
    (
        "docusaurus.config.js",
        "module.exports = { future: { v4: true }, markdown: { anchors: { maintainCase: true } } }",
        MDX_PAGE,
    ),
];

/// A page that includes the input as partials: in text, a list, a quote and a heading.
const PAGE_OF_PARTIALS: &str = "---\ntitle: Parts\n---\nimport Part from './_part.mdx';\nimport Plain from './_plain.md';\n\n# Parts\n\nBefore <Part/> after.\n\n- An item\n\n  <Part/>\n\n> <Plain/>\n\n## A <Part/>\n\n<TOCInline toc={toc}/>\n";

/// A page read with the input as settings or folder labels.
const PLAIN_PAGE: &str = "---\ntitle: Page\nid: p\n---\n\nText, $x$ and `code`.\n\n## A Heading <!-- #own -->\n\n- Item {1}\n";

static SETTINGS: LazyLock<Vec<SiteSettings>> = LazyLock::new(|| {
    SITES
        .iter()
        .map(|(name, text, _)| settings_of(name, text).expect("they can be read"))
        .collect()
});

/// Reads the text in the role of the variant.
pub(super) fn run(variant: u8, text: &[u8]) {
    let count = SITES.len() + 5;
    match usize::from(variant) % count {
        site if site < SITES.len() => page(site, text),
        6 => partial(&SETTINGS[0], MDX_PAGE, text),
        7 => partial(&SETTINGS[2], MD_PAGE, text),
        8 => settings("docusaurus.config.js", text),
        9 => settings("bookrag.toml", text),
        _ => folder_labels(text),
    }
}

fn settings_of(name: &str, text: &str) -> Result<SiteSettings, SettingsError> {
    SiteSettings::read(&BTreeMap::from([(name.to_owned(), text.to_owned())]), true)
}

/// Reads the input as a page.
fn page(site: usize, text: &[u8]) {
    let settings = &SETTINGS[site];
    let file = page_file(settings, SITES[site].2).expect("the path is a page's");
    read_and_check(settings, &file, text, &Inputs::new());
}

/// Reads the input as a page's partials, which may import themselves.
fn partial(settings: &SiteSettings, page: &str, text: &[u8]) {
    let file = page_file(settings, page).expect("the path is a page's");
    let inputs = ["docs/02-part/_part.mdx", "docs/02-part/_plain.md"]
        .map(|path| (path.to_owned(), Some(text.to_owned())))
        .into();
    let page = PAGE_OF_PARTIALS.as_bytes();
    read_and_check(settings, &file, page, &inputs);
}

/// Reads the input as a settings file.
fn settings(name: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let read = settings_of(name, &text);
    let again = settings_of(name, &text);
    let keys = |read: &'_ Result<SiteSettings, SettingsError>| match read {
        Ok(settings) => Ok(settings.reading_keys().into_values().collect::<Vec<_>>()),
        Err(error) => Err(error.clone()),
    };
    assert_eq!(keys(&read), keys(&again));
    let Ok(settings) = read else {
        return;
    };
    let paths: BTreeSet<String> = [MD_PAGE, MDX_PAGE, "a.md", "i18n/en/a.md", "docs/_x/a.md"]
        .map(str::to_owned)
        .into();
    for file in list_pages(&settings, &paths) {
        let inputs = Inputs::new();
        let page = PLAIN_PAGE.as_bytes();
        read_and_check(&settings, &file, page, &inputs);
    }
}

/// Reads the input as the labels of a page's folders.
fn folder_labels(text: &[u8]) {
    let settings = &SETTINGS[0];
    let file = page_file(settings, MDX_PAGE).expect("the path is a page's");
    let wanted = missing_inputs(settings, &file, PLAIN_PAGE.as_bytes(), &Inputs::new());
    let inputs = wanted
        .into_keys()
        .map(|path| (path, Some(text.to_owned()).into()))
        .collect();
    let page = PLAIN_PAGE.as_bytes();
    read_and_check(settings, &file, page, &inputs);
}

fn read_and_check(settings: &SiteSettings, file: &PageFile, text: &[u8], inputs: &Inputs) {
    let wanted = missing_inputs(settings, file, text, inputs);
    assert!(wanted.keys().all(|path| !inputs.contains_key(path)));
    let first = read_document(settings, "site", file, text, inputs);
    let again = read_document(settings, "site", file, text, inputs);
    assert_eq!(first.as_ref().err(), again.as_ref().err());
    if let (Ok(document), Ok(again)) = (first, again) {
        let text = std::str::from_utf8(text).expect("bytes that are no text are skipped");
        check_document(text, &document, &again);
    }
}
