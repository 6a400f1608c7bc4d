#!/usr/bin/env python3
"""Says which parameters of samconfig.toml SAM would cut: it ends a value at the first space, unless the value is quoted.

    infra/samconfig.py [FILE]
"""
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
    """The parameters of a stage of samconfig.toml."""
    return {name: value for override in stage.get("parameter_overrides", []) for name, value in parsed(override).items()}


def main():
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "samconfig.toml"
    config = tomllib.loads(file.read_text())
    failed = False
    for name in sorted(set(config) - {"version"}):
        try:
            overrides(config[name]["deploy"]["parameters"])
        except ValueError as error:
            print(f"{file}: [{name}]: {error}", file=sys.stderr)
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
