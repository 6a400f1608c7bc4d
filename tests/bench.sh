#!/usr/bin/env bash
# Compares reading and splitting a book with the crate text-splitter and LangChain: `tests/bench.sh [SITE]`. Installs LangChain from PyPI into
# the cache, and counts instructions if valgrind is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
tools="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/test-tools"
export BOOKRAG_BENCH_BOOK="${1:-tests/fixtures/book}"
BOOKRAG_BENCH_BOOK="$(cd "$BOOKRAG_BENCH_BOOK" && pwd)"
if [ ! -x "$tools/bench/bin/python" ] || ! "$tools/bench/bin/python" -c 'import langchain_text_splitters, tiktoken' 2>/dev/null; then
  python3 -m venv "$tools/bench"
  "$tools/bench/bin/pip" install --quiet --disable-pip-version-check langchain-text-splitters tiktoken
fi
# Python's tiktoken would download the encoding; the crate of that name contains the same file. tiktoken looks here first.
crate=$(cargo metadata --format-version 1 --locked | python3 -c '
import json, pathlib, sys
packages = json.load(sys.stdin)["packages"]
print(next(pathlib.Path(p["manifest_path"]).parent for p in packages if p["name"] == "tiktoken-rs"))')
export TIKTOKEN_CACHE_DIR="$tools/bench/tiktoken"
mkdir -p "$TIKTOKEN_CACHE_DIR"
cp "$crate/assets/cl100k_base.tiktoken" "$TIKTOKEN_CACHE_DIR/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"

BOOKRAG_BENCH_PYTHON="$tools/bench/bin/python" cargo bench --package book --features comparison --bench chunking
if command -v valgrind >/dev/null; then
  bench=$(cargo bench --package book --features comparison --bench chunking --no-run --message-format json 2>/dev/null | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin if line.startswith("{")]
print(next(l["executable"] for l in lines if l.get("target", {}).get("name") == "chunking" and l.get("executable")))')
  for what in nothing ours text-splitter; do
    count=$(BOOKRAG_BENCH_ONCE=$what valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" 2>&1 | sed -n 's/.*Collected : //p')
    echo "$what: $count instructions"
  done
fi
