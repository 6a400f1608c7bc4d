#!/usr/bin/env python3
"""Measures how bookrag ranks sections by public sets that bring no documentation: `documentation.py SET QUESTIONS SITE [--bookrag PATH]`.

QUESTIONS is the set's file of questions, SITE a folder with the documentation that it is about. Nothing of them is in this repository, and nothing in
bookrag is fitted to them. `bookrag serve SITE` searches with default settings, without a model. Intervals are of 95 %, from 2,000 draws of the questions
with replacement. `--save FILE` writes the scores of each question; with `--baseline FILE`, the differences to such scores are printed, paired by question.

ray (github.com/ray-project/llm-applications, CC-BY-4.0): `datasets/eval-dataset-v1.jsonl` has 177 questions of users and the address that answers each
  (`question`, `source`). SITE is Ray's documentation of autumn 2023 as Sphinx built it, with the paths below `/en/master/`. `page@k` is the share of
  questions whose page is among those of the first k chunks, `section@k` that of questions that name a section and have it among them. Published: the
  `retrieval_score` of `experiments/evaluations` in the same repository, which is page@k with the named number of chunks (5 if none is named).
freshstack (freshstack on Hugging Face, `queries-oct-2024`, CC-BY-SA-4.0; Thakur et al., arXiv 2504.13128): the test questions of a topic as JSON lines
  (`query_title`, `query_text`, `nuggets[].relevant_corpus_ids`). An id is a path in the topic's repositories with the first and last character of a
  chunk. SITE is the folder of Markdown below `--root`, the beginning of these paths, at the commit that the set was made of:
    laravel   laravel/docs 724c31cc       --root docs
    angular   angular/angular 7d9b38e9    --root angular/adev/src/content     (SITE: adev/src/content)
    yolo      ultralytics 8d203cf4        --root ultralytics/docs/en          (SITE: docs/en)
  Ids of other files are left out, and questions that have no others, so the figures are not those of the published tables, which search all files of
  the repositories. A result retrieves the chunks with which it shares a line, each once; a result that retrieves nothing new but shares lines with a
  chunk is left out. A nugget is covered by a chunk that is relevant for it. C@20 is the share of nuggets covered by 20 results, R@20 that of relevant
  chunks retrieved; a-nDCG@10 has alpha .5, and the ideal order is chosen greedily (Clarke et al., SIGIR 2008).
"""

import argparse
import json
import math
import re
from pathlib import Path
from statistics import fmean
from urllib.parse import unquote, urlsplit

from yardsticks import Book, intervals, read, table

MAX_QUERY = 2_000  # characters that the API takes
ALPHA = 0.5
CHUNK_ID = re.compile(r"(.+\.mdx?)_(\d+)_(\d+)")


def place(address):
    """The page and the section of an address of Ray's documentation, or of a result."""
    url = urlsplit(address)
    path = unquote(url.path).removeprefix("/en/master").strip("/").removesuffix(".html")
    return path.removesuffix("index").rstrip("/"), url.fragment


def ray_scores(label, results):
    """page@1, @5, @9 and @15 of one question, and section@1 and @5, which are None for a label without a section."""
    places, (page, section) = [place(result["url"]) for result in results], place(label)
    pages = [page in [path for path, _ in places[:k]] for k in (1, 5, 9, 15)]
    return pages + [(page, section) in places[:k] if section else None for k in (1, 5)]


def ray(arguments):
    questions = read(arguments.questions)[: arguments.limit]
    published = arguments.questions.parents[1] / "experiments/evaluations"
    for name in ("num-chunks-5", "num-chunks-9", "num-chunks-15", "text-embedding-ada-002", "gte-large", "lexical-search-bm25-1", "cross-encoder-reranker"):
        if (file := published / f"{name}_gpt-4.json").exists():
            print(f"published, {name}: {read(file)['retrieval_score']:.3f}")
    with Book(arguments.bookrag, site=arguments.site) as book:
        found = [ray_scores(question["source"], book.results(question["question"])) for question in questions]
    return "page@1 page@5 page@9 page@15 section@1 section@5", {question["question"]: scores for question, scores in zip(questions, found)}


def span(name, root):
    """The file below the root, first and last character of a chunk; None for a chunk of another file."""
    parts = CHUNK_ID.fullmatch(name)
    if not parts or not parts[1].startswith(f"{root}/"):
        return None
    return parts[1].removeprefix(f"{root}/"), int(parts[2]), int(parts[3])


def lines_of(text, first, end):
    """The first and the last line, from 1, of the characters from `first` to before `end`."""
    return text.count("\n", 0, first) + 1, text.count("\n", 0, max(first, end - 1)) + 1


