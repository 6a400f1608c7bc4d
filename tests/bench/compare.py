#!/usr/bin/env python3
"""Compares two results of `bookrag eval --json` on the same questions: `compare.py A.json B.json`.

Prints B − A for each metric, a row for each site and a last row with the mean over sites, each with the 95 % interval of the paired
difference: the questions of each site are drawn with replacement, 2,000 times with a fixed seed. Then lists each question that changed.
"""

import json
import random
import sys
from pathlib import Path

METRICS = ("page@1", "page@5", "section@1", "section@5", "needs", "withheld", "uncertain", "refused", "refused_or_uncertain")
DRAWS = 2_000
SEED = 1


def mean(values):
    return sum(values) / len(values)


def interval(sites):
    """The difference and its 95 % interval, for a list with the paired differences of each site. The mean is over sites."""
    draw = random.Random(SEED)
    drawn = sorted(mean([mean(draw.choices(site, k=len(site))) for site in sites]) for _ in range(DRAWS))
    return mean([mean(site) for site in sites]), drawn[round(0.025 * (DRAWS - 1))], drawn[round(0.975 * (DRAWS - 1))]


def by_key(result):
    return {(question["corpus"], question["id"]): question for question in result["questions"]}


def pairs_of(a, b):
    """The questions of both results. Raises ValueError if one lacks a question or a metric of the other."""
    a, b = by_key(a), by_key(b)
    missing = sorted(a.keys() ^ b.keys())
    if missing:
        raise ValueError(f"{len(missing)} questions are in one result only, such as {missing[0]}; compare results of the same questions")
    for key in a:
        if a[key]["metrics"].keys() != b[key]["metrics"].keys():
            raise ValueError(f"{key} has other metrics in the other result")
    return [(a[key], b[key]) for key in sorted(a)]


def differences(pairs, metric):
    """The paired differences of a metric, by site."""
    sites = {}
    for a, b in pairs:
        if metric in a["metrics"]:
            sites.setdefault(a["corpus"], []).append(b["metrics"][metric] - a["metrics"][metric])
    return sites


def rows_of(pairs):
    """A row for each site and one for their mean, with a cell for each metric: the difference and its interval, or None."""
    names = sorted({a["corpus"] for a, _ in pairs})
    columns = [differences(pairs, metric) for metric in METRICS]
    rows = {name: [interval([of[name]]) if name in of else None for of in columns] for name in names}
    return rows | {"MEAN": [interval(list(of.values())) if of else None for of in columns]}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    try:
        pairs = pairs_of(*(json.loads(Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:]))
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{'':14}" + "".join(f"{metric:>25}" for metric in METRICS))
    for name, cells in rows_of(pairs).items():
        shown = ("–" if cell is None else "{:+.3f} [{:+.3f},{:+.3f}]".format(*cell) for cell in cells)
        print(f"{name:14}" + "".join(f"{cell:>25}" for cell in shown))
    changed = [(a, b) for a, b in pairs if a["metrics"] != b["metrics"]]
    print(f"\nquestions that changed: {len(changed)} of {len(pairs)}")
    for a, b in changed:
        moved = (f"{name} {was:.2f} → {b['metrics'][name]:.2f}" for name, was in a["metrics"].items() if was != b["metrics"][name])
        print(f"{a['corpus']} {a['id']}: {a['query']}\n    {', '.join(moved)}")


if __name__ == "__main__":
    main()
