#!/usr/bin/env python3
"""Asks a running bookrag what a reader's browser asks, and says what does not hold: health, CORS, search, answers, streams, limits.

usage: smoke_test.py URL [--origin ORIGIN] [--token JWT] [--question TEXT] [--flood]

URL is what stands before /api/v1: a stack's output ApiUrl, or the address of `bookrag serve`. Ends with 1 if something does not hold. It
asks some ten requests, two of them of the chat model if there is one. Needs Python 3.11 and nothing else.
"""

import argparse
import http.client
import json
import sys
import time
import urllib.parse
from dataclasses import dataclass, field

TIMEOUT_SECONDS = 70
# With streaming, an answer without a body never ends, so a preflight would hang.
MAX_PREFLIGHT_SECONDS = 5
# With a shorter age, browsers send a preflight before almost every question.
MIN_PREFLIGHT_AGE_SECONDS = 600
# A shorter answer arrives in one piece even if it is streamed.
MIN_STREAM_MS = 300
MAX_BODY_BYTES = 64 * 1024
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Failed(Exception):
    """What does not hold."""


def expect(holds, problem):
    if not holds:
        raise Failed(problem)


@dataclass
class Answer:
    """Header names are in lower case; `lines` have the seconds since the request at which each arrived."""

    status: int
    headers: dict
    seconds: float
    body: bytes = b""
    lines: list = field(default_factory=list)

    def envelope(self, success):
        try:
            found = json.loads(self.body)
            fits = found["success"] is success and "request_id" in found["meta"] and (found["error"] is None) is success
        except (ValueError, KeyError, TypeError):
            fits = False
        expect(fits, f"status {self.status} without the API's envelope: {self.body[:300]!r}")
        return found


class Api:
    def __init__(self, url, origin, token):
        self.url = urllib.parse.urlsplit(url)
        self.origin, self.token = origin, token

    def ask(self, method, path, body=None, **headers):
        """One request over a connection of its own; a body is JSON unless it is bytes."""
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.url.hostname, self.url.port, timeout=TIMEOUT_SECONDS)
        sent = {"Origin": self.origin, "Accept": "application/json"}
        if self.token and method != "OPTIONS":
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            sent["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        started = time.monotonic()
        try:
            connection.request(method, self.url.path.rstrip("/") + path, body, sent)
            response = connection.getresponse()
            answer = Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, 0)
            while line := response.readline():
                answer.lines.append((time.monotonic() - started, line))
        except (OSError, http.client.HTTPException) as error:
            raise Failed(f"{method} {path}: {error or type(error).__name__}") from error
        finally:
            connection.close()
        answer.seconds = time.monotonic() - started
        answer.body = b"".join(line for _, line in answer.lines)
        expect(answer.status != 401 or self.token, "readers must sign in: give a token with --token")
        return answer


def health(api, _):
    answer = api.ask("GET", "/api/v1/health?deep=true")
    expect(answer.status == 200, f"status {answer.status}: {answer.body[:300]!r}")
    data = answer.envelope(True)["data"]
    for name in ("vector_store", "catalog", "embedder"):
        expect(data[name]["status"] == "healthy", f"{name} is {data[name]['status']}: {data[name].get('error')}")
    index = data.get("index") or {}
    expect(index.get("chunks"), "the index is empty: upload the book, then run this again")
    return f"{data['status']}, {index['documents']} pages, {index['chunks']} chunks"


