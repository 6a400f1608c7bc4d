//! Facets: fields of the front matter that a site declares in `bookrag.toml`, for searches to filter by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::front_matter::FrontMatter;

/// The most facets of a site: each is a field of every chunk, and an index of the vector store.
pub(super) const MAX_FACETS: usize = 16;
/// The most values of a page's facet.
const MAX_VALUES: usize = 32;

/// How a filter compares its value with that of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FacetKind {
    /// The page's value, or one of its list, is the filter's.
    #[serde(rename = "text")]
    Text,
    /// The page's number is at most the filter's. A page without a number always fits.
    #[serde(rename = "at most")]
    AtMost,
}

/// The declared facets of a site, by the name of their field.
pub type Facets = BTreeMap<String, FacetKind>;

/// A page's value of a facet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FacetValue {
    /// The value of [`FacetKind::AtMost`].
    Number(f64),
    /// The values of [`FacetKind::Text`], one or more.
    Texts(Vec<String>),
}

/// True for a name that all stores accept: at most 40 letters, digits and `_`, with a letter first.
pub(super) fn is_facet_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns a page's values of the facets. A field that is not a number where one is needed is left out, with a warning.
pub(super) fn page_facets(
    facets: &Facets,
    front_matter: &FrontMatter,
    warnings: &mut Vec<String>,
) -> BTreeMap<String, FacetValue> {
    let mut values = BTreeMap::new();
    for (name, kind) in facets {
        let mut texts = front_matter.values(name);
        texts.truncate(MAX_VALUES);
        let Some(first) = texts.first() else {
            continue;
        };
        let value = match kind {
            FacetKind::Text => Some(FacetValue::Texts(texts)),
            FacetKind::AtMost => first
                .trim()
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(FacetValue::Number),
        };
        match value {
            Some(value) => {
                values.insert(name.clone(), value);
            }
            None => warnings.push(format!(
                "front matter: `{name}` must be a number, because bookrag.toml declares it as \"at most\""
            )),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::front_matter::split_front_matter;

    #[test]
    fn a_page_has_the_declared_fields_of_its_front_matter() {
        let facets = Facets::from([
            ("plan".to_owned(), FacetKind::Text),
            ("tags".to_owned(), FacetKind::Text),
            ("release".to_owned(), FacetKind::AtMost),
            ("level".to_owned(), FacetKind::AtMost),
            ("absent".to_owned(), FacetKind::Text),
        ]);
        let page =
            "---\nplan: [pro, team]\ntags: alpha\nrelease: 2.5\nlevel: high\nother: 1\n---\n";
        let page = split_front_matter(page).unwrap();
        let mut warnings = Vec::new();
        let values = page_facets(&facets, &page.front_matter, &mut warnings);
        assert_eq!(
            serde_json::to_value(&values).unwrap(),
            json!({"plan": ["pro", "team"], "tags": ["alpha"], "release": 2.5})
        );
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("`level` must be a number"));
    }

    #[test]
    fn names_are_those_of_fields() {
        for name in ["plan", "minVersion", "tier_1"] {
            assert!(is_facet_name(name), "{name}");
        }
        for name in ["", "_x", "1st", "a.b", "a b", "é", &"x".repeat(41)] {
            assert!(!is_facet_name(name), "{name}");
        }
    }
}
