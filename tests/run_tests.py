#!/usr/bin/env python3
"""Builds all tests of the workspace, and runs their programs two at a time. Prints what each program printed when it has ended.

Many tests wait for servers, so two programs keep two cores busier than one after the other, as `cargo test` runs them.
"""

import json
import os
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

AT_ONCE = 2
# The longest program begins first.
FIRST = "suite"
# What cargo sets for the programs that it runs.
ENVIRONMENT = tomllib.loads((Path(__file__).parent.parent / ".cargo/config.toml").read_text())["env"]


def programs():
    """The program of each test target, with the folder of its package and its name."""
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode != 0:
        sys.exit(built.returncode)
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            yield message["executable"], Path(message["manifest_path"]).parent, message["target"]["name"]


def run(name, command, folder):
    """Runs a program, prints its output, and returns whether it succeeded."""
    started = time.monotonic()
    environment = {**ENVIRONMENT, **os.environ, "CARGO_MANIFEST_DIR": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    seconds = round(time.monotonic() - started)
    sys.stdout.buffer.write(f"\n== {name} ({seconds} s)\n".encode() + done.stdout)
    sys.stdout.flush()
    return done.returncode == 0


def main():
    tests = sorted(programs(), key=lambda it: it[2] != FIRST)
    if not any(name == FIRST for _, _, name in tests):
        sys.exit(f"error: there are no tests named `{FIRST}`")
    # No library has tests in its documentation (`doctest = false`).
    jobs = [(f"{folder.name} {name}", [program], folder) for program, folder, name in tests]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        succeeded = list(pool.map(lambda job: run(*job), jobs))
    failed = [name for (name, _, _), done in zip(jobs, succeeded) if not done]
    if failed:
        sys.exit(f"error: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
