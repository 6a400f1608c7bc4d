#!/usr/bin/env bash
# Builds all programs of the workspace with the features that its tests give them, so that both share what was compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --workspace --features bookrag-cli/openapi,bookrag-cli/cloud,models/faults,store/faults
