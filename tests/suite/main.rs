//! All tests of `bookrag` that cross a package's border.

mod catalog_contract;
mod catalog_postgres;
