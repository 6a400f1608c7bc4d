#!/usr/bin/env bash
# Compares retrieval on labelled questions with LangChain's defaults and BM25:
# `tests/bench_retrieval.sh QUESTIONS.jsonl BOOKS_DIR`, as for `bookrag eval`. Asks the English questions of each corpus, and reports
# the means of the metrics over corpora. Installs LangChain and ONNX Runtime from PyPI into the cache. BOOKRAG_BENCH_BINARY names a
# prebuilt bookrag, BOOKRAG_DATA a folder for its indexes of the books.
set -euo pipefail
if [ $# != 2 ]; then
  echo "usage: $0 QUESTIONS.jsonl BOOKS_DIR" >&2
  exit 2
fi
questions="$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
books="$(cd "$2" && pwd)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data="${BOOKRAG_DATA:-$work/data}"
mkdir -p "$data"
data="$(cd "$data" && pwd)"
cd "$(dirname "$0")/.."
tools="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/test-tools"
python="$tools/bench/bin/python"
if ! "$python" -c 'import langchain_text_splitters, markdown_it, numpy, onnxruntime, tokenizers' 2>/dev/null; then
  python3 -m venv "$tools/bench"
  "$tools/bench/bin/pip" install --quiet --disable-pip-version-check 'langchain-text-splitters==1.1.*' 'markdown-it-py==4.3.*' \
    'numpy==2.*' 'onnxruntime==1.31.*' 'tokenizers==0.23.*'
fi
binary="${BOOKRAG_BENCH_BINARY:-}"
if [ -z "$binary" ]; then
  cargo build --quiet --profile bench --package bookrag-cli
  binary=target/release/bookrag
fi

"$python" - "$work" "$data" "$binary" "$python" shared/answer/benches/langchain_retrieval.py "$questions" "$books" <<'PY'
import json, os, subprocess, sys, time
from pathlib import Path
from urllib.parse import unquote

work, data, binary, (python, program, questions, books) = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]).resolve(), sys.argv[4:]
sys.path.insert(0, str(Path(program).parent))
from langchain_retrieval import METRICS, mean_of, score

# The constant k of reciprocal rank fusion. Source: Cormack et al., SIGIR 2009.
RRF_K = 60
english = work / "questions.jsonl"

# bookrag refuses unknown variables, and a hosted store or model would change the comparison.
environment = {
    name: value for name, value in os.environ.items()
    if name == "BOOKRAG_MODELS" or not name.startswith(("BOOKRAG_", "QDRANT_", "DATABASE_URL", "OPENAI_"))
}


def run(name, *command, **variables):
    """What a command printed. Says what it took."""
    started = time.perf_counter()
    child = subprocess.run(command, env=environment | variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if child.returncode:
        sys.exit(f"error: {command} ended with {child.returncode}:\n{child.stdout}")
    print(f"{name}: {time.perf_counter() - started:.1f} s", file=sys.stderr)
    return child.stdout


def show(title, columns, cells):
    """Prints a table with a row for each ranker, of what `cells` makes of its report."""
    print(f"\n{title}\n{'':<16}" + "".join(f" {column:>11}" for column in columns))
    for name, report in reports.items():
        print(f"{name:<16}" + "".join(f" {cell:>11}" for cell in cells(report)))


def values(metrics, *names):
    return "/".join(f"{metrics[name]:.3f}" if name in metrics else "-" for name in names)


# Not splitlines: JSON strings may contain other line separators.
lines = [line for line in Path(questions).read_text(encoding="utf-8").split("\n") if line.strip()]
english.write_text("\n".join(line for line in lines if json.loads(line).get("locale", "en") == "en"), encoding="utf-8")
# Downloads the models if they are missing.
(work / "warm" / "docs").mkdir(parents=True)
(work / "warm" / "docs" / "page.md").write_text("# Warm\n\nOne paragraph.\n")
for embedder in ("minilm", "bge-small"):
    variables = {"BOOKRAG_EMBEDDER": embedder, "BOOKRAG_DATA": str(work / embedder)}
    run(f"one page, {embedder}", binary, "sync", work / "warm", "--json", **variables)

reports = json.loads(run("LangChain and BM25", python, program, english, books))
# Also indexes books that are not indexed yet.
details = work / "details.jsonl"
run("bookrag", binary, "eval", english, "--books", books, "--json", "--details", details, BOOKRAG_DATA=data)
found = {one["id"]: one["results"] for one in map(json.loads, details.open(encoding="utf-8"))}
labelled = [question for question in map(json.loads, english.open(encoding="utf-8")) if question["answerable"]]


def by(name):
    """The order by a score; last where there is none."""
    return lambda results: sorted(results, key=lambda result: (result["scores"][name] is None, -(result["scores"][name] or 0)))


def rrf(results):
    ranked = [by(name)(results) for name in ("dense", "lexical")]
    return sorted(results, key=lambda result: -sum(1 / (RRF_K + 1 + order.index(result)) for order in ranked))


def place(result):
    return result["source"], unquote(result["url"].partition("#")[2])


# The order of each ranker; `full` is the one that readers get.
for ranker, order in {"lexical": by("lexical"), "dense": by("dense"), "rrf": rrf, "fused": by("fused"), "full": list}.items():
    corpora = {}
    for question in labelled:
        results = list(dict.fromkeys(map(place, order(found[question["id"]]))))
        corpora.setdefault(question["corpus"], []).append(score(question, results))
    corpora = {corpus: {"metrics": mean_of(scores)} for corpus, scores in corpora.items()}
    mean = mean_of([scores["metrics"] for scores in corpora.values()])
    reports[f"bookrag {ranker}"] = {"corpora": corpora, "mean": mean}

corpora = list(reports["LangChain bge"]["corpora"])
show(
    f"Means over {len(corpora)} corpora", METRICS,
    lambda report: [values(report["mean"], metric) for metric in METRICS],
)
show(
    "page@1/page@5", corpora,
    lambda report: [values(report["corpora"][corpus]["metrics"], "page@1", "page@5") for corpus in corpora],
)
PY
