#!/usr/bin/env python3
"""Uploads a book to bookrag's bucket: the files that bookrag reads, if they differ from their objects. Deletes all other objects below the prefix.

usage: upload_book.py SITE s3://BUCKET/PREFIX

Needs the commands `bookrag`, which lists the files of the folder SITE, and `aws`. Settings are uploaded first, then the files that pages use, then
pages; objects that are no longer needed are deleted after them, and the commit is written last. So a page never lacks what it uses, and a renamed page stays searchable.

A file equals its object if the object's ETag is the file's MD5. S3 makes no such ETag of an object that was uploaded in several parts (the AWS CLI
does so from 8 MB) or is encrypted with a key of KMS: these are uploaded each time.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# The object with the commit that the other objects are of. Without it the commit is unknown.
COMMIT = "bookrag-commit.txt"
# The order of uploads.
KINDS = ["settings", "input", "page"]
# The exit codes of `bookrag files`: all files are listed, and some cannot be read.
LISTED = (0, 3)
# The most objects that S3 deletes in one request.
MAX_DELETED_AT_ONCE = 1000
# More deletions than this, and of more than half of the objects, may be a mistake.
FEW_DELETIONS = 10
# The files by which the ingest function finds a site.
CONFIG = re.compile(r"(.*/)?(docusaurus\.config\.\w+|bookrag\.toml)")


def run(command, codes=(0,)):
    """A command's standard output. Ends this program if the command fails."""
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    except FileNotFoundError:
        sys.exit(f"error: there is no command `{command[0]}`")
    for line in done.stderr.splitlines():
        # An annotation of GitHub's for each file that is left out.
        is_warning = "GITHUB_ACTIONS" in os.environ and line.startswith("not ")
        print(f"::warning::{line}" if is_warning else line, file=sys.stdout if is_warning else sys.stderr)
    if done.returncode not in codes:
        # With --json, bookrag prints its error there.
        sys.stderr.write(done.stdout)
        sys.exit(f"error: `{' '.join(command[:3])}` ended with {done.returncode}; nothing more was done")
    return done.stdout


def files_of(options):
    """What `bookrag files` lists."""
    command = [options.bookrag, "files", str(options.site), "--json"]
    if options.build:
        command += ["--build", str(options.build)]
    return [json.loads(line) for line in run(command, LISTED).splitlines()]


def objects_of(bucket, prefix):
    """The ETags of the objects below the prefix, by key."""
    command = ["aws", "s3api", "list-objects-v2", "--bucket", bucket, "--prefix", prefix]
    listed = run([*command, "--query", "Contents[].[Key,ETag]", "--output", "json"])
    pairs = json.loads(listed or "null") or []
    return {key: etag.strip('"') for key, etag in pairs if not key.endswith("/")}


def md5(path):
    return hashlib.md5(Path(path).read_bytes(), usedforsecurity=False).hexdigest()


def is_kept(key, unreadable):
    """Whether an object is that of a file, or in a folder, that cannot be read now and so may still exist."""
    return any(key == path or path.endswith("/") and key.startswith(path) for path in unreadable)


def upload(files, bucket, prefix):
    """Uploads files, each with its key below the prefix. One command for all: the AWS CLI takes half a second to start."""
    with tempfile.TemporaryDirectory() as folder:
        for key, file in files:
            copy = Path(folder, key)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        run(["aws", "s3", "cp", "--recursive", "--only-show-errors", folder, f"s3://{bucket}/{prefix}"])


def upload_text(key, text, bucket, prefix):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "text")
        file.write_text(text)
        upload([(key, file)], bucket, prefix)


def delete(keys, bucket):
    with tempfile.TemporaryDirectory() as folder:
        request = Path(folder, "delete.json")
        for at in range(0, len(keys), MAX_DELETED_AT_ONCE):
            objects = [{"Key": key} for key in keys[at : at + MAX_DELETED_AT_ONCE]]
            request.write_text(json.dumps({"Objects": objects, "Quiet": True}))
            command = ["aws", "s3api", "delete-objects", "--bucket", bucket, "--delete", f"file://{request}"]
            errors = json.loads(run([*command, "--output", "json"]) or "{}").get("Errors", [])
            for error in errors:
                print(f"error: {error.get('Key')} was not deleted: {error.get('Message')}", file=sys.stderr)
            if errors:
                sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path, help="the site's folder")
    parser.add_argument("url", metavar="s3://BUCKET/PREFIX", help="where the ingest function reads the book (output BookUrl)")
    parser.add_argument("--build", type=Path, metavar="DIR", help="the folder that the site was built into, for pages that only the build has")
    parser.add_argument("--bookrag", default="bookrag", metavar="COMMAND", help="the command bookrag (%(default)s)")
    parser.add_argument("--commit", default="", metavar="HASH", help="the commit that the files are of, which answers name")
    parser.add_argument("--dry-run", action="store_true", help="only print what would be uploaded and deleted")
    parser.add_argument("--allow-mass-deletion", action="store_true", help="delete even most of the objects")
    options = parser.parse_args()
    url = re.fullmatch(r"s3://([^/]+)/(.*[^/])/*", options.url)
    if not url:
        parser.error(f"`{options.url}` is not s3://BUCKET/PREFIX; without a prefix, everything in the bucket would be deleted")
    bucket, prefix = url[1], f"{url[2]}/"

    listed = files_of(options)
    files = [file for file in listed if file["kind"] in KINDS]
    if not files:
        sys.exit("error: the site has no files that can be read; nothing was done")
    objects = objects_of(bucket, prefix)
    former_commit = objects.pop(prefix + COMMIT, None)
    changed = [file for file in files if objects.get(prefix + file["key"]) != md5(file["file"])]
    wanted = {prefix + file["key"] for file in files}
    unreadable = [prefix + file["key"] for file in listed if file["kind"] == "unreadable"]
    gone = [key for key in objects if key not in wanted and not is_kept(key, unreadable)]
    # Without its config, the ingest function takes no folder for a site, so the other objects of a site that moved are no pages any more.
    gone.sort(key=lambda key: (not CONFIG.fullmatch(key), key))
    total = len(wanted | objects.keys())
    if len(gone) > FEW_DELETIONS and len(gone) * 2 > total and not options.allow_mass_deletion:
        sys.exit(f"error: {len(gone)} of {total} objects would be deleted, so nothing was done. Is the site right? If so, use --allow-mass-deletion")

    commit = f"{options.commit}\n" if options.commit else ""
    is_same_commit = commit and former_commit == hashlib.md5(commit.encode(), usedforsecurity=False).hexdigest()
    # While the objects are of two commits, none is named.
    if former_commit and (changed or gone or not is_same_commit) and not options.dry_run:
        delete([prefix + COMMIT], bucket)
        is_same_commit = False
    for kind in KINDS:
        of_kind = [(file["key"], file["file"]) for file in changed if file["kind"] == kind]
        for key, _ in of_kind:
            print(f"upload {key}")
        if of_kind and not options.dry_run:
            upload(of_kind, bucket, prefix)
    for key in gone:
        print(f"delete {key.removeprefix(prefix)}")
    if gone and not options.dry_run:
        delete(gone, bucket)
    if commit and not is_same_commit and not options.dry_run:
        upload_text(COMMIT, commit, bucket, prefix)
    dry_run = "dry run: " if options.dry_run else ""
    print(f"{dry_run}uploaded {len(changed)}, unchanged {len(files) - len(changed)}, deleted {len(gone)}")


if __name__ == "__main__":
    main()
