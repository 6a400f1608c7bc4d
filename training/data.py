#!/usr/bin/env python3
"""Makes the training data of written questions.

    data.py MANIFEST.tsv CLONES QUESTIONS.jsonl OUT.jsonl.gz

MANIFEST has a row for each repository: owner/name, commit, licence, folders of documentation (separated by commas). CLONES has a clone of each, OWNER+NAME.
QUESTIONS has questions as users ask them, written for passages of these repositories: {"repository", "path", "begins": the passage's first
characters, "question", "keep": [strings that answer], or null if the passage does not answer}.

OUT has passages, {"path", "text"}, numbered from 0 in their order, then questions: {"question", "from", "right": passage or null, "wrong": [passages],
"keep": [[start, end], ...] or null}. The wrong passages are those of the same repository that BM25 puts first for the question.
"""
import collections, gzip, json, math, os, re, subprocess, sys

WRONG = 15
"""The wrong passages of a question, of which training draws."""
PASSAGE = 1100
"""Characters of a passage, about what the model reads."""


def clone_of(clones, name):
    return os.path.join(clones, name.replace("/", "+"))


def files(clone, commit, folders):
    """Yields the text of each Markdown file below the folders."""
    listed = subprocess.run(["git", "-C", clone, "ls-tree", "-r", commit], capture_output=True, text=True, check=True).stdout
    wanted = []
    for line in listed.splitlines():
        meta, path = line.split("\t", 1)
        inside = any(f in ("", ".") or path == f or path.startswith(f.rstrip("/") + "/") for f in folders)
        other = re.search(r"(^|/)(i18n|locales?|translations?|versioned_docs|node_modules|changelogs?|blog|news|zh[-_\w]*|ja|ko|fr|de|es|pt[-_\w]*|ru)/", path, re.I)
        if inside and not other and re.search(r"\.mdx?$", path) and not re.search(r"(^|/)(changelog|license|code_of_conduct)", path, re.I):
            wanted.append(meta.split()[2])
    with subprocess.Popen(["git", "-C", clone, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        for blob in wanted:
            git.stdin.write(blob.encode() + b"\n")
            git.stdin.flush()
            head = git.stdout.readline().split()
            if head[-1] == b"missing":
                continue
            content = git.stdout.read(int(head[2]) + 1)[:-1]
            if len(content) < 300_000:
                yield content.decode("utf-8", "replace")
        git.stdin.close()


def plain(text):
    """Takes the marks of Markdown and MDX out of a text, except code."""
    text = re.sub(r"<!--.*?-->|\{/\*.*?\*/\}", "", text, flags=re.S)
    text = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?[A-Za-z][^<>`]*>", "", text)
    text = re.sub(r"(\*\*|__)(.+?)\1", r"\2", text)
    text = re.sub(r"\{#[\w-]+\}", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def sections(text):
    """Returns the sections of a page: their paths of headings and texts."""
    title = None
    front = re.match(r"---\r?\n(.*?)\r?\n---\r?\n", text, re.S)
    if front:
        found = re.search(r"^title:\s*[\"']?(.+?)[\"']?\s*$", front[1], re.M)
        title = found and found[1]
        text = text[front.end():]
    rows, heads, body, fence = [], [], [], None

    def close():
        raw = "\n".join(body).strip()
        if raw:
            rows.append({"path": [h for _, h in heads], "text": plain(raw)})
        body.clear()

    if title:
        heads.append((0, title))
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark:
            fence = None if fence and mark[1].startswith(fence) else fence or mark[1][:3]
        head = None if fence or mark else re.match(r"(#{1,6})\s+(.+?)\s*#*\s*$", line)
        if head:
            close()
            level, name = len(head[1]), head[2]
            name = plain(name).replace("`", "")
            while heads and heads[-1][0] >= level:
                heads.pop()
            if not heads or heads[-1][1] != name:
                heads.append((level, name))
        elif fence or not re.match(r"(import|export) .*|:::\w*.*$", line):
            body.append(line)
    close()
    return rows


def windows(text):
    """Cuts a long text at blank lines."""
    out, rest = [], text
    while len(rest) > PASSAGE:
        cut = rest.rfind("\n\n", PASSAGE // 2, PASSAGE)
        cut = cut if cut > 0 else rest.rfind("\n", PASSAGE // 2, PASSAGE)
        cut = cut if cut > 0 else PASSAGE
        out.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return out + [rest] if rest else out


def terms(text):
    words = re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return [re.sub(r"(ing|ed|es|s)$", "", w) if len(w) > 4 else w for w in words if len(w) > 1]


class Lexical:
    """BM25 over the passages of one repository."""

    def __init__(self, texts):
        self.counts = [collections.Counter(terms(t)) for t in texts]
        self.lengths = [sum(c.values()) for c in self.counts]
        self.mean = sum(self.lengths) / max(len(self.lengths), 1)
        self.posts = collections.defaultdict(list)
        for i, c in enumerate(self.counts):
            for t in c:
                self.posts[t].append(i)

    def best(self, question, count):
        scores = collections.Counter()
        for t in set(terms(question)):
            posts = self.posts.get(t, [])
            if len(posts) > len(self.counts) * 0.4:
                continue
            idf = math.log(1 + (len(self.counts) - len(posts) + 0.5) / (len(posts) + 0.5))
            for i in posts:
                f = self.counts[i][t]
                scores[i] += idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * self.lengths[i] / self.mean))
        return [i for i, _ in scores.most_common(count)]


def passages_of(clone, commit, folders):
    """Returns the passages of one repository."""
    found = [row for text in files(clone, commit, folders) for row in sections(text) if len(row["text"].split()) >= 12]
    return [{"path": row["path"], "text": part} for row in found for part in windows(row["text"])]


def training_question(row, passages, index):
    """Returns a written question with its passages, or None if its own is not there."""
    right = next((n for n, p in enumerate(passages) if p["path"] == row["path"] and p["text"].startswith(row["begins"])), None)
    if right is None:
        return None
    text = passages[right]["text"]
    keep = row["keep"] and [[text.index(part), text.index(part) + len(part)] for part in row["keep"] if part in text]
    found = [n for n in index.best(row["question"], 20) if n != right and passages[n]["path"] != row["path"]]
    wrong = found if keep else [right] + found
    return {"question": row["question"], "from": row["repository"], "right": right if keep else None, "wrong": wrong[:WRONG], "keep": keep or None}


def main():
    manifest, clones, questions, out = sys.argv[1:5]
    asked = collections.defaultdict(list)
    for row in map(json.loads, open(questions)):
        asked[row["repository"]].append(row)
    start, made = 0, []
    with gzip.open(out, "wt") as to:
        for line in open(manifest):
            name, commit, _licence, folders = line.rstrip("\n").split("\t")[:4]
            passages = passages_of(clone_of(clones, name), commit, folders.split(","))
            index = Lexical([" ".join(p["path"]) + "\n" + p["text"] for p in passages])
            known = [training_question(row, passages, index) for row in asked[name]]
            print(name, len(passages), f"{len(known) - known.count(None)} of {len(known)} questions", flush=True)
            known = [q for q in known if q and len(q["wrong"]) > 3]
            used = sorted({n for q in known for n in [*q["wrong"], *([] if q["right"] is None else [q["right"]])]})
            number = {old: start + new for new, old in enumerate(used)}
            start += len(used)
            for n in used:
                to.write(json.dumps(passages[n]) + "\n")
            made += [{**q, "right": q["right"] if q["right"] is None else number[q["right"]], "wrong": [number[n] for n in q["wrong"]]} for q in known]
        for question in made:
            to.write(json.dumps(question) + "\n")
    print(len(made), "questions,", start, "passages")


if __name__ == "__main__":
    main()
