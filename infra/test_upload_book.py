"""Holds upload_book.py to a scripted `bookrag` and an `aws` whose buckets are folders: python3 -m unittest infra/test_upload_book.py"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("upload_book.py")

FAKE_BOOKRAG = """#!{python}
import json, pathlib, sys
folder = pathlib.Path(__file__).parent
said = json.loads((folder / "files.json").read_text())
(folder / "asked.json").write_text(json.dumps(sys.argv[1:]))
for line in said["files"]:
    print(json.dumps(line))
print(said["errors"], file=sys.stderr)
sys.exit(said["exit"])
"""

# Appends each change of a bucket to `changes`.
FAKE_AWS = """#!{python}
import hashlib, json, pathlib, shutil, sys
folder = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
option = lambda name: arguments[arguments.index(name) + 1]
buckets = folder / "buckets"
changes = (folder / "changes").open("a")
if arguments[1] == "list-objects-v2":
    bucket = buckets / option("--bucket")
    files = [path for path in sorted(bucket.rglob("*")) if path.is_file()]
    pairs = [[str(path.relative_to(bucket)), '"' + hashlib.md5(path.read_bytes()).hexdigest() + '"'] for path in files]
    print(json.dumps([pair for pair in pairs if pair[0].startswith(option("--prefix"))] or None))
elif arguments[1] == "cp":
    source, target = pathlib.Path(arguments[-2]), buckets / arguments[-1].removeprefix("s3://")
    for path in sorted(source.rglob("*")):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            print("put", copy.relative_to(buckets), file=changes)
    sys.exit((folder / "full").exists())
elif arguments[1] == "delete-objects":
    for entry in json.loads(pathlib.Path(option("--delete").removeprefix("file://")).read_text())["Objects"]:
        (buckets / option("--bucket") / entry["Key"]).unlink()
        print("delete", option("--bucket") + "/" + entry["Key"], file=changes)
else:
    sys.exit("unknown: " + str(arguments))
