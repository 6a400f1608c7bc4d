#!/usr/bin/env python3
"""Measures the functions as Lambda runs them, and prints Markdown tables: cold start, warm requests, memory; beside them a Python function.

    tests/bench_functions.py                              # the release builds in target/lambda
    tests/bench_functions.py --symbols --binary PATH      # where the time of a cold start goes

Each process is started alone against a Runtime API on loopback, with the variables of a hosted deployment: models and stores by HTTPS and
TLS, at an address where nothing listens. The cold start ends with the first request for an event; the time to fetch a package and to start
a sandbox is Lambda's and not in it. Files are in the page cache. CPU times are those of the process, user and system, exec included.

The Python function is an empty FastAPI app under Mangum and AWS's runtime interface client, which imports qdrant-client and psycopg; its
bytecode is compiled beforehand. It is installed from PyPI into the cache when it is not there.

--models FOLDER measures functions that were built with local models instead: the start, which loads bge-small from FOLDER, and the first
question, which it embeds.

--symbols samples starts with perf; where perf is not there or not allowed, it counts the instructions of one start with valgrind. It needs
a binary with its symbols, which a release build has not:

    CARGO_PROFILE_RELEASE_STRIP=false CARGO_PROFILE_RELEASE_DEBUG=line-tables-only \\
        cargo lambda build --release --skip-target-check --lambda-dir target/unstripped -p query

Needs Linux. Ends with 1 when even the fastest start of a function is over its budget.
"""

import argparse
import ctypes
import json
import os
import re
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bookrag/bench-functions"

# The CPU budget of a cold start, in milliseconds. None for the ingest function, for which no reader waits.
CPU_BUDGET_MS = {"query": 8, "search": 8, "health": 4}
FUNCTIONS = ("query", "search", "health", "ingest")
PYTHON = "Python"
PYTHON_PACKAGES = ("awslambdaric==4.2.2", "fastapi==0.165.0", "mangum==0.22.0", "psycopg[binary]==3.3.9", "qdrant-client==1.20.0")
PYTHON_APP = """\
import psycopg
from fastapi import FastAPI
from mangum import Mangum
from qdrant_client import QdrantClient

handler = Mangum(FastAPI(), lifespan="off")
"""
# Parts of the virtual environment that are not in the packages.
NOT_DEPLOYED = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")

MIB = 1024 * 1024
START_TIMEOUT_S = 60
ANSWER_TIMEOUT_S = 29
# How long the end of a process may go unnoticed.
LOOK_AFTER_S = 0.1
# Requests before measuring, so that connections are open and all code has run once.
WARM_UP = 10
# perf's samples per second; bytes of stack per sample, since unoptimised futures have large frames; and pages of its buffer.
SAMPLES_PER_S, STACK_BYTES, BUFFER_PAGES = 20_000, 32_768, 4_096
PROFILE_TIMEOUT_S = 120
INSTALL_TIMEOUT_S = 600
TOP = 15
# Functions that enclose everything else and would be useless in a list.
SURROUNDING = re.compile(
    r"\[unknown\]|0x|_start|main$|\(below main\)|__libc_start|_dl_start|_dl_sysdep|dl_main|"
    r"<?(core|std|futures_(core|util))::|tokio::runtime::"
)

ACCOUNT, REGION, BUCKET = "123456789012", "eu-central-1", "book"
# The variables that Lambda sets for every function.
LAMBDA_ENVIRONMENT = {
    "AWS_LAMBDA_FUNCTION_NAME": "bookrag-bench",
    "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
    "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/bookrag-bench",
    "AWS_LAMBDA_LOG_STREAM_NAME": "2026/01/01/[$LATEST]0123456789abcdef0123456789abcdef",
    "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_SESSION_TOKEN": "bench",
    "LAMBDA_RUNTIME_DIR": "/var/runtime",
    "LANG": "en_US.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin:/opt/bin",
    "TZ": ":UTC",
}


def local_models(folder):
    """The variables that make a function embed by itself."""
    return {"BOOKRAG_EMBEDDER": "bge-small", "BOOKRAG_GENERATOR": "extractive", "BOOKRAG_MODELS": str(folder.resolve())}


