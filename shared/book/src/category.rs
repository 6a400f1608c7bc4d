//! Pages that Docusaurus generates for folders of docs (`generated-index`): a title, a description, and links to the pages of the folder.
//!
//! They are read from the folder's settings if these have a description; other ones have no text of their own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::block::{Block, BlockKind, Nesting};
use crate::decoding::decode;
use crate::document::{Document, document_id};
use crate::front_matter::FrontMatter;
use crate::inputs::{Inputs, content_of};
use crate::omission::{Omission, OmissionReason};
use crate::pages::{PageFile, is_category_path, page_file, shown_in};
use crate::permalink::{page_url, strip_number_prefix};
use crate::placement::{FolderTitles, placement_of};
use crate::questions::page_questions;
use crate::settings::{
    CURRENT_VERSION, ContentKind, GeneratedIndex, Instance, Sidebars, SiteSettings,
};
use crate::skip_reason::SkipReason;
use crate::slug::slug;
use crate::titles::{shortened_title, title_block};

/// The settings of a folder that has a generated page.
#[derive(Debug, PartialEq, Eq)]
struct Category {
    title: String,
    description: Option<String>,
    index: GeneratedIndex,
}

impl Category {
    /// Reads the settings of the folder at a path. `None` if it has no generated page.
    fn read(folder: &str, bytes: &[u8], docs: &Instance) -> Option<Self> {
        let fields: Value = serde_saphyr::from_str(&decode(bytes).ok()?).ok()?;
        let link = &fields["link"];
        if link["type"].as_str()? != "generated-index" {
            return None;
        }
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let name = if docs.number_prefixes {
            strip_number_prefix(name)
        } else {
            name
        };
        let label = fields["label"].as_str().unwrap_or(name).to_owned();
        let text = |field: &str| link[field].as_str().map(str::to_owned);
        let description = text("description").map(|text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.join(" ")
        });
        Some(Self {
            title: text("title").unwrap_or_else(|| label.clone()),
            description: description.filter(|text| !text.is_empty()),
            index: GeneratedIndex {
                label,
                slug: text("slug"),
            },
        })
    }
}

impl GeneratedIndex {
    /// Returns the page's path below its version's root. Docusaurus numbers equal labels, whose order only its build tells.
    fn path(&self) -> String {
        let own = self.slug.clone();
        own.unwrap_or_else(|| format!("/category/{}", slug(&self.label)))
    }
}

/// True if a file with these bytes makes a page: one with the settings of a folder does if they describe a page.
#[must_use]
pub fn makes_page(settings: &SiteSettings, page: &PageFile, bytes: &[u8]) -> bool {
    let is_category = is_category_path(&page.relative) && !page.is_html();
    !is_category || described(settings, page, bytes).is_some()
}

fn described(settings: &SiteSettings, page: &PageFile, bytes: &[u8]) -> Option<(Category, String)> {
    let docs = settings.instance(&page.instance);
    let category = Category::read(folder_of(&page.relative), bytes, docs)?;
    let description = category.description.clone()?;
    // A generated page has no front matter.
    let is_complete = settings.require_front_matter.is_empty();
    is_complete.then_some((category, description))
}

