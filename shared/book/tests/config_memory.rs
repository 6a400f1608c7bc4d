//! The memory that reading a site's settings needs. It is measured for the whole process, so this test has one of its own.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;

use book::SiteSettings;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

#[path = "../src/settings/hostile_configs.rs"]
mod hostile_configs;

/// The most memory that settings may need beside that for their files, in kilobytes.
const MAX_KILOBYTES: usize = 64 * 1024;

/// Memory for the syntax tree of a file, per byte of its text.
const TREE_BYTES: usize = 256;

/// Configs that are generated.
const CASES: usize = 200;

/// Returns a figure about this process, in kilobytes.
fn kilobytes(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let figure = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    figure.expect("the figure is a number")
}

fn read(config: &str) {
    let files = [
        ("docusaurus.config.js", config),
        ("versions.json", "[\"2.0\", \"1.0\"]"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let _ = SiteSettings::read(&BTreeMap::from(files), true);
}

#[test]
fn settings_need_little_memory_whatever_a_config_describes() {
    let mut generator = TestRunner::deterministic();
    let generated = hostile_configs::config();
    let generated = (0..CASES).map(|_| generated.new_tree(&mut generator).unwrap().current());
    let bombs = hostile_configs::bombs().into_iter().map(|(_, text)| text);
    let mut texts: Vec<String> = generated.chain(bombs).collect();
    texts.sort_by_key(String::len);
    read("module.exports = {}");
    let before = kilobytes("VmRSS:");
    for text in texts {
        read(&text);
        // The peak of all so far, of which this file is the largest.
        let needed = kilobytes("VmHWM:") - before;
        let allowed = MAX_KILOBYTES + text.len() * TREE_BYTES / 1024;
        assert!(
            needed <= allowed,
            "{needed} > {allowed} kB: {}",
            &text[..text.len().min(2_000)]
        );
    }
}
