//! Facets in the text of a request.

use std::collections::BTreeMap;

use answer::error::Error;
use store::index::FacetFilter;

/// Parses facets separated by commas, as in `plan:pro,language:go`.
///
/// # Errors
/// `Invalid` if a facet has no value.
pub fn facet_filters(text: Option<&str>) -> Result<BTreeMap<String, FacetFilter>, Error> {
    text.into_iter()
        .flat_map(|text| text.split(','))
        .map(|facet| match facet.split_once(':') {
            Some((name, value)) => {
                let value = FacetFilter::Text(value.trim().to_owned());
                Ok((name.trim().to_owned(), value))
            }
            None => Err(Error::field(
                "facets",
                "facets must be names and values, such as plan:pro,language:go",
            )),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facets_are_names_and_values() {
        let facets = facet_filters(Some("plan: pro,release:2,url:a:b")).unwrap();
        let texts = [("plan", "pro"), ("release", "2"), ("url", "a:b")];
        let texts =
            texts.map(|(name, value)| (name.to_owned(), FacetFilter::Text(value.to_owned())));
        assert_eq!(facets, BTreeMap::from(texts));
        assert_eq!(facet_filters(None).unwrap(), BTreeMap::new());
        for wrong in ["pro", "plan:pro,", ""] {
            let error = facet_filters(Some(wrong)).unwrap_err();
            assert_eq!(error.field, Some("facets"), "{wrong}");
        }
    }
}