def function_environment(nowhere):
    """The variables of a hosted deployment (template.yaml), whose stores and models are at an address where nothing listens."""
    return {
        "AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH": "true",
        "AWS_ENDPOINT_URL": f"http://{nowhere}",
        # The SDK would wait more than a second between attempts.
        "AWS_MAX_ATTEMPTS": "1",
        "QDRANT_URL": f"https://{nowhere}",
        "QDRANT_API_KEY": "bench",
        "DATABASE_URL": f"postgresql://bench:bench@{nowhere}/bench?sslmode=require",
        "OPENAI_API_KEY": "bench",
        "OPENAI_BASE_URL": f"https://{nowhere}/v1",
        "BOOKRAG_EMBEDDER": "openai",
        "BOOKRAG_GENERATOR": "openai",
        "BOOKRAG_SALT": "bench",
        "BOOKRAG_ORIGINS": "https://book.example",
        "BOOKRAG_SITE": "book",
        "BOOKRAG_SOURCE": f"s3://{BUCKET}/site/",
        # All requests come from one client.
        "BOOKRAG_CHAT_PER_MINUTE": "0",
        "BOOKRAG_SEARCH_PER_MINUTE": "0",
        "BOOKRAG_FEEDBACK_PER_MINUTE": "0",
    }


def rest_event(method, path, body=None, query=None):
    """A request as a REST API passes it on (payload 1.0)."""
    domain = f"a1b2c3d4e5.execute-api.{REGION}.amazonaws.com"
    headers = {"Host": domain, "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": query,
        "multiValueQueryStringParameters": query and {name: [value] for name, value in query.items()},
        "pathParameters": {"proxy": path.lstrip("/")},
        "stageVariables": None,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": "a1b2c3d4e5",
            "domainName": domain,
            "domainPrefix": "a1b2c3d4e5",
            "extendedRequestId": "XYZ0aEXAMPLE=",
            "httpMethod": method,
            "identity": {
                "accessKey": None, "accountId": None, "caller": None, "cognitoAuthenticationProvider": None,
                "cognitoAuthenticationType": None, "cognitoIdentityId": None, "cognitoIdentityPoolId": None,
                "principalOrgId": None, "sourceIp": "203.0.113.7", "user": None, "userAgent": "bench", "userArn": None,
            },
            "path": f"/dev{path}",
            "protocol": "HTTP/1.1",
            "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
            "requestTime": "02/Jan/2026:03:04:05 +0000",
            "requestTimeEpoch": 1_767_323_045_678,
            "resourceId": "123456",
            "resourcePath": "/{proxy+}",
            "stage": "dev",
        },
        "body": body if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


def storage_event(bucket, key):
    """What S3 tells of an object that was written, as far as it is read."""
    record = {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": REGION,
        "eventTime": "2026-01-02T03:04:05.678Z",
        "eventName": "ObjectCreated:Put",
        "s3": {
            "s3SchemaVersion": "1.0",
            "bucket": {"name": bucket, "arn": f"arn:aws:s3:::{bucket}"},
            "object": {"key": key, "size": 1024, "eTag": "d41d8cd98f00b204e9800998ecf8427e", "sequencer": "0055AED6DCD90281E5"},
        },
    }
    return {"Records": [record]}


@dataclass(frozen=True)
class Case:
    """An event, and how it is answered: a status, `done`, or `error` where the function reports one."""

    name: str
    event: dict
    expected: object
    # True if the response involves only the runtime, the router and the function's own code.
    is_overhead: bool = True
    acknowledged_at_once: bool = False


NO_QUESTION = rest_event("POST", "/api/v1/chat", {"query": ""})
QUESTION = {"query": "How tight are the wheels?"}
FEEDBACK = {"message_id": "059f36b4-87a3-44ab-83d2-000000000001", "rating": "up"}
CASES = {
    "query": (
        # Streams are sent in several small writes. Without TCP_NODELAY each write waits until the previous one is acknowledged, and a
        # receiver with nothing to send delays acknowledgements: Linux by 40 ms.
        Case("chat without a question: 400", NO_QUESTION, 400),
        Case("the same, packets acknowledged at once", NO_QUESTION, 400, acknowledged_at_once=True),
        Case("feedback: 503", rest_event("POST", "/api/v1/feedback", FEEDBACK), 503, is_overhead=False, acknowledged_at_once=True),
        Case("chat: 503", rest_event("POST", "/api/v1/chat", QUESTION), 503, is_overhead=False, acknowledged_at_once=True),
    ),
    "search": (
        Case("search without a query: 400", rest_event("GET", "/api/v1/search"), 400),
        Case("search: 503", rest_event("GET", "/api/v1/search", query={"q": "wheels"}), 503, is_overhead=False),
    ),
    "health": (
        Case("no such route: 404", rest_event("GET", "/nowhere"), 404),
        Case("health: 200", rest_event("GET", "/api/v1/health"), 200),
        Case("deep health: 503", rest_event("GET", "/api/v1/health", query={"deep": "true"}), 503, is_overhead=False),
    ),
    "ingest": (
        Case("another bucket's object: nothing to do", storage_event("another", "site/docs/intro.md"), "done"),
        Case("sweep, asks the catalog: error", {"command": "sweep"}, "error", is_overhead=False),
        Case("an object, asks the bucket: error", storage_event(BUCKET, "site/docs/intro.md"), "error", is_overhead=False),
    ),
    PYTHON: (Case("no such route: 404", rest_event("GET", "/nowhere"), 404),),
}
# Requests that embed a question and then find no store.
FIRST_QUESTIONS = {"query": CASES["query"][3], "search": CASES["search"][1]}


