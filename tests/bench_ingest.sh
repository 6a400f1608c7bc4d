#!/usr/bin/env bash
# Compares ingesting a book with LangChain's indexing API and the same model: `tests/bench_ingest.sh [SITE]`. Three rounds of an empty
# store, an unchanged book, and one edited paragraph. Installs LangChain, ONNX Runtime and Qdrant's embedded engine from PyPI into
# the cache. BOOKRAG_BENCH_BINARY names a prebuilt bookrag, BOOKRAG_BENCH_BATCH the batch size of LangChain's embeddings.
set -euo pipefail
cd "$(dirname "$0")/.."
tools="${XDG_CACHE_HOME:-$HOME/.cache}/bookrag/test-tools"
site="$(cd "${1:-tests/fixtures/book}" && pwd)"
python="$tools/bench/bin/python"
needed='import langchain_classic.indexes, langchain_text_splitters, onnxruntime, qdrant_edge, tiktoken, tokenizers'
if ! "$python" -c "$needed" 2>/dev/null; then
  python3 -m venv "$tools/bench"
  # langchain-classic needs greenlet but relies on SQLAlchemy to install it, which SQLAlchemy 2.1 no longer does.
  "$tools/bench/bin/pip" install --quiet --disable-pip-version-check langchain-text-splitters tiktoken \
    'langchain-classic==1.0.*' greenlet 'onnxruntime==1.31.*' 'tokenizers==0.23.*' 'qdrant-edge-py==0.9.*'
fi
# As in bench.sh: tiktoken looks here before it downloads the encoding.
export TIKTOKEN_CACHE_DIR="$tools/bench/tiktoken"
encoding="$TIKTOKEN_CACHE_DIR/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
if [ ! -f "$encoding" ]; then
  crate=$(cargo metadata --format-version 1 --locked | python3 -c '
import json, pathlib, sys
packages = json.load(sys.stdin)["packages"]
print(next(pathlib.Path(p["manifest_path"]).parent for p in packages if p["name"] == "tiktoken-rs"))')
  mkdir -p "$TIKTOKEN_CACHE_DIR"
  cp "$crate/assets/cl100k_base.tiktoken" "$encoding"
fi
binary="${BOOKRAG_BENCH_BINARY:-}"
if [ -z "$binary" ]; then
  cargo build --quiet --profile bench --package bookrag-cli
  binary=target/release/bookrag
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/site"
tar -C "$site" --exclude ./node_modules --exclude ./.git --exclude ./.docusaurus --exclude ./build -cf - . \
  | tar -C "$work/site" -xf -
chmod -R u+w "$work/site"

"$python" - "$work" "$binary" "$python" shared/answer/benches/langchain_index.py "$site" <<'PY'
import json, os, shutil, subprocess, sys, time
from pathlib import Path
from statistics import median

ROUNDS = 3
STEPS = ("full", "unchanged", "one_page")
work, binary, python, program = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), *sys.argv[3:5]
site, data, pages_file = work / "site", {"bookrag": work / "bookrag", "langchain": work / "langchain"}, work / "pages"

# bookrag refuses unknown variables, and a hosted store or model would change the comparison.
environment = {
    name: value for name, value in os.environ.items()
    if name == "BOOKRAG_MODELS" or not name.startswith(("BOOKRAG_", "QDRANT_", "DATABASE_URL", "OPENAI_"))
} | {"BOOKRAG_EMBEDDER": "minilm"}


