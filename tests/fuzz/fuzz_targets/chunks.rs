//! Reads random bytes as a page, a partial or a site's settings, splits the result, and asserts the properties of chunks.
//!
//! The first byte chooses the variant, the rest is the text.

#![no_main]

#[path = "chunks/laws.rs"]
mod laws;
#[path = "chunks/variants.rs"]
mod variants;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((variant, text)) = bytes.split_first() {
        variants::run(*variant, text);
    }
});
