#!/usr/bin/env python3
"""Trains adapters of the cross-encoder ms-marco-MiniLM-L-12-v2 and scores the passages of measured questions.

    train.py MODEL DATA.jsonl.gz MEASURED_FOLDER OUT_FOLDER PLAN.json

MODEL is the folder with model.onnx and tokenizer.json, DATA comes from data.py and MEASURED_FOLDER, one file a site, from labels.py.
PLAN lists runs; each trains on the written questions (`written`), then on those of the measured sites that it does not measure (`real`), and writes
OUT_FOLDER/NAME.npz with the scores of the sites that it measures (`out`). A run that is there is not made again.
Runs on a processor or an accelerator, whatever JAX finds. Every random number comes from the run's seed.
"""
import functools, glob, gzip, json, os, random, sys, time

import jax, jax.numpy as jnp, numpy as np, optax
from tokenizers import Tokenizer

import model

QUESTION, LENGTH = 64, 320
"""Tokens of a question, and of question and passage together."""
WIDTHS = (192, LENGTH)


class Texts:
    """Tokenised texts, each once."""

    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.known = {}

    def add(self, texts):
        new = [t for t in dict.fromkeys(texts) if t not in self.known]
        for start in range(0, len(new), 4096):
            part = new[start:start + 4096]
            for text, e in zip(part, self.tokenizer.encode_batch([t[:6000] for t in part], add_special_tokens=False)):
                self.known[text] = (np.array(e.ids[:LENGTH], np.uint16), np.array([o[0] for o in e.offsets[:LENGTH]], np.int32))

    def pair(self, question, path, text):
        """Returns the ids, the length of the first segment, and where the passage's own text begins."""
        q = self.known[question][0][:QUESTION]
        p = self.known[path][0][:48]
        t = self.known[text][0]
        room = LENGTH - len(q) - len(p) - 3
        ids = np.concatenate([[101], q, [102], p, t[:room], [102]]).astype(np.int32)
        return ids, len(q) + 2, len(q) + 2 + len(p)


def joined(path):
    return " > ".join(path) + ": "


def batch(texts, rows):
    """Pads pairs to one length; a row is (question, path, text, spans to keep or None)."""
    built = [texts.pair(q, p, t) for q, p, t, _ in rows]
    # Few widths, because each is compiled for itself.
    width = next(w for w in WIDTHS if w >= max(len(b[0]) for b in built))
    ids = np.zeros((len(rows), width), np.int32)
    types, mask = np.zeros_like(ids), np.zeros_like(ids)
    keep = np.full(ids.shape, -1, np.int8)
    for i, ((got, first, start), (_, _, text, spans)) in enumerate(zip(built, rows)):
        n = len(got)
        ids[i, :n], types[i, first:n], mask[i, :n] = got, 1, 1
        if spans is not None:
            at = texts.known[text][1][:n - 1 - start]
            keep[i, start:n - 1] = 0
            for a, b in spans:
                keep[i, start:n - 1][(at >= a) & (at < b)] = 1
    return ids, types, mask, keep


def loss(trained, frozen, data, group, weights):
    ids, types, mask, keep, answers, ranked = data
    rel, ans, marks = model.forward(trained, frozen, ids, types, mask)
    rank = (-jax.nn.log_softmax(rel.reshape(-1, group), 1)[:, 0] * ranked).sum() / jnp.maximum(ranked.sum(), 1)
    answer = optax.sigmoid_binary_cross_entropy(ans, answers).mean()
    marked = (keep >= 0).astype(jnp.float32)
    kept = (optax.sigmoid_binary_cross_entropy(marks, keep.astype(jnp.float32)) * marked).sum() / jnp.maximum(marked.sum(), 1)
    return rank + weights[0] * answer + weights[1] * kept, (rank, answer, kept)


ADAM = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())


@functools.partial(jax.jit, static_argnames=("group", "weights"), donate_argnums=(0, 1))
def step(trained, state, frozen, data, rate, group, weights):
    (value, parts), slope = jax.value_and_grad(loss, has_aux=True)(trained, frozen, data, group, weights)
    change, state = ADAM.update(slope, state, trained)
    trained = jax.tree.map(lambda x, c: x - rate * (c + 0.01 * x * (x.ndim > 1)), trained, change)
    return trained, state, jnp.stack([value, *parts])


scored = jax.jit(model.forward)


def pairs_of(question, passages, group, rng):
    """Draws the pairs of one training question, the right passage first; without one, only wrong passages."""
    wrong = question["wrong"]
    right = rng.choice(question["right"]) if question["right"] else None
    drawn = [] if right is None else [right]
    drawn += rng.sample(wrong[:12], min(group - len(drawn), len(wrong[:12])))
    drawn += [rng.randrange(len(passages)) for _ in range(group - len(drawn))]
    rows = []
    for i in drawn:
        path = passages[i]["path"]
        spans = question.get("keep", passages[i].get("keep")) if i == right else [] if question.get("keeps") else None
        rows.append((question["question"], joined(path), passages[i]["text"], spans))
    return rows, [float(i == right) for i in drawn], float(right is not None)


