#!/usr/bin/env python3
"""Compares bookrag's embedding with ONNX Runtime's: `embedding.py [ROUNDS]` (40), with `pip install onnxruntime tokenizers numpy`.

Both embed the same texts with the same file of bge-small, on one thread each, by turns, so that other work on the machine slows both:
questions of the example book with the model's prefix, and chunks of 100 to 130 tokens from this repository's documents. bookrag's time includes
tokens and token vectors, ONNX Runtime's the tokens. Prints the medians over texts and rounds, and the median ratio over the rounds.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "Represent this sentence for searching relevant passages: "
# Questions, and chunks of that many tokens.
COUNT, SHORTEST, LONGEST = 10, 100, 130


def questions():
    lines = (ROOT / "tests/fixtures/questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines][:COUNT]


def chunks(count_tokens):
    """Consecutive lines of the documents, joined until they are long enough."""
    texts, text = [], ""
    for document in sorted((ROOT / "docs").glob("*.md")):
        for line in document.read_text(encoding="utf-8").splitlines():
            text = f"{text}\n{line}".strip()
            tokens = count_tokens(text)
            if SHORTEST <= tokens <= LONGEST:
                texts.append(text)
            if tokens >= SHORTEST:
                text = ""
    return texts[:: max(1, len(texts) // COUNT)][:COUNT]


class Onnx:
    def __init__(self, folder):
        import numpy
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.numpy = numpy

    def embed(self, text):
        """Milliseconds, and the vector."""
        started = time.perf_counter()
        ids = self.numpy.array([self.tokenizer.encode(text).ids], dtype=self.numpy.int64)
        inputs = {"input_ids": ids, "attention_mask": self.numpy.ones_like(ids), "token_type_ids": self.numpy.zeros_like(ids)}
        states = self.session.run(None, inputs)[0]
        return 1000 * (time.perf_counter() - started), states[0, 0]


class Bookrag:
    def __init__(self, cache):
        command = ["cargo", "bench", "-q", "-p", "models", "--features", "local-models", "--bench", "embedding"]
        command = os.environ.get("BOOKRAG_BENCH_COMMAND", "").split() or command
        environment = {**os.environ, "BOOKRAG_MODEL_CACHE": str(cache)}
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def embed(self, text, is_question):
        """Milliseconds, and the vector."""
        self.process.stdin.write(json.dumps({"text": text, "is_question": is_question}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["nanoseconds"] / 1e6, answer["vector"]


def cosine(a, b):
    dot = lambda x, y: sum(float(one) * float(other) for one, other in zip(x, y))
    return dot(a, b) / (dot(a, a) * dot(b, b)) ** 0.5


def summary(rounds):
    """The median time of each engine for a text, and the median ratio; a round has two lists of times."""
    ours, theirs = (statistics.median(time for one in rounds for time in one[engine]) for engine in (0, 1))
    ratio = statistics.median(statistics.median(ours) / statistics.median(theirs) for ours, theirs in rounds)
    return ours, theirs, ratio


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bookrag/models"
    bookrag = Bookrag(cache)
    bookrag.embed("the first text waits for the model's download", False)
    onnx = Onnx(next(cache.glob("bge-small-*")))
    count_tokens = lambda text: len(onnx.tokenizer.encode(text).ids)
    for name, is_question, texts in (("questions", True, questions()), ("chunks", False, chunks(count_tokens))):
        prefix = PREFIX if is_question else ""
        tokens = statistics.mean(count_tokens(prefix + text) for text in texts)
        times, cosines = [], []
        for _ in range(rounds):
            # All texts with one engine, then with the other: each finds its weights in the cache, as a busy process does.
            ours = [bookrag.embed(text, is_question) for text in texts]
            theirs = [onnx.embed(prefix + text) for text in texts]
            times.append([[time for time, _ in engine] for engine in (ours, theirs)])
            cosines += [cosine(a, b) for (_, a), (_, b) in zip(ours, theirs)]
        ours, theirs, ratio = summary(times)
        print(f"{len(texts)} {name} of {tokens:.0f} tokens: bookrag {ours:.2f} ms, ONNX Runtime {theirs:.2f} ms, ratio {ratio:.2f}; cosine {min(cosines):.4f} or more")


if __name__ == "__main__":
    main()
