#!/usr/bin/env python3
"""Prints what a reader that re-orders the first passages gains, with the measured site left out.

    evaluate.py MEASURED_FOLDER OUT_FOLDER PLAN.json

For each family of runs (names that differ in their last digit): the share of answerable questions whose first page, first section and one of the first
five sections are right, before and after; the difference for the first section with its 95 % interval (bootstrap over questions, mean over sites); and how
well the second head tells near misses and off-topic questions from answerable ones (AUC). The reader's weight is the one that is best on the other sites.
"""
import collections, json, os, sys

import numpy as np

WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2, 5)
"""Of the reader's logit, beside the first stage's score in standard deviations of its twenty."""
FIRST = 5
"""The passages whose answers tell whether the question is answered."""


def questions(rows, relevance, answers):
    """Yields each question's object with its passages' first score, reader's score, answer score, page and section."""
    at = 0
    for row in rows:
        chunks = collections.OrderedDict()
        for n, p in enumerate(row["passages"], at):
            own = chunks.setdefault(p["chunk"], [p["score"], -99.0, -99.0, p["page"], p["section_right"]])
            own[1], own[2] = max(own[1], relevance[n]), max(own[2], answers[n])
        at += len(row["passages"])
        yield row["question"], np.array(list(chunks.values()) or np.zeros((0, 5)), float)


def ranked(asked, weight, depth):
    """Returns page@1, section@1 and section@5 of each answerable question."""
    out = []
    for question, rows in asked:
        if not question["answerable"]:
            continue
        if not len(rows):
            out.append([0, 0, 0])
            continue
        first = (rows[:, 0] - rows[:, 0].mean()) / (rows[:, 0].std() + 1e-9)
        score = np.where(np.arange(len(rows)) < depth, first + weight * rows[:, 1] + 1e6, first)
        order = np.argsort(-score, kind="stable")
        out.append([rows[order[0], 3], rows[order[0], 4], rows[order[:5], 4].any()])
    return np.array(out, float)


def interval(before, after):
    random, differences = np.random.default_rng(1), [b[:, 1] - a[:, 1] for a, b in zip(before, after)]
    drawn = [np.mean([d[random.integers(0, len(d), len(d))].mean() for d in differences]) for _ in range(4000)]
    return np.percentile(drawn, [2.5, 97.5])


def told_apart(asked, kind):
    """Returns the AUC of the best answer score of the first passages."""
    best = lambda rows: rows[:FIRST, 2].max() if len(rows) else -99.0
    answered = [best(rows) for question, rows in asked if question["answerable"]]
    others = np.array([best(rows) for question, rows in asked if not question["answerable"] and question.get("kind", "near-miss") == kind])
    return np.mean([(a > others).mean() + (a == others).mean() / 2 for a in answered]) if len(others) else None


def main():
    measured, out, plan = sys.argv[1:4]
    plan = json.load(open(plan))
    families = collections.defaultdict(list)
    for run in plan["runs"]:
        families[run["name"].rstrip("0123456789")].append(run["name"])
    mean = lambda values: float(np.mean([v for v in values if v is not None] or [np.nan]))
    for family, names in families.items():
        scores = {name: values for run in names for name, values in np.load(f"{out}/{run}.npz").items()}
        for group, sites in plan["groups"].items():
            asked = {}
            for site in sites:
                if site + ".rel" in scores:
                    rows = map(json.loads, open(f"{measured}/{site}.jsonl"))
                    asked[site] = list(questions(rows, scores[site + ".rel"].astype(float), scores[site + ".ans"].astype(float)))
            if not asked:
                continue
            before = [ranked(asked[site], 0, 20) for site in asked]
            for depth in (5, 10):
                after = []
                for site in asked:
                    others = [other for other in asked if other != site]
                    best = max(WEIGHTS, key=lambda w: np.mean([ranked(asked[o], w, depth)[:, 1].mean() for o in others]))
                    after.append(ranked(asked[site], best, depth))
                low, high = interval(before, after)
                shares = lambda of: " ".join(f"{mean(row[:, i].mean() for row in of):.3f}" for i in range(3))
                print(f"{family:10} {group:6} first {depth:2}: page@1 section@1 section@5 {shares(before)} -> {shares(after)}  section@1 {low:+.3f} to {high:+.3f}")
            print(f"{family:10} {group:6} AUC of near misses {mean(told_apart(asked[s], 'near-miss') for s in asked):.2f}, off-topic {mean(told_apart(asked[s], 'off-topic') for s in asked):.2f}")


if __name__ == "__main__":
    main()