fn folder_of(relative: &str) -> &str {
    relative.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the file with the sidebars that show a page, if there may be one.
pub(super) fn sidebars_file(settings: &SiteSettings, page: &PageFile) -> Option<String> {
    let docs = settings.instance(&page.instance);
    docs.sidebars_of(&page.version).file().map(str::to_owned)
}

fn read_sidebars(docs: &Instance, version: &str, inputs: &Inputs) -> Sidebars {
    let source = docs.sidebars_of(version);
    let bytes = source.file().and_then(|path| content_of(inputs, path));
    let text = bytes.and_then(|bytes| decode(bytes).ok());
    Sidebars::new(&source, text.as_deref())
}

/// Reads the page that is generated for a folder.
///
/// # Errors
/// [`SkipReason::NoGeneratedPage`] if there is none, or if it has no description.
pub(super) fn read_category_page(
    settings: &SiteSettings,
    site: &str,
    page: &PageFile,
    text: &str,
    inputs: &Inputs,
) -> Result<Document, SkipReason> {
    let docs = settings.instance(&page.instance);
    let folder = folder_of(&page.relative);
    let sidebars = read_sidebars(docs, &page.version, inputs);
    let (category, description) = described(settings, page, text.as_bytes())
        .filter(|_| sidebars.may_hold(folder))
        .ok_or(SkipReason::NoGeneratedPage)?;
    let path = category.index.path();
    let mut locales = shown_in(settings, page, |_| false);
    let locale = locales.next().unwrap_or(&page.locale);
    let url = page_url(settings, page, locale, &path);
    let fallback_urls = locales.map(|locale| {
        let url = page_url(settings, page, locale, &path);
        (locale.to_owned(), url)
    });
    let title = shortened_title(&category.title);
    let placement = placement_of(
        &page.relative,
        &title,
        &FrontMatter::default(),
        &FolderTitles {
            category_label: Some(category.index.label),
            index_title: None,
        },
    );
    let blocks = vec![
        title_block(&title, line_of(text, &title)),
        paragraph(&description, line_of(text, "description")),
    ];
    let mut warnings = Vec::new();
    let questions = page_questions(settings, page, &blocks, inputs, &mut warnings);
    Ok(Document {
        id: document_id(site, &page.source),
        url,
        fallback_urls: fallback_urls.collect(),
        file: PageFile {
            locale: locale.to_owned(),
            ..page.clone()
        },
        title,
        front_matter: FrontMatter::default(),
        facets: BTreeMap::new(),
        date: None,
        placement,
        blocks,
        omissions: vec![Omission {
            start_line: 1,
            end_line: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
            reason: OmissionReason::FrontMatter,
            text: text.to_owned(),
        }],
        questions,
        warnings,
        text_files: BTreeSet::new(),
    })
}

fn paragraph(text: &str, line: u32) -> Block {
    Block {
        kind: BlockKind::Paragraph,
        text: text.to_owned(),
        marks: Vec::new(),
        markdown: text.to_owned(),
        start_line: line,
        end_line: line,
        nesting: Nesting::default(),
        panels: Vec::new(),
    }
}

/// Returns the first line with a text, from 1.
fn line_of(text: &str, part: &str) -> u32 {
    let at = text.lines().position(|line| line.contains(part));
    u32::try_from(at.unwrap_or_default() + 1).unwrap_or(u32::MAX)
}

/// Returns the files among the paths of a site that tell which pages Docusaurus generates.
#[must_use]
pub fn category_files_among(settings: &SiteSettings, paths: &BTreeSet<String>) -> Vec<String> {
    let categories = paths.iter().filter(|path| {
        page_file(settings, path).is_some_and(|page| is_category_path(&page.relative))
    });
    let sidebars = versions(settings)
        .filter_map(|(docs, version)| docs.sidebars_of(version).file().map(str::to_owned));
    let sidebars = sidebars.filter(|path| paths.contains(path));
    sidebars.chain(categories.cloned()).collect()
}

/// Returns the URL paths of the pages that Docusaurus generates, without a slash at the end. `files` are those of [`category_files_among`].
#[must_use]
pub fn generated_urls(settings: &SiteSettings, files: &Inputs) -> BTreeSet<String> {
    let mut urls = BTreeSet::new();
    for (docs, version) in versions(settings) {
        let page = PageFile {
            source: String::new(),
            instance: docs.id.clone(),
            locale: settings.default_locale.clone(),
            version: version.to_owned(),
            relative: String::new(),
        };
        let sidebars = read_sidebars(docs, version, files);
        let of_folders = files.iter().filter_map(|(path, file)| {
            let page = page_file(settings, path)?;
            let is_of_version = page.instance == docs.id && page.version == version;
            let folder = folder_of(&page.relative);
            let bytes = file.content().filter(|_| is_of_version)?;
            let category = Category::read(folder, bytes, docs)?;
            sidebars.may_hold(folder).then(|| category.index.path())
        });
        let of_sidebars = sidebars.generated.iter().map(GeneratedIndex::path);
        for path in of_folders.chain(of_sidebars) {
            let url = page_url(settings, &page, &page.locale, &path);
            urls.insert(url.trim_end_matches('/').to_owned());
        }
    }
    urls
}

/// Returns the docs of a site with their versions.
fn versions(settings: &SiteSettings) -> impl Iterator<Item = (&Instance, &str)> {
    let docs = settings.instances.iter();
    let docs = docs.filter(|it| it.kind == ContentKind::Docs && !it.is_built);
    docs.flat_map(|docs| {
        let current = docs.current_version.then_some(CURRENT_VERSION);
        let others = docs.versions.iter().map(String::as_str);
        current
            .into_iter()
            .chain(others)
            .map(move |version| (docs, version))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Input;
    use crate::pages::list_pages;
    use crate::reader::{missing_inputs, read_document};

    const CONFIG: &str = "export default {baseUrl: '/b/', trailingSlash: true,
        presets: [['classic', {docs: {sidebarPath: require.resolve('./sidebars.js')}}]]}";
    const DESCRIBED: &str = "{\n  \"label\": \"Where to go\",\n  \"link\": {\n    \"type\": \"generated-index\",\n    \
        \"description\": \"Short \\\"examples\\\"\\nof maps.\"\n  }\n}\n";

    /// Returns the URL, the title and the text of each page among the files of a site.
    fn pages(files: &[(&str, &str)]) -> Vec<(String, String, String)> {
        let files: BTreeMap<String, String> = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        let settings = SiteSettings::read(&files, true).expect("valid settings");
        let mut pages = Vec::new();
        for page in list_pages(&settings, &files.keys().cloned().collect()) {
            let bytes = files[&page.source].as_bytes();
            let mut inputs = Inputs::new();
            loop {
                let missing = missing_inputs(&settings, &page, bytes, &inputs);
                if missing.is_empty() {
                    break;
                }
                inputs.extend(missing.into_keys().map(|path| {
                    let content = files.get(&path).map(|text| text.as_bytes().to_vec());
                    (path, Input::from(content))
                }));
            }
            let read = read_document(&settings, "", &page, bytes, &inputs);
            assert!(read.is_err() || makes_page(&settings, &page, bytes));
            let Ok(document) = read else { continue };
            let texts = document.blocks.iter().map(|block| block.text.as_str());
            let text = texts.collect::<Vec<_>>().join("\n");
            pages.push((document.url, document.title, text));
        }
        pages
    }

    #[test]
    fn a_folder_with_a_description_has_a_page() {
        let sidebars = "module.exports = {a: [{type: 'autogenerated', dirName: '.'}]}";
        let site = [("docusaurus.config.js", CONFIG), ("sidebars.js", sidebars)];
        for (path, text, url, title) in [
            (
                "docs/a/01-maps/_category_.json",
                DESCRIBED,
                "/b/docs/category/where-to-go/",
                "Where to go",
            ),
            (
                "docs/01-maps/_category_.yml",
                "link: {type: generated-index, description: 'Short \"examples\" of maps.'}",
                "/b/docs/category/maps/",
                "maps",
            ),
            (
                "docs/maps/_category_.yaml",
                "link:\n  type: generated-index\n  slug: /all-maps\n  title: All maps\n  description: Short \"examples\" of maps.\n",
                "/b/docs/all-maps/",
                "All maps",
            ),
            (
                "docs/maps/_category_.json",
                "{\r\n\t\"label\": \"Maps\",\r\n\t\"link\": {\r\n\t\t\"type\": \"generated-index\",\r\n\t\t\"description\": \"Short \\\"examples\\\" of maps.\"\r\n\t}\r\n}",
                "/b/docs/category/maps/",
                "Maps",
            ),
        ] {
            let found = pages(&[&site[..], &[(path, text)]].concat());
            let text = format!("{title}\nShort \"examples\" of maps.");
            assert_eq!(found, [(url.to_owned(), title.to_owned(), text)], "{path}");
        }
        for (path, text) in [
            (
                "docs/a/_category_.json",
                "{\"link\": {\"type\": \"generated-index\"}}",
            ),
            (
                "docs/a/_category_.json",
                "{\"link\": {\"type\": \"doc\", \"id\": \"b\", \"description\": \"No\"}}",
            ),
            ("docs/a/_category_.json", "{\"link\": null}"),
            ("docs/a/_category_.json", "\"link\""),
            ("docs/a/_category_.json", ""),
            (
                "docs/a/_category_.yml",
                "link: {type: generated-index, description: ' '}",
            ),
            (
                "docs/a/_category_.yml",
                "link: {type: generated-index, description: [No]}",
            ),
            ("docs/a/_category_.toml", DESCRIBED),
            ("docs/a/category.json", DESCRIBED),
            (
                "i18n/de/docusaurus-plugin-content-docs/current/a/_category_.json",
                DESCRIBED,
            ),
            ("docs/a/_category_.json", "["),
            ("docs/_category_.json", DESCRIBED),
            ("docs/_a/_category_.json", DESCRIBED),
            ("data/a/_category_.json", DESCRIBED),
            ("src/pages/a/_category_.json", DESCRIBED),
        ] {
            assert_eq!(pages(&[&site[..], &[(path, text)]].concat()), [], "{path}");
        }
    }

    #[test]
    fn folders_that_no_sidebar_shows_have_no_page() {
        let category = ("docs/a/b/_category_.json", DESCRIBED);
        for (config, sidebars, expected) in [
            (CONFIG, "module.exports = {a: ['a/b/c']}", 0),
            (
                CONFIG,
                "module.exports = {a: [{type: 'autogenerated', dirName: 'a'}]}",
                1,
            ),
            ("export default {}", "module.exports = {}", 1),
            (
                "export default {presets: [['classic', {docs: {sidebarPath: false}}]]}",
                "",
                0,
            ),
        ] {
            let found = pages(&[
                ("docusaurus.config.js", config),
                ("sidebars.js", sidebars),
                category,
            ]);
            assert_eq!(found.len(), expected, "{config} {sidebars}");
        }
    }

    #[test]
    fn a_version_has_the_sidebars_of_its_own_file() {
        let all = "{\"a\": [{\"type\": \"autogenerated\", \"dirName\": \".\"}]}";
        let site = [
            ("docusaurus.config.js", CONFIG),
            ("sidebars.js", "module.exports = {}"),
            ("versions.json", "[\"2.0\", \"1.0\"]"),
            ("versioned_sidebars/version-1.0-sidebars.json", all),
            ("docs/a/_category_.json", DESCRIBED),
            ("versioned_docs/version-2.0/a/_category_.json", DESCRIBED),
            ("versioned_docs/version-1.0/a/_category_.json", DESCRIBED),
        ];
        let urls = pages(&site).into_iter().map(|(url, ..)| url);
        let urls: Vec<String> = urls.collect();
        assert_eq!(urls, ["/b/docs/1.0/category/where-to-go/"]);
    }

    #[test]
    fn the_blocks_have_the_lines_of_the_settings() {
        let files = BTreeMap::from([("docusaurus.config.js".to_owned(), CONFIG.to_owned())]);
        let settings = SiteSettings::read(&files, true).expect("valid settings");
        let page = page_file(&settings, "docs/a/_category_.json").expect("it may be a page");
        let sidebars = "module.exports = f()".as_bytes().to_vec();
        let inputs = Inputs::from([("sidebars.js".to_owned(), Input::Content(sidebars))]);
        let read = read_document(&settings, "", &page, DESCRIBED.as_bytes(), &inputs);
        let document = read.expect("the folder has a page");
        let lines = document.blocks.iter().map(|block| block.start_line);
        assert_eq!(lines.collect::<Vec<_>>(), [2, 5]);
        let omitted = &document.omissions[0];
        assert_eq!((omitted.start_line, omitted.end_line), (1, 7));
    }

    #[test]
    fn the_urls_of_generated_pages_are_known() {
        let config = ("docusaurus.config.js".to_owned(), CONFIG.to_owned());
        let settings = SiteSettings::read(&[config].into(), true).expect("valid settings");
        let sidebars = "module.exports = {a: [{type: 'category', label: 'My API', link: {type: 'generated-index'}, items: ['a']}, {type: 'autogenerated', dirName: 'b'}]}";
        let files = [
            ("sidebars.js", sidebars),
            (
                "docs/b/c/_category_.json",
                "{\"link\": {\"type\": \"generated-index\"}}",
            ),
            (
                "docs/d/_category_.json",
                "{\"link\": {\"type\": \"generated-index\"}}",
            ),
        ];
        let paths = files.map(|(path, _)| path.to_owned());
        let listed = category_files_among(&settings, &paths.into());
        assert_eq!(listed.len(), files.len(), "{listed:?}");
        let files =
            files.map(|(path, text)| (path.to_owned(), Input::Content(text.as_bytes().to_vec())));
        let urls: Vec<String> = generated_urls(&settings, &files.into())
            .into_iter()
            .collect();
        assert_eq!(urls, ["/b/docs/category/c", "/b/docs/category/my-api"]);
    }
}
