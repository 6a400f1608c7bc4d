#!/usr/bin/env python3
"""Asks the questions of fixtures/ordinary.jsonl, all of which the book of the tests answers, and checks that hardly any answer is withheld.

    ordinary.py ADDRESS

ADDRESS is that of `bookrag serve tests/fixtures/book`. The questions were written by somebody who did not know how questions are processed: short,
long, pasted and misspelt ones, with numbers, slashes and names that the book lacks, in conversations and alone.
"""
import collections
import json
import os
import sys
import urllib.request

# Of the 200, 16 are refused: misspelt ones, and ones that name products which the book lacks.
MOST_WITHHELD = 0.1
# The share of questions whose page is quoted or suggested, and of those in a conversation whose page is quoted first.
LEAST_SHOWN = 0.85
LEAST_IN_CONVERSATION = 0.6


def ask(address, question):
    history = []
    for before in question.get("before", []):
        history += [{"role": "user", "content": before}, {"role": "assistant", "content": "Yes."}]
    body = json.dumps({"query": question["query"], "history": history}).encode()
    request = urllib.request.Request(f"{address}/api/v1/chat", body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=60))["data"]


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    withheld, shown, first = [], [], []
    kinds = collections.defaultdict(list)
    for question in map(json.loads, open(f"{folder}/fixtures/ordinary.jsonl")):
        answer = ask(sys.argv[1], question)
        sources = [citation["source"] for citation in answer["citations"]]
        slug = lambda path: path.rsplit("/", 1)[-1].split(".")[0].lstrip("0123456789-")
        page = slug(question["page"])
        suggested = [suggestion["url"] for suggestion in answer["suggestions"]]
        if answer["outcome"] == "not_covered":
            withheld.append(question["query"])
        is_shown = page in map(slug, sources) or any(page in url for url in suggested)
        shown.append(is_shown)
        kinds[question["kind"]].append(bool(sources) and slug(sources[0]) == page)
        if question["kind"] in ("fresh", "follow_up"):
            first.append(kinds[question["kind"]][-1])
    share = lambda of: sum(of) / len(of)
    print("first:", {kind: round(share(of), 2) for kind, of in kinds.items()})
    print(f"withheld {len(withheld)} of {len(shown)}, shown {share(shown):.3f}, first in conversations {share(first):.3f}", withheld)
    if len(withheld) > MOST_WITHHELD * len(shown) or share(shown) < LEAST_SHOWN or share(first) < LEAST_IN_CONVERSATION:
        sys.exit("too many ordinary questions have no answer, or another page's")


main()
