#!/usr/bin/env bash
# Builds the sites in tests/docusaurus with the real Docusaurus from npm, and compares our reading with the result.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
bash tests/docusaurus/build.sh "$built"
BOOKRAG_TEST_DOCUSAURUS="$built" cargo test --workspace --features bookrag-tests/docusaurus --test docusaurus "$@"
