#!/usr/bin/env python3
"""Labels the passages of measured questions: the right ones, those of a right page, and the lines that an answer needs.

    labels.py CANDIDATES_FOLDER OUT_FOLDER

Long passages are cut into windows: OUT's passages have "chunk", the place of the passage in the candidates, and "start", where the window begins in it.
A question's object has {"answerable", "source", "headings": [...], "spans": [{"source", "start_line", "end_line"}], "also": [...],
"needs": ["text|alternative", ...], "quote": ["LINE: text", ...]}; headings may be objects with "text".
"""
import glob, html, json, os, re, sys


WINDOW = 1000
"""The characters of a window, about what the model reads."""


def windows(text):
    """Yields the start and text of each window; cuts at lines, or at sentences in long ones."""
    start = 0
    while len(text) - start > WINDOW * 1.25:
        cut = max(text.rfind("\n", start + WINDOW // 2, start + WINDOW), text.rfind(". ", start + WINDOW // 2, start + WINDOW)) + 1
        cut = cut or start + WINDOW
        yield start, text[start:cut]
        start = cut
    yield start, text[start:]


def normal(text):
    text = html.unescape(re.sub(r"\\([^\w\s])", r"\1", text or ""))
    return re.sub(r"\s+", " ", re.sub(r"[`*_]", "", text)).strip().lower()


def same(one, other):
    one, other = (re.sub(r"versioned_docs/version-[^/]+/", "docs/", x or "").strip("/") for x in (one, other))
    return bool(one and other) and (one == other or one.endswith("/" + other) or other.endswith("/" + one))


def right(question, passage):
    """Returns whether a passage is of a right page and whether it is of a right section."""
    also = [x if isinstance(x, dict) else {"source": x} for x in question.get("also") or []]
    source, section = passage["source"], normal(passage["section"])
    if not same(question.get("source"), source) and not any(same(x.get("source"), source) for x in also):
        return False, False
    for span in question.get("spans", []) + [x for x in also if x.get("start_line")]:
        if same(span["source"], source) and span["start_line"] <= passage["end_line"] and passage["start_line"] <= span["end_line"]:
            return True, True
    heads = [h["text"] if isinstance(h, dict) else h for h in question.get("headings", [])] if same(question.get("source"), source) else []
    heads += [x["heading"] for x in also if x.get("heading") and same(x.get("source"), source)]
    return True, section in {normal(h) for h in heads} - {""} or (not heads and "spans" not in question)


def needed_lines(question, text):
    """Returns the spans of the lines that hold a needed string or a labelled line."""
    wanted = [normal(x) for n in question.get("needs") or [] for x in n.split("|")]
    wanted += [normal(re.sub(r"^\d+: ", "", q))[:60] for q in question.get("quote") or []]
    wanted = [w for w in wanted if len(w) > 3]
    spans, at = [], 0
    for line in text.split("\n"):
        if any(w in normal(line) for w in wanted):
            spans.append([at, at + len(line)])
        at += len(line) + 1
    return spans


def main():
    folder, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    for file in sorted(glob.glob(folder + "/*.jsonl")):
        with open(os.path.join(out, os.path.basename(file)), "w") as to:
            for row in map(json.loads, open(file)):
                question, parts = row["question"], []
                for n, passage in enumerate(row["passages"]):
                    page, section = right(question, passage) if question["answerable"] else (False, False)
                    spans = needed_lines(question, passage["text"]) if section else []
                    for start, text in windows(passage["text"]):
                        keep = [[max(a - start, 0), b - start] for a, b in spans if a < start + len(text) and b > start]
                        parts.append({**passage, "text": text, "chunk": n, "start": start, "page": page, "section_right": section,
                                      "right": section and (bool(keep) or not spans), "keep": (keep if spans else None) if section else []})
                row["passages"] = parts
                to.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