def train(texts, base, trained, questions, passages, run, seed):
    """Trains further what is trained so far."""
    rng = random.Random(seed)
    group, size, weights = run.get("group", 8), run.get("batch", 32), tuple(run.get("weights", (0.3, 0.5)))
    steps = max(run["epochs"] * len(questions) // size, 1)
    rates = optax.warmup_cosine_decay_schedule(0, run["rate"], max(steps // 15, 1), steps + 2, run["rate"] * 0.05)
    trained = jax.tree.map(jnp.copy, trained)
    state = ADAM.init(trained)
    chosen, begun = [], time.time()
    for n in range(steps):
        if len(chosen) < size:
            chosen = chosen + rng.sample(questions, len(questions))
        drawn = [pairs_of(q, passages, group, rng) for q in chosen[:size]]
        chosen = chosen[size:]
        ids, types, mask, keep = batch(texts, [row for rows, _, _ in drawn for row in rows])
        answers, ranked = np.array([a for _, aa, _ in drawn for a in aa]), np.array([r for _, _, r in drawn])
        trained, state, value = step(trained, state, base, (ids, types, mask, keep, answers, ranked), rates(n), group, weights)
        if n % 200 == 199 or n == steps - 1:
            print(f"  step {n + 1} of {steps}, {time.time() - begun:.0f} s, loss {np.round(np.asarray(value), 3)}", flush=True)
    return trained


def measure(texts, base, trained, rows):
    """Returns for each pair its relevance, whether it answers, and eight times the marks of its passage's tokens."""
    lengths = np.argsort([len(texts.pair(*r[:3])[0]) for r in rows])
    rel, ans = np.zeros(len(rows), np.float32), np.zeros(len(rows), np.float32)
    marks = np.full((len(rows), LENGTH), -127, np.int8)
    size = 256
    for at in range(0, len(rows), size):
        part = lengths[at:at + size]
        filled = list(part) + [part[-1]] * (size - len(part))
        ids, types, mask, _ = batch(texts, [rows[i] for i in filled])
        r, a, m = (np.asarray(x, np.float32) for x in scored(trained, base, ids, types, mask))
        for j, i in enumerate(part):
            got, _, first = texts.pair(*rows[i][:3])
            rel[i], ans[i] = r[j], a[j]
            marks[i, :len(got) - 1 - first] = np.clip(m[j, first:len(got) - 1] * 8, -127, 127)
    return rel, ans, marks


def real_questions(sites):
    """Makes training questions of measured sites: right are the passages with a labelled line or heading, or that hold what is needed."""
    passages, questions = [], []
    for rows in sites:
        for row in rows:
            start = len(passages)
            passages += [{"path": p["path"], "text": p["text"], "keep": p.get("keep")} for p in row["passages"]]
            right = [start + i for i, p in enumerate(row["passages"]) if p["right"]]
            wrong = [start + i for i, p in enumerate(row["passages"]) if not p["section_right"] and not p["page"]]
            if (right or not row["question"]["answerable"]) and len(wrong) > 3:
                questions.append({"question": row["question"]["query"], "right": right, "wrong": wrong, "keeps": True})
            # A right passage without the lines that answer does not answer.
            for i in right:
                spans, text = passages[i]["keep"], passages[i]["text"]
                if spans and sum(b - a for a, b in spans) < len(text) // 2 and len(wrong) > 3:
                    rest = "".join(c for at, c in enumerate(text) if not any(a <= at < b for a, b in spans))
                    passages.append({"path": passages[i]["path"], "text": rest})
                    questions.append({"question": row["question"]["query"], "right": None, "wrong": [len(passages) - 1] + wrong[:3], "keeps": True})
    return questions, passages


def main():
    folder, data, measured, out, plan = sys.argv[1:6]
    os.makedirs(out, exist_ok=True)
    plan = json.load(open(plan))
    print(jax.devices(), flush=True)
    base, heads = model.load(folder)
    texts = Texts(folder)
    passages, questions = [], []
    for line in gzip.open(data, "rt"):
        row = json.loads(line)
        if "question" in row:
            questions.append({**row, "right": [row["right"]] if row["right"] is not None else [], "keeps": True})
        else:
            passages.append(row)
    sites = {os.path.basename(f)[:-6]: [json.loads(l) for l in open(f)] for f in sorted(glob.glob(measured + "/*.jsonl"))}
    texts.add([p["text"] for p in passages] + [joined(p["path"]) for p in passages] + [q["question"] for q in questions])
    for rows in sites.values():
        for row in rows:
            texts.add([row["question"]["query"]] + [x for p in row["passages"] for x in (joined(p["path"]), p["text"])])
    print(len(passages), "passages,", len(questions), "questions,", {s: len(r) for s, r in sites.items()}, flush=True)

    of_written = {}
    for run in plan["runs"]:
        file, seed = f"{out}/{run['name']}.npz", run.get("seed", 1)
        if os.path.exists(file):
            continue
        begun = time.time()
        print(run["name"], flush=True)
        key = json.dumps([run["rank"], run.get("written"), seed])
        if key not in of_written:
            trained = model.start(base, heads, run["rank"], seed)
            if run.get("written"):
                trained = train(texts, base, trained, questions, passages, run["written"], seed)
            of_written[key] = trained
        trained = of_written[key]
        if run.get("real"):
            asked, real_passages = real_questions([rows for s, rows in sites.items() if s in plan["train_on"] and s not in run["out"]])
            texts.add([p["text"] for p in real_passages])
            trained = train(texts, base, trained, asked, real_passages, run["real"], seed)
        result = {}
        for site in run["out"]:
            rows = [(r["question"]["query"], joined(p["path"]), p["text"], None) for r in sites[site] for p in r["passages"]]
            result[site + ".rel"], result[site + ".ans"], marks = measure(texts, base, trained, rows)
            # Only the first passages are quoted.
            result[site + ".marks"] = marks[[i for i, p in enumerate(p for r in sites[site] for p in r["passages"]) if p["chunk"] < 6]]
        np.savez_compressed(f"{out}/{run['name']}.adapter", **{k: v.astype(np.float16) for k, v in model.flat(trained).items()})
        np.savez_compressed(file, **result)
        print(f"{run['name']}: {time.time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