def run(command, fine=(0,), **variables):
    """What a command printed, its seconds from start to end, its CPU seconds and the most memory it held, in MB."""
    printed = work / "printed"
    with printed.open("w") as out, (work / "said").open("w") as err:
        started = time.perf_counter()
        child = subprocess.Popen(command, env=environment | variables, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in fine:
        sys.exit(f"error: {command} ended with {child.returncode}:\n{printed.read_text()}{(work / 'said').read_text()}")
    kilobytes = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return printed.read_text(), {"wall": seconds, "cpu": usage.ru_utime + usage.ru_stime, "memory": kilobytes / 1024}


def bookrag(*arguments, **how):
    return run([str(binary), *map(str, arguments)], BOOKRAG_DATA=str(data["bookrag"]), **how)


def sync(_, site):
    printed, measured = bookrag("sync", site, "--json")
    report = json.loads(printed)
    return measured | {
        "inside": report["duration_seconds"], "embedding": report["embedding_seconds"], "embedded": report["embedded"],
        "chunks": report["total_chunks"], "changed": report["files_changed"],
    }


def index(step, site):
    command = [python, program, str(site), str(data["langchain"]), step, str(pages_file)]
    printed, measured = run(command, BOOKRAG_BENCH_BATCH=os.environ.get("BOOKRAG_BENCH_BATCH", ""))
    report = json.loads(printed)
    return measured | {
        "inside": report["seconds"], "embedding": report["embedding_seconds"], "embedded": report["embedded"],
        "chunks": report["chunks"],
    }


def list_pages(site):
    """The pages that bookrag indexes, so that both sides take the same."""
    # Exit code 3: a page was skipped.
    settings = json.loads(bookrag("doctor", site, "--json", fine=(0, 3))[0])["settings"]
    [locales] = [json.loads(setting["value"]) for setting in settings if setting["name"] == "locales"]
    # A site that names no locale still has a default one.
    options = [["--locale", locale] for locale in locales] or [[]]
    printed = [bookrag("chunks", site, "--jsonl", *option, fine=(0, 3))[0] for option in options]
    # Not splitlines: JSON strings may contain other line separators.
    return sorted({json.loads(line)["source"] for lines in printed for line in lines.split("\n") if line})


def paragraphs(text):
    """The line numbers at which paragraphs of plain prose end."""
    lines, ends, fence, begin = text.split("\n"), [], "", 0
    if lines[0] == "---":
        begin = lines.index("---", 1) + 1 if "---" in lines[1:] else len(lines)
    block = []
    for number in range(begin, len(lines) + 1):
        line = lines[number].strip() if number < len(lines) else ""
        if line.startswith(("```", "~~~")) and (not fence or line.startswith(fence)):
            fence = "" if fence else line[:3]
        elif line and not fence:
            block.append(line)
            continue
        prose = " ".join(block)
        plain = len(prose) > 80 and prose[0].isalpha() and not prose.startswith(("import ", "export "))
        if plain and not line and not any(mark in prose for mark in "<>{}|"):
            ends.append(number - 1)
        block = []
    return ends


def edited(pages):
    """A page of middle size, what it says, and what it says with a sentence more in its middle paragraph."""
    texts = sorted(((site / page).read_text(encoding="utf-8"), page) for page in pages)
    texts.sort(key=lambda text: len(text[0]))
    for text, page in texts[len(texts) // 2 :] + texts[: len(texts) // 2]:
        if ends := paragraphs(text):
            lines = text.split("\n")
            lines[ends[len(ends) // 2]] += " This sentence was not there before."
            return site / page, text, "\n".join(lines)
    sys.exit("error: no page has a paragraph")


sides = {"bookrag": sync, "langchain": index}
# Downloads the model if it is missing, and loads both programs' files into the page cache.
warm = work / "warm"
(warm / "docs").mkdir(parents=True)
(warm / "docs" / "page.md").write_text("# Warm\n\nOne paragraph.\n")
pages_file.write_text("docs/page.md")
for side in sides.values():
    side("full", warm)
pages = list_pages(site)
pages_file.write_text("\n".join(pages))
page, before, after = edited(pages)

measured = {(step, name): [] for step in STEPS for name in sides}
for number in range(ROUNDS):
    for folder in data.values():
        shutil.rmtree(folder, ignore_errors=True)
    page.write_text(before, encoding="utf-8")
    for step in STEPS:
        if step == "one_page":
            page.write_text(after, encoding="utf-8")
        for name in list(sides)[:: -1 if number % 2 else 1]:
            measured[step, name].append(sides[name](step, site))
            print(f"round {number + 1} {step} {name}: {measured[step, name][-1]['wall']:.2f} s", file=sys.stderr)
for step, changed in zip(STEPS, (len(pages), 0, 1)):
    found = {one["changed"] for one in measured[step, "bookrag"]}
    if found != {changed}:
        print(f"note: bookrag indexed {found} pages in the step {step}, not {changed}", file=sys.stderr)

size = sum((site / page).stat().st_size for page in pages)
print(f"{sys.argv[5]}: {len(pages)} pages, {size / 1e6:.2f} MB; medians of {ROUNDS} rounds, ratio: langchain / bookrag; edited: {page.name}")
columns = ("seconds", "inside", "embedder", "CPU s", "peak MB", "embedded", "chunks")
print(" ".join([f"{'step':<10} {'':<10}", *(f"{column:>8}" for column in columns)]))
for step in STEPS:
    for name in sides:
        of = {key: median(one[key] for one in measured[step, name]) for key in measured[step, name][0]}
        # The seconds inside have no ratio: bookrag's begin after loading its model, LangChain's after Python's imports.
        share = median(one["embedding"] / one["inside"] for one in measured[step, name])
        print(f"{step:<10} {name:<10} {of['wall']:>8.2f} {of['inside']:>8.2f} {share:>8.0%} {of['cpu']:>8.2f} "
              f"{of['memory']:>8.0f} {of['embedded']:>8.0f} {of['chunks']:>8.0f}")
    pairs = zip(measured[step, "langchain"], measured[step, "bookrag"])
    ratios = [{key: theirs[key] / ours[key] for key in ("wall", "cpu", "memory")} for theirs, ours in pairs]
    of = {key: median(ratio[key] for ratio in ratios) for key in ratios[0]}
    print(f"{'':<10} {'ratio':<10} {of['wall']:>8.2f} {'':>8} {'':>8} {of['cpu']:>8.2f} {of['memory']:>8.2f}")
PY
