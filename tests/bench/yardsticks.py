#!/usr/bin/env python3
"""Measures bookrag on public test sets, and prints its rows beside the published ones: `yardsticks.py SET CHECKOUT [--bookrag PATH]`.

CHECKOUT is a clone of the set's repository. Nothing of the sets is in this one, and nothing in bookrag is fitted to them. Each passage becomes a page of
a book in a temporary folder; `bookrag serve` answers with default settings, without a model. In rows "given", the search is limited to one passage; "all"
searches every passage of the set. Rows "sure only" count uncertain answers as refusals. Headings, markers and the sentence of doubt do not count as
quoted. Values are shares, but for `length` in characters.

acl (github.com/KRLabsOrg/acl-verbatim, Apache-2.0): 20 queries with 5 passages each (`results[].chunk`, `gold_extraction`). A word, a run of characters
  without white space, is gold or quoted if a span overlaps it. Words are counted over all 100 pairs: P = TP / (TP + FP), R = TP / (TP + FN),
  F1 = 2PR / (P + R), as in its `span_metrics.py`. Published: its `summary.csv` (Recski et al., arXiv 2605.21102).
clapnq (github.com/primeqa/clapnq, Apache-2.0): 600 questions, half of them answerable (`input`, `passages[].text`, `output[].answer`). Over these, with
  0 for a refusal: Rouge-L, the F1 of the longest common subsequence of words [a-z0-9]+ (Lin, 2004) with the best reference; `recall`, that of Rouge-1;
  `extractive`, Rouge-L with the passage. `refused` is over unanswerable questions, `wrongly` over answerable ones, `F1-refused` that of finding
  unanswerable ones. Published: table 5, dev (Rosenthal et al., arXiv 2404.02103v2).
techqa (github.com/rosscyking1115/agent-release-gates, MIT; its sample of TechQA-RAG-Eval is Apache-2.0): `question`, `contexts[]`, `is_impossible`. hit@3,
  top-1 and MRR@3 (mean of 1 / rank) of the labelled document over answerable questions; `refused` over impossible ones, `wrongly` over answerable
  ones, `accuracy` over all. Published: its `reports`.
mtrag (github.com/IBM/mt-rag-benchmark, Apache-2.0): the conversations about IBM Cloud in MTRAG-UN (`input`, `answerability`; qrels). All passages of its
  tasks are searched, not the whole corpora, which is easier. R@k is the share of the labelled passages among the first k, nDCG@k has binary gains
  (Järvelin and Kekäläinen, TOIS 20(4), 2002), `cited` is the share of questions whose answer cites a labelled passage, all over questions with labels.
  BM25: k1 1.2, b 0.75 (Robertson and Zaragoza, 2009). Published: table 2 (Rosenthal et al., arXiv 2602.23184).
cookbooks (github.com/anthropics/claude-cookbooks, MIT): 232 sections of a documentation site (`chunk_link`, `chunk_heading`, `text`) and 100 questions
  (`correct_chunks`). The sections of a path are a page, in order; its title is the last part of the path, and each section is below its heading, whose
  id is the link's fragment. A retrieved item is a section, named by its link: the links of the passages found, each once, and of these the first three.
  MRR@3 is the mean of 1 / rank of the first labelled one, P@3 the share of the retrieved that is labelled, R@3 the share of the labelled that is
  retrieved, as in its `guide.ipynb`. Published: its `evaluation/csvs`, by question. With `--questions FILE`, once more with these questions imported;
  their `source` is `docs/PATH.md` without the `/en/` of the link, and `index` for a path that ends in a slash. Intervals are of 95 %, from 2,000 draws
  of the questions with replacement; those of differences draw pairs.
"""

import argparse
import collections
import contextlib
import csv
import difflib
import html
import json
import math
import os
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import fmean
from urllib.parse import urlsplit

from compare import interval

