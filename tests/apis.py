"""Holds the requests for hosted models to the providers' published API descriptions: apis.py FOLDER BOOKRAG BOOK.

Serves the APIs of OpenAI and Cohere on loopback, checks each request against openai.yaml and cohere.yaml, answers with what those
allow (checked too), and lets BOOKRAG index and answer BOOK with every provider. Needs jsonschema and PyYAML.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jsonschema
import yaml

folder, bookrag, book = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
load = lambda name: yaml.load((folder / name).read_text(), yaml.CSafeLoader)
DESCRIPTIONS = {"openai": load("openai.yaml"), "cohere": load("cohere.yaml")}
# Maps our path to the provider and its path.
ROUTES = {
    "/v1/embeddings": ("openai", "/embeddings"),
    "/v1/chat/completions": ("openai", "/chat/completions"),
    "/v2/embed": ("cohere", "/v2/embed"),
    "/v2/rerank": ("cohere", "/v2/rerank"),
    "/v2/chat": ("cohere", "/v2/chat"),
}
seen, wrong = set(), []


def check(provider, schema, value, what):
    document = DESCRIPTIONS[provider]
    validator = jsonschema.Draft202012Validator({**schema, "components": document["components"]})
    for error in validator.iter_errors(value):
        wrong.append(f"{what}: {error.json_path}: {error.message[:200]}")


def vector(text):
    bits = hashlib.sha256(text.lower().encode()).digest()
    return [byte / 255 - 0.5 for byte in bits * 4]


def answer(path, request):
    """What the provider answers, and the events of a stream."""
    if path == "/v1/embeddings":
        data = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(request["input"])]
        return {"object": "list", "model": request["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}, None
    if path == "/v2/embed":
        return {"id": "x", "embeddings": {"float": [vector(text) for text in request["texts"]]}, "texts": request["texts"],
                "response_type": "embeddings_by_type", "api_version": {"version": "2"}}, None
    if path == "/v2/rerank":
        results = [{"index": at, "relevance_score": 1 / (at + 1)} for at in range(len(request["documents"]))]
        return {"id": "x", "results": results}, None
    if path == "/v1/chat/completions":
        base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
        choice = lambda delta, reason: {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        usage = {**base, "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}
        return None, [choice({"role": "assistant", "content": ""}, None), choice({"content": "So it is [1]."}, None), choice({}, "stop"), usage]
    delta = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "So it is [1]."}}}}
    usage = {"billed_units": {"input_tokens": 9, "output_tokens": 2}, "tokens": {"input_tokens": 9, "output_tokens": 2}}
    return None, [delta, {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}}]


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        provider, path = ROUTES[self.path]
        operation = DESCRIPTIONS[provider]["paths"][path]["post"]
        seen.add(self.path)
        check(provider, operation["requestBody"]["content"]["application/json"]["schema"], request, f"request {self.path}")
        body, events = answer(self.path, request)
        if events is None:
            check(provider, operation["responses"]["200"]["content"]["application/json"]["schema"], body, f"answer {self.path}")
            self.reply("application/json", json.dumps(body))
            return
        if provider == "openai":
            for event in events:
                # OpenAPI 3.0's `nullable` does not exist in JSON Schema.
                chunk = json.loads(json.dumps(event))
                for choice in chunk["choices"]:
                    choice["finish_reason"] = choice["finish_reason"] or "stop"
                check(provider, {"$ref": "#/components/schemas/CreateChatCompletionStreamResponse"}, chunk, f"event {self.path}")
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        self.reply("text/event-stream", text + ("data: [DONE]\n\n" if provider == "openai" else ""))

    def reply(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
threading.Thread(target=server.serve_forever, daemon=True).start()
origin = f"http://127.0.0.1:{server.server_port}"
common = {"OPENAI_BASE_URL": f"{origin}/v1", "OPENAI_API_KEY": "k", "COHERE_BASE_URL": origin, "COHERE_API_KEY": "k"}
SETTINGS = [
    {"BOOKRAG_EMBEDDER": "openai", "BOOKRAG_EMBEDDING_DIMENSIONS": "128", "BOOKRAG_RERANKER": "none", "BOOKRAG_GENERATOR": "openai"},
    {"BOOKRAG_EMBEDDER": "cohere", "BOOKRAG_EMBEDDING_MODEL": "embed-v4.0", "BOOKRAG_EMBEDDING_DIMENSIONS": "128",
     "BOOKRAG_RERANKER": "cohere", "BOOKRAG_GENERATOR": "cohere"},
]
for settings in SETTINGS:
    with tempfile.TemporaryDirectory() as data:
        environment = {**os.environ, **common, **settings, "BOOKRAG_DATA": data}
        subprocess.run([bookrag, "sync", book], env=environment, check=True, capture_output=True)
        command = [bookrag, "ask", "--json", "How is the soil moisture probe calibrated?"]
        asked = subprocess.run(command, env=environment, capture_output=True, text=True)
        envelope = json.loads(asked.stdout)
        if envelope["data"]["answer"] != "So it is [1]." or envelope["meta"]["tokens"] != 11:
            wrong.append(f"{settings['BOOKRAG_GENERATOR']}: {asked.stdout[:400]}")
missing = set(ROUTES) - seen
if wrong or missing:
    sys.exit("\n".join([*dict.fromkeys(wrong), *(f"never asked: {path}" for path in sorted(missing))]))
print(f"{len(seen)} APIs are asked as they are described")