def retrieved(results, lines):
    """For each result the chunks that it shares lines with, without results that only repeat chunks. `lines` has (file, first, last) of each chunk."""
    ranking, seen = [], set()
    for result in results:
        shared = {
            name for name, (file, first, last) in lines.items()
            if file == result["source"] and result["start_line"] <= last and result["end_line"] >= first
        }  # fmt: skip
        if not shared or shared - seen:
            ranking.append(shared - seen)
            seen |= shared
    return ranking


def gain(covered, counts):
    """The gain of a result for the nuggets that it covers, each worth less with each result before it that covers it."""
    value = sum((1 - ALPHA) ** counts.get(nugget, 0) for nugget in covered)
    for nugget in covered:
        counts[nugget] = counts.get(nugget, 0) + 1
    return value


def alpha_ndcg(ranking, ideal):
    """alpha-nDCG@10 of a ranking of sets of nuggets. `ideal` has the set of each relevant chunk."""
    counts, best_counts, left, total, best = {}, {}, list(ideal), 0, 0
    for rank, covered in enumerate(ranking[:10], 2):
        total += gain(covered, counts) / math.log2(rank)
    for rank in range(2, min(10, len(ideal)) + 2):
        chosen = max(left, key=lambda covered: gain(covered, dict(best_counts)))
        left.remove(chosen)
        best += gain(chosen, best_counts) / math.log2(rank)
    return total / best


def freshstack_scores(nuggets, ranking):
    """alpha-nDCG@10, C@20 and R@20 of one question. `nuggets` has the relevant chunks of each nugget, `ranking` the chunks of each result."""
    relevant = set().union(*nuggets)
    covers = {name: {number for number, names in enumerate(nuggets) if name in names} for name in relevant}
    found = set().union(*ranking[:20])
    covered = [set().union(*(covers.get(name, set()) for name in names)) for names in ranking]
    ideal = [covers[name] for name in sorted(relevant)]
    return [alpha_ndcg(covered, ideal), fmean(bool(found & names) for names in nuggets), len(found & relevant) / len(relevant)]


def labelled(question, root):
    """The relevant chunks of each nugget that has one below the root."""
    nuggets = [{name for name in nugget["relevant_corpus_ids"] if span(name, root)} for nugget in question["nuggets"]]
    return [names for names in nuggets if names]


def query_of(question):
    body = re.sub(r"<[^>]+>", " ", question["query_text"])
    return re.sub(r"\s+", " ", f"{question['query_title']} {body}").strip()[:MAX_QUERY]


def freshstack(arguments):
    questions = [question for question in read(arguments.questions) if labelled(question, arguments.root)][: arguments.limit]
    texts, scores = {}, {}
    with Book(arguments.bookrag, site=arguments.site) as book:
        for question in questions:
            nuggets, lines = labelled(question, arguments.root), {}
            for name in set().union(*nuggets):
                file, first, end = span(name, arguments.root)
                if file not in texts:
                    texts[file] = (arguments.site / file).read_text(encoding="utf-8")
                lines[name] = (file, *lines_of(texts[file], first, end))
            scores[str(question["query_id"])] = freshstack_scores(nuggets, retrieved(book.results(query_of(question)), lines))
    return "a-nDCG@10 C@20 R@20", scores


def rows_of(scores):
    """The mean of each column with its interval, over the questions that have a value."""
    return [value for column in zip(*scores) for value in intervals([[score] for score in column if score is not None])]


def differences(scores, baseline):
    """The differences to a baseline, of the questions that both have."""
    pairs = [zip(ours, baseline[name]) for name, ours in scores.items() if name in baseline]
    return [[None if a is None or b is None else a - b for a, b in pair] for pair in pairs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=("ray", "freshstack"))
    parser.add_argument("questions", type=Path, metavar="QUESTIONS")
    parser.add_argument("site", type=Path, metavar="SITE")
    parser.add_argument("--root", default="docs", help="freshstack: the beginning of the paths of SITE's files in the set (default: docs)")
    parser.add_argument("--bookrag", default=Path(__file__).parents[2] / "target/debug/bookrag", help="the program to measure")
    parser.add_argument("--limit", type=int, help="ask only the first N questions")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the scores of each question")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="compare with scores that --save wrote")
    arguments = parser.parse_args()
    names, scores = globals()[arguments.set](arguments)
    columns = " ".join(f"{name} from to" for name in names.split())
    table(f"{arguments.set}, {len(scores)} questions", columns, [("bookrag", rows_of(list(scores.values())))])
    if arguments.save:
        arguments.save.write_text(json.dumps(scores), encoding="utf-8")
    if arguments.baseline:
        changes = differences(scores, json.loads(arguments.baseline.read_text(encoding="utf-8")))
        table(f"Paired differences to {arguments.baseline.name}, {len(changes)} questions", columns, [("bookrag", rows_of(changes))])


if __name__ == "__main__":
    main()
