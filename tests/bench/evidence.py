#!/usr/bin/env python3
"""How many of the strings that an answer needs are in what a model is given, by budget.

    evidence.py BOOKRAG QUESTIONS.jsonl SITES [--budgets 1500,2500,6000,12000] [--data FOLDER] [--json FILE] [site …]

QUESTIONS and SITES are those of the questions of real users, with `serve.json` beside QUESTIONS. BOOKRAG serves each site with a chat model whose server
records what it is sent and refuses. `--data` keeps the indexes. The table has the mean over sites of the share of needed strings, and of the passages'
tokens (characters / 4) and number.
"""
import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import fmean

QUESTION = " begin: the reader's question"


def normal(text):
    text = html.unescape(re.sub(r"\\([^\w\s])", r"\1", text or ""))
    return re.sub(r"\s+", " ", re.sub(r"[`*_]", "", text)).strip().lower()


class Model(BaseHTTPRequestHandler):
    """A chat model that records its last prompt and refuses."""

    prompt = ""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Model.prompt = asked["messages"][-1]["content"]
        piece = {"choices": [{"index": 0, "delta": {"content": "No."}, "finish_reason": "stop"}]}
        body = f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def held(needs, text):
    """The share of the needed strings that a text has; `|` separates alternatives."""
    text = normal(text)
    return fmean(any(normal(one) in text for one in need.split("|")) for need in needs)


def passages(prompt):
    """The part of a prompt before the reader's words, and the number of its passages."""
    lines = prompt.split("\n")
    end = next((n for n, line in enumerate(lines) if line.endswith(QUESTION)), len(lines))
    return "\n".join(lines[:end]), sum(" begin: passage [" in line for line in lines[:end])


def post(url, body, timeout=120):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=timeout))


def readable(bookrag, sites, roots):
    """The first of a site's folders that has at least 20 chunks."""
    for root in roots:
        folder = os.path.realpath(os.path.join(sites, root))
        listed = subprocess.run([bookrag, "chunks", folder, "--jsonl"], capture_output=True, text=True, check=False)
        if listed.returncode == 0 and listed.stdout.count("\n") >= 20:
            return folder
    sys.exit(f"error: none of {roots} can be read")


@contextmanager
def served(bookrag, folder, variables):
    """Serves a folder with these variables besides the caller's; gives the address."""
    with tempfile.NamedTemporaryFile("w+") as log:
        environment = {**os.environ, "BOOKRAG_CHAT_PER_MINUTE": "100000", "BOOKRAG_ANSWER_CACHE": "off", **variables}
        server = subprocess.Popen([bookrag, "serve", folder, "--listen", "127.0.0.1:0"], stdout=log, stderr=subprocess.STDOUT, env=environment)
        try:
            while "ask at" not in (said := Path(log.name).read_text()):
                if server.poll() is not None:
                    sys.exit(f"error: {folder} cannot be served: {said}")
                time.sleep(0.1)
            yield next(word for word in said.split("ask at", 1)[1].split() if word.startswith("http")).rstrip("/")
        finally:
            server.terminate()
            server.wait()


def given(bookrag, folder, data, budget, model, questions):
    """What a model is given for each question."""
    of_model = {"BOOKRAG_GENERATOR": "openai", "BOOKRAG_CHAT_MODEL": "recorder", "BOOKRAG_CHAT_BASE_URL": f"http://127.0.0.1:{model}/v1"}
    variables = {**of_model, "BOOKRAG_PASSAGE_TOKENS": str(budget), "BOOKRAG_LOOKUPS": "0", "BOOKRAG_DATA": data, "BOOKRAG_QUESTIONS_BUDGET": "0"}
    with served(bookrag, folder, variables) as address:
        for question in questions:
            Model.prompt = ""
            post(f"{address}/api/v1/chat", {"query": question["query"], "stream": False})
            yield question, Model.prompt


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bookrag", "questions", "sites"):
        options.add_argument(name)
    options.add_argument("only", nargs="*")
    options.add_argument("--budgets", default="1500,2500,6000,12000")
    options.add_argument("--data")
    options.add_argument("--json")
    options = options.parse_intermixed_args()
    budgets = [int(budget) for budget in options.budgets.split(",")]
    roots = json.loads((Path(options.questions).parent / "serve.json").read_text())
    asked = {}
    for question in map(json.loads, Path(options.questions).read_text().splitlines()):
        if question["answerable"] and question.get("needs") and (not options.only or question["corpus"] in options.only):
            asked.setdefault(question["corpus"], []).append(question)
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    rows = {}
    with tempfile.TemporaryDirectory() as temporary:
        for site, questions in sorted(asked.items()):
            folder = readable(options.bookrag, options.sites, roots.get(site, [site]))
            rows[site] = {}
            for budget in budgets:
                data = f"{options.data or temporary}/data-{site}"
                results = []
                for question, prompt in given(options.bookrag, folder, data, budget, model.server_port, questions):
                    text, count = passages(prompt)
                    results.append((held(question["needs"], text), len(text) / 4, count, question["id"]))
                rows[site][budget] = results
            print(f"{site:18}" + "".join(f"{fmean(row[0] for row in rows[site][budget]):8.3f}" for budget in budgets), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(rows))
    print(f"{'tokens':18}" + "".join(f"{budget:>8}" for budget in budgets))
    for column, name in enumerate(("needed strings", "given tokens", "passages")):
        means = [fmean(fmean(row[column] for row in rows[site][budget]) for site in rows) for budget in budgets]
        print(f"{name:18}" + "".join(f"{mean:8.3f}" if column == 0 else f"{mean:8.0f}" for mean in means))


if __name__ == "__main__":
    main()
