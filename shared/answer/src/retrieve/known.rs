//! Reports filter values that do not exist in the book, if a search finds nothing.

use std::time::Duration;

use super::{RetrieveError, Retrieved, Retriever, UNKNOWN_INDEX};
use book::{ContentKind, origin_of_version};
use serde_json::Value;
use store::catalog::{CatalogError, InstanceInfo, SiteInfo};
use store::index::{Condition, Filters, Test};

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
    payload_field: String,
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
        check_facets(limits, &index.site)?;
        if found.candidates.is_empty() {
            check_kinds(limits, &index.site)?;
        }
        // A version filters only its own docs instance: a wrong one still lets other pages be found.
        let explains = |limit: &Limit| {
            let has_others = !index.site.other_instances.is_empty();
            found.candidates.is_empty() || (has_others && limit.payload_field == "version")
        };
        let declared = limits.clone().with_declared_facets(&index.site.facets);
        for limit in limits_of(&declared, &index.site)
            .into_iter()
            .filter(explains)
        {
            if limit.configured.contains(&&limit.value) {
                continue;
            }
            let values = self.catalog().values(index.index_id, &limit.payload_field);
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

/// Checks that the site declares the requested facets.
fn check_facets(limits: &Filters, site: &SiteInfo) -> Result<(), UnknownValue> {
    match limits
        .facets
        .keys()
        .find(|name| !site.facets.contains_key(*name))
    {
        None => Ok(()),
        Some(name) => Err(UnknownValue {
            field: "filters.facets",
            value: name.clone(),
            known: site.facets.keys().cloned().collect(),
        }),
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
    let version = filters.version.as_ref().map(|version| Limit {
        field: "filters.version",
        payload_field: "version".to_owned(),
        value: version.clone(),
        configured: site.instances().flat_map(configured_versions).collect(),
    });
    let others = filters
        .conditions()
        .into_iter()
        .filter_map(|condition| limit_of(condition, site));
    version.into_iter().chain(others).collect()
}

fn configured_versions(docs: &InstanceInfo) -> impl Iterator<Item = &String> {
    docs.version_paths
        .values()
        .chain(known_name(&docs.default_version))
}

/// Returns the name unless it is empty, as names are while the site is unknown.
fn known_name(name: &String) -> Option<&String> {
    Some(name).filter(|name| !name.is_empty())
}

fn limit_of(condition: Condition, site: &SiteInfo) -> Option<Limit<'_>> {
    let field = match condition.field.as_str() {
        "locale" => "filters.locale",
        "module" | "module_number" => "filters.module",
        "chapter" | "chapter_number" => "filters.chapter",
        "lesson_id" => "filters.lesson",
        "layer" => "filters.layer",
        "proficiency_level" => "filters.proficiency_level",
        "source" => "filters.source",
        facet if facet.starts_with("facets.") => "filters.facets",
        _ => return None,
    };
    let value = match condition.test {
        Test::Contains(text) | Test::Is(Value::String(text)) => text,
        Test::Is(number) => number.to_string(),
        Test::IsOneOf(_) | Test::AtMost(_) => return None,
    };
    let configured = match field {
        "filters.locale" => site
            .locales
            .iter()
            .chain(known_name(&site.default_locale))
            .collect(),
        _ => Vec::new(),
    };
    Some(Limit {
        field,
        payload_field: condition.field,
        value,
        configured,
    })
}
