"""Retrieves as a usual RAG stack does: langchain_retrieval.py QUESTIONS BOOKS [RUNS]

QUESTIONS is what `bookrag eval` reads, in one locale, each with a corpus; BOOKS has a folder for each corpus, of which those folders
are read that hold the questions' main sources, as `docs`. Prints one line of JSON: for each ranker what
`bookrag eval --json` says of "corpora" and "mean". Writes what each ranker found into the folder RUNS, if there is one named: a file each, a line a question.

- LangChain: RecursiveCharacterTextSplitter(1000, 200) over the raw files, the 20 nearest by cosine, by all-MiniLM-L6-v2 and by
  bge-small-en-v1.5, both int8 in ONNX Runtime. Texts are embedded one at a time: int8 models scale what they compute by the whole
  batch, so padding would cost accuracy. All vectors are compared, which loses nothing to an index.
- BM25 over the parts of a page between its headings of level 1 and 2.

A chunk's section is that of the last heading at or above its start. The metrics are those of `bookrag eval`: each section counts once
in a list, and one that begins above the labelled heading is no hit, which BM25's parts often do.
"""

import json
import math
import os
import re
import sys
import time
import unicodedata
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy
from langchain_text_splitters import RecursiveCharacterTextSplitter
from markdown_it import MarkdownIt
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

CHUNK_CHARACTERS, OVERLAP_CHARACTERS = 1000, 200
TOP_K = 20
# Lucene's defaults.
BM25_K1, BM25_B = 1.2, 0.75
METRICS = ("page@1", "page@5", "section@1", "section@5", "MRR@10")


@dataclass(frozen=True)
class Model:
    folder: str
    # The input that it was trained on, in its own tokens.
    tokens: int
    # What makes a vector of the tokens' states: their mean, or the first, which is [CLS].
    mean: bool
    # Stands before each question.
    prefix: str


MODELS = {
    "LangChain MiniLM": Model("all-MiniLM-L6-v2-int8-8199be6f", 256, True, ""),
    "LangChain bge": Model(
        "bge-small-en-v1.5-int8-68807e3f", 512, False, "Represent this sentence for searching relevant passages: "
    ),
}


@dataclass(frozen=True)
class Passage:
    source: str
    # Of its section; empty above the first heading and below a heading of level 1, which Docusaurus gives none.
    anchor: str
    text: str


class Embedder:
    """A model in ONNX Runtime, whose vectors have length 1."""

    def __init__(self, model: Model):
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(os.environ.get("BOOKRAG_MODELS") or Path(cache, "bookrag", "models"), model.folder)
        options = SessionOptions()
        # Its default is one thread for each physical core.
        options.intra_op_num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.model = model
        self.session = InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(model.tokens)
        self.tokenizer.no_padding()

    def embed(self, text: str) -> numpy.ndarray:
        ids = numpy.array([self.tokenizer.encode(text).ids], dtype=numpy.int64)
        inputs = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        [[states]] = self.session.run(None, inputs)
        vector = states.mean(axis=0) if self.model.mean else states[0]
        return vector / numpy.linalg.norm(vector)


class Dense:
    """Passages by the cosine of their vector with the question's."""

    def __init__(self, embedder: Embedder, passages: list[Passage]):
        self.embedder = embedder
        self.vectors = numpy.array([embedder.embed(passage.text) for passage in passages])

    def scores(self, query: str) -> numpy.ndarray:
        return self.vectors @ self.embedder.embed(self.embedder.model.prefix + query)


class Lexical:
    """Passages by BM25. Source: Robertson and Zaragoza, 2009, with Lucene's idf, which is never negative."""

    def __init__(self, passages: list[Passage]):
        self.counts = [Counter(words(passage.text)) for passage in passages]
        lengths = numpy.array([counts.total() for counts in self.counts])
        self.norms = BM25_K1 * (1 - BM25_B + BM25_B * lengths / lengths.mean())

    def scores(self, query: str) -> numpy.ndarray:
        scores = numpy.zeros(len(self.counts))
        for word in words(query):
            found = numpy.array([counts[word] for counts in self.counts])
            having = numpy.count_nonzero(found)
            idf = math.log(1 + (len(found) - having + 0.5) / (having + 0.5))
            scores += idf * found * (BM25_K1 + 1) / (found + self.norms)
        return scores


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def slug(heading: str, seen: dict[str, int]) -> str:
    """github-slugger's rule: letters, marks, digits, `_` and `-` stay; a slug that was there gets a number."""
    kept = [c for c in heading.lower() if c in "- " or re.match("L|M|Nd|Nl|Pc", unicodedata.category(c))]
    base = unique = "".join(kept).replace(" ", "-")
    while unique in seen:
        seen[base] += 1
        unique = f"{base}-{seen[base]}"
    seen[unique] = 0
    return unique


