//! Clients of hosted models, and models that run in this process: embedders, rerankers and chat models.

pub mod provider;
pub mod http;
pub mod prices;
pub mod local;
pub mod embed;
pub mod rerank;
pub mod chat;
