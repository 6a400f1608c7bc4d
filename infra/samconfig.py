#!/usr/bin/env python3
"""Says which parameters of samconfig.toml SAM would cut: it ends a value at the first space, unless the value is quoted.

    infra/samconfig.py [--stage STAGE] [FILE]

With a stage, looks at that one alone, and also names values that are still FILL-IN.
"""
import argparse
import re
import sys
import tomllib
from pathlib import Path

# SAM's own pattern of a parameter, in samcli/cli/types.py.
VALUE = r"""("(?:\\.|[^"\\]+)*"|'(?:\\.|[^'\\]+)*'|(?:\\.|[^ "\\]+)+)"""
PAIR = re.compile(r"""(?: )([A-Za-z0-9\\"']+)=""" + VALUE)


def unquoted(value):
    """A value as SAM passes it on: without its quotes, and `\\ `, `\\"` and `\\'` as the character alone."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return re.sub(r"""\\([ "'])""", r"\1", value)


def parsed(override):
    """The parameters of one element of `parameter_overrides`.

    Raises ValueError with what SAM would drop.
    """
    text = " " + override.strip()
    if rest := PAIR.sub("", text).strip():
        name = override.partition("=")[0]
        raise ValueError(f"SAM drops `{rest}` of {name}; write '{name}=\"value with spaces\"'")
    return {name: unquoted(value) for name, value in PAIR.findall(text)}


def overrides(stage):
    """The parameters of a stage of samconfig.toml: a list, or one text as SAM itself writes it."""
    given = stage.get("parameter_overrides", [])
    given = [given] if isinstance(given, str) else given
    return {name: value for override in given for name, value in parsed(override).items()}


def problems(config, stages, filled):
    """What is wrong with the stages."""
    for name in stages:
        try:
            parameters = overrides(config[name]["deploy"]["parameters"])
        except KeyError:
            yield f"there is no [{name}.deploy.parameters]"
        except ValueError as error:
            yield f"[{name}]: {error}"
        else:
            missing = [parameter for parameter, value in parameters.items() if filled and value == "FILL-IN"]
            yield from (f"[{name}]: {parameter} is still FILL-IN" for parameter in missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=Path(__file__).parent.parent / "samconfig.toml")
    parser.add_argument("--stage")
    given = parser.parse_args()
    config = tomllib.loads(given.file.read_text())
    stages = [given.stage] if given.stage else sorted(set(config) - {"version"})
    found = list(problems(config, stages, filled=given.stage is not None))
    for problem in found:
        print(f"{given.file}: {problem}", file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