def headings(text: str) -> list[tuple[int, int, str]]:
    """Where each heading starts, in characters; its level and its anchor."""
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    # Its end would make a heading of its last line.
    text = re.sub(r"\A---\n.*?\n---[ \t]*\n", lambda front: "\n" * front[0].count("\n"), text, flags=re.DOTALL)
    # MDX has no code by indentation.
    tokens = MarkdownIt().disable("code").parse(text)
    found, seen = [], {}
    for token, inline in zip(tokens, tokens[1:]):
        if token.type != "heading_open":
            continue
        level = int(token.tag[1])
        heading = "".join(part.content for part in inline.children if part.type != "html_inline")
        explicit = re.search(r"\{(?:/\*\s*)?#([^{}\s*]+)(?:\s*\*/)?\}$", heading)
        anchor = explicit[1] if explicit else slug(heading, seen)
        found.append((lines[token.map[0]], level, "" if level == 1 else anchor))
    return found


def chunks_of(source: str, text: str) -> list[Passage]:
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=CHUNK_CHARACTERS, chunk_overlap=OVERLAP_CHARACTERS, add_start_index=True
    )
    marks = [(0, 0, ""), *headings(text)]
    starts = [start for start, _, _ in marks]
    return [
        Passage(source, marks[bisect_right(starts, chunk.metadata["start_index"]) - 1][2], chunk.page_content)
        for chunk in splitter.create_documents([text])
    ]


def sections_of(source: str, text: str) -> list[Passage]:
    marks = [(0, ""), *((start, anchor) for start, level, anchor in headings(text) if level <= 2)]
    ends = [start for start, _ in marks[1:]] + [len(text)]
    cut = (Passage(source, anchor, text[start:end]) for (start, anchor), end in zip(marks, ends))
    return [passage for passage in cut if passage.text.strip()]


def read_pages(site: Path, questions: list[dict]) -> dict[str, str]:
    folders = sorted({question["source"].split("/")[0] for question in questions})
    paths = (path for folder in folders for path in (site / folder).rglob("*") if path.suffix in (".md", ".mdx"))
    pages = sorted(path.relative_to(site) for path in paths)
    # Docusaurus has no pages of these.
    pages = [page for page in pages if not any(part.startswith("_") for part in page.parts)]
    if not pages:
        sys.exit(f"error: {site} has no pages in {folders}")
    return {page.as_posix(): (site / page).read_text(encoding="utf-8") for page in pages}


def retrieve(ranker: Dense | Lexical, passages: list[Passage], query: str) -> list[tuple[str, str]]:
    """Source and anchor of the best passages, best first, each once."""
    scores = ranker.scores(query)
    # BM25 gives 0 where no word is found.
    best = numpy.argsort(-scores, kind="stable")[:TOP_K]
    return list(dict.fromkeys((passages[i].source, passages[i].anchor) for i in best if scores[i] > 0))


def score(question: dict, results: list[tuple[str, str]]) -> dict[str, float]:
    labels = [question, *question.get("also_relevant", [])]
    right_pages = {label["source"] for label in labels}
    right_sections = {
        (label["source"], anchor)
        for label in labels for heading in label.get("headings", []) if heading["id"]
        for anchor in (heading["id"], *heading.get("under", []))
    }
    pages = dict.fromkeys(source for source, _ in results)
    page = next((rank for rank, source in enumerate(pages, 1) if source in right_pages), math.inf)
    metrics = {"page@1": page <= 1, "page@5": page <= 5, "MRR@10": 1 / page if page <= 10 else 0}
    if right_sections:
        section = next((rank for rank, result in enumerate(results, 1) if result in right_sections), math.inf)
        metrics |= {"section@1": section <= 1, "section@5": section <= 5}
    return metrics


def mean_of(scores: list[dict[str, float]]) -> dict[str, float]:
    values = {metric: [one[metric] for one in scores if metric in one] for metric in METRICS}
    return {metric: sum(of) / len(of) for metric, of in values.items() if of}


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.splitlines()[0])
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").split("\n")
    questions = [json.loads(line) for line in lines if line.strip()]
    embedders = {name: Embedder(model) for name, model in MODELS.items()}
    report, runs = {}, {}
    for corpus in sorted({question["corpus"] for question in questions if question["answerable"]}):
        asked = [question for question in questions if question["corpus"] == corpus and question["answerable"]]
        pages = read_pages(Path(sys.argv[2], corpus), asked)
        chunks, sections = ([passage for page in pages.items() for passage in cut(*page)] for cut in (chunks_of, sections_of))
        said = f"{corpus}: {len(asked)} questions, {len(pages)} pages, {len(chunks)} chunks, {len(sections)} sections"
        for name in (*MODELS, "BM25 sections"):
            started = time.perf_counter()
            passages = chunks if name in MODELS else sections
            ranker = Dense(embedders[name], chunks) if name in MODELS else Lexical(sections)
            found = [(question, retrieve(ranker, passages, question["query"])) for question in asked]
            report.setdefault(name, {})[corpus] = mean_of([score(*one) for one in found])
            runs.setdefault(name, []).extend(found)
            said += f"; {name} {time.perf_counter() - started:.1f} s"
        print(said, file=sys.stderr, flush=True)
    for name, run in runs.items() if len(sys.argv) == 4 else ():
        with Path(sys.argv[3], f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for question, results in run:
                places = [{"source": source, "url": f"{source}#{quote(anchor)}"} for source, anchor in results]
                print(json.dumps({"id": question["id"], "results": places}), file=file)
    for name, of in report.items():
        corpora = {corpus: {"metrics": metrics} for corpus, metrics in of.items()}
        report[name] = {"corpora": corpora, "mean": mean_of(list(of.values()))}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