def preflight(api, _):
    """For each route that a browser asks with JSON or another method: answered soon, with what the browser needs."""
    slowest = 0
    for path, method in (("/api/v1/chat", "POST"), ("/api/v1/search", "POST"), ("/api/v1/feedback", "POST"), ("/mcp", "POST"), (CONVERSATION, "DELETE")):
        asked = {"Access_Control_Request_Method": method, "Access_Control_Request_Headers": "content-type,x-session-id"}
        answer = api.ask("OPTIONS", path, **asked)
        expect(answer.status in (200, 204), f"{path}: status {answer.status}")
        expect(answer.headers.get("access-control-allow-origin") == api.origin, f"{path}: {api.origin} may not ask; is it in SiteOrigins?")
        allowed = answer.headers.get("access-control-allow-methods", "")
        expect(method in allowed, f"{path}: the methods allowed are `{allowed}`")
        names = answer.headers.get("access-control-allow-headers", "").lower()
        expect("content-type" in names and "x-session-id" in names, f"{path}: the headers allowed are `{names}`")
        age = answer.headers.get("access-control-max-age", "0")
        expect(age.isdigit() and int(age) >= MIN_PREFLIGHT_AGE_SECONDS, f"{path}: browsers ask again after {age} s")
        slowest = max(slowest, answer.seconds)
        expect(slowest < MAX_PREFLIGHT_SECONDS, f"{path}: it took {slowest:.1f} s")
    return f"at most {slowest * 1000:.0f} ms"


def other_origins(api, question):
    stranger = "https://stranger.invalid"
    for answer in (
        api.ask("OPTIONS", "/api/v1/chat", Origin=stranger, Access_Control_Request_Method="POST"),
        api.ask("GET", "/api/v1/search?" + urllib.parse.urlencode({"q": question}), Origin=stranger),
    ):
        allowed = answer.headers.get("access-control-allow-origin")
        expect(allowed not in ("*", stranger), f"pages of {stranger} may read answers (`{allowed}`)")
    return "may not read answers"


def search(api, question):
    by_body = api.ask("POST", "/api/v1/search", {"query": question, "top_k": 5})
    by_url = api.ask("GET", "/api/v1/search?" + urllib.parse.urlencode({"q": question, "top_k": 5}))
    for answer in (by_body, by_url):
        expect(answer.status == 200, f"status {answer.status}: {answer.body[:300]!r}")
        expect(answer.headers.get("access-control-allow-origin") == api.origin, "the site may not read the answer")
        results = answer.envelope(True)["data"]["results"]
        expect(results, "nothing was found; give a question of the book with --question")
    meta = by_url.envelope(True)["meta"]
    return f"{len(results)} results in {by_url.seconds * 1000:.0f} ms{without(meta)}"


def json_answer(api, question):
    answer = api.ask("POST", "/api/v1/chat", {"query": question})
    expect(answer.status == 200, f"status {answer.status}: {answer.body[:300]!r}")
    found = answer.envelope(True)
    expect(found["data"].get("answer"), f"no answer in {list(found['data'])}")
    return f"{len(found['data']['answer'])} characters in {answer.seconds * 1000:.0f} ms{without(found['meta'])}"


def stream(api, question):
    """Its first token is there before the server has written its last one: nothing in between collects it."""
    answer = api.ask("POST", "/api/v1/chat", {"query": question}, Accept="text/event-stream")
    kind = answer.headers.get("content-type", "")
    expect(answer.status == 200 and kind.startswith("text/event-stream"), f"status {answer.status}, `{kind}`: {answer.body[:300]!r}")
    events = [(at, line.split(b":", 1)[1].strip().decode()) for at, line in answer.lines if line.startswith(b"event:")]
    names = [name for _, name in events]
    expect("token" in names and names[-1] == "done", f"its events are {names[:3]} to {names[-3:]}")
    first_ms = 1000 * next(at for at, name in events if name == "token")
    last_ms = 1000 * events[-1][0]
    done = json.loads(answer.lines[last_data(answer.lines)][1].split(b":", 1)[1])
    meta = done.get("meta", {})
    told = f"first token after {first_ms:.0f} ms, last event after {last_ms:.0f}{without(meta)}"
    written_ms = meta.get("latency_ms", 0) - sum(meta.get("stages_ms", {}).values())
    if written_ms < MIN_STREAM_MS:
        return told + " (too short to tell whether it is collected on its way)"
    expect(last_ms - first_ms > written_ms / 4, f"it is collected on its way: {told}, though it was written for {written_ms:.0f} ms")
    return told


