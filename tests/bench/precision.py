#!/usr/bin/env python3
"""Prints metrics that `bookrag eval` does not: `precision.py QUESTIONS.jsonl DETAILS.jsonl`, with the file that `--details` wrote.

P@5 is the share of the first five sections that are labelled, each section counted once; `ceiling` is the highest possible share.
nDCG@5 has binary gains (Järvelin and Kekäläinen, TOIS 20(4), 2002). MRR@10 is the mean of 1 / the rank of the labelled page.
`cited page` and `cited section` are the shares of the citations of answered questions that are labelled. All but MRR@10 and
`cited page` cover the questions with a labelled section. A row for each corpus, and the mean over them.
"""

import json
import math
import sys
from pathlib import Path
from urllib.parse import unquote

COLUMNS = ("P@5", "ceiling", "nDCG@5", "MRR@10", "cited page", "cited section")


def place(found):
    return found["source"], unquote(found["url"].partition("#")[2])


def score(question, details):
    """The values of each metric: one for a question, or one for each citation."""
    labels = [question, *question.get("also_relevant", [])]
    pages = {label["source"] for label in labels}
    sections = {
        (label["source"], anchor)
        for label in labels for heading in label.get("headings", []) if heading["id"]
        for anchor in (heading["id"], *heading.get("under", []))
    }
    results = list(dict.fromkeys(map(place, details["results"])))
    distinct = list(dict.fromkeys(source for source, _ in results))
    rank = next((rank for rank, source in enumerate(distinct[:10], 1) if source in pages), math.inf)
    cited = list(map(place, details["citations"])) if details["outcome"] == "answered" else []
    values = {"MRR@10": [1 / rank], "cited page": [source in pages for source, _ in cited]}
    # Copies of a section in other versions have its anchor and count once.
    labelled = len({anchor for _, anchor in sections})
    if labelled:
        seen = set()
        right = [result in sections and not (result[1] in seen or seen.add(result[1])) for result in results[:5]]
        discounts = [1 / math.log2(rank + 2) for rank in range(5)]
        values["P@5"] = [sum(right) / 5]
        values["ceiling"] = [min(5, labelled) / 5]
        values["nDCG@5"] = [sum(d for d, is_right in zip(discounts, right) if is_right) / sum(discounts[:labelled])]
        values["cited section"] = [result in sections for result in cited]
    return values


def mean(values):
    return sum(values) / len(values) if values else math.nan


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    questions, details = ([json.loads(line) for line in Path(path).open(encoding="utf-8") if line.strip()] for path in sys.argv[1:])
    details = {one["id"]: one for one in details}
    corpora = {}
    for question in questions:
        if question["answerable"]:
            of = corpora.setdefault(question.get("corpus") or "book", {})
            for metric, values in score(question, details[question["id"]]).items():
                of.setdefault(metric, []).extend(values)
    rows = {corpus: [mean(of.get(metric, [])) for metric in COLUMNS] for corpus, of in sorted(corpora.items())}
    rows["MEAN"] = [mean(column) for column in zip(*rows.values())]
    print(f"{'':14}" + "".join(f"{name:>15}" for name in COLUMNS))
    for name, row in rows.items():
        print(f"{name:14}" + "".join(f"{value:15.3f}" for value in row))


if __name__ == "__main__":
    main()
