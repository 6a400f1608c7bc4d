//! All tests of `bookrag` that involve several packages.

#![expect(
    clippy::unwrap_used,
    reason = "all of it is tests, their fixtures included"
)]

mod answers;
mod backups;
mod catalog_contract;
mod catalog_postgres;
mod docs_workflow;
mod hardware_tier;
mod index_contract;
mod lambda_functions;
mod linked_crates;
mod local_cloud;
mod s3_source;
mod wire_faults;