TOP_K = 20
SHORTEST_MATCH = 3  # words; shorter matches between a quote and its passage are taken for chance
CONFIG = "export default {title: 'Passages', url: 'https://example.org', baseUrl: '/', markdown: {format: 'md'}, presets: [['classic', {blog: false}]]};"
SETTINGS = {"BOOKRAG_CHAT_PER_MINUTE": "0", "BOOKRAG_SEARCH_PER_MINUTE": "0", "BOOKRAG_QUESTIONS_BUDGET": "0", "RUST_MIN_STACK": "16777216"}
PUNCTUATION = r"([!-/:-@\[-`{-~])"
Page = collections.namedtuple("Page", "id title text")


class Book(contextlib.ExitStack):
    """A running `bookrag serve` with a page for each passage, or of a site that exists."""

    def __init__(self, bookrag, pages=(), questions=None, site=None):
        """`pages` is a list, or has a page for each file name. `questions` is a file of questions to import."""
        super().__init__()
        folder = Path(self.enter_context(tempfile.TemporaryDirectory()))
        self.pages = pages if isinstance(pages, dict) else {f"docs/{number:05}.md": page for number, page in enumerate(pages)}
        if site is None:
            site = folder / "site"
            for source, page in self.pages.items():
                (site / source).parent.mkdir(parents=True, exist_ok=True)
                (site / source).write_text(f"# {plain(page.title)}\n\n{page.text}\n", encoding="utf-8")
            (site / "docusaurus.config.js").write_text(CONFIG, encoding="utf-8")
        output = self.enter_context((folder / "output").open("w+", encoding="utf-8"))
        environment = {**os.environ, **SETTINGS, "BOOKRAG_DATA": str(folder / "data")}
        if questions:
            subprocess.run([bookrag, "questions", "import", site, questions], check=True, env=environment)
        server = subprocess.Popen([bookrag, "serve", site, "--listen", "127.0.0.1:0"], stdout=output, stderr=output, env=environment)
        self.callback(server.wait)
        self.callback(server.terminate)
        while not (ready := re.search(r"ask at (\S+)\s", said := (folder / "output").read_text(encoding="utf-8"))):
            if server.poll() is not None:
                raise SystemExit(f"error: bookrag does not serve:\n{said}")
            time.sleep(0.3)
        self.url = ready[1]

    def post(self, path, **body):
        request = urllib.request.Request(f"{self.url}api/v1/{path}", json.dumps(body).encode(), {"content-type": "application/json"})
        reply = json.load(urllib.request.urlopen(request, timeout=600))
        assert not reply["meta"]["degraded"], reply["meta"]
        return reply["data"]

    def ask(self, query, source=None, turns=()):
        history = [{"role": "user" if turn["speaker"] == "user" else "assistant", "content": turn["text"]} for turn in turns]
        return self.post("chat", query=query, history=history, filters={"source": source} if source else {})

    def results(self, query):
        return self.post("search", query=query, top_k=TOP_K)["results"]

    def search(self, query):
        """The ids of the pages found, best first, each once."""
        return list(dict.fromkeys(self.pages[result["source"]].id for result in self.results(query)))


def plain(text):
    """Markdown that shows the text as it is."""
    return "\n".join(re.sub(PUNCTUATION, r"\\\1", line.strip()) for line in text.splitlines())


def words(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def refused(data, sure):
    return data["outcome"] == "not_covered" or (sure and data["outcome"] == "uncertain")


def quoted_text(data, sure):
    """The quoted text of an answer; empty if it counts as a refusal."""
    if refused(data, sure):
        return ""
    answer = data["answer"].partition("\n\n")[2] if data["outcome"] == "uncertain" else data["answer"]
    lines = [line for line in answer.splitlines() if not re.match(r"#+ |\*Continues on the page", line)]
    text = re.sub(r"(?<!\\)\[\d+\]|\]\([^)\s]*\)", "", "\n".join(lines))
    return html.unescape(re.sub(r"\\" + PUNCTUATION, r"\1", text)).strip()


def f1(true, false, missed):
    """Precision, recall and F1 from counts."""
    precision, recall = true / max(true + false, 1), true / max(true + missed, 1)
    return [precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)]


def rouge_l(text, reference):
    a, b = words(text), words(reference)
    row = [0] * (len(b) + 1)
    for one in a:
        before = 0
        for place, other in enumerate(b, 1):
            before, row[place] = row[place], before + 1 if one == other else max(row[place], row[place - 1])
    return f1(row[-1], len(a) - row[-1], len(b) - row[-1])[2]


