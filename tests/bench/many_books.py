"""Measures `bookrag serve` with many small books: when it listens, its memory, and how long questions take.

    cargo build --release -p bookrag-cli
    python3 tests/bench/many_books.py target/release/bookrag 300

The books are generated in a temporary folder and indexed by a first run. The second run is measured. Only for Linux, where `/proc` has the memory.
"""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

WORDS = "garden kitchen probe wheels dough oven compost frost seed harvest valve sensor pump lamp router cable".split()
PAGES = 4
QUESTIONS = ["How often do I clean the pump of book 77?", "What clicks on the valve?", "Which seed do I need?"]


def write_books(folder, count):
    for book in range(count):
        docs = folder / f"book{book:03}" / "docs"
        docs.mkdir(parents=True)
        config = f"module.exports = {{title: 'Book {book}', baseUrl: '/'}};"
        (docs.parent / "docusaurus.config.js").write_text(config)
        for page in range(PAGES):
            subject, part = WORDS[(book * PAGES + page) % len(WORDS)], WORDS[(book + page * 3) % len(WORDS)]
            (docs / f"page{page}.md").write_text(
                f"# {subject.title()} {book}\n\nThe {subject} of book {book} needs {part} number {page * book}.\n\n"
                f"## Care\n\nClean the {subject} with cloth {book} each {page + 2} weeks.\n"
            )


class Server:
    """A running `bookrag serve` of all books in a folder."""

    def __init__(self, binary, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        books = sorted(path.name for path in folder.iterdir() if path.is_dir())
        self.count, self.log = len(books), folder / "log"
        self.started = time.monotonic()
        with self.log.open("w") as log:
            command = [binary, "serve", *books, "--port", str(self.port)]
            self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)

    def get(self, path, body=None):
        data = body and json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def wait_until_it_listens(self):
        while self.process.poll() is None:
            try:
                return self.get("/api/v1/books")
            except OSError:
                time.sleep(0.01)
        sys.exit(self.log.read_text())

    def wait_until_checked(self):
        while self.log.read_text().count("ask at http") < self.count and self.process.poll() is None:
            time.sleep(0.05)

    def tell(self, event):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        memory = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        print(f"{event}: {time.monotonic() - self.started:.1f} s, {int(memory.split()[1]) // 1024} MiB")

    def ask(self, path, question):
        started = time.monotonic()
        self.get(path, {"query": question})
        print(f"  {path}: {time.monotonic() - started:.3f} s")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main():
    binary, count = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_books(folder, count)
        server = Server(binary, folder)
        server.wait_until_it_listens()
        server.wait_until_checked()
        server.tell("indexed")
        server.stop()

        server = Server(binary, folder)
        server.wait_until_it_listens()
        server.tell("listens")
        server.ask(f"/books/book-{count - 1}/api/v1/chat", QUESTIONS[0])
        server.wait_until_checked()
        server.tell("checked")
        for question in [*QUESTIONS, *QUESTIONS]:
            server.ask("/api/v1/chat", question)
        server.tell("asked")
        server.stop()


if __name__ == "__main__":
    main()
