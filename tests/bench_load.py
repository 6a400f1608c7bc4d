#!/usr/bin/env python3
"""Asks a running `bookrag serve` questions, so many at once, and prints median, p95 and maximum of each stage in milliseconds.

    tests/bench_load.py http://127.0.0.1:8080 QUESTIONS.jsonl chat 10 100     # or search; 10 at once, 100 in all
"""

import json
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

if len(sys.argv) != 6 or sys.argv[3] not in ("chat", "search"):
    sys.exit(__doc__)
url, questions, path, callers, requests = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
asked = [json.loads(line)["query"] for line in open(questions, encoding="utf-8")]


def ask(number):
    """How long one request took in all, and each of its stages; nothing when it failed."""
    body = json.dumps({"query": asked[number % len(asked)]}).encode()
    request = urllib.request.Request(f"{url}/api/v1/{path}", body, {"content-type": "application/json"})
    started = time.perf_counter()
    try:
        meta = json.load(urllib.request.urlopen(request, timeout=120))["meta"]
    except OSError:
        return None
    return {"whole": 1000 * (time.perf_counter() - started), **meta["stages_ms"]}


with ThreadPoolExecutor(callers) as pool:
    answers = [answer for answer in pool.map(ask, range(requests)) if answer]
print(f"{requests} requests, {callers} at once, {requests - len(answers)} failed")
for stage in answers[0] if answers else ():
    took = sorted(answer[stage] for answer in answers)
    p95 = took[min(len(took) - 1, len(took) * 95 // 100)]
    print(f"{stage:>11}: p50 {took[len(took) // 2]:8.1f}, p95 {p95:8.1f}, max {took[-1]:8.1f} ms")
