//! The settings of the site that requests need.

use book::{CURRENT_VERSION, Instance, SiteSettings, version_in_site};
use store::catalog::{InstanceInfo, SiteInfo};

/// Returns an index's description of its site. `fallback_title` is used if the settings have no title.
#[must_use]
pub fn site_info(settings: &SiteSettings, fallback_title: &str) -> SiteInfo {
    let prefixed = settings
        .locales
        .iter()
        .filter(|locale| **locale != settings.default_locale);
    let mut docs = settings.instances.iter().map(instance_info);
    SiteInfo {
        title: settings
            .title
            .clone()
            .unwrap_or_else(|| fallback_title.to_owned()),
        base_url: settings.base_url.clone(),
        default_locale: settings.default_locale.clone(),
        locales: prefixed.cloned().collect(),
        docs: docs.next().unwrap_or_default(),
        other_instances: docs.collect(),
        facets: settings.facets.clone(),
        synonyms: settings.synonyms.clone(),
    }
}

fn instance_info(docs: &Instance) -> InstanceInfo {
    InstanceInfo {
        default_version: version_in_site(&docs.id, docs.default_version()),
        route_base_path: docs.route_base_path.clone(),
        version_paths: docs
            .versions
            .iter()
            .map(String::as_str)
            .chain([CURRENT_VERSION])
            .map(|version| (docs.version_path(version), version))
            .filter(|(path, _)| !path.is_empty())
            .map(|(path, version)| (path.to_owned(), version_in_site(&docs.id, version)))
            .collect(),
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
        assert_eq!(site.docs.default_version, CURRENT_VERSION);
        assert!(
            site.locales.is_empty() && site.docs.version_paths.is_empty(),
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
        assert_eq!(site.docs.default_version, "2.0");
        let paths: Vec<(&str, &str)> = site
            .docs
            .version_paths
            .iter()
            .map(|(path, version)| (path.as_str(), version.as_str()))
            .collect();
        assert_eq!(paths, [("next", CURRENT_VERSION), ("old", "1.0")]);
    }

    #[test]
    fn versions_of_other_docs_have_their_id() {
        let toml =
            "[docs.api]\ndocs_path = 'api'\nroute_base_path = '/api/'\nversions = ['2.0', '1.0']";
        let site = site_info(&settings(toml), "The book");
        assert_eq!(site.docs.default_version, CURRENT_VERSION);
        let [api] = site.other_instances.as_slice() else {
            panic!("{site:?}");
        };
        assert_eq!(
            (&*api.default_version, &*api.route_base_path),
            ("api@2.0", "api")
        );
        let paths: Vec<_> = api
            .version_paths
            .iter()
            .map(|(path, version)| format!("{path} {version}"))
            .collect();
        assert_eq!(paths, ["1.0 api@1.0", "next api@current"]);
    }
}
