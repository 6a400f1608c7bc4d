#!/usr/bin/env python3
"""Checks on real sites that a bucket has the book of the folder: uploads each site with infra/upload_book.py to moto's S3, and compares the chunks
of the bucket with those of the folder, and what is said about them.

usage: tests/upload_equals_sync.py BOOKRAG SITE...

BOOKRAG is the command, built with `--features cloud`. Run it with a Python that has moto and the AWS CLI, such as that of tests/run.sh
(~/.cache/bookrag/test-tools/venv/bin/python), by hand or nightly: some forty sites take ten minutes. Prints a line for each site, and ends with 1
if one differs.
"""

import difflib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import boto3
from moto.server import ThreadedMotoServer

ROOT = Path(__file__).resolve().parent.parent
BUCKET = "books"
# The most lines of a difference that are printed.
MOST_LINES = 6
# The exit codes of `bookrag chunks`: all pages are read, or some cannot be.
READ = (0, 3)


def chunks(bookrag, site):
    """The chunks of a site, one a line, and what was said about it."""
    done = subprocess.run([bookrag, "chunks", site, "--jsonl"], capture_output=True, text=True, check=False)
    # Notes are about folders.
    said = [line for line in done.stderr.replace(site, "SITE").splitlines() if not line.startswith("note: ")]
    return done.returncode, sorted(done.stdout.splitlines()), sorted(said)


def uploaded(bookrag, site, url):
    command = [sys.executable, ROOT / "infra/upload_book.py", site, url, "--bookrag", bookrag]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def compare(bookrag, site, url):
    """How a folder and its upload compare, what differs, and the number of chunks."""
    code, local, said = chunks(bookrag, site)
    if code not in READ or not local:
        return "unread", [" ".join(said)[:200]], 0
    done = uploaded(bookrag, site, url)
    if done.returncode != 0:
        return "differs", [f"the upload failed: {done.stderr[-200:]}"], 0
    remote_code, remote, remote_said = chunks(bookrag, url)
    differences = [] if remote_code == code else [f"exit code {code} became {remote_code}"]
    for one, other in ((local, remote), (said, remote_said)):
        changes = difflib.unified_diff(one, other, "folder", "bucket", lineterm="", n=0) if one != other else []
        differences += [line[:300] for line in changes][: MOST_LINES + 3]
    return "differs" if differences else "equal", differences, len(local)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    bookrag, sites = str(Path(sys.argv[1]).resolve()), [str(Path(site).resolve()) for site in sys.argv[2:]]
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as data:
        os.environ["BOOKRAG_DATA"] = data
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        states = Counter()
        for number, site in enumerate(sites):
            started = time.monotonic()
            state, differences, count = compare(bookrag, site, f"s3://{BUCKET}/{number}")
            states[state] += 1
            print(f"{state}\t{count} chunks\t{time.monotonic() - started:.0f} s\t{site}", flush=True)
            for line in differences:
                print(f"    {line}", flush=True)
    server.stop()
    print(f"{states['equal']} sites are equal, {states['differs']} differ, {states['unread']} cannot be read")
    return states["differs"] > 0


if __name__ == "__main__":
    sys.exit(main())
