#!/usr/bin/env python3
"""How many of the strings that an answer needs are in the passages, by budget.

    evidence.py BOOKRAG CANDIDATES SITES.json FOLDER

CANDIDATES is the folder that training/candidates.py wrote with the same SITES and FOLDER. Tokens are characters / 3.8. Each row is one way to fill the
budget: the first chunks of the search alone, or the first ten or twenty and then their neighbours on the page, those of the best chunk first.
"""
import collections
import json
import sys
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
from candidates import chunks  # noqa: E402
from labels import normal  # noqa: E402

BUDGETS = (1500, 2500, 4000, 6000, 8000, 12000)
WAYS = {"the first 10": (10, 0), "the first 20": (20, 0), "the first 10, then 4 on each side": (10, 4), "the first 20, then 2 on each side": (20, 2)}


def texts(first, pages, reach):
    """The texts of a way to fill the budget, in its order, each once."""
    seen = set()

    def new(chunk):
        place = chunk["source"], chunk["start_line"], chunk["end_line"]
        is_new = place not in seen
        seen.add(place)
        return is_new

    yield from (chunk["text"] for chunk in first if new(chunk))
    for chunk in first if reach else ():
        page = pages[chunk["source"]]
        at = next((n for n, it in enumerate(page) if (it["start_line"], it["end_line"]) == (chunk["start_line"], chunk["end_line"])), None)
        for distance in range(1, reach + 1):
            for n in (at + distance, at - distance) if at is not None else ():
                if 0 <= n < len(page) and new(page[n]):
                    yield page[n]["text"]


def filled(parts, budget):
    """As many texts as the budget allows, the first always."""
    used, out = 0, []
    for part in parts:
        tokens = int(len(part) / 3.8)
        if not out or used + tokens <= budget:
            used += tokens
            out.append(part)
    return "\n".join(out)


def held(needs, text):
    """The share of the needed strings that a text has; `|` separates alternatives."""
    text = normal(text)
    return fmean(any(normal(one) in text for one in need.split("|")) for need in needs)


def main():
    bookrag, candidates, sites, folder = sys.argv[1:5]
    sites, asked, pages = json.loads(Path(sites).read_text()), {}, {}
    for file in sorted(Path(candidates).glob("*.jsonl")):
        rows = [json.loads(line) for line in file.open()]
        rows = [row for row in rows if row["question"]["answerable"] and row["question"].get("needs")]
        if not rows:
            continue
        asked[file.stem], pages[file.stem] = rows, collections.defaultdict(list)
        for path in sites.get(file.stem, [file.stem]):
            known = chunks(bookrag, f"{folder}/{path}")
            if len(known) >= 20:
                break
        for chunk in known.values():
            pages[file.stem][chunk["source"]].append(chunk)
        for page in pages[file.stem].values():
            page.sort(key=lambda chunk: (chunk["start_line"], chunk["chunk_index"]))
    print(f"{'tokens':36}" + "".join(f"{budget:>8}" for budget in BUDGETS))
    for way, (count, reach) in WAYS.items():
        shares = []
        for budget in BUDGETS:
            of_sites = [
                fmean(held(row["question"]["needs"], filled(texts(row["passages"][:count], pages[site], reach), budget)) for row in rows)
                for site, rows in asked.items()
            ]
            shares.append(fmean(of_sites))
        print(f"{way:36}" + "".join(f"{share:8.3f}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
