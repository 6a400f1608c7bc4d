//! How Qdrant distributes and compresses the collections that are created.

use std::num::NonZeroU32;
use std::str::FromStr;

#[cfg(feature = "cloud")]
use qdrant_client::qdrant::{CreateCollectionBuilder, ScalarQuantizationBuilder};

/// How Qdrant distributes and compresses a new collection. What is left out has Qdrant's default. Existing collections do not change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CollectionLayout {
    /// The number of shards, which cannot be changed later.
    pub shards: Option<NonZeroU32>,
    /// The number of copies of each shard.
    pub replicas: Option<NonZeroU32>,
    /// True if vectors are also kept as 8-bit integers, in memory. The best are compared again exactly.
    pub is_quantized: bool,
}

impl FromStr for CollectionLayout {
    type Err = String;

    /// Reads settings separated by spaces, such as `shards=6 replicas=2 quantization=int8`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut layout = Self::default();
        for setting in text.split_whitespace() {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let number = || {
                let number = value.parse().map(Some);
                number.map_err(|_| format!("`{setting}` needs a number from 1"))
            };
            match name {
                "shards" => layout.shards = number()?,
                "replicas" => layout.replicas = number()?,
                "quantization" if value == "int8" => layout.is_quantized = true,
                _ => {
                    return Err(format!(
                        "`{setting}` is none of `shards=N`, `replicas=N` and `quantization=int8`"
                    ));
                }
            }
        }
        Ok(layout)
    }
}

#[cfg(feature = "cloud")]
impl CollectionLayout {
    /// Adds the layout to a request that creates a collection.
    pub(super) fn of(self, create: CreateCollectionBuilder) -> CreateCollectionBuilder {
        let create = match self.shards {
            Some(shards) => create.shard_number(shards.get()),
            None => create,
        };
        let create = match self.replicas {
            Some(replicas) => create.replication_factor(replicas.get()),
            None => create,
        };
        if self.is_quantized {
            create.quantization_config(ScalarQuantizationBuilder::default().always_ram(true))
        } else {
            create
        }
    }
}

#[cfg(all(test, feature = "cloud"))]
mod tests {
    use qdrant_client::qdrant::CreateCollection;

    use super::*;

    #[test]
    fn a_new_collection_has_what_the_layout_says() {
        let created = |text: &str| {
            let layout: CollectionLayout = text.parse().unwrap();
            CreateCollection::from(layout.of(CreateCollectionBuilder::new("book")))
        };
        let all = created("shards=6  replicas=2 quantization=int8");
        assert_eq!(
            (all.shard_number, all.replication_factor),
            (Some(6), Some(2))
        );
        assert!(all.quantization_config.is_some());
        let none = CreateCollection::from(CreateCollectionBuilder::new("book"));
        assert_eq!(created(" "), none);
    }

    #[test]
    fn a_setting_that_is_none_is_named() {
        for (text, named) in [
            ("shards=0", "`shards=0` needs a number"),
            ("replicas", "`replicas` needs a number"),
            (
                "shards=2 quantization=int4",
                "`quantization=int4` is none of",
            ),
            ("shard=2", "`shard=2` is none of"),
        ] {
            let error = CollectionLayout::from_str(text).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }
}
