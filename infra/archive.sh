#!/usr/bin/env bash
# Builds the command `bookrag`, tries it, and packs it with its documents, completions and manual pages.
#
# usage: infra/archive.sh ARCHIVE.tar.gz
#
# Needs Rust and a C compiler. The archive is for the machine that it is built on.
set -euo pipefail
cd "$(dirname "$0")/.."

archive=${1:?usage: infra/archive.sh ARCHIVE.tar.gz}
cargo build --release --locked -p bookrag-cli --features cloud
target/release/bookrag chunks tests/fixtures/book --ledger

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir "$made/completions"
target/release/bookrag completions bash >"$made/completions/bookrag.bash"
target/release/bookrag completions zsh >"$made/completions/_bookrag"
target/release/bookrag completions fish >"$made/completions/bookrag.fish"
target/release/bookrag man "$made/man"
tar -czf "$archive" -C target/release bookrag -C "$PWD" LICENSE README.md docs -C "$made" completions man
