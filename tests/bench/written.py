#!/usr/bin/env python3
"""What a chat model writes to 40 questions of real users: 20 that a site answers, 10 near misses, 10 about something else.

    written.py BOOKRAG QUESTIONS.jsonl SITES OUT.jsonl [--data FOLDER]
    written.py --table OUT.jsonl VERDICTS.jsonl

The first form asks the model that the environment configures (`BOOKRAG_GENERATOR`, `OPENAI_API_KEY`, `BOOKRAG_CHAT_MODEL`, …) and appends to OUT a line for
each answer; a run that was interrupted continues. QUESTIONS and SITES are those of `evidence.py`. It prints the cost at the model's list price. A hosted model
reads some 300,000 tokens and writes some 10,000: 0.15 dollars at gpt-4.1-mini's price, and up to three and a half times as much if
it looks things up.

Then a person reads OUT, and writes for each `id` a line with a `verdict` into VERDICTS: `right`, `partly`, `wrong` or `refused`. The second form prints the
table: verdicts, and what was counted.
"""
import argparse
import hashlib
import json
import sys
import time
from pathlib import Path
from statistics import fmean, median

from evidence import held, post, readable, served

KINDS = {"answered by the site": 20, "near misses": 10, "about something else": 10}
VERDICTS = ("right", "partly", "wrong", "refused")


def kind_of(question):
    if question["answerable"]:
        return "answered by the site"
    return "about something else" if question.get("kind") == "off-topic" else "near misses"


def chosen(questions):
    """The same forty of the same questions: sites take turns, and within a site the order is that of a hash."""
    forty = []
    for kind, count in KINDS.items():
        by_site = {}
        for question in questions:
            if kind_of(question) == kind and (kind != "answered by the site" or question.get("needs")):
                by_site.setdefault(question["corpus"], []).append(question)
        for of_site in by_site.values():
            of_site.sort(key=lambda question: hashlib.sha256(question["id"].encode()).hexdigest())
        turns = max(map(len, by_site.values()), default=0)
        in_turn = [by_site[site][turn] for turn in range(turns) for site in sorted(by_site) if turn < len(by_site[site])]
        forty += in_turn[:count]
    return forty


def answered(address, question):
    began = time.monotonic()
    envelope = post(f"{address}/api/v1/chat", {"query": question["query"], "stream": False}, timeout=600)
    data, meta = envelope["data"], envelope["meta"]
    cited = {citation["source"] for citation in data["citations"]}
    places = {question.get("source")} | {place["source"] for place in question.get("also") or []}
    return {
        "id": question["id"],
        "kind": kind_of(question),
        "query": question["query"],
        "outcome": data["outcome"],
        "answer": data["answer"],
        "needs": held(question["needs"], data["answer"]) if question.get("needs") else None,
        "page": bool(cited & places),
        "unsupported": len(data["unsupported"]),
        "degraded": meta["degraded"],
        "tokens": meta["tokens"],
        "usd": meta["cost_usd"],
        "seconds": round(time.monotonic() - began, 1),
    }


def ask(options):
    questions = [json.loads(line) for line in Path(options.questions).read_text().splitlines()]
    roots = json.loads((Path(options.questions).parent / "serve.json").read_text())
    out = Path(options.out)
    known = {json.loads(line)["id"] for line in out.read_text().splitlines()} if out.exists() else set()
    left = [question for question in chosen(questions) if question["id"] not in known]
    for site in sorted({question["corpus"] for question in left}):
        folder = readable(options.bookrag, options.sites, roots.get(site, [site]))
        variables = {"BOOKRAG_DATA": f"{options.data}/data-{site}"} if options.data else {}
        with served(options.bookrag, folder, variables) as address, out.open("a") as lines:
            for question in (question for question in left if question["corpus"] == site):
                lines.write(json.dumps(answered(address, question), ensure_ascii=False) + "\n")
                lines.flush()
    records = [json.loads(line) for line in out.read_text().splitlines()]
    print(f"{len(records)} answers, {sum(record['usd'] for record in records):.2f} dollars")


def table(records, verdicts):
    """The rows of the table: a kind, its verdicts, then what was counted."""
    rows = [["", *VERDICTS, "needed strings", "right page", "uncertain", "unsupported", "seconds"]]
    for kind in KINDS:
        of_kind = [record for record in records if record["kind"] == kind]
        counts = [sum(verdicts.get(record["id"]) == verdict for record in of_kind) for verdict in VERDICTS]
        needs = [record["needs"] for record in of_kind if record["needs"] is not None]
        rows.append([
            f"{kind} ({len(of_kind)})",
            *map(str, counts),
            f"{fmean(needs):.2f}" if needs else "",
            str(sum(record["page"] for record in of_kind)) if needs else "",
            str(sum(record["outcome"] == "uncertain" for record in of_kind)),
            str(sum(record["unsupported"] for record in of_kind)),
            f"{median(record['seconds'] for record in of_kind):.0f}" if of_kind else "",
        ])
    return rows


def markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--table", action="store_true")
    options.add_argument("--data")
    options.add_argument("files", nargs="+")
    options = options.parse_args()
    if options.table and len(options.files) == 2:
        records, verdicts = ([json.loads(line) for line in Path(file).read_text().splitlines()] for file in options.files)
        print(markdown(table(records, {line["id"]: line["verdict"] for line in verdicts})))
    elif not options.table and len(options.files) == 4:
        options.bookrag, options.questions, options.sites, options.out = options.files
        ask(options)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
