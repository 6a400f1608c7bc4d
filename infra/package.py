"""Makes a function's package: target/lambda/FUNCTION/bootstrap and models, zipped. For infra/package.sh.

usage: package.py FOLDER ARCHITECTURE MAX_UNZIPPED_BYTES [--database-ca FILE] [MODEL_FOLDER...]
"""

import argparse
import re
import struct
import sys
import zipfile
from pathlib import Path

# The C library of the runtime provided.al2023, as GLIBC_2.MINOR.
GLIBC_MINOR = 34
# `e_machine` of an ELF header: two bytes at offset 18.
MACHINES = {"arm64": 183, "x86_64": 62}


def check_architecture(bootstrap, architecture):
    """Lambda says no more than `exec format error` of a binary for another processor, and only when it is invoked."""
    header = bootstrap.open("rb").read(20)
    if header[:4] != b"\x7fELF":
        raise ValueError(f"{bootstrap} is no Linux binary")
    (machine,) = struct.unpack_from("<H", header, 18)
    if machine != MACHINES[architecture]:
        names = {number: name for name, number in MACHINES.items()}
        raise ValueError(f"{bootstrap} is for {names.get(machine, f'machine {machine}')}, not for {architecture}")


def check_c_library(bootstrap):
    """Lambda says no more than `Runtime.ExitError` of a binary that needs a newer C library than the runtime has."""
    needed = max(map(int, re.findall(rb"GLIBC_2\.(\d+)", bootstrap.read_bytes())), default=0)
    if needed > GLIBC_MINOR:
        raise ValueError(f"{bootstrap} needs glibc 2.{needed}, Lambda has 2.{GLIBC_MINOR}; build it with cargo-lambda and ziglang")


def package(folder, architecture, limit, models, database_ca=None):
    """Writes bootstrap.zip, and returns its path and its unzipped size."""
    check_architecture(folder / "bootstrap", architecture)
    check_c_library(folder / "bootstrap")
    files = [(folder / "bootstrap", "bootstrap")]
    for model in models:
        files += [(file, f"models/{model.name}/{file.name}") for file in sorted(model.iterdir())]
    if database_ca:
        if b"-----BEGIN CERTIFICATE-----" not in database_ca.read_bytes():
            raise ValueError(f"{database_ca} has no certificate (BEGIN CERTIFICATE)")
        files.append((database_ca, "database-ca.pem"))
    size = sum(file.stat().st_size for file, _ in files)
    if size > limit:
        raise ValueError(f"{folder} would have {size} bytes unzipped, Lambda takes {limit}; take fewer models")
    target = folder / "bootstrap.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file, name in files:
            # A fixed time, so that the same build gives the same package and its deployment changes nothing.
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name == "bootstrap" else 0o644) << 16
            archive.writestr(entry, file.read_bytes())
    return target, size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("architecture")
    parser.add_argument("limit", type=int)
    parser.add_argument("--database-ca", type=Path)
    parser.add_argument("models", type=Path, nargs="*")
    given = parser.parse_args()
    try:
        target, size = package(given.folder, given.architecture, given.limit, given.models, given.database_ca)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} unzipped, for {given.architecture}")


if __name__ == "__main__":
    main()
