#!/usr/bin/env bash
# Trains the reader and prints what it gains: 10 minutes on an H100; not tried as a whole on a processor. What is finished is kept, and not made again.
#
#   training/run.sh WORK BOOKRAG QUESTIONS.jsonl SITES.json FOLDER
#
# WORK receives everything. BOOKRAG is the command to measure. QUESTIONS, SITES and FOLDER are the measured sites and their questions, see candidates.py.
# Needs git, Python 3.11 with venv, and the files of the cross-encoder in bookrag's cache (serve once with BOOKRAG_RERANKER=cross-encoder).
set -euo pipefail
work=$1 bookrag=$(realpath "$2") questions=$(realpath "$3") sites=$(realpath "$4") folder=$(realpath "$5")
cd "$(dirname "$0")"
mkdir -p "$work/clones"

if [ ! -x "$work/venv/bin/python" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: jax==0.10.2 optax==0.2.8 numpy onnx tokenizers
fi
python=$work/venv/bin/python

while IFS=$'\t' read -r name commit _; do
  clone=$work/clones/${name/\//+}
  [ -e "$clone" ] && continue
  git init --quiet --bare "$clone.new"
  git -C "$clone.new" fetch --quiet --depth 1 "https://github.com/$name" "$commit"
  mv "$clone.new" "$clone"
done <manifest.tsv

[ -e "$work/data.jsonl.gz" ] || $python data.py manifest.tsv "$work/clones" questions.jsonl "$work/data.jsonl.gz"
[ -e "$work/candidates" ] || $python candidates.py "$bookrag" "$questions" "$sites" "$folder" "$work/candidates"
$python labels.py "$work/candidates" "$work/measured"
models=("${XDG_CACHE_HOME:-$HOME/.cache}"/bookrag/models/ms-marco-MiniLM-L-12-v2-*)
$python train.py "${models[0]}" "$work/data.jsonl.gz" "$work/measured" "$work/runs" plan.json
$python evaluate.py "$work/measured" "$work/runs" plan.json