class Failed(Exception):
    """What ends the measurement, for whoever reads the terminal."""


@dataclass
class Request:
    connection: socket.socket
    method: str
    path: str
    headers: dict
    body: bytes
    # Arrival of the last byte, by `time.perf_counter`.
    at: float


class RuntimeApi:
    """A Lambda Runtime API for one process at a time.

    One thread and no HTTP library: what this takes would be counted as the function's time.
    Protocol: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
    """

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.received = {}
        self.waiting = None
        self.acknowledges_at_once = False
        self.invocations = 0

    def forget(self):
        """Closes the connections of a process that has ended."""
        for connection in list(self.received):
            self.close(connection)
        self.waiting = None

    def close(self, connection):
        self.selector.unregister(connection)
        self.received.pop(connection, None)
        connection.close()

    def wait_for_next(self, process, timeout_s):
        """Waits until the process asks for an event; returns when it did."""
        request = self.request(process, timeout_s)
        if not request.path.endswith("/invocation/next"):
            raise Failed(f"{process.name} does not ask for an event but for {request.path}: {request.body[:500]!r}\n{process.log()}")
        self.waiting = request.connection
        return request.at

    def invoke(self, process, event):
        """Hands out an event, and returns the answer and the seconds until it was complete. The process waits for an event again."""
        self.invocations += 1
        request_id = f"8476a536-e9f4-11e8-9739-{self.invocations:012x}"
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": request_id,
            "Lambda-Runtime-Deadline-Ms": int((time.time() + ANSWER_TIMEOUT_S) * 1000),
            "Lambda-Runtime-Invoked-Function-Arn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:bookrag-bench",
            "Lambda-Runtime-Trace-Id": "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0",
        }
        message = response("200 OK", headers, event)
        handed_out = time.perf_counter()
        self.waiting.sendall(message)
        request = self.request(process, ANSWER_TIMEOUT_S)
        if f"/{request_id}/" not in request.path:
            raise Failed(f"{process.name} answers {request.path}, not {request_id}\n{process.log()}")
        accepted = response("202 Accepted", {"Content-Type": "application/json"}, b'{"status":"OK"}')
        request.connection.sendall(accepted)
        self.wait_for_next(process, ANSWER_TIMEOUT_S)
        return outcome(request), request.at - handed_out

    def request(self, process, timeout_s):
        """The next request on any connection, whole."""
        deadline = time.perf_counter() + timeout_s
        while (left := deadline - time.perf_counter()) > 0:
            for key, _ in self.selector.select(min(left, LOOK_AFTER_S)):
                if key.fileobj is self.listener:
                    connection, _ = self.listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.received[connection] = b""
                    self.selector.register(connection, selectors.EVENT_READ)
                    continue
                connection = key.fileobj
                try:
                    bytes_ = connection.recv(65_536)
                except ConnectionError:
                    bytes_ = b""
                now = time.perf_counter()
                if self.acknowledges_at_once:
                    # The kernel may reset this option, so it is set again after each read.
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                if not bytes_:
                    self.close(connection)
                    continue
                self.received[connection] += bytes_
                if parsed := parse(self.received[connection]):
                    self.received[connection] = b""
                    return Request(connection, *parsed, now)
            if not self.received and process.has_ended():
                raise Failed(f"{process.name} has ended\n{process.log()}")
        raise Failed(f"{process.name} has said nothing for {timeout_s} s\n{process.log()}")


def response(status, headers, body):
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def parse(received):
    """Method, path, headers and body of a request; `None` while it is not whole. Clients do not send two at once."""
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return None
    start, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = start.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = unchunked(body)
        return None if body is None else (method, path, headers, body)
    return (method, path, headers, body) if len(body) >= int(headers.get("content-length", 0)) else None


def unchunked(body):
    """The content of a chunked body; `None` while its end, trailers included, is missing. A trailer is an error, told instead of it."""
    content = b""
    while True:
        size, end, rest = body.partition(b"\r\n")
        if not end:
            return None
        length = int(size.partition(b";")[0], 16)
        if length == 0:
            trailers, end, _ = (b"\r\n" + rest).partition(b"\r\n\r\n")
            return None if not end else trailers if trailers else content
        if len(rest) < length + 2:
            return None
        content, body = content + rest[:length], rest[length + 2:]


