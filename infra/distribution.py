#!/usr/bin/env python3
"""Makes a Homebrew formula and an npm package from the archives of a release. Both download an archive and check its SHA-256.

usage: distribution.py VERSION URL ARCHIVES OUT

URL is where the release's files are, such as https://github.com/OWNER/NAME/releases/download/v1.2.3; ARCHIVES is a folder with
bookrag-SYSTEM-ARCHITECTURE.tar.gz for Linux and macOS, x86_64 and arm64. Writes OUT/bookrag.rb and OUT/npm/.
"""

import hashlib
import json
import shutil
import sys
from pathlib import Path

SUMMARY = "Answers questions from a Docusaurus site, and cites each claim"
LAUNCHER = Path(__file__).parent / "npm" / "bookrag.js"
# The archives by their names for npm (`process.platform`-`process.arch`) and for Homebrew (system and processor).
ARCHIVES = {
    "bookrag-linux-x86_64.tar.gz": ("linux-x64", "on_linux", "on_intel"),
    "bookrag-linux-arm64.tar.gz": ("linux-arm64", "on_linux", "on_arm"),
    "bookrag-macos-x86_64.tar.gz": ("darwin-x64", "on_macos", "on_intel"),
    "bookrag-macos-arm64.tar.gz": ("darwin-arm64", "on_macos", "on_arm"),
}

FORMULA = """\
class Bookrag < Formula
  desc "{summary}"
  homepage "{homepage}"
  version "{version}"
  license "MIT"

{platforms}
  def install
    bin.install "bookrag"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/bookrag.bash" => "bookrag"
    zsh_completion.install "completions/_bookrag"
    fish_completion.install "completions/bookrag.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/bookrag --version")
  end
end
"""
PLATFORM = """\
  {system} do
    {processor} do
      url "{url}"
      sha256 "{sha256}"
    end
  end
"""


def checksums(folder):
    """The SHA-256 of each archive, by its name."""
    sums = {}
    for name in ARCHIVES:
        archive = folder / name
        if not archive.is_file():
            raise ValueError(f"{archive} is missing")
        sums[name] = hashlib.sha256(archive.read_bytes()).hexdigest()
    return sums


def formula(version, url, sums):
    platforms = ""
    for name, sha256 in sums.items():
        _, system, processor = ARCHIVES[name]
        platforms += PLATFORM.format(system=system, processor=processor, url=f"{url}/{name}", sha256=sha256)
    return FORMULA.format(summary=SUMMARY, homepage=url.split("/releases/")[0], version=version, platforms=platforms)


def package(version, url, sums):
    """package.json of the npm package."""
    archives = {ARCHIVES[name][0]: {"file": name, "sha256": sha256} for name, sha256 in sums.items()}
    return {
        "name": "bookrag",
        "version": version,
        "description": SUMMARY,
        "license": "MIT",
        # npm compares it with the repository whose workflow publishes the package.
        "repository": {"type": "git", "url": f"git+{url.split('/releases/')[0]}.git"},
        "bin": {"bookrag": "bookrag.js"},
        "files": ["bookrag.js"],
        "engines": {"node": ">=18"},
        "os": ["linux", "darwin"],
        "cpu": ["x64", "arm64"],
        "release": {"url": url, "archives": archives},
    }


def write(version, url, archives, out):
    url = url.rstrip("/")
    sums = checksums(archives)
    npm = out / "npm"
    npm.mkdir(parents=True, exist_ok=True)
    (out / "bookrag.rb").write_text(formula(version, url, sums))
    (npm / "package.json").write_text(json.dumps(package(version, url, sums), indent=2) + "\n")
    shutil.copy(LAUNCHER, npm / "bookrag.js")


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    version, url, archives, out = sys.argv[1:]
    try:
        write(version, url, Path(archives), Path(out))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
