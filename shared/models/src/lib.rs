//! Clients of hosted models, and models that run in this process: embedders and rerankers.

pub mod provider;
pub mod http;
pub mod prices;
pub mod local;
pub mod embed;
pub mod rerank;
