#![allow(missing_docs, unreachable_pub)]
extern crate self as bookrag_tests;
pub mod postgres;
mod catalog_contract;
mod catalog_postgres;
