#!/usr/bin/env python3
"""Checks GitHub workflows: YAML, permissions, pinned actions, and their scripts.

usage: check_workflows.py FILE…

Scripts are read by `bash -n`, and by shellcheck where it is installed.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

PINNED = re.compile(r"[\w./-]+@[0-9a-f]{40}")


def problems_of(path: Path) -> list[str]:
    text = path.read_text()
    workflow = yaml.safe_load(text)
    problems = []
    if workflow.get("permissions") != {}:
        problems.append("the workflow must begin without permissions: `permissions: {}`")
    for name, job in workflow["jobs"].items():
        if "timeout-minutes" not in job:
            problems.append(f"job {name} has no timeout-minutes")
        for step in job["steps"]:
            problems += [f"job {name}: {problem}" for problem in problems_of_step(step)]
    return problems


def problems_of_step(step: dict) -> list[str]:
    problems = []
    if "uses" in step and not PINNED.fullmatch(step["uses"]):
        problems.append(f"{step['uses']} is not pinned to a commit")
    script = step.get("run")
    if script is None:
        return problems
    if "${{" in script:
        problems.append(f"`{step.get('name')}` has an expression in its script; pass it as a variable")
    checks = [["bash", "-n"]]
    if shellcheck := shutil.which("shellcheck"):
        checks.append([shellcheck, "--shell=bash", "-"])
    for command in checks:
        checked = subprocess.run(command, input=script, text=True, capture_output=True)
        if checked.returncode != 0:
            problems.append(f"`{step.get('name')}`: {checked.stdout}{checked.stderr}")
    return problems


def main() -> int:
    failed = False
    for name in sys.argv[1:]:
        for problem in problems_of(Path(name)):
            failed = True
            print(f"{name}: {problem}", file=sys.stderr)
    if not failed:
        print("workflows: nothing to say")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
