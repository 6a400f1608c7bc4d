//! Opens an index for ingestion.

use std::time::Duration;

use super::batches::Batches;
use uuid::Uuid;

use super::sweep::drop_retired;
use super::{Ingest, IngestError, plan, site_info};
use crate::source::Source;
use book::chunk::{ChunkPolicy, EMBEDDED_TEXT_VERSION};
use models::embed::Embedder;
use store::catalog::{Catalog, CatalogError, IndexRow, IndexSpec, IndexState, NewIndex, Retired};
use store::index::QUESTION_VECTORS_VERSION;
use store::index::{VectorIndex, bm25_settings};

/// The id of an index that does not exist; the catalog's ids start at 1.
const NO_INDEX: i64 = 0;

/// The stores and models that ingest reads from and writes to.
#[derive(Debug, Clone)]
pub struct Ports {
    /// The book's files.
    pub source: Source,
    /// The embedder.
    pub embedder: Embedder,
    /// The vector index.
    pub index: VectorIndex,
    /// The catalog.
    pub catalog: Catalog,
}

/// How documents are identified, split and stored.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The site's name, part of every document's id.
    pub site: String,
    /// The book's title if the site's settings have none.
    pub title: String,
    /// How documents are split.
    pub policy: ChunkPolicy,
    /// The prefix of collection names, and the alias of the live collection.
    pub collection: String,
    /// How the index is opened.
    pub mode: OpenMode,
    /// The age at which a sweep deletes questions, judgements and messages; `None` keeps them.
    pub retention: Option<Duration>,
}

/// How an index is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// One of several writers; creates the index if it does not exist. Fails if another deployment has taken over.
    Write,
    /// Like [`Self::Write`], but takes the index back from another deployment.
    TakeOver,
    /// Writes nothing and does not create a missing index.
    ReadOnly,
}

impl Ingest {
    /// Reads the site's settings, and finds or creates the index for this process's embedder and policy, and its collection. Each
    /// site name has its own collection, even for the same book.
    ///
    /// # Errors
    /// [`IngestError::Retired`] if another deployment has taken over.
    pub async fn open(ports: Ports, options: OpenOptions) -> Result<Self, IngestError> {
        let options = OpenOptions {
            policy: options
                .policy
                .for_input(ports.embedder.identity().max_tokens),
            ..options
        };
        let Ports {
            source,
            embedder,
            index,
            catalog,
        } = ports;
        // Boxed, because the type of the ingest function's future would nest too deep for the compiler.
        let (source, settings) = Box::pin(source.opened()).await?;
        let identity = embedder.identity();
        let spec = IndexSpec {
            site: options.site.clone(),
            embedder: identity.name.clone(),
            embedder_fingerprint: identity.fingerprint.clone(),
            dimensions: identity.dimensions,
            chunk_policy: options.policy.identity(),
            embedded_text_version: EMBEDDED_TEXT_VERSION,
            bm25: bm25_settings(),
            token_vectors: identity.token_vectors.clone(),
            question_vectors: Some(QUESTION_VECTORS_VERSION),
        };
        let new = NewIndex {
            collection: format!("{}{}", options.collection, tag(&options.site, &spec)),
            spec,
            site: site_info(&settings, &options.title),
            retired: match options.mode {
                OpenMode::TakeOver => Retired::Revives,
                OpenMode::Write | OpenMode::ReadOnly => Retired::Stays,
            },
        };
        let index_row = if options.mode == OpenMode::ReadOnly {
            find_index(&catalog, new).await?
        } else {
            make_index(&catalog, &index, &new).await?
        };
        Ok(Self {
            source,
            settings,
            options,
            embedder,
            index,
            catalog,
            index_row,
            batches: Batches::default(),
            new_point_id: Uuid::new_v4,
        })
    }

    /// Opens the same index again, with the site's current settings.
    pub async fn reopened(&self, mode: OpenMode) -> Result<Self, IngestError> {
        let ports = Ports {
            source: self.source.clone(),
            embedder: self.embedder.clone(),
            index: self.index.clone(),
            catalog: self.catalog.clone(),
        };
        let options = OpenOptions {
            mode,
            ..self.options.clone()
        };
        Ok(Self {
            new_point_id: self.new_point_id,
            ..Self::open(ports, options).await?
        })
    }

    /// True if the index exists.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        self.index_row.index_id != NO_INDEX
    }

    /// True if the site's settings have changed in a way that pages committed under the old ones must be checked again.
    pub async fn settings_changed(&self) -> Result<bool, IngestError> {
        let now = self.source.settings().await?;
        Ok(now.reading_keys() != self.settings.reading_keys())
    }
}

fn tag(site: &str, spec: &IndexSpec) -> String {
    let json = serde_json::to_string(spec).expect("an index's version serialises");
    format!("_{}", &plan::hash(&format!("{site}\n{json}"))[..8])
}

/// Returns the existing index, or an empty one with id [`NO_INDEX`].
async fn find_index(catalog: &Catalog, wanted: NewIndex) -> Result<IndexRow, IngestError> {
    let indexes = catalog.indexes().await?;
    let found = indexes.into_iter().find(|index| index.spec == wanted.spec);
    Ok(found.unwrap_or(IndexRow {
        index_id: NO_INDEX,
        spec: wanted.spec,
        collection: wanted.collection,
        state: IndexState::Building,
        site: wanted.site,
        pages_expected: None,
        calibration: None,
        changed_at: None,
        compared_at: None,
        commit_hash: None,
    }))
}

async fn make_index(
    catalog: &Catalog,
    index: &VectorIndex,
    wanted: &NewIndex,
) -> Result<IndexRow, IngestError> {
    let mut row = catalog.ensure_index(wanted).await;
    if let Err(CatalogError::BeingDropped) = row {
        // Finish the deletion, since the process that began it may have died.
        drop_retired(catalog, index).await?;
        row = catalog.ensure_index(wanted).await;
    }
    let row = row?;
    if row.state == IndexState::Retired {
        return Err(IngestError::Retired);
    }
    let dimensions = row.spec.dimensions;
    index.ensure_collection(&row.collection, dimensions).await?;
    index
        .ensure_facets(&row.collection, &wanted.site.facets)
        .await?;
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_of_an_index_and_the_name_of_its_collection_never_change() {
        let spec = IndexSpec {
            site: "robots".to_owned(),
            embedder: "bge-small".to_owned(),
            embedder_fingerprint: "0a1b".to_owned(),
            dimensions: 384,
            chunk_policy: "adaptive split=700".to_owned(),
            embedded_text_version: 1,
            bm25: "k=1.2".to_owned(),
            token_vectors: None,
            question_vectors: None,
        };
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(
            json,
            r#"{"site":"robots","embedder":"bge-small","embedder_fingerprint":"0a1b","dimensions":384,"#.to_owned()
                + r#""chunk_policy":"adaptive split=700","#
                + r#""embedded_text_version":1,"bm25":"k=1.2"}"#
        );
        assert_eq!(tag("robots", &spec), "_e7a641d1");
        let with_tokens = IndexSpec {
            token_vectors: Some("pca96 0a1b".to_owned()),
            question_vectors: Some(1),
            ..spec
        };
        let with_tokens = serde_json::to_string(&with_tokens).unwrap();
        let ending = r#","token_vectors":"pca96 0a1b","question_vectors":1}"#;
        assert_eq!(with_tokens, json.trim_end_matches('}').to_owned() + ending);
    }
}
