#!/usr/bin/env python3
"""Waits until bookrag's index holds the book as it is in the bucket, and fails if a page of it cannot be read.

Asks the ingest function for its status, through the AWS CLI, until nothing is pending and the index is the live one. What is
wrong with a page is printed as an annotation of GitHub's: `::error file=docs/a.md,line=3::…`, and as a warning a file that a page
imports and the bucket lacks. Ends with 0 when the book is ingested, 1 when it is not.
"""

import argparse
import json
import posixpath
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# A function's longest run. With its default of a minute, the AWS CLI would retry while the function is still reading a large book.
READ_TIMEOUT_SECONDS = 900
# A single failure may come from a database that wakes up, or from the limit of concurrency.
MAX_FAILURES_IN_A_ROW = 5
# The most pages to name.
MAX_NAMED = 20


class Failure(Exception):
    """Why waiting is over; the book is not ingested."""


def ask(function, about, seconds):
    """The ingest function's status; `about` has the prefix, and the book of several. Raises `Failure` when there is none."""
    with tempfile.TemporaryDirectory() as folder:
        # In a file, because versions 1 and 2 of the AWS CLI parse a payload on the command line differently.
        payload, answer = Path(folder, "payload.json"), Path(folder, "answer.json")
        payload.write_text(json.dumps({"command": "status", **about}))
        command = ["aws", "lambda", "invoke", "--function-name", function, "--payload", f"fileb://{payload}"]
        command += ["--cli-read-timeout", str(READ_TIMEOUT_SECONDS), "--output", "json", str(answer)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        except FileNotFoundError as error:
            raise SystemExit("error: there is no AWS CLI (`aws`)") from error
        except subprocess.TimeoutExpired as error:
            raise Failure("the function did not answer in time") from error
        if run.returncode != 0:
            raise Failure(run.stderr.strip() or f"aws ended with {run.returncode}")
        try:
            invocation, status = json.loads(run.stdout), json.loads(answer.read_text())
        except (OSError, ValueError) as error:
            raise Failure(f"the answer cannot be read: {error}") from error
    if not isinstance(status, dict):
        raise Failure(f"the answer is no object: is {function} the ingest function?")
    if "FunctionError" in invocation:
        kind, message = status.get("errorType", invocation["FunctionError"]), status.get("errorMessage", status)
        raise Failure(f"{kind}: {message}")
    missing = [field for field in ("pages", "pending", "skipped", "index") if field not in status]
    if missing:
        raise Failure(f"the answer has no `{missing[0]}`: is {function} the ingest function?")
    return status


def is_ingested(status):
    """Whether readers have the book. Raises `Failure` when they never will without help."""
    if status["pages"] == 0:
        raise Failure("the function finds no page: its BOOKRAG_SOURCE is another bucket or prefix, or the site's settings are wrong")
    if status["index"]["state"] == "retired":
        raise Failure("the function's index is retired: another deployment feeds the live one")
    return not status["pending"] and status["index"]["state"] == "live"


def wait(function, about, timeout_seconds, interval_seconds):
    """The status of the ingested book, or the last one before the time was over; whether it was."""
    deadline = time.monotonic() + timeout_seconds
    failures, status, said = 0, None, None
    while True:
        try:
            status = ask(function, about, max(1, deadline - time.monotonic()))
            failures = 0
        except Failure as failure:
            failures += 1
            print(f"attempt {failures} of {MAX_FAILURES_IN_A_ROW}: {failure}", flush=True)
            if failures == MAX_FAILURES_IN_A_ROW:
                raise
        else:
            if is_ingested(status):
                return status, True
            saying = f"{len(status['pending'])} of {status['pages']} pages to go, the index is {status['index']['state']}"
            if saying != said:
                print(saying, flush=True)
                said = saying
        if time.monotonic() + interval_seconds >= deadline:
            return status, False
        time.sleep(interval_seconds)


def escaped(text, also=""):
    """A text in one of GitHub's workflow commands."""
    for character in "%\r\n" + also:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def annotate(folder, source, message, level="error"):
    """Prints what is wrong with a page, at its line where the message names one."""
    # A page beside the site's folder has a path that begins with `..`.
    path = escaped(posixpath.normpath((folder / source).as_posix()), ":,")
    line = re.search(r"\bline (\d+)", message)
    at = f"file={path},line={line[1]}" if line else f"file={path}"
    print(f"::{level} {at}::{escaped(message)}")


def warn_of_missing_files(status, folder):
    """Prints the files that pages import and the bucket lacks."""
    missing = status.get("missing_files", [])
    for file in missing[:MAX_NAMED]:
        annotate(folder, file["source"], f"it imports {file['path']}, which the bucket does not have", "warning")
    if len(missing) > MAX_NAMED:
        print(f"::warning::the bucket lacks {len(missing) - MAX_NAMED} more files that pages import")


def report(status, ingested, folder, timeout_seconds):
    """Prints what was found; whether it is as it should be."""
    stale = set(status.get("stale", []))
    for page in status["skipped"]:
        still = "; readers still get its last good text" if page["source"] in stale else ""
        annotate(folder, page["source"], f"{page['reason']}: the page is not ingested{still}")
    warn_of_missing_files(status, folder)
    index = status["index"]
    if ingested:
        if status["skipped"]:
            print(f"{len(status['skipped'])} of {status['pages']} pages cannot be read", file=sys.stderr)
        else:
            print(f"ingested: {status['pages']} pages, {index.get('chunks', '?')} chunks")
        return not status["skipped"]
    failed = {page["source"]: page["reason"] for page in status.get("failed", [])}
    for source, reason in failed.items():
        annotate(folder, source, f"it could not be ingested: {reason}")
    pending = status["pending"]
    for document in pending[:MAX_NAMED]:
        print(f"pending: {document['source']} ({document['change']})")
    if len(pending) > MAX_NAMED:
        print(f"pending: {len(pending) - MAX_NAMED} more")
    waiting = f"{len(pending)} pages are pending" if pending else f"the index is {index['state']}, not live"
    print(f"::error::after {timeout_seconds:g} s {waiting}")
    if pending:
        print('Messages that failed five times are in the dead-letter queue; {"command": "reconcile"} enqueues what is pending.')
    else:
        print('{"command": "reindex"} makes a complete index the live one.')
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("function", help="the ingest function's name or ARN")
    parser.add_argument("--prefix", default="", help="only pages whose path begins so")
    parser.add_argument("--book", help="the id of the book, if the deployment has several")
    parser.add_argument("--folder", default=".", type=Path, help="the site's folder in the repository, for annotations")
    parser.add_argument("--timeout", default=1800, type=float, metavar="SECONDS", help="how long to wait (%(default)s)")
    parser.add_argument("--interval", default=10, type=float, metavar="SECONDS", help="between two looks (%(default)s)")
    options = parser.parse_args()
    about = {"prefix": options.prefix} | ({"book": options.book} if options.book else {})
    try:
        status, ingested = wait(options.function, about, options.timeout, options.interval)
    except Failure as failure:
        print(f"::error::{escaped(str(failure))}")
        return 1
    if status is None:
        print(f"::error::after {options.timeout:g} s the function has not answered")
        return 1
    return 0 if report(status, ingested, options.folder, options.timeout) else 1


if __name__ == "__main__":
    sys.exit(main())
