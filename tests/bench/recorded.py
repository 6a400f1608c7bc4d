#!/usr/bin/env python3
"""Measures what bookrag makes of a model's answers that were recorded before.

    recorded.py choose QUESTIONS.jsonl OUT.jsonl --sites a,b [--answerable 4] [--near 1] [--seed 2026] [--without id,id]
    recorded.py model FOLDER [--port 4921]
    recorded.py ask ADDRESS QUESTIONS.jsonl OUT.jsonl [--site a]

`choose` draws questions of these sites: answerable ones and near misses. It writes only `id`, `corpus` and `query`, so whoever writes the answers does not see
what is expected.

`model` is a chat model with OpenAI's API on this machine. Of each request it looks for the answer in FOLDER, in the file `HASH.answer.json`, and sends it. The
hash is that of the messages, without the words that are new in each request. Without an answer it writes the messages into `HASH.prompt.json` and reports
that it is unavailable (503). An answer is `{"content": "…"}`, or `{"calls": [{"name": "search", "arguments": {"query": "…"}}]}` for functions that the model
calls first.

`ask` puts questions to a running `bookrag serve`, and appends a line for each: outcome, answer, unsupported sentences, citations.

Serve a site with the model like this, ask, write the answers to the prompts, and ask again:

    BOOKRAG_GENERATOR=openai BOOKRAG_CHAT_BASE_URL=http://127.0.0.1:4921/v1 BOOKRAG_CHAT_MODEL=recorded BOOKRAG_ANSWER_CACHE=off \\
        BOOKRAG_QUESTIONS_BUDGET=0 bookrag serve SITE --port 4922

Keep FOLDER outside the repository: prompts hold the text of other people's sites.
"""
import argparse
import hashlib
import json
import random
import re
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FENCE = re.compile(r"data-[0-9a-f]{12}")
CALL_ID = re.compile(r"call_[0-9A-Za-z]+")


def digest(messages):
    """The hash of messages: words that are random in each request do not count."""
    text = json.dumps(messages, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(CALL_ID.sub("call", FENCE.sub("data", text)).encode()).hexdigest()[:20]


def choose(questions, sites, answerable, near, seed, without=()):
    """The same questions of the same file: for each site so many answerable ones and near misses."""
    chosen = []
    for site in sites:
        of_site = sorted((one for one in questions if one["corpus"] == site and one["id"] not in without), key=lambda one: one["id"])
        draw = random.Random(f"{seed} {site}")
        for count, pool in (
            (answerable, [one for one in of_site if one["answerable"]]),
            (near, [one for one in of_site if not one["answerable"] and one.get("kind") == "near-miss"]),
        ):
            chosen += draw.sample(pool, min(count, len(pool)))
    return [{name: one[name] for name in ("id", "corpus", "query")} for one in chosen]


def deltas(answer):
    """The pieces of a recorded answer as a model streams them, and why it ended."""
    if answer.get("calls"):
        calls = [
            {"index": at, "id": f"call_{at}", "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}}
            for at, call in enumerate(answer["calls"])
        ]
        return [{"tool_calls": calls}], "tool_calls"
    return [{"content": piece} for piece in re.findall(r"\s*\S+\s*$|\s*\S+", answer["content"])], "stop"


def streamed(answer):
    """A recorded answer as server-sent events."""
    pieces, reason = deltas(answer)
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in pieces]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, {"choices": [], "usage": usage}]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def whole(answer):
    """A recorded answer as one object."""
    pieces, reason = deltas(answer)
    message = {"role": "assistant", "content": "".join(piece.get("content", "") for piece in pieces)}
    if reason == "tool_calls":
        message = {"role": "assistant", "content": None, "tool_calls": pieces[0]["tool_calls"]}
    return json.dumps({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]})


class Model(BaseHTTPRequestHandler):
    """Sends the recorded answers of a folder."""

    folder = Path()

    def do_GET(self):
        self.send(200, "application/json", json.dumps({"object": "list", "data": [{"id": "recorded", "object": "model"}]}))

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = digest(asked["messages"])
        recorded = self.folder / f"{name}.answer.json"
        if not recorded.exists():
            (self.folder / f"{name}.prompt.json").write_text(json.dumps(asked, ensure_ascii=False, indent=1))
            self.send(503, "application/json", json.dumps({"error": {"message": f"no answer to {name} is recorded"}}))
            return
        answer = json.loads(recorded.read_text())
        if asked.get("stream"):
            self.send(200, "text/event-stream", streamed(answer))
        else:
            self.send(200, "application/json", whole(answer))

    def send(self, status, kind, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def events(lines):
    """The events of a stream: pairs of a name and the data."""
    name, data = "", []
    for line in lines:
        line = line.rstrip("\r\n")
        if line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].strip())
        elif not line and data:
            yield name, json.loads("\n".join(data))
            name, data = "", []


def record(question, stream):
    """What a reader got: a line for a question, of the events of its answer."""
    answer, done, error, progress = "", {}, None, []
    for name, data in stream:
        if name == "token":
            answer += data["token"]
        elif name == "done":
            done = data
        elif name == "error":
            error = data
        elif name == "progress":
            progress.append(data)
    return {
        **{name: question.get(name) for name in ("id", "corpus", "query")},
        "outcome": done.get("outcome"),
        "answer": answer,
        "unsupported": done.get("unsupported", []),
        "adapted": done.get("adapted", []),
        "citations": [{name: cited.get(name) for name in ("n", "title", "section", "url", "supported")} for cited in done.get("citations", [])],
        "degraded": done.get("degraded", []),
        "looked_up": [one.get("subject") for one in progress if one.get("stage") == "looking_up"],
        "error": error,
    }


def ask(address, question):
    headers = {"content-type": "application/json", "accept": "text/event-stream"}
    request = urllib.request.Request(f"{address}/api/v1/chat", json.dumps({"query": question["query"]}).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return record(question, events(line.decode() for line in response))
    except urllib.error.HTTPError as error:
        return record(question, [("error", error.read().decode())])


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def write(path, records, mode="a"):
    with open(path, mode) as out:
        out.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    choosing = modes.add_parser("choose")
    choosing.add_argument("questions")
    choosing.add_argument("out")
    choosing.add_argument("--sites", required=True)
    choosing.add_argument("--answerable", type=int, default=4)
    choosing.add_argument("--near", type=int, default=1)
    choosing.add_argument("--seed", type=int, default=2026)
    choosing.add_argument("--without", default="")
    serving = modes.add_parser("model")
    serving.add_argument("folder")
    serving.add_argument("--port", type=int, default=4921)
    asking = modes.add_parser("ask")
    asking.add_argument("address")
    asking.add_argument("questions")
    asking.add_argument("out")
    asking.add_argument("--site")
    options = parser.parse_args()
    if options.mode == "choose":
        without = options.without.split(",")
        write(options.out, choose(read(options.questions), options.sites.split(","), options.answerable, options.near, options.seed, without), "w")
    elif options.mode == "model":
        Model.folder = Path(options.folder)
        Model.folder.mkdir(parents=True, exist_ok=True)
        ThreadingHTTPServer(("127.0.0.1", options.port), Model).serve_forever()
    else:
        for question in read(options.questions):
            if options.site in (None, question["corpus"]):
                write(options.out, [ask(options.address.rstrip("/"), question)])


if __name__ == "__main__":
    main()
