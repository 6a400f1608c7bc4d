//! What tests put in the place of stores and servers: scripted faults, and a fake API of a hosted model.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

pub mod faults;
pub mod server;