def outcome(request):
    """The status of an answer as API Gateway takes it; else `done` or `error`."""
    if request.path.endswith("/error"):
        return "error"
    if request.headers.get("lambda-runtime-function-response-mode") == "streaming":
        prelude, end, _ = request.body.partition(bytes(8))
        return json.loads(prelude)["statusCode"] if end else f"a broken stream: {request.body[:200]!r}"
    answer = json.loads(request.body)
    return answer.get("statusCode", "done") if isinstance(answer, dict) else "done"


@dataclass(frozen=True)
class Memory:
    resident: int
    peak: int


class Process:
    """A function's process, started as Lambda starts it and killed at the end."""

    def __init__(self, name, command, environment, folder):
        self.name = name
        self.output = tempfile.TemporaryFile()
        self.started = time.perf_counter()
        self.child = subprocess.Popen(
            command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output, close_fds=False
        )
        self.clock = cpu_clock(self.child.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        self.output.close()

    def has_ended(self):
        return self.child.poll() is not None

    def cpu_ns(self):
        """User and system time of all its threads, those that have ended included."""
        return time.clock_gettime_ns(self.clock)

    def memory(self):
        # proc(5) calls `VmRSS` in /proc/PID/status inaccurate; the sum over the mappings is exact.
        resident = kib(f"/proc/{self.child.pid}/smaps_rollup", "Rss")
        return Memory(resident, max(resident, kib(f"/proc/{self.child.pid}/status", "VmHWM")))

    def log(self):
        """The end of what it printed."""
        self.output.seek(0)
        return self.output.read()[-2_000:].decode(errors="replace").strip()


def cpu_clock(pid):
    clock = ctypes.c_int()
    if error := ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise Failed(f"the process has no CPU clock: {os.strerror(error)}")
    return clock.value


def kib(path, name):
    """A field of a file in /proc, in bytes."""
    fields = (line.partition(":") for line in Path(path).read_text().splitlines())
    return next(int(value.split()[0]) * 1024 for field_, _, value in fields if field_ == name)


@dataclass
class Target:
    """What is measured, and what was."""

    name: str
    command: list
    environment: dict
    folder: Path
    size: int
    packed: int | None
    cpu_ms: list = field(default_factory=list)
    wall_ms: list = field(default_factory=list)
    started: list = field(default_factory=list)
    # CPU time, wall time and memory of the first question.
    first: list = field(default_factory=list)

    def start(self, api):
        api.forget()
        return Process(self.name, self.command, {"AWS_LAMBDA_RUNTIME_API": api.address} | self.environment, self.folder)


@dataclass
class Phase:
    """Requests of one kind to one process."""

    function: str
    case: Case
    seconds: list
    cpu_us: float
    before: Memory
    after: Memory


def measure_start(target, api, *, counts, first=None):
    with target.start(api) as process:
        at = api.wait_for_next(process, START_TIMEOUT_S)
        cpu_ns, memory = process.cpu_ns(), process.memory()
        if counts:
            target.cpu_ms.append(cpu_ns / 1e6)
            target.wall_ms.append((at - process.started) * 1e3)
            target.started.append(memory)
        if first:
            answer, seconds = api.invoke(process, json.dumps(first.event).encode())
            if answer != first.expected:
                raise Failed(f"{process.name}, {first.name}: answered with {answer}, not {first.expected}\n{process.log()}")
            if counts:
                target.first.append(((process.cpu_ns() - cpu_ns) / 1e6, seconds * 1e3, process.memory()))


def measure_requests(process, api, case, options):
    event = json.dumps(case.event).encode()
    api.acknowledges_at_once = case.acknowledged_at_once

    def invoke():
        answer, seconds = api.invoke(process, event)
        if answer != case.expected:
            raise Failed(f"{process.name}, {case.name}: answered with {answer}, not {case.expected}\n{process.log()}")
        return seconds

    until = time.perf_counter() + options.seconds
    for _ in range(WARM_UP):
        invoke()
    before, cpu_ns, seconds = process.memory(), process.cpu_ns(), []
    while len(seconds) < options.requests and time.perf_counter() < until:
        seconds.append(invoke())
    if not seconds:
        raise Failed(f"{process.name}, {case.name}: {WARM_UP} requests took {options.seconds} s")
    return Phase(process.name, case, seconds, (process.cpu_ns() - cpu_ns) / 1e3 / len(seconds), before, process.memory())


def rust_targets(folder, names, nowhere, models):
    for name in names:
        binary, package = folder / name / "bootstrap", folder / name / "bootstrap.zip"
        if not binary.is_file():
            raise Failed(f"{binary} is not there; infra/package.sh --hosted-models makes it, --functions names another folder")
        packed = package.stat().st_size if package.is_file() else None
        environment = LAMBDA_ENVIRONMENT | function_environment(nowhere) | (local_models(models) if models else {})
        yield Target(name, [str(binary)], environment, binary.parent, binary.stat().st_size, packed)


def python_target(folder):
    """The Python function; installs it when it is not there."""
    venv = CACHE / "venv"
    marker, wanted = venv / "installed", " ".join(PYTHON_PACKAGES)
    if not marker.is_file() or marker.read_text() != wanted:
        say("installing the Python function's packages from PyPI")
        shutil.rmtree(venv, ignore_errors=True)
        pip = [venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        for command in ([sys.executable, "-m", "venv", venv], [*pip, *PYTHON_PACKAGES]):
            if run(command, INSTALL_TIMEOUT_S).returncode:
                raise Failed("the Python function cannot be installed; --no-python leaves it out")
        marker.write_text(wanted)
    (folder / "app.py").write_text(PYTHON_APP)
    packages = next(venv.glob("lib/python*/site-packages"))
    size = sum(
        file.stat().st_size for entry in packages.iterdir() if not entry.name.startswith(NOT_DEPLOYED)
        for file in ([entry] if entry.is_file() else entry.rglob("*")) if file.is_file()
    )
    environment = LAMBDA_ENVIRONMENT | {"LAMBDA_TASK_ROOT": str(folder), "_HANDLER": "app.handler"}
    return Target(PYTHON, [str(venv / "bin/python"), "-m", "awslambdaric", "app.handler"], environment, folder, size, None)


def unused_address():
    """An address of this machine that refuses connections, and the socket that keeps others from listening there."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    return f"127.0.0.1:{held.getsockname()[1]}", held


def run(command, timeout_s=PROFILE_TIMEOUT_S, **options):
    """Runs a program to its end, which may be a failure."""
    try:
        return subprocess.run(command, timeout=timeout_s, stdin=subprocess.DEVNULL, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"{Path(command[0]).name} has not ended in {timeout_s} s") from None


def printed(command):
    return run(command, capture_output=True, text=True, errors="replace").stdout


def say(line):
    print(line, file=sys.stderr, flush=True)


def load():
    return " ".join(f"{average:.2f}" for average in os.getloadavg())


def table(title, note, columns, rows):
    """Prints a table in Markdown; all columns but the first are numbers unless they begin with `<`."""
    print(f"\n### {title}\n\n{note}\n")
    print("| " + " | ".join(column.lstrip("<") for column in columns) + " |")
    print("|" + "|".join("---" if at == 0 or column.startswith("<") else "--:" for at, column in enumerate(columns)) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def mib(size):
    return f"{size / MIB:.1f}"


def show_starts(targets, runs):
    rows = []
    for target in targets:
        # Budgets apply to functions without a model.
        budget = None if target.first else CPU_BUDGET_MS.get(target.name)
        resident = statistics.median(memory.resident for memory in target.started)
        peak = statistics.median(memory.peak for memory in target.started)
        rows.append((
            target.name, f"{min(target.cpu_ms):.2f}", f"{statistics.median(target.cpu_ms):.2f}",
            "" if budget is None else f"≤ {budget}" + (" **over**" if statistics.median(target.cpu_ms) > budget else ""),
            f"{min(target.wall_ms):.2f}", f"{statistics.median(target.wall_ms):.2f}", mib(resident), mib(peak),
            f"{target.size / 1e6:.1f}", "" if target.packed is None else f"{target.packed / 1e6:.1f}",
        ))
    note = f"From the start of the process to its first request for an event; {runs} starts of each in turn. Memory is the median's."
    columns = (
        "function", "CPU ms, min", "median", "budget", "wall ms, min", "median", "resident MiB", "peak MiB", "unpacked MB", "zip MB"
    )
    table("Cold start", note, columns, rows)


def show_first_questions(targets):
    rows = []
    for target in targets:
        cpu_ms, wall_ms, memory = zip(*target.first)
        resident, peak = (statistics.median(getattr(it, name) for it in memory) for name in ("resident", "peak"))
        rows.append((
            target.name, f"{min(cpu_ms):.1f}", f"{statistics.median(cpu_ms):.1f}", f"{statistics.median(wall_ms):.1f}",
            mib(resident), mib(peak),
        ))  # fmt: skip
    note = (
        "The first question of a process: it is embedded by the model that the start loaded, and then finds no store. Memory is the median's"
        " after it."
    )
    table("First question", note, ("function", "CPU ms, min", "median", "wall ms, median", "resident MiB", "peak MiB"), rows)


def show_ratios(targets, python):
    def ratios(target):
        for of in (min, statistics.median):
            yield f"{of(python.cpu_ms) / of(target.cpu_ms):.0f}×"
            yield f"{of(python.wall_ms) / of(target.wall_ms):.0f}×"
        resident = [statistics.median(memory.resident for memory in each.started) for each in (python, target)]
        yield f"{resident[0] / resident[1]:.0f}×"
        yield f"{python.size / target.size:.0f}×"

    packages = ", ".join(PYTHON_PACKAGES)
    note = f"How many times a function's figure above the Python function's is ({packages}; Python {sys.version.split()[0]})."
    columns = ("function", "CPU, min", "wall, min", "CPU, median", "wall, median", "resident", "unpacked")
    table("The Python function, as a multiple", note, columns, [(target.name, *ratios(target)) for target in targets])


def show_requests(phases):
    rows = []
    for phase in (phase for phase in phases if phase.case.is_overhead):
        ordered = sorted(phase.seconds)
        microseconds = [f"{of * 1e6:,.0f}" for of in (ordered[0], statistics.median(ordered), ordered[int(len(ordered) * 0.95)])]
        rows.append((phase.function, phase.case.name, f"{len(ordered):,}", *microseconds, f"{phase.cpu_us:,.0f}"))
    note = (
        "From the event handed out to the complete answer, in microseconds, for requests that ask no store and no model; the time that the"
        f" Runtime API takes on loopback included. CPU time is the whole process's, by request. {WARM_UP} requests went before. A stream"
        " goes in several packets; where they are acknowledged at once, none waits for a delayed acknowledgement of the one before."
    )
    table("Warm requests", note, ("function", "<request", "requests", "min", "median", "p95", "CPU"), rows)


def show_memory(phases):
    rows = []
    for phase in phases:
        growth = phase.after.resident - phase.before.resident
        rows.append((
            phase.function, phase.case.name, f"{len(phase.seconds):,}", f"{statistics.median(phase.seconds) * 1e3:.2f}",
            mib(phase.before.resident), mib(phase.after.resident), f"{growth / 1024:+,.0f}", f"{growth / len(phase.seconds):+,.0f}",
            mib(phase.after.peak),
        ))
    note = (
        f"Resident memory after the first {WARM_UP} requests of a kind and after the last one; a function's rows are one process, in this"
        " order. What ends with 503 or an error asked stores and models where every connection is refused: it goes the whole way of a"
        " failure, retries included, and no further."
    )
    columns = (
        "function", "<request", "requests", "median ms", "first MiB", "last MiB", "growth KiB", "bytes a request", "peak MiB"
    )
    table("Memory", note, columns, rows)


def bench(options):
    nowhere, held = unused_address()
    api = RuntimeApi()
    with held, tempfile.TemporaryDirectory() as folder:
        functions = list(rust_targets(options.functions.resolve(), options.only, nowhere, options.models))
        python = None if options.no_python or options.models else python_target(Path(folder))
        targets = functions + ([python] if python else [])
        print(f"Load average before: {load()}; {os.cpu_count()} CPUs; {os.uname().machine}, Linux {os.uname().release}.")
        # The first round only fills the page cache and Python's bytecode cache.
        for round_ in range(options.runs + 1):
            for target in targets:
                measure_start(target, api, counts=round_ > 0, first=options.models and FIRST_QUESTIONS.get(target.name))
        say(f"{options.runs} starts of each")
        if options.models:
            show_starts(functions, options.runs)
            show_first_questions([target for target in functions if target.first])
            return False
        phases = []
        for target in targets:
            with target.start(api) as process:
                api.wait_for_next(process, START_TIMEOUT_S)
                phases += [measure_requests(process, api, case, options) for case in CASES[target.name]]
            say(f"warm requests of {target.name}")
    print(f"\nLoad average after: {load()}.")
    show_starts(targets, options.runs)
    if python:
        show_ratios(functions, python)
    show_requests(phases)
    show_memory(phases)
    return any(min(target.cpu_ms) > CPU_BUDGET_MS.get(target.name, min(target.cpu_ms)) for target in functions)


@dataclass(frozen=True)
class Frame:
    symbol: str
    # The file that contains it, or perf's name for the kernel.
    object: str

    def is_kernel(self):
        return self.object.startswith("[")


def show_symbols(options):
    if not options.binary.is_file():
        raise Failed(f"{options.binary} is not there; --help tells how to build it")
    profilers = {"perf": (perf_works, sample_starts), "callgrind": (lambda: bool(shutil.which("valgrind")), count_instructions)}
    names = [options.profiler] if options.profiler else list(profilers)
    for works, show in (profilers[name] for name in names):
        if works():
            nowhere, held = unused_address()
            with held, tempfile.TemporaryDirectory() as folder:
                show(options, LAMBDA_ENVIRONMENT | function_environment(nowhere), Path(folder))
            return 0
    raise Failed(f"no {' and no '.join(names)} that works here; Debian's packages are linux-perf and valgrind")


def perf_works():
    if not (perf := shutil.which("perf")):
        return False
    # perf may be forbidden in containers or for this user.
    return run([perf, "record", "--quiet", "-e", "cpu-clock", "-o", "/dev/null", "true"], capture_output=True).returncode == 0


def end(process, signal_):
    """Ends a profiler that writes its file then."""
    process.child.send_signal(signal_)
    try:
        process.child.wait(PROFILE_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise Failed(f"the profiler has not ended in {PROFILE_TIMEOUT_S} s\n{process.log()}") from None


def sample_starts(options, environment, folder):
    """Samples starts with perf: user and kernel time, by symbol."""
    api, binary, data = RuntimeApi(), str(options.binary.resolve()), folder / "perf.data"
    record = [
        shutil.which("perf"), "record", "--quiet", "--no-buildid-cache", "--clockid", "CLOCK_MONOTONIC", "-e", "cpu-clock", "-F",
        str(SAMPLES_PER_S), "-m", str(BUFFER_PAGES), "--call-graph", f"dwarf,{STACK_BYTES}", "-o", str(data), "--", binary,
    ]
    script = [record[0], "script", "-i", str(data), "--ns", "--no-inline", "-F", "time,ip,sym,dso"]
    stacks = []
    for _ in range(options.runs):
        with Target("perf", record, environment, folder, 0, None).start(api) as process:
            ready = api.wait_for_next(process, START_TIMEOUT_S)
            end(process, signal.SIGINT)
        # `perf_counter` reads CLOCK_MONOTONIC; later samples belong to the end of the process.
        stacks += [stack for at, stack in samples(printed(script)) if at <= ready]
    known = Counter(frame.symbol != "[unknown]" for stack in stacks for frame in stack if frame.object == binary)
    if known[True] <= known[False]:
        raise Failed(f"{options.binary} has no symbols; --help tells how to build one that has")
    show_stacks(stacks, binary, options.runs)


def samples(text):
    """The time of each of perf's samples and its frames, innermost first."""
    for block in text.split("\n\n"):
        at, *lines = block.strip("\n").split("\n")
        if not at.strip().endswith(":"):
            continue
        frames = (re.fullmatch(r"\s*[0-9a-f]+ (.*) \((.*)\)", line) for line in lines)
        if stack := [Frame(frame[1], frame[2]) for frame in frames if frame]:
            yield float(at.strip().rstrip(":")), stack


def show_stacks(stacks, binary, runs):
    """Prints where samples are: by kind, by symbol with all it calls, and by symbol alone."""
    kinds, inclusive, exclusive = Counter(), Counter(), Counter()
    for stack in stacks:
        kinds[kind(stack, binary)] += 1
        exclusive[stack[0]] += 1
        inclusive.update({frame.symbol for frame in stack if frame.object == binary and not SURROUNDING.match(frame.symbol)})

    def rows(counts, names):
        for key, count in counts.most_common(TOP):
            yield (*names(key), f"{count * 1e3 / SAMPLES_PER_S / runs:.3f}", f"{count / len(stacks):.1%}")

    total = len(stacks) * 1e3 / SAMPLES_PER_S / runs
    note = (
        f"{runs} starts until the first request for an event, {SAMPLES_PER_S:,} samples a second, {total:.1f} ms of CPU a start; taking the"
        " samples is part of it. Load average: " + load() + "."
    )
    table("What the CPU does", note, ("what", "ms", "share"), rows(kinds, lambda name: (name,)))
    note = (
        "The binary's functions with all that they call, the kernel's work included; without those of the runtime around them. What was"
        " inlined counts for its caller."
    )
    table("Inclusive", note, ("symbol", "ms", "share"), rows(inclusive, lambda name: (f"`{shortened(name)}`",)))
    note = "By the innermost function, wherever it is."
    cells = rows(exclusive, lambda frame: (f"`{shortened(frame.symbol)}`", Path(frame.object).name))
    table("Exclusive", note, ("symbol", "<in", "ms", "share"), cells)


def kind(stack, binary):
    """What a sample is of: whose code, or what the kernel was asked for."""
    if not stack[0].is_kernel():
        name = Path(stack[0].object).name
        return "the binary's code" if stack[0].object == binary else "the dynamic loader" if name.startswith("ld-") else name
    kernel = [frame.symbol for frame in stack if frame.is_kernel()]
    called = next((symbol for symbol in kernel if re.match(r"__(x64|arm64)_sys_|__do_sys_", symbol)), None)
    if called and "exec" in called:
        return "kernel: exec"
    if any(re.search(r"handle_mm_fault|do_page_fault|exc_page_fault|do_mem_abort", symbol) for symbol in kernel):
        return "kernel: page faults"
    return f"kernel: {re.sub(r'^__.*?_sys_', '', called)}" if called else "kernel: the rest"


def count_instructions(options, environment, folder):
    """Counts the instructions of one start with callgrind; the kernel's are not among them."""
    api, data = RuntimeApi(), folder / "callgrind.out"
    valgrind = [shutil.which("valgrind"), "--tool=callgrind", f"--callgrind-out-file={data}", str(options.binary.resolve())]
    with Target("callgrind", valgrind, environment, folder, 0, None).start(api) as process:
        api.wait_for_next(process, PROFILE_TIMEOUT_S)
        end(process, signal.SIGTERM)
    note = "Instructions of one start and of the process's end, without the kernel's."
    for title, inclusive in (("Inclusive", True), ("Exclusive", False)):
        flags = ["--threshold=100", "--auto=no", f"--inclusive={'yes' if inclusive else 'no'}"]
        counts = instructions(printed(["callgrind_annotate", *flags, str(data)]), max if inclusive else int.__add__)
        if not any(object_ == options.binary.name and not symbol.startswith("0x") for symbol, object_ in counts):
            raise Failed(f"{options.binary} has no symbols; --help tells how to build one that has")
        shown = [(key, count) for key, count in counts.most_common() if not (inclusive and SURROUNDING.match(key[0]))]
        rows = [(f"`{shortened(symbol)}`", object_, f"{count:,}") for (symbol, object_), count in shown[:TOP]]
        table(title, note, ("symbol", "<in", "instructions"), rows)


def instructions(annotated, merged):
    """What callgrind_annotate lists, by symbol and object; it lists a function once for each source file it has code from."""
    counts, objects = Counter(), {}
    for line in annotated.splitlines():
        if not (listed := re.fullmatch(r"\s*([\d,]+) \([^)]*\)\s+[^:]*:(.+?)(?: \[([^]]*)\])?", line)):
            continue
        symbol, count = listed[2], int(listed[1].replace(",", ""))
        if listed[3]:
            objects[symbol] = Path(listed[3]).name
        counts[symbol] = merged(counts[symbol], count)
    return Counter({(symbol, objects.get(symbol, "")): count for symbol, count in counts.items()})


def shortened(symbol, most=110):
    """A symbol in one cell of a table: without its hash, and not longer than a line."""
    symbol = re.sub(r"::h[0-9a-f]{16}$", "", symbol).replace("|", "\\|")
    return symbol if len(symbol) <= most else f"{symbol[:most]}…"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=Path, default=ROOT / "target/lambda", metavar="DIR",
                        help="where FUNCTION/bootstrap is (target/lambda)")
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(FUNCTIONS), metavar="NAMES",
                        help="some of query,search,health,ingest")
    parser.add_argument("--runs", type=int, default=30, help="starts of each function (30)")
    parser.add_argument("--requests", type=int, default=1000, help="warm requests of each kind (1000)")
    parser.add_argument("--seconds", type=float, default=15, help="what warm requests of one kind may take; fewer are made then (15)")
    parser.add_argument("--no-python", action="store_true", help="leave the Python function out")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="measure functions that were built with local models; these are there")
    parser.add_argument("--symbols", action="store_true", help="print where the time of --binary's cold start goes, and nothing else")
    parser.add_argument("--binary", type=Path, metavar="PATH", help="a function's binary with its symbols")
    parser.add_argument("--profiler", choices=("perf", "callgrind"), help="instead of the first that works")
    options = parser.parse_args()
    if options.symbols != (options.binary is not None):
        parser.error("--symbols and --binary go together")
    if options.runs < 1 or options.requests < 1 or not set(options.only) <= set(FUNCTIONS):
        parser.error("--runs and --requests are at least 1, and --only names functions")
    return show_symbols(options) if options.symbols else bench(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failed, OSError) as failure:
        sys.exit(f"error: {failure}")