def rouge_1_recall(text, reference):
    of = collections.Counter(words(reference))
    return (collections.Counter(words(text)) & of).total() / max(of.total(), 1)


def ranking_scores(found, labels):
    """R@5, R@10, nDCG@5 and nDCG@10."""
    gains, discounts = [one in labels for one in found], [1 / math.log2(rank + 2) for rank in range(10)]
    recall = [sum(gains[:k]) / len(labels) for k in (5, 10)]
    return recall + [sum(d for d, gain in zip(discounts[:k], gains) if gain) / sum(discounts[:k][: len(labels)]) for k in (5, 10)]


def bm25(pages):
    """A function that ranks the pages for a query."""
    counts = {page.id: collections.Counter(words(f"{page.title} {page.text}")) for page in pages}
    holders, average = collections.Counter(word for of in counts.values() for word in of), fmean(of.total() for of in counts.values())

    def score(query, of):
        size = 1.2 * (0.25 + 0.75 * of.total() / average)
        idf = {word: math.log(1 + (len(pages) - holders[word] + 0.5) / (holders[word] + 0.5)) for word in query}
        return sum(idf[word] * of[word] * 2.2 / (of[word] + size) for word in query)

    return lambda query: sorted(counts, key=lambda page: -score(words(query), counts[page]))[:TOP_K]


def table(title, columns, rows):
    """Prints rows of a name and values; values that are missing are not published or do not apply."""
    print(f"\n{title}\n{'':46}" + "".join(f"{column:>12}" for column in columns.split()))
    for name, values in rows:
        shown = [f"{value:.0f}" if value > 1 else f"{value:.3f}" for value in values] + ["–"] * (len(columns.split()) - len(values))
        print(f"{name:46}" + "".join(f"{value:>12}" for value in shown))


def outcomes(answers):
    return [fmean(data["outcome"] == outcome for data in answers) for outcome in ("answered", "uncertain", "not_covered")]


def read(path):
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line] if text.count("\n{") else json.loads(text)


def quoted_words(passage, text):
    """The numbers of the passage's words that a quoted text repeats, in matches of several words within a paragraph."""
    owners = [(number, word) for number, run in enumerate(passage.split()) for word in words(run)]
    theirs, found = [word for _, word in owners], set()
    for paragraph in map(words, text.split("\n\n")):
        for start, _, size in difflib.SequenceMatcher(None, theirs, paragraph, autojunk=False).get_matching_blocks():
            if size >= min(SHORTEST_MATCH, len(paragraph)) > 0:
                found.update(range(owners[start][0], owners[start + size - 1][0] + 1))
    return found


def gold_words(passage, spans):
    """The numbers of the passage's words that a span overlaps; case and white space may differ. A span that is not in the passage is left out."""
    places = [place.span() for span in spans if (place := re.search(r"\s+".join(map(re.escape, span.split())), passage, re.IGNORECASE))]
    return {number for number, run in enumerate(re.finditer(r"\S+", passage)) if any(run.start() < end and run.end() > start for start, end in places)}


def span_scores(pairs, answers, sure):
    counts = collections.Counter()
    for pair, data in zip(pairs, answers):
        ours, right = quoted_words(pair["chunk"], quoted_text(data, sure)), gold_words(pair["chunk"], pair["gold_extraction"])
        counts.update(true=len(ours & right), false=len(ours - right), missed=len(right - ours))
    return f1(**counts)


def acl(data, bookrag, limit):
    queries = read(data / "333_20260206_dense_top5_20260305.json")[:limit]
    pairs = [{**pair, "query": query["query"]} for query in queries for pair in query["results"]]
    published = csv.DictReader((data / "artifacts/eval/gold_extraction/summary.csv").read_text(encoding="utf-8").splitlines())
    rows = [(row["model"], [float(row[f"word_{metric}"]) for metric in ("p", "r", "f1")]) for row in published]
    with Book(bookrag, [Page(None, pair["title"], pair["chunk"]) for pair in pairs]) as book:
        answers = [book.ask(pair["query"], source) for pair, source in zip(pairs, book.pages)]
    rows += [("bookrag, given", span_scores(pairs, answers, False) + outcomes(answers)), ("bookrag, given, sure only", span_scores(pairs, answers, True))]
    rows.sort(key=lambda row: -row[1][2])
    table(f"ACL-Verbatim, words of {len(pairs)} pairs of query and passage", "P R F1 answered uncertain refused", rows)


