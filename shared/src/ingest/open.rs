//! From ports to an index that can be fed.

use super::{Ingest, IngestError, plan, site_info};
use crate::catalog::{Catalog, IndexSpec, IndexState, NewIndex, Retired};
use crate::chunk::{ChunkPolicy, EMBEDDED_TEXT_VERSION};
use crate::embed::Embedder;
use crate::index::{BM25_SETTINGS, VectorIndex};
use crate::source::{FileCache, Source};

/// What ingest reads from and writes to.
#[derive(Debug, Clone)]
pub struct Ports {
    /// Where the files are.
    pub source: Source,
    /// What makes vectors.
    pub embedder: Embedder,
    /// Where they go.
    pub index: VectorIndex,
    /// The root.
    pub catalog: Catalog,
}

/// How documents are identified, cut and stored.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The site's name, part of every document's id.
    pub site: String,
    /// The book's title where the site's settings have none.
    pub title: String,
    /// How documents are cut.
    pub policy: ChunkPolicy,
    /// What collections' names begin with, and the alias of the live one.
    pub collection: String,
    /// What becomes of the index if it was retired.
    pub retired: Retired,
}

impl Ingest {
    /// Reads the site's settings, and finds or creates the index for what this process embeds, and its collection. The
    /// collection is the site's own: another book in the same store has another.
    ///
    /// # Errors
    /// [`IngestError::Retired`] when the index was retired and does not revive.
    pub async fn open(ports: Ports, options: OpenOptions) -> Result<Self, IngestError> {
        let Ports {
            source,
            embedder,
            index,
            catalog,
        } = ports;
        let settings = source.settings().await?;
        let identity = embedder.identity();
        let spec = IndexSpec {
            embedder: identity.name.clone(),
            embedder_fingerprint: identity.fingerprint.clone(),
            dimensions: identity.dimensions,
            chunk_policy: options.policy.name.to_owned(),
            embedded_text_version: EMBEDDED_TEXT_VERSION,
            bm25: BM25_SETTINGS.to_owned(),
        };
        let json = serde_json::to_string(&spec).expect("an index's version serialises");
        let collection = format!(
            "{}_{}",
            options.collection,
            &plan::hash(&format!("{}\n{json}", options.site))[..8]
        );
        let new = NewIndex {
            spec,
            collection,
            site: site_info(&settings, &options.title),
            retired: options.retired,
        };
        let index_row = catalog.ensure_index(&new).await?;
        if index_row.state == IndexState::Retired {
            return Err(IngestError::Retired);
        }
        index
            .ensure_collection(&index_row.collection, index_row.spec.dimensions)
            .await?;
        Ok(Self {
            source,
            settings,
            options,
            embedder,
            index,
            catalog,
            index_row,
            files: FileCache::default(),
        })
    }

    /// The same, the site's settings read anew.
    pub async fn reopened(&self) -> Result<Self, IngestError> {
        let ports = Ports {
            source: self.source.clone(),
            embedder: self.embedder.clone(),
            index: self.index.clone(),
            catalog: self.catalog.clone(),
        };
        Self::open(ports, self.options.clone()).await
    }

    /// Whether the site's settings have become others, so that pages committed under these must be looked at again.
    pub async fn settings_changed(&self) -> Result<bool, IngestError> {
        let now = self.source.settings().await?;
        Ok(now.reading_key() != self.settings.reading_key())
    }
}