"""


class UploadBook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in [("bookrag", FAKE_BOOKRAG), ("aws", FAKE_AWS)]:
            program = self.folder / name
            program.write_text(text.format(python=sys.executable))
            program.chmod(0o755)
        (self.folder / "buckets/books").mkdir(parents=True)

    def put(self, key, text):
        path = self.folder / "buckets/books" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_script(self, files, *arguments, url="s3://books/book/", code=0, errors="", environment=()):
        """Uploads files, given as (kind, key, text), and returns the run and the changes of the bucket."""
        lines = []
        for number, (kind, key, text) in enumerate(files):
            line = {"path": f"path/{number}", "kind": kind, "key": key}
            if kind != "unreadable":
                file = self.folder / f"file-{number}"
                file.write_text(text)
                line["file"] = str(file)
            lines.append(line)
        said = {"files": lines, "exit": code, "errors": errors}
        (self.folder / "files.json").write_text(json.dumps(said))
        changes = self.folder / "changes"
        changes.write_text("")
        run = subprocess.run(
            [sys.executable, SCRIPT, "my-site", url, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}", **dict(environment)},
            timeout=60,
            check=False,
        )
        return run, changes.read_text().splitlines()

    BOOK = [
        ("page", "docs/a.mdx", "# A"),
        ("settings", "docusaurus.config.js", "config"),
        ("input", "docs/_p.mdx", "a part"),
        ("page", "docs/ä b.md", "# B"),
    ]
    PUTS = [
        "put books/book/docusaurus.config.js",
        "put books/book/docs/_p.mdx",
        "put books/book/docs/a.mdx",
        "put books/book/docs/ä b.md",
    ]

    def test_pages_are_uploaded_after_what_they_use(self):
        run, changes = self.run_script(self.BOOK)
        self.assertEqual((run.returncode, changes), (0, self.PUTS), run.stderr)
        self.assertTrue(run.stdout.endswith("\nuploaded 4, unchanged 0, deleted 0\n"), run.stdout)
        asked = json.loads((self.folder / "asked.json").read_text())
        self.assertEqual(asked, ["files", "my-site", "--json"])

    def test_only_what_differs_is_uploaded_and_what_is_gone_is_deleted_last(self):
        self.run_script(self.BOOK)
        self.put("book/bookrag.toml", "")
        self.put("book/docs/gone.md", "# Gone")
        self.put("book2/docs/other.md", "# Another book")
        book = [("page", "docs/a.mdx", "# A, edited"), *self.BOOK[1:]]
        run, changes = self.run_script(book)
        expected = ["put books/book/docs/a.mdx", "delete books/book/bookrag.toml", "delete books/book/docs/gone.md"]
        self.assertEqual((run.returncode, changes), (0, expected), run.stderr)
        self.assertTrue(run.stdout.endswith("\nuploaded 1, unchanged 3, deleted 2\n"), run.stdout)
        self.assertEqual(self.run_script(book)[1], [])

    def test_the_commit_is_there_only_while_all_objects_are_of_it(self):
        commit = "bookrag-commit.txt"
        self.assertEqual(self.run_script(self.BOOK, "--commit", "a" * 40)[1], [*self.PUTS, f"put books/book/{commit}"])
        self.assertEqual((self.folder / "buckets/books/book" / commit).read_text(), "a" * 40 + "\n")
        self.assertEqual(self.run_script(self.BOOK, "--commit", "a" * 40)[1], [])
        book = [("page", "docs/a.mdx", "# A, edited"), *self.BOOK[1:]]
        run, changes = self.run_script(book, "--commit", "b" * 40)
        expected = [f"delete books/book/{commit}", "put books/book/docs/a.mdx", f"put books/book/{commit}"]
        self.assertEqual((run.returncode, changes), (0, expected), run.stderr)
        self.assertTrue(run.stdout.endswith("\nuploaded 1, unchanged 3, deleted 0\n"), run.stdout)
        self.assertEqual(self.run_script(book)[1], [f"delete books/book/{commit}"])

    def test_a_dry_run_changes_nothing(self):
        self.put("book/docs/gone.md", "# Gone")
        run, changes = self.run_script(self.BOOK, "--dry-run", "--build", "out")
        self.assertEqual((run.returncode, changes), (0, []), run.stderr)
        self.assertIn("upload docs/a.mdx\n", run.stdout)
        self.assertIn("delete docs/gone.md\n", run.stdout)
        self.assertTrue(run.stdout.endswith("\ndry run: uploaded 4, unchanged 0, deleted 1\n"), run.stdout)
        self.assertEqual(json.loads((self.folder / "asked.json").read_text())[-2:], ["--build", "out"])

    def test_an_empty_list_deletes_nothing(self):
        self.put("book/docs/a.md", "# A")
        unreadable = [("unreadable", "docs/a.md", "")]
        for files, code, problem in [
            ([], 0, "the site has no files that can be read"),
            (unreadable, 3, "the site has no files that can be read"),
            ([], 2, "`bookrag files my-site` ended with 2"),
        ]:
            run, changes = self.run_script(files, code=code)
            self.assertEqual((run.returncode, changes), (1, []), run.stdout)
            self.assertIn(problem, run.stderr)

    def test_a_mass_deletion_is_refused_before_anything_is_uploaded_unless_it_is_allowed(self):
        for number in range(20):
            self.put(f"book/docs/{number}.md", "# Old")
        run, changes = self.run_script(self.BOOK)
        self.assertEqual((run.returncode, changes), (1, []), run.stdout)
        self.assertIn("20 of 24 objects would be deleted", run.stderr)
        run, changes = self.run_script(self.BOOK, "--allow-mass-deletion")
        self.assertEqual((run.returncode, len(changes)), (0, 24), run.stderr)

    def test_a_site_that_moves_keeps_its_pages_until_its_new_ones_are_there(self):
        self.run_script(self.BOOK)
        moved = [(kind, f"website/{key}", text) for kind, key, text in self.BOOK]
        run, changes = self.run_script(moved)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(changes[:4], [put.replace("book/", "book/website/", 1) for put in self.PUTS])
        self.assertEqual(changes[4], "delete books/book/docusaurus.config.js")
        self.assertEqual(len(changes), 8)

    def test_what_cannot_be_read_now_is_not_deleted(self):
        self.run_script(self.BOOK)
        self.put("book/locked/b.md", "# B")
        files = [("unreadable", "docs/a.mdx", ""), ("unreadable", "locked/", ""), *self.BOOK[1:3]]
        run, changes = self.run_script(files, code=3)
        self.assertEqual((run.returncode, changes), (0, ["delete books/book/docs/ä b.md"]), run.stderr)

    def test_nothing_is_deleted_if_an_upload_fails(self):
        self.put("book/docs/gone.md", "# Gone")
        (self.folder / "full").touch()
        run, changes = self.run_script(self.BOOK)
        self.assertEqual((run.returncode, changes), (1, self.PUTS[:1]), run.stdout)

    def test_what_is_left_out_is_an_annotation_of_github(self):
        errors = "not in the book: docs/_x.mdx: docs/a.mdx imports it, and it does not exist\nnote: else"
        run, _ = self.run_script(self.BOOK, errors=errors, environment={"GITHUB_ACTIONS": "true"}.items())
        self.assertTrue(run.stdout.startswith("::warning::not in the book: docs/_x.mdx"), run.stdout)
        self.assertEqual(run.stderr, "note: else\n")

    def test_a_bucket_without_a_prefix_is_refused(self):
        for url in ["s3://books", "s3://books/", "books/book", "s3:///book"]:
            run, changes = self.run_script(self.BOOK, url=url)
            self.assertEqual((run.returncode, changes), (2, []), run.stdout)
            self.assertIn("is not s3://BUCKET/PREFIX", run.stderr)


if __name__ == "__main__":
    unittest.main()