def answer_scores(asked, answers, sure):
    texts = [(question, quoted_text(data, sure)) for question, data in zip(asked, answers) if question["answerable"]]
    best = [fmean(max(score(text, output["answer"]) for output in question["output"]) for question, text in texts) for score in (rouge_l, rouge_1_recall)]
    extractive = fmean(rouge_l(text, question["passages"][0]["text"]) for question, text in texts)
    pairs = collections.Counter((question["answerable"], refused(data, sure)) for question, data in zip(asked, answers))
    right, wrongly, missed = pairs[False, True], pairs[True, True], pairs[False, False]
    shares = [right / max(right + missed, 1), wrongly / max(len(texts), 1), (right + pairs[True, False]) / len(asked), f1(right, wrongly, missed)[2]]
    return [*best, extractive, fmean(len(text) for _, text in texts), *shares]


def clapnq(data, bookrag, limit):
    files = [(kind == "answerable", read(data / f"annotated_data/dev/clapnq_dev_{kind}.jsonl")) for kind in ("answerable", "unanswerable")]
    asked = [{**question, "answerable": answerable} for answerable, questions in files for question in questions[:limit]]
    pages = [Page(question["id"], question["passages"][0]["title"], plain(question["passages"][0]["text"])) for question in asked]
    whole = [{"outcome": "answered", "answer": question["passages"][0]["text"]} for question in asked]
    rows = [
        ("CLAPnq-T5-lg (fine-tuned on its training set)", [0.572, 0.683, 0.510, 318, 0.892]), ("Full passage", [0.495, 0.974, 1, 912, 0]),
        ("CLAPnq-T5-lg-200 (on 200 examples of it)", [0.415, 0.513, 0.421, 272, 0.897]), ("GPT 3.5", [0.398, 0.589, 0.300, 444, 0.370]),
        ("Mistral-7B-Instruct", [0.390, 0.560, 0.290, 384, 0.186]), ("GPT 4", [0.359, 0.677, 0.300, 759, 0.180]),
        ("Llama-13B-chat", [0.355, 0.643, 0.340, 491, 0.250]), ("FLAN-T5-XXL", [0.221, 0.150, 0.100, 45, 0.840]),
        ("FLAN-T5-Large", [0.186, 0.118, 0.071, 33, 0.799]), ("Full passage, computed here", answer_scores(asked, whole, False)),
    ]
    with Book(bookrag, pages) as book:
        for mode in ("given", "all"):
            answers = [book.ask(question["input"], source if mode == "given" else None) for question, source in zip(asked, book.pages)]
            rows += [(f"bookrag, {mode}{', sure only' * sure}", answer_scores(asked, answers, sure)) for sure in (False, True)]
    rows.sort(key=lambda row: -row[1][0])
    table(f"CLAPnq dev, {len(asked)} questions", "Rouge-L recall extractive length refused wrongly accuracy F1-refused", rows)


