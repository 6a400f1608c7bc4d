//! The settings of the site that requests need.

use std::collections::BTreeMap;
use std::iter;

use serde::{Deserialize, Serialize};

use book::{Facets, instance_of_version};

/// The settings of the site that requests need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteInfo {
    /// The book's title.
    pub title: String,
    /// The site's base URL path, with leading and trailing slash.
    pub base_url: String,
    /// The locale of requests that name none.
    pub default_locale: String,
    /// The locales whose URLs have a prefix.
    pub locales: Vec<String>,
    /// The first docs instance. Its fields are stored beside the site's own.
    #[serde(flatten)]
    pub docs: InstanceInfo,
    /// All other content plugins: further docs, pages and blogs.
    #[serde(default, rename = "other_docs", skip_serializing_if = "Vec::is_empty")]
    pub other_instances: Vec<InstanceInfo>,
    /// Fields of the front matter that searches can be filtered by.
    #[serde(default, skip_serializing_if = "Facets::is_empty")]
    pub facets: Facets,
    /// Sets of synonyms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<Vec<String>>,
}

/// The settings of a content plugin (an instance of the docs, pages, or a blog) that requests need. Its versions are named as in the whole
/// site: `api@2.0`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceInfo {
    /// The version of requests that name none.
    pub default_version: String,
    /// `routeBasePath`, without slashes.
    pub route_base_path: String,
    /// Maps URL parts to versions, except for the version at the bare path.
    pub version_paths: BTreeMap<String, String>,
}

impl SiteInfo {
    /// Returns all content plugins, the first docs instance before the others.
    pub fn instances(&self) -> impl Iterator<Item = &InstanceInfo> {
        iter::once(&self.docs).chain(&self.other_instances)
    }

    /// Returns the versions to search in addition to `version`: the default version of every other docs instance, because a version
    /// concerns only its own instance.
    pub fn versions_beside(&self, version: &str) -> impl Iterator<Item = &str> {
        let instance = instance_of_version(version).to_owned();
        let defaults = self.instances().map(|docs| docs.default_version.as_str());
        // The site is unknown while the catalog is unavailable.
        defaults.filter(move |other| !other.is_empty() && instance_of_version(other) != instance)
    }

    /// Returns the version of the page at a path below base URL and locale, given as its parts. Pages outside of all docs get the
    /// default version of the first docs.
    #[must_use]
    pub fn version_at(&self, path: &[&str]) -> &str {
        // One instance's route may lie below another's, so the longest match wins.
        let of_docs = self.instances().filter_map(|docs| {
            let rest = below(path, &docs.route_base_path)?;
            Some((docs, rest))
        });
        let (docs, rest) = of_docs
            .min_by_key(|(_, rest)| rest.len())
            .unwrap_or((&self.docs, path));
        let versions = docs.version_paths.iter();
        let of_version = versions
            .filter_map(|(part, version)| Some((below(rest, part)?.len(), version)))
            .min();
        of_version.map_or(&docs.default_version, |(_, version)| version)
    }
}

/// Returns the parts of `path` below `folder`, which is empty or parts joined by slashes.
fn below<'p, 'a>(path: &'p [&'a str], folder: &str) -> Option<&'p [&'a str]> {
    let mut rest = path;
    for part in folder.split('/').filter(|part| !part.is_empty()) {
        let (first, others) = rest.split_first()?;
        if *first != part {
            return None;
        }
        rest = others;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(default_version: &str, route: &str, paths: &[(&str, &str)]) -> InstanceInfo {
        let paths = paths.iter();
        InstanceInfo {
            default_version: default_version.to_owned(),
            route_base_path: route.to_owned(),
            version_paths: paths
                .map(|(path, version)| ((*path).to_owned(), (*version).to_owned()))
                .collect(),
        }
    }

    /// Default docs at the root, others below it.
    fn site() -> SiteInfo {
        SiteInfo {
            docs: docs("2.0", "", &[("next", "current"), ("1.0", "1.0")]),
            other_instances: vec![
                docs(
                    "api@3.0",
                    "docs/api",
                    &[("next", "api@current"), ("v/2", "api@2.0")],
                ),
                docs("community@current", "community", &[]),
            ],
            ..SiteInfo::default()
        }
    }

    #[test]
    fn a_page_has_the_version_of_its_own_docs() {
        for (path, version) in [
            ("", "2.0"),
            ("a/b", "2.0"),
            ("1.0/a", "1.0"),
            ("next", "current"),
            ("docs/api/a", "api@3.0"),
            ("docs/api/next/a", "api@current"),
            ("docs/api/v/2/a", "api@2.0"),
            ("docs/api/1.0/a", "api@3.0"),
            ("docs/apis/a", "2.0"),
            ("community/next", "community@current"),
        ] {
            let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            assert_eq!(site().version_at(&parts), version, "{path}");
        }
    }

    #[test]
    fn a_version_hides_no_pages_of_other_docs() {
        let site = site();
        for (version, beside) in [
            ("1.0", ["api@3.0", "community@current"]),
            ("api@2.0", ["2.0", "community@current"]),
            ("community@current", ["2.0", "api@3.0"]),
        ] {
            assert_eq!(site.versions_beside(version).collect::<Vec<_>>(), beside);
        }
        let alone = SiteInfo {
            other_instances: Vec::new(),
            ..site
        };
        assert_eq!(alone.versions_beside("1.0").count(), 0);
    }

    #[test]
    fn a_site_of_one_instance_has_flat_fields() {
        let written = r#"{"title":"Robots","base_url":"/","default_locale":"en","default_version":"2.0",
            "route_base_path":"docs","locales":["ur"],"version_paths":{"next":"current"}}"#;
        let site: SiteInfo = serde_json::from_str(written).unwrap();
        assert_eq!(site.docs, docs("2.0", "docs", &[("next", "current")]));
        let former: serde_json::Value = serde_json::from_str(written).unwrap();
        assert_eq!(serde_json::to_value(&site).unwrap(), former);
    }
}
