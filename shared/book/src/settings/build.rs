//! The settings of a site that is a build: those that its front page contains, in the form of a config.

use std::collections::BTreeMap;

use super::value::{ConfigMap, ConfigValue};
use crate::paths::path_of_address;
use crate::webpage::{Head, Root};

/// The front page of a built site.
pub(super) const FRONT_PAGE: &str = "index.html";

/// The list of a built site's addresses.
pub const SITEMAP: &str = "sitemap.xml";

const PAGES: [&str; 1] = ["**/*.html"];

/// The page that hosts show for an address that does not exist.
const NOT_FOUND_PAGES: [&str; 2] = ["**/404.html", "**/404/index.html"];

/// The id of the plugin that stands for the build of a site whose sources are read.
pub(super) const BUILD_PLUGIN: &str = "build";

/// Returns the options of the plugin that stands for the build in a folder of the site.
pub(super) fn build_plugin(folder: &str) -> ConfigValue {
    map([
        ("path", text(folder)),
        ("include", texts(&PAGES)),
        ("exclude", texts(&NOT_FOUND_PAGES)),
    ])
}

/// Returns the config of a build. `None` if there is no front page, or it is only the shell of a script: then the files beside it are sources.
pub(super) fn read_build(files: &BTreeMap<String, String>) -> Option<ConfigValue> {
    let html = files.get(FRONT_PAGE).filter(|html| is_front_page(html))?;
    let head = Head::read(html);
    let address = head.canonical.clone();
    let address = address.or_else(|| first_address(files.get(SITEMAP)?));
    let base_url = address.as_deref().and_then(path_of_address);
    let base_url = base_url.map(|path| path.trim_end_matches(FRONT_PAGE).to_owned());
    let title = head.site_name.clone().unwrap_or_else(|| head.title.clone());
    let docs = map([
        ("path", text("")),
        ("routeBasePath", text("/")),
        ("include", texts(&PAGES)),
        ("exclude", texts(&NOT_FOUND_PAGES)),
        ("numberPrefixParser", ConfigValue::Bool(false)),
        ("disableVersioning", ConfigValue::Bool(true)),
    ]);
    let base = base_url.as_deref().unwrap_or("/");
    let style_sheets = head.style_sheets.iter();
    let style_sheets = style_sheets.map(|href| below(base, href)).collect();
    let favicon = head.icon.as_ref().map(|href| below(base, href));
    let theme = map([("customCss", ConfigValue::List(style_sheets))]);
    let plugins = map([
        ("docs", docs),
        ("theme", theme),
        ("blog", ConfigValue::Bool(false)),
        ("pages", ConfigValue::Bool(false)),
    ]);
    let preset = ConfigValue::List(vec![text("classic"), plugins]);
    let fields = [
        ("title", Some(title).filter(|title| !title.is_empty())),
        ("baseUrl", base_url),
        ("url", address.as_deref().and_then(host_of)),
    ];
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name, text(&value?))));
    let others = [
        ("i18n", languages(&head)),
        ("favicon", favicon.unwrap_or(ConfigValue::Absent)),
        ("presets", ConfigValue::List(vec![preset])),
        ("staticDirectories", texts(&[""])),
    ];
    Some(map(fields.chain(others)))
}

/// Returns a link's address without the site's base URL.
fn below(base_url: &str, href: &str) -> ConfigValue {
    text(href.strip_prefix(base_url).unwrap_or(href))
}

/// True if the `index.html` of a folder is the front page of a built site: it has content, leads to it, or names its generator. Otherwise it is the
/// shell of a script.
#[must_use]
pub fn is_front_page(html: &str) -> bool {
    let head = Head::read(html);
    let leads_to_content = head.is_redirect || head.is_frameset || head.has_generator;
    Root::new(html) != Root::Body || has_heading(html) || leads_to_content
}

/// Returns the languages of the site: that of its front page, and those of its translations, each with its own address.
fn languages(head: &Head) -> ConfigValue {
    let own = head.language.clone().unwrap_or_else(|| "en".to_owned());
    let mut locales = vec![text(&own)];
    let mut places = ConfigMap::new();
    for (language, address) in &head.translations {
        let place = path_of_address(address).map(|path| map([("baseUrl", text(&path))]));
        let is_new =
            *language != own && language != "x-default" && !locales.contains(&text(language));
        if let Some(place) = place.filter(|_| is_new) {
            locales.push(text(language));
            places.insert(language.clone(), place);
        }
    }
    map([
        ("defaultLocale", text(&own)),
        ("locales", ConfigValue::List(locales)),
        ("localeConfigs", ConfigValue::Map(places)),
    ])
}

/// Returns the address of a sitemap that all others begin with, which is the site's.
fn first_address(sitemap: &str) -> Option<String> {
    let places = || {
        let entries = sitemap.split("<loc>").skip(1);
        entries.filter_map(|entry| Some(entry.split_once("</loc>")?.0.trim()))
    };
    let first = places().min_by_key(|place| place.len())?;
    let is_around_all = first.ends_with('/') && places().all(|place| place.starts_with(first));
    is_around_all.then(|| first.to_owned())
}

/// Returns the scheme and host of an address on the web.
fn host_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split('/').next().filter(|host| !host.is_empty())?;
    Some(format!("{scheme}://{host}"))
}

fn has_heading(html: &str) -> bool {
    html.contains("<h1") || html.contains("<h2")
}

fn text(text: &str) -> ConfigValue {
    ConfigValue::Text(text.to_owned())
}

fn texts(texts: &[&str]) -> ConfigValue {
    ConfigValue::List(texts.iter().map(|it| text(it)).collect())
}

fn map(fields: impl IntoIterator<Item = (&'static str, ConfigValue)>) -> ConfigValue {
    let mut map = ConfigMap::new();
    for (name, value) in fields {
        map.insert(name.to_owned(), value);
    }
    ConfigValue::Map(map)
}
