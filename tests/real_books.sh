#!/usr/bin/env bash
# Checks on real Docusaurus books beside the repository, with what Docusaurus itself computed of them.
set -euo pipefail
cd "$(dirname "$0")/.."
shared=../shared
if [ ! -f "$shared/tools/score_chunks.py" ]; then
  echo "error: the real books are missing: $shared" >&2
  exit 1
fi
[ -x target/debug/bookrag ] || cargo build --quiet -p bookrag-cli
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# book, its locale, and the least rate of anchors that exist and of words found.
check() {
  local book=$1 locale=$2 anchors=$3 words=$4 name=$1${2:+.$2}
  target/debug/bookrag chunks "$shared/books/$book" --jsonl ${locale:+--locale "$locale"} >"$out/$name.jsonl" 2>"$out/$name.err"
  python3 "$shared/tools/score_chunks.py" "$shared/books/$book" "$out/$name.jsonl" ${locale:+--locale "$locale"} >"$out/$name.json"
  python3 - "$name" "$out/$name.json" "$anchors" "$words" <<'PY'
import json, sys
name, path, anchors, words = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
score = json.load(open(path))
rates = score["rates"]
least = {"page_url": 1.0, "url_exact": 1.0, "anchor_exists": anchors, "h2_anchor_coverage": anchors, "word_recall": words}
low = {rate: (rates[rate], bound) for rate, bound in least.items() if rates[rate] is not None and rates[rate] < bound}
print(name, rates)
if low or score["counts"].get("pages_without_chunk"):
    sys.exit(f"{name}: below the baseline: {low}, {score['counts']}")
PY
}
check gurupak "" 1.0 0.995
check jest "" 1.0 0.978
check babel "" 1.0 0.975
check ary "" 1.0 0.999
check ary ur 0.996 0.999
check rules-dev "" 0.96 0.988