def last_data(lines):
    return max(place for place, (_, line) in enumerate(lines) if line.startswith(b"data:"))


def refusals(api, question):
    for wanted, method, path, body in (
        (404, "GET", "/api/v1/nothing-here", None),
        (400, "POST", "/api/v1/search", {"query": ""}),
        (400, "POST", "/api/v1/chat", b"no json"),
        (405, "DELETE", "/api/v1/search", None),
        (413, "POST", "/api/v1/chat", {"query": question, "context": "x" * MAX_BODY_BYTES}),
    ):
        answer = api.ask(method, path, body)
        expect(answer.status == wanted, f"{method} {path}: status {answer.status}, not {wanted}")
        expect(answer.envelope(False)["error"]["message"], f"{method} {path}: no message")
    return "400, 404, 405, 413 with the API's envelope"


def conversations(api, _):
    answer = api.ask("DELETE", CONVERSATION, X_Session_Id="smoke-test")
    expect(answer.status in (200, 204, 404), f"status {answer.status}: {answer.body[:300]!r}")
    return f"status {answer.status} for one that does not exist"


def limits(api, question):
    """A client's limit is told with each answer. On one machine there is none."""
    answer = api.ask("GET", "/api/v1/search?" + urllib.parse.urlencode({"q": question}))
    told = answer.headers.get("ratelimit")
    if api.url.hostname in LOOPBACK and not told:
        return "none on this machine"
    expect(told, "no RateLimit header: are ChatPerMinute and SearchPerMinute 0?")
    return told


def flood(api, question):
    """Searches until one is refused, at most 300."""
    path = "/api/v1/search?" + urllib.parse.urlencode({"q": question})
    for count in range(1, 301):
        answer = api.ask("GET", path)
        if answer.status == 429:
            expect(answer.headers.get("retry-after", "").isdigit(), "429 does not say when to come again")
            expect(answer.headers.get("access-control-allow-origin") in ("*", api.origin), "a page cannot read why it was refused")
            answer.envelope(False)
            return f"refused after {count} searches, for {answer.headers['retry-after']} s"
        expect(answer.status == 200, f"status {answer.status} after {count} searches")
    raise Failed("300 searches were answered: nothing limits a client")


def without(meta):
    return f", without {', '.join(map(str, meta['degraded']))}" if meta.get("degraded") else ""


CONVERSATION = "/api/v1/conversations/00000000-0000-4000-8000-000000000000"
CHECKS = [health, preflight, other_origins, search, json_answer, stream, refusals, conversations, limits]


def run(api, question, checks, tell=print):
    """Whether all hold."""
    well = True
    for check in checks:
        name = check.__name__.replace("_", " ")
        try:
            tell(f"ok      {name}: {check(api, question)}")
        except Failed as failed:
            well = False
            tell(f"FAILED  {name}: {failed}")
        except (LookupError, TypeError, ValueError) as error:
            well = False
            tell(f"FAILED  {name}: an answer of another shape ({type(error).__name__}: {error})")
    return well


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="what stands before /api/v1")
    parser.add_argument("--origin", help="an origin of SiteOrigins; on this machine http://localhost:3000")
    parser.add_argument("--token", help="a reader's token, where readers must sign in")
    parser.add_argument("--question", default="What is this book about?", help="a question that the book answers")
    parser.add_argument("--flood", action="store_true", help="search until the client's limit refuses it")
    options = parser.parse_args()
    url = urllib.parse.urlsplit(options.url)
    if url.scheme not in ("http", "https") or not url.hostname:
        parser.error(f"`{options.url}` is not an address; expected https://HOST or https://HOST/STAGE")
    origin = options.origin or ("http://localhost:3000" if url.hostname in LOOPBACK else None)
    if not origin:
        parser.error("--origin is missing: the origin of your site, as in the stack's parameter SiteOrigins")
    return 0 if run(Api(options.url, origin, options.token), options.question, CHECKS + [flood] * options.flood) else 1


if __name__ == "__main__":
    sys.exit(main())
