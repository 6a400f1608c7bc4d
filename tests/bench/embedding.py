#!/usr/bin/env python3
"""Compares bookrag's embedding with ONNX Runtime's: `embedding.py [ROUNDS [PROGRAM]]`, with `pip install onnxruntime tokenizers numpy`.

Both embed the same texts with the same file of bge-small, on one thread each, by turns, so that other work on the machine slows both:
questions of the example book with the model's prefix, and chunks of 100 to 130 tokens from this repository's documents. bookrag's time includes
tokens and token vectors, ONNX Runtime's the tokens. Prints median times of a text and the median ratio of the rounds, and the same of processor time
(Linux), which other work on the machine changes less. 40 rounds are usual; PROGRAM is the built bench `embedding` of `shared/models`.
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


def build():
    """Returns the path of the bench."""
    command = ["cargo", "bench", "-p", "models", "--features", "local-models", "--bench", "embedding", "--no-run", "--message-format=json"]
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    artifacts = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return next(one["executable"] for one in artifacts if one.get("executable") and one["target"]["name"] == "embedding")


class Bookrag:
    def __init__(self, program, cache):
        environment = {**os.environ, "BOOKRAG_MODEL_CACHE": str(cache)}
        self.process = subprocess.Popen([program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def processor_time(self):
        """The milliseconds that the process has used so far; None if the system does not tell."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        nanoseconds = [int(thread.read_text().split()[0]) for thread in threads]
        return sum(nanoseconds) / 1e6 if nanoseconds else None

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
    """The median time of each engine, and the median ratio; a round has a time of each."""
    ours, theirs = (statistics.median(engine) for engine in zip(*rounds))
    return f"bookrag {ours:.2f} ms, ONNX Runtime {theirs:.2f} ms, ratio {statistics.median(a / b for a, b in rounds):.2f}"


def compare(bookrag, onnx, texts, prefix, rounds):
    """The medians of each round, its processor times for a text, and the lowest cosine."""
    times, processor_times, cosines = [], [], []
    for _ in range(rounds):
        # All texts with one engine, then with the other: each finds its weights in the cache, as a busy process does.
        started = bookrag.processor_time()
        ours = [bookrag.embed(text, bool(prefix)) for text in texts]
        ended = bookrag.processor_time()
        theirs_started = time.process_time()
        theirs = [onnx.embed(prefix + text) for text in texts]
        theirs_used = 1000 * (time.process_time() - theirs_started)
        times.append([statistics.median(time for time, _ in engine) for engine in (ours, theirs)])
        if ended:
            processor_times.append([(ended - started) / len(texts), theirs_used / len(texts)])
        cosines += [cosine(a, b) for (_, a), (_, b) in zip(ours, theirs)]
    return times, processor_times, min(cosines)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bookrag/models"
    bookrag = Bookrag(sys.argv[2] if len(sys.argv) > 2 else build(), cache)
    bookrag.embed("the first text waits for the model's download", False)
    onnx = Onnx(next(cache.glob("bge-small-*")))
    count_tokens = lambda text: len(onnx.tokenizer.encode(text).ids)
    for name, prefix, texts in (("questions", PREFIX, questions()), ("chunks", "", chunks(count_tokens))):
        tokens = statistics.mean(count_tokens(prefix + text) for text in texts)
        times, processor_times, least = compare(bookrag, onnx, texts, prefix, rounds)
        print(f"{len(texts)} {name} of {tokens:.0f} tokens, {rounds} rounds; cosine {least:.4f} or more")
        print(f"  time: {summary(times)}")
        if processor_times:
            print(f"  processor time: {summary(processor_times)}")


if __name__ == "__main__":
    main()