def techqa(data, bookrag, limit):
    questions = read(data / "data/public/techqa_rag_eval_sample.jsonl")
    titled = {context["filename"]: context["text"].partition("\n") for question in questions for context in question["contexts"]}
    pages = [Page(name, title.removeprefix("Title: "), plain(text.strip().removeprefix("Text:"))) for name, (title, _, text) in titled.items()]
    no, yes = ([question for question in questions if question["is_impossible"] == kind][:limit] for kind in (True, False))
    systems = [(one["label"], one["metrics"]) for one in read(data / "reports/techqa_public_retriever_comparison.json")["systems"]]
    hosted = read(data / "reports/public_rag_provider_embedding_published_result.json")
    ranked = "retrieval_hit_rate_at_3 top1_citation_accuracy mean_reciprocal_rank_at_3".split()
    decided = "impossible_abstention_rate answerable_false_abstention_rate abstention_accuracy".split()
    systems.append((hosted["model"], hosted["tracks"]["techqa"]["provider_metrics"]))
    rows = [(label, [of[name] for name in ranked + decided]) for label, of in systems]
    with Book(bookrag, pages) as book:
        of_no, of_yes = ([book.ask(question["question"]) for question in of] for of in (no, yes))
        found = [book.search(question["question"])[:3] for question in yes]
    places = [[name in {context["filename"] for context in question["contexts"]} for name in first] for question, first in zip(yes, found)]
    ranks = [place.index(True) + 1 if any(place) else math.inf for place in places]
    found = [fmean(rank <= 3 for rank in ranks), fmean(rank == 1 for rank in ranks), fmean(1 / rank for rank in ranks)]
    for sure in (False, True):
        right, wrongly = ([refused(data, sure) for data in of] for of in (of_no, of_yes))
        rows.append((f"bookrag{', sure only' * sure}", [*found, fmean(right), fmean(wrongly), fmean(right + [not one for one in wrongly])]))
    rows.sort(key=lambda row: -row[1][0])
    table(f"TechQA-RAG-Eval sample, {len(no + yes)} questions, {len(pages)} documents", "hit@3 top-1 MRR@3 refused wrongly accuracy", rows)


