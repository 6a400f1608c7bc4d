//! Reports filter values that do not exist in the book, if a search finds nothing.

use std::time::Duration;

use super::{RetrieveError, Retrieved, Retriever, UNKNOWN_INDEX};
use book::{ContentKind, origin_of_version};
use store::catalog::{CatalogError, SiteInfo};
use store::index::{Filters, TitleOrNumber};

/// The most values that an error lists.
const MAX_LISTED: usize = 20;
/// The most characters of a value that an error repeats.
const MAX_SHOWN_CHARACTERS: usize = 80;
/// Time limit for listing a field's values.
const DEADLINE: Duration = Duration::from_secs(2);

/// A filter value that does not occur in the book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{field} must be a value that the book has, got `{}`; the book has {}",
    shown(value),
    listed(known)
)]
pub struct UnknownValue {
    /// The field of the request.
    pub field: &'static str,
    /// The rejected value.
    pub value: String,
    /// The existing values, sorted.
    pub known: Vec<String>,
}

fn shown(value: &str) -> String {
    value.chars().take(MAX_SHOWN_CHARACTERS).collect()
}

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return "none".to_owned();
    }
    let values = known.iter().take(MAX_LISTED);
    let mut list = values
        .map(|value| format!("`{}`", shown(value)))
        .collect::<Vec<_>>()
        .join(", ");
    if known.len() > MAX_LISTED {
        list = format!("{list} and {} more", known.len() - MAX_LISTED);
    }
    list
}

/// A filter whose value may not exist.
struct Limit<'a> {
    /// The field of the request.
    field: &'static str,
    /// The field of the payload.
    payload_field: &'static str,
    value: String,
    /// Values from the site's settings, valid even if no page has them.
    configured: Vec<&'a String>,
}

impl Retriever {
    /// Checks that the values of `limits` exist, if the search found nothing, or nothing within one of them. `limits` are the request's own filters,
    /// without defaults.
    ///
    /// Needs no query if something was found and the version filter, if any, is in the site's settings. While the catalog is down, or the book is
    /// indexed for the first time, every value is accepted.
    ///
    /// # Errors
    /// [`RetrieveError::Filter`] with the first value that does not occur in the index.
    pub async fn check_limits(
        &self,
        limits: &Filters,
        found: &Retrieved,
    ) -> Result<(), RetrieveError> {
        let index = &self.index;
        if found.indexing.is_some() || index.index_id == UNKNOWN_INDEX {
            return Ok(());
        }
        if found.candidates.is_empty() {
            check_kinds(limits, &index.site)?;
        }
        // A version filters only its own docs instance: a wrong one still lets other pages be found.
        let explains = |limit: &Limit| {
            let has_others = !index.site.other_instances.is_empty();
            found.candidates.is_empty() || (has_others && limit.payload_field == "version")
        };
        for limit in limits_of(limits, &index.site).into_iter().filter(explains) {
            if limit.configured.contains(&&limit.value) {
                continue;
            }
            let values = self.catalog().values(index.index_id, limit.payload_field);
            let values = tokio::time::timeout(DEADLINE, values).await;
            let late = |_| Err(CatalogError::Unavailable("no answer in time".to_owned()));
            let mut known = match values.unwrap_or_else(late) {
                Ok(known) => known,
                Err(error) => {
                    tracing::warn!(stage = "retrieve", %error, "cannot check the values of filters");
                    return Ok(());
                }
            };
            if known.contains(&limit.value) {
                continue;
            }
            known.extend(limit.configured.into_iter().cloned());
            known.sort_by_cached_key(|value| (value.parse::<i64>().ok(), value.clone()));
            known.dedup();
            return Err(UnknownValue {
                field: limit.field,
                value: limit.value,
                known,
            }
            .into());
        }
        Ok(())
    }
}

/// Checks that the site has pages of the requested kinds.
fn check_kinds(limits: &Filters, site: &SiteInfo) -> Result<(), UnknownValue> {
    let versions = site.instances().map(|docs| docs.default_version.as_str());
    let held: Vec<ContentKind> = versions.map(|it| origin_of_version(it).0).collect();
    let is_held = |kind: &ContentKind| held.contains(kind);
    if limits.kind.is_empty() || limits.kind.iter().any(is_held) {
        return Ok(());
    }
    let labels = |kinds: &[ContentKind]| kinds.iter().map(|kind| kind.label()).collect::<Vec<_>>();
    let known = ContentKind::ALL.into_iter().filter(is_held);
    let known: Vec<ContentKind> = known.collect();
    Err(UnknownValue {
        field: "filters.kind",
        value: labels(&limits.kind).join(", "),
        known: labels(&known).into_iter().map(str::to_owned).collect(),
    })
}

/// Returns the filters that name a value. Flags, kinds and tiers are validated with the request.
fn limits_of<'a>(filters: &Filters, site: &'a SiteInfo) -> Vec<Limit<'a>> {
    let mut limits = Vec::new();
    let mut limit = |field, payload_field, value: &Option<String>, configured: Vec<&'a String>| {
        limits.extend(value.clone().map(|value| Limit {
            field,
            payload_field,
            value,
            configured,
        }));
    };
    let set = |text: &'a String| Some(text).filter(|text| !text.is_empty());
    let locales = site.locales.iter().chain(set(&site.default_locale));
    let versions = site.instances().flat_map(|docs| {
        let paths = docs.version_paths.values();
        paths.chain(set(&docs.default_version))
    });
    limit(
        "filters.locale",
        "locale",
        &filters.locale,
        locales.collect(),
    );
    limit(
        "filters.version",
        "version",
        &filters.version,
        versions.collect(),
    );
    for (field, title, number, value) in [
        ("filters.module", "module", "module_number", &filters.module),
        (
            "filters.chapter",
            "chapter",
            "chapter_number",
            &filters.chapter,
        ),
    ] {
        let named = value.as_ref().map(|value| match value {
            TitleOrNumber::Title(value) => (title, value.clone()),
            TitleOrNumber::Number(value) => (number, value.to_string()),
        });
        if let Some((payload_field, value)) = named {
            limit(field, payload_field, &Some(value), Vec::new());
        }
    }
    for (field, payload_field, value) in [
        ("filters.lesson", "lesson_id", &filters.lesson),
        ("filters.layer", "layer", &filters.layer),
        (
            "filters.proficiency_level",
            "proficiency_level",
            &filters.proficiency_level,
        ),
        ("filters.source", "source", &filters.source),
    ] {
        limit(field, payload_field, value, Vec::new());
    }
    limits
}
