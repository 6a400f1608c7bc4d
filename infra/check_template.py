#!/usr/bin/env python3
"""Translates template.yaml to CloudFormation, offline, and holds it to what its comments promise (infra/checks, one file a subject).

usage: check_template.py [--self-test] [OUT.json]

Prints what is broken and ends with 1. OUT.json gets the translated template. With --self-test each check must also catch what a list of
breakages does to the template: a check that cannot fail proves nothing.
"""

import json
import logging
import os
import re
import sys
from pathlib import Path

from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.yaml_helper import yaml_parse

from checks import BREAKAGES, CHECKS, ROOT, Stack
from checks.stack import unless

ATTRIBUTES = {"Condition", "DependsOn", "DeletionPolicy", "Metadata", "UpdateReplacePolicy"}


def broken(source, path, value):
    """A copy of the template with one place changed."""
    # The round trip through JSON copies what YAML anchors share.
    place = copied = json.loads(json.dumps(source))
    # A dot within a name is escaped with a backslash.
    way = re.split(r"(?<!\\)\.", path)
    if way[0] not in source:
        way = ["Resources", way[0]] + ([] if len(way) == 1 or way[1] in ATTRIBUTES else ["Properties"]) + way[1:]
    if "Events" in way and len(way) > way.index("Events") + 2:
        way.insert(way.index("Events") + 2, "Properties")
    *way, last = (int(step) if step.isdigit() else step.replace("\\.", ".") for step in way)
    for step in way:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copied


def problems(name, stack):
    """What a check says; if it does not find what it looks at, it says so."""
    try:
        yield from CHECKS[name](stack)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, StopIteration) as error:
        yield f"{type(error).__name__}: {error}"


def self_test(source):
    """The breakages that were not caught."""
    for name, path, value in BREAKAGES:
        caught = any(problems(name, Stack(broken(source, path, value))))
        yield from unless(caught, f"{name} does not see {path} = {value!r}")


def main():
    arguments = sys.argv[1:]
    # The translator warns about feature toggles that only AWS's service has.
    logging.disable(logging.WARNING)
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    source = yaml_parse((ROOT / "template.yaml").read_text())
    try:
        stack = Stack(source)
    except InvalidDocumentException as error:
        sys.exit(f"error: template.yaml cannot be translated: {error.message}")
    for argument in arguments:
        if argument != "--self-test":
            Path(argument).write_text(json.dumps(stack.template, indent=1))
    found = [f"{name}: {problem}" for name in CHECKS for problem in problems(name, stack)]
    if "--self-test" in arguments:
        found += self_test(source)
    for problem in found:
        print(f"error: template.yaml: {problem}", file=sys.stderr)
    if found:
        sys.exit(1)
    caught = f", {len(BREAKAGES)} breakages caught" if "--self-test" in arguments else ""
    print(f"template.yaml: {len(stack.resources)} resources, {len(CHECKS)} checks hold{caught}")


if __name__ == "__main__":
    main()