def mtrag(data, bookrag, limit):
    tasks = read(data / "mtragun-human/generation_tasks/reference.jsonl")
    others = read(data / "mtrag-human/evaluations/reference_subset_with_human_evaluations.json")["documents"]
    passages = {passage["document_id"]: passage for passage in [*others, *(one for task in tasks for one in task["contexts"])]}
    pages = [Page(name, passage.get("title") or name, plain(passage["text"])) for name, passage in sorted(passages.items())]
    labels = collections.defaultdict(set)
    for line in (data / "mtragun-human/retrieval_tasks/qrels/cloud.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        labels[line.split("\t")[0]].add(line.split("\t")[1])
    tasks = [task for task in tasks if task["Collection"] == "ibmcloud"][:limit]
    rows, shares = [
        ("Elser, rewritten question", [0.49, 0.60, 0.45, 0.51]), ("Elser, last turn", [0.40, 0.49, 0.36, 0.40]),
        ("Granite R2, rewritten question", [0.40, 0.51, 0.37, 0.42]), ("Granite R2, last turn", [0.29, 0.38, 0.28, 0.32]),
        ("BGE-base 1.5, rewritten question", [0.38, 0.49, 0.35, 0.40]), ("BGE-base 1.5, last turn", [0.25, 0.32, 0.23, 0.26]),
        ("BM25, rewritten question", [0.36, 0.47, 0.34, 0.39]), ("BM25, last turn", [0.29, 0.38, 0.27, 0.31]),
    ], []
    with Book(bookrag, pages) as book:
        for name, search in (("bookrag", book.search), ("BM25", bm25(pages))):
            found = [(search(task["input"][-1]["text"]), labels[task["task_id"]]) for task in tasks if task["task_id"] in labels]
            rows.append((f"{name}, last turn, {len(pages)} passages", list(map(fmean, zip(*(ranking_scores(*one) for one in found))))))
        for name, whole in (("last turn", False), ("conversation", True)):
            answers = [(task, book.ask(task["input"][-1]["text"], turns=task["input"][:-1] if whole else [])) for task in tasks]
            for kind in sorted({task["answerability"][0] for task in tasks}):
                of = [(labels.get(task["task_id"]), data) for task, data in answers if kind == task["answerability"][0]]
                cited = [any(book.pages[citation["source"]].id in right for citation in data["citations"]) for right, data in of if right]
                shares.append((f"{name}, {len(of)} {kind.lower()}", outcomes([data for _, data in of]) + ([fmean(cited)] if cited else [])))
    table("MTRAG-UN, IBM Cloud. The published rows are means over six domains with 452,189 passages", "R@5 R@10 nDCG@5 nDCG@10", rows)
    table("Outcomes of bookrag", "answered uncertain refused cited", shares)


def section_pages(chunks):
    """A page for each path of the sections' links, by file name, and the link of each section by file name and anchor."""
    pages, links = {}, {}
    for chunk in chunks:
        url = urlsplit(chunk["chunk_link"])
        path = url.path.removeprefix("/en/")
        source = f"docs/{path}{'index' * path.endswith('/')}.md"
        first, _, text = chunk["text"].strip().partition("\n")
        text = text if first.strip() == chunk["chunk_heading"] else chunk["text"]
        title = path.rstrip("/").rpartition("/")[2].replace("-", " ")
        before = f"{pages[source].text}\n\n" if source in pages else ""
        pages[source] = Page(source, title, f"{before}## {plain(chunk['chunk_heading'])} {{#{url.fragment}}}\n\n{plain(text)}")
        links[source, url.fragment] = chunk["chunk_link"]
    return pages, links


def first_links(results, links):
    """The links of the sections found, best first, each once, and at most three."""
    return list(dict.fromkeys(links.get((result["source"], urlsplit(result["url"]).fragment), result["url"]) for result in results))[:3]


def link_scores(found, labels):
    """MRR@3, P@3 and R@3 of one question."""
    right = [link in labels for link in found]
    return [1 / (right.index(True) + 1) if any(right) else 0, sum(right) / max(len(found), 1), sum(right) / len(labels)]


def intervals(scores):
    """The mean of each score and its 95 % interval, for a list with the scores of each question."""
    return [value for metric in zip(*scores) for value in interval([metric])]


def paired(ours, theirs):
    return [[a - b for a, b in zip(*pair)] for pair in zip(ours, theirs)]


def cookbooks(data, bookrag, limit, imported=None):
    data = data / "skills/retrieval_augmented_generation"
    pages, links = section_pages(read(data / "data/anthropic_docs.json"))
    questions = read(data / "evaluation/docs_evaluation_dataset.json")[:limit]
    labels = [set(question["correct_chunks"]) for question in questions]
    files = {"Voyage": "", "Voyage, with summaries": "_level_two", "Voyage, with summaries, ranked by Claude 3": "_level_three"}
    scores, places = {}, {}
    for name, suffix in files.items():
        published = csv.DictReader((data / f"evaluation/csvs/evaluation_results_detailed{suffix}.csv").read_text(encoding="utf-8").splitlines())
        by_question = {row["question"]: [float(row[f"retrieval_{metric}"]) for metric in ("mrr", "precision", "recall")] for row in published}
        scores[name] = [by_question[question["question"]] for question in questions]
    for name, file in (("bookrag", None), ("bookrag, with questions", imported))[: 2 if imported else 1]:
        with Book(bookrag, pages, file) as book:
            places[name] = [first_links(book.results(question["question"]), links) for question in questions]
        scores[name] = [link_scores(found, right) for found, right in zip(places[name], labels)]
    columns = "MRR@3 from to P@3 from to R@3 from to"
    rows = [(name, intervals(of)) for name, of in scores.items()]
    table(f"Claude Cookbooks, {len(questions)} questions, {len(links)} sections", columns, rows)
    for name in places:
        rows = [(f"less {other}", intervals(paired(scores[name], of))) for other, of in scores.items() if other != name]
        table(f"Paired differences of {name}", columns, rows)
    print("\nQuestions whose first section is not labelled")
    for number, question in enumerate(questions):
        if any(scores[name][number][0] < 1 for name in places):
            print(f"{question['id']} {question['question']}\n  labelled: {' '.join(question['correct_chunks'])}")
            for name, of in places.items():
                print(f"  {name}: {' '.join(of[number])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=("acl", "clapnq", "techqa", "mtrag", "cookbooks"))
    parser.add_argument("data", type=Path, metavar="CHECKOUT")
    parser.add_argument("--bookrag", default=Path(__file__).parents[2] / "target/debug/bookrag", help="the program to measure")
    parser.add_argument("--limit", type=int, help="ask only the first N questions (of each kind)")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="cookbooks only: questions of the sections for `bookrag questions import`")
    arguments = parser.parse_args()
    if arguments.questions and arguments.set != "cookbooks":
        parser.error("--questions is for cookbooks only")
    options = [arguments.questions] if arguments.questions else []
    globals()[arguments.set](arguments.data, arguments.bookrag, arguments.limit, *options)


if __name__ == "__main__":
    main()
