//! What readers' requests need to know of the site, from its settings.

use crate::book::{CURRENT_VERSION, SiteSettings};
use crate::catalog::SiteInfo;

/// What an index says of its site; `fallback_title` names a book whose settings do not.
#[must_use]
pub fn site_info(settings: &SiteSettings, fallback_title: &str) -> SiteInfo {
    let versions = settings.versions.iter().map(String::as_str);
    let version_paths = versions
        .chain([CURRENT_VERSION])
        .map(|version| (settings.version_path(version), version.to_owned()))
        .filter(|(path, _)| !path.is_empty())
        .collect();
    let prefixed = settings
        .locales
        .iter()
        .filter(|locale| **locale != settings.default_locale);
    SiteInfo {
        title: settings
            .title
            .clone()
            .unwrap_or_else(|| fallback_title.to_owned()),
        base_url: settings.base_url.clone(),
        default_locale: settings.default_locale.clone(),
        default_version: settings.default_version(),
        route_base_path: settings.route_base_path.clone(),
        locales: prefixed.cloned().collect(),
        version_paths,
        synonyms: settings.synonyms.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn settings(toml: &str) -> SiteSettings {
        let files = BTreeMap::from([("bookrag.toml".to_owned(), toml.to_owned())]);
        SiteSettings::read(&files, true).unwrap()
    }

    #[test]
    fn a_site_of_one_locale_and_version_has_no_prefixes() {
        let site = site_info(&settings(""), "The book");
        assert_eq!(site.title, "The book");
        assert_eq!(site.default_version, CURRENT_VERSION);
        assert!(
            site.locales.is_empty() && site.version_paths.is_empty(),
            "{site:?}"
        );
    }

    #[test]
    fn only_what_has_a_prefix_is_listed() {
        let site = site_info(
            &settings(
                "title = 'Robots'\nlocales = ['en', 'ur']\nversions = ['2.0', '1.0']\nversion_paths = { '1.0' = 'old' }",
            ),
            "The book",
        );
        assert_eq!(site.title, "Robots");
        assert_eq!(site.locales, ["ur"]);
        assert_eq!(site.default_version, "2.0");
        let paths: Vec<(&str, &str)> = site
            .version_paths
            .iter()
            .map(|(path, version)| (path.as_str(), version.as_str()))
            .collect();
        assert_eq!(paths, [("next", CURRENT_VERSION), ("old", "1.0")]);
    }
}
