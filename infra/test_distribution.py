"""What infra/distribution.py makes: the npm package runs the right archive and no other, the formula names it."""

import contextlib
import hashlib
import http.server
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from distribution import ARCHIVES, write

# A stand-in for the program: prints what it was given, and ends with a code of its own.
PROGRAM = b'#!/bin/sh\necho "ran: $*"\nexit 4\n'


def archive(path):
    with tarfile.open(path, "w:gz") as tar:
        entry = tarfile.TarInfo("bookrag")
        entry.size, entry.mode = len(PROGRAM), 0o755
        tar.addfile(entry, io.BytesIO(PROGRAM))


@contextlib.contextmanager
def served(folder):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Distribution(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.archives, self.out = self.folder / "release", self.folder / "out"
        self.archives.mkdir()
        for name in ARCHIVES:
            archive(self.archives / name)

    def run_npm(self, *arguments):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "NO_PROXY": "127.0.0.1"}
        command = ["node", str(self.out / "npm" / "bookrag.js"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def test_the_npm_package_runs_the_program_and_downloads_it_once(self):
        with served(self.archives) as url:
            write("1.2.3", url, self.archives, self.out)
            first = self.run_npm("ask", "a b")
        self.assertEqual((first.stdout, first.returncode), ("ran: ask a b\n", 4), first.stderr)
        # The server is gone.
        self.assertEqual(self.run_npm("sync").stdout, "ran: sync\n")

    def test_another_archive_than_the_releases_is_never_run(self):
        with served(self.archives) as url:
            write("1.2.3", url, self.archives, self.out)
            for name in ARCHIVES:
                with open(self.archives / name, "ab") as file:
                    file.write(b"changed")
            refused = self.run_npm("ask")
        self.assertEqual((refused.stdout, refused.returncode), ("", 1))
        self.assertIn("expected", refused.stderr)
        self.assertFalse((self.folder / "cache").exists())

    def test_the_formula_and_the_package_have_the_checksums_of_all_archives(self):
        url = "https://example.org/a/b/releases/download/v1.2.3"
        write("1.2.3", url + "/", self.archives, self.out)
        formula = (self.out / "bookrag.rb").read_text()
        package = json.loads((self.out / "npm" / "package.json").read_text())
        self.assertIn('homepage "https://example.org/a/b"', formula)
        for name, (machine, system, processor) in ARCHIVES.items():
            sha256 = hashlib.sha256((self.archives / name).read_bytes()).hexdigest()
            self.assertIn(f'  {system} do\n    {processor} do\n      url "{url}/{name}"\n      sha256 "{sha256}"\n', formula)
            self.assertEqual(package["release"]["archives"][machine], {"file": name, "sha256": sha256})

    def test_npm_would_publish_the_package_as_it_is(self):
        write("1.2.3", "https://example.org/a/b/releases/download/v1.2.3", self.archives, self.out)
        command = ["npm", "publish", "--dry-run", "--ignore-scripts", "--json"]
        published = subprocess.run(command, cwd=self.out / "npm", capture_output=True, text=True)
        self.assertEqual(published.returncode, 0, published.stderr)
        self.assertNotIn("auto-corrected", published.stderr)
        details = json.loads(published.stdout)
        details = details.get("bookrag", details)
        self.assertEqual(sorted(file["path"] for file in details["files"]), ["bookrag.js", "package.json"])

    def test_a_missing_archive_is_named(self):
        name = next(iter(ARCHIVES))
        (self.archives / name).unlink()
        with self.assertRaisesRegex(ValueError, name):
            write("1.2.3", "https://example.org", self.archives, self.out)


if __name__ == "__main__":
    unittest.main()
