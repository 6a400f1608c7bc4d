"""Holds wait_until_ingested.py to a scripted `aws`: python3 -m unittest infra/test_wait_until_ingested.py"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("wait_until_ingested.py")

# Returns the scripted responses in turn and repeats the last one; records the calls.
FAKE_AWS = """#!{python}
import json, pathlib, sys, time
folder = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
calls = folder / "calls.jsonl"
asked = calls.read_text().splitlines() if calls.exists() else []
payload = pathlib.Path(arguments[arguments.index("--payload") + 1].removeprefix("fileb://")).read_text()
calls.write_text("\\n".join(asked + [json.dumps({{"arguments": arguments, "payload": json.loads(payload)}})]))
answers = json.loads((folder / "answers.json").read_text())
answer = answers[min(len(asked), len(answers) - 1)]
time.sleep(answer.get("seconds", 0))
if "exit" in answer:
    sys.exit(answer["exit"])
pathlib.Path(arguments[-1]).write_text(json.dumps(answer["payload"]))
print(json.dumps(answer.get("invocation", {{"StatusCode": 200, "ExecutedVersion": "$LATEST"}})))
"""


def status(pending=(), skipped=(), stale=(), failed=(), state="live", pages=63, missing=()):
    """An answer of the ingest function."""

    def with_reasons(pairs):
        return [{"source": source, "reason": reason} for source, reason in pairs]

    return {
        "payload": {
            "pages": pages,
            "documents": pages,
            "indexed": pages - len(pending) - len(skipped),
            "pending": [{"source": source, "change": "changed"} for source in pending],
            "skipped": with_reasons(skipped),
            "stale": list(stale),
            "failed": with_reasons(failed),
            "drafts": [],
            "missing_files": [{"source": source, "path": path} for source, path in missing],
            "index": {"id": 1, "state": state, "chunks": 645, "documents": pages, "pending_points": 0},
        }
    }


FUNCTION_ERROR = {
    "invocation": {"StatusCode": 200, "FunctionError": "Unhandled"},
    "payload": {"errorType": "Catalog", "errorMessage": "the catalog did not answer"},
}


class WaitUntilIngested(unittest.TestCase):
    def run_script(self, answers, *arguments, timeout="20"):
        with tempfile.TemporaryDirectory() as folder:
            aws = Path(folder, "aws")
            aws.write_text(FAKE_AWS.format(python=sys.executable))
            aws.chmod(0o755)
            Path(folder, "answers.json").write_text(json.dumps(answers))
            command = [sys.executable, SCRIPT, "book-ingest", "--interval", "0", "--timeout", timeout, *arguments]
            environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
            run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
            calls = Path(folder, "calls.jsonl").read_text().splitlines()
        return run, [json.loads(call) for call in calls]

    def test_an_ingested_book_is_done_at_once(self):
        run, calls = self.run_script([status()])
        self.assertEqual((run.returncode, run.stdout), (0, "ingested: 63 pages, 645 chunks\n"), run.stderr)
        self.assertEqual(len(calls), 1)
        self.assertEqual(calls[0]["payload"], {"command": "status", "prefix": ""})
        self.assertEqual(calls[0]["arguments"][:4], ["lambda", "invoke", "--function-name", "book-ingest"])

    def test_what_is_pending_is_waited_for(self):
        answers = [status(pending=["docs/a.md", "docs/b.md"]), status(pending=["docs/b.md"]), status()]
        run, calls = self.run_script(answers, "--prefix", "docs/", "--book", "guide")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(len(calls), 3)
        self.assertEqual(calls[2]["payload"], {"command": "status", "prefix": "docs/", "book": "guide"})
        self.assertIn("2 of 63 pages to go", run.stdout)

    def test_a_page_that_cannot_be_read_fails_at_its_line_once_all_others_are_ingested(self):
        skipped = [
            ("docs/a.md", "front matter, line 3: mapping values\nare not allowed, 100%"),
            ("docs/b,c.md", "it has more than 5242880 bytes"),
            ("../docs/d.md", "it is not UTF-8 text"),
        ]
        answers = [status(skipped=skipped[:1], pending=["docs/b,c.md"]), status(skipped=skipped, stale=["docs/b,c.md"])]
        run, calls = self.run_script(answers, "--folder", "website")
        self.assertEqual((run.returncode, len(calls)), (1, 2), run.stdout)
        self.assertIn(
            "::error file=website/docs/a.md,line=3::front matter, line 3: mapping values%0Aare not allowed, 100%25: "
            "the page is not ingested\n",
            run.stdout,
        )
        self.assertIn("::error file=website/docs/b%2Cc.md::it has more than", run.stdout)
        self.assertIn("::error file=docs/d.md::it is not UTF-8 text", run.stdout)
        self.assertIn("readers still get its last good text", run.stdout)

    def test_files_that_pages_import_and_the_bucket_lacks_are_named(self):
        missing = [("docs/a.mdx", "shared/_p.mdx")] + [(f"docs/{n}.mdx", "docs/hello.js") for n in range(22)]
        run, _ = self.run_script([status(missing=missing)], "--folder", "website")
        self.assertEqual(run.returncode, 0, run.stdout)
        warning = "::warning file=website/docs/a.mdx::it imports shared/_p.mdx, which the bucket does not have\n"
        self.assertTrue(run.stdout.startswith(warning), run.stdout)
        self.assertIn("::warning::the bucket lacks 3 more files that pages import\n", run.stdout)
        self.assertTrue(run.stdout.endswith("ingested: 63 pages, 645 chunks\n"), run.stdout)

    def test_when_the_time_is_over_it_is_said_what_is_pending_and_why(self):
        pending = [f"docs/{n}.md" for n in range(25)]
        failed = [("docs/1.md", "the embedder refused it")]
        run, _ = self.run_script([status(pending=pending, failed=failed)], timeout="1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("pending: docs/19.md (changed)\npending: 5 more\n", run.stdout)
        self.assertIn("::error file=docs/1.md::it could not be ingested: the embedder refused it", run.stdout)
        self.assertIn("::error::after 1 s 25 pages are pending", run.stdout)

    def test_a_function_that_fails_for_a_moment_is_asked_again(self):
        run, calls = self.run_script([FUNCTION_ERROR, {"exit": 254}, status()])
        self.assertEqual((run.returncode, len(calls)), (0, 3), run.stdout)
        self.assertIn("attempt 1 of 5: Catalog: the catalog did not answer", run.stdout)

    def test_a_function_that_fails_again_and_again_fails_the_build(self):
        run, calls = self.run_script([FUNCTION_ERROR])
        self.assertEqual((run.returncode, len(calls)), (1, 5), run.stdout)
        self.assertIn("::error::Catalog: the catalog did not answer", run.stdout)

    def test_a_function_that_does_not_answer_is_not_waited_for_beyond_the_time(self):
        run, _ = self.run_script([{"seconds": 30, **status()}], timeout="1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("::error::after 1 s the function has not answered", run.stdout)

    def test_an_index_that_is_not_live_is_waited_for(self):
        run, _ = self.run_script([status(state="building"), status()])
        self.assertEqual(run.returncode, 0, run.stdout)
        run, _ = self.run_script([status(state="building")], timeout="1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("::error::after 1 s the index is building, not live", run.stdout)

    def test_what_waiting_cannot_mend_fails_at_once(self):
        for answer, problem in [
            (status(state="retired"), "is retired"),
            (status(pages=0), "the function finds no page"),
        ]:
            run, calls = self.run_script([answer])
            self.assertEqual((run.returncode, len(calls)), (1, 1), run.stdout)
            self.assertIn(problem, run.stdout)

    def test_another_function_is_told_from_the_ingest_function(self):
        for payload in ({"statusCode": 404}, "pong", None):
            run, _ = self.run_script([{"payload": payload}])
            self.assertEqual(run.returncode, 1)
            self.assertIn("is book-ingest the ingest function?", run.stdout)


if __name__ == "__main__":
    unittest.main()
