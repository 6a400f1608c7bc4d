"""What infra/smoke_test.py says of an API that does all it should, and of APIs that do one thing wrong."""

import json
import sys
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import smoke_test

ORIGIN = "https://book.example.org"
META = {"request_id": "r", "latency_ms": 2000, "stages_ms": {"embed_ms": 10}, "degraded": []}


class Handler(BaseHTTPRequestHandler):
    """A small bookrag; `server.faults` names what it does wrong."""

    def log_message(self, *_):
        pass

    def send(self, status, data=None, message=None):
        error = message and {"code": "c", "message": message}
        body = json.dumps({"success": error is None, "data": data, "error": error, "meta": META}).encode()
        if "no envelope" in self.server.faults and error:
            body = b'{"message":"Forbidden"}'
        self.begin(status, "application/json", len(body))
        self.wfile.write(body)

    def begin(self, status, kind, length=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        origin = self.headers["Origin"]
        if "any origin" in self.server.faults:
            self.send_header("Access-Control-Allow-Origin", "*")
        elif origin == ORIGIN and "no origin" not in self.server.faults:
            self.send_header("Access-Control-Allow-Origin", origin)
        if self.command == "OPTIONS":
            methods = "GET,POST" if "no DELETE" in self.server.faults else "GET,POST,DELETE"
            self.send_header("Access-Control-Allow-Methods", methods)
            self.send_header("Access-Control-Allow-Headers", "content-type,x-session-id")
            self.send_header("Access-Control-Max-Age", "5" if "forgetful" in self.server.faults else "7200")
        if "no limits" not in self.server.faults:
            self.send_header("RateLimit", "10;w=60")
        self.end_headers()

    def do_OPTIONS(self):
        time.sleep(2 if "slow preflight" in self.server.faults else 0)
        self.begin(200, "text/plain", 0)

    def do_DELETE(self):
        code = 404 if "conversations" in self.path else 405
        self.send(500 if "500" in self.server.faults else code, message="no")

    def do_GET(self):
        if self.path.endswith("/health?deep=true"):
            state = {"status": "healthy"}
            down = {"status": "unhealthy", "error": "down"} if "store down" in self.server.faults else state
            index = {"documents": 1, "chunks": 0 if "empty" in self.server.faults else 2}
            self.send(200, {"status": "healthy", "vector_store": down, "catalog": state, "embedder": state, "index": index})
        elif "/search" in self.path:
            self.server.searches += 1
            self.send(200, {"results": [] if "finds nothing" in self.server.faults else [1]})
        else:
            self.send(404, message="nothing")

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if length > 64 * 1024:
            return self.send(200 if "no limit of size" in self.server.faults else 413, message="large")
        if body == b"no json" or not json.loads(body)["query"]:
            return self.send(400, message="wrong")
        if "/search" in self.path:
            return self.do_GET()
        if "event-stream" not in self.headers["Accept"]:
            return self.send(200, {"answer": "a"})
        self.begin(200, "text/event-stream")
        collected = "collected" in self.server.faults
        self.wfile.write(b"" if collected else b"event: token\ndata: {}\n\n")
        time.sleep(0.6)
        last = b"error" if "breaks off" in self.server.faults else b"done"
        rest = b"event: token\ndata: {}\n\nevent: " + last + b"\ndata: " + json.dumps({"meta": META}).encode() + b"\n\n"
        self.wfile.write((b"event: token\ndata: {}\n\n" if collected else b"") + rest)


class SmokeTests(unittest.TestCase):
    def setUp(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.searches = 0
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def failed(self, *faults):
        """The names of the checks that fail."""
        self.server.faults = faults
        told = []
        api = smoke_test.Api(f"http://127.0.0.1:{self.server.server_port}", ORIGIN, None)
        well = smoke_test.run(api, "a question", smoke_test.CHECKS, told.append)
        names = {line.split("  ", 1)[1].split(":")[0].strip() for line in told if line.startswith("FAILED")}
        self.assertEqual(well, not names)
        return names

    def test_an_api_that_does_all_passes(self):
        META["latency_ms"] = 600
        self.assertEqual(self.failed(), set())

    def test_each_fault_is_found_by_its_check(self):
        META["latency_ms"] = 2000
        smoke_test.MAX_PREFLIGHT_SECONDS = 1
        # Loopback names may have no limits, so the server must appear remote.
        smoke_test.LOOPBACK = set()
        for fault, check in (
            ("store down", "health"), ("empty", "health"), ("no origin", "preflight"), ("no DELETE", "preflight"),
            ("slow preflight", "preflight"), ("forgetful", "preflight"), ("any origin", "other origins"), ("finds nothing", "search"), ("collected", "stream"),
            ("breaks off", "stream"), ("no envelope", "refusals"), ("no limit of size", "refusals"), ("500", "conversations"),
            ("no limits", "limits"),
        ):  # fmt: skip
            with self.subTest(fault):
                self.assertIn(check, self.failed(fault))


if __name__ == "__main__":
    unittest.main()
