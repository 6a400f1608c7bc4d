#!/usr/bin/env bash
# A quick look after a change: the unit tests but the long ones, and one question from the file to the answer.
# Arguments select tests by name, as for `cargo test`.
set -euo pipefail
cd "$(dirname "$0")/.."

# The same features as in tests/run.sh, so that both share what was compiled.
tests/build.sh
cargo test --quiet --workspace --lib "$@" -- --skip simulation --skip hostile --skip commands::diff --skip memory

data="$(mktemp -d)"
trap 'rm -rf "$data"' EXIT
export BOOKRAG_DATA="$data"
target/debug/bookrag sync tests/fixtures/book >/dev/null
answer="$(target/debug/bookrag ask --site tests/fixtures/book "How do I calibrate the soil moisture probe?")"
grep --quiet "air point" <<<"${answer,,}" || {
  echo "error: the example book does not answer: $answer" >&2
  exit 1
}
