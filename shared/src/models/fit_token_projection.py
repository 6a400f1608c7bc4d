"""Fits the projection of a model's token states, which `projection.rs` reads.

    python fit_token_projection.py MODEL_FOLDER TEXTS OUT.bin

MODEL_FOLDER has `model.onnx` and `tokenizer.json` (`bookrag models` says where it is). TEXTS is a folder: all Markdown files below it are
read. Choose texts that are in none of the books that retrieval is measured with. Needs numpy, onnxruntime and tokenizers.

Each file is cut into pieces of 254 tokens. The states of all tokens but [CLS], [SEP] and punctuation are scaled to unit length; OUT.bin has
the first 96 principal components of them, not centred: for each dimension of the states its share in each component, times 32,767, rounded to
16 bits, little-endian.
"""

import argparse
import pathlib
import random

import numpy
import onnxruntime
import tokenizers

COMPONENTS = 96
PIECE = 254
CLS, SEP = "[CLS]", "[SEP]"


def pieces(tokenizer, folder, most):
    """Token ids of at most `most` pieces, chosen evenly among all files."""
    files = sorted(folder.rglob("*.md")) + sorted(folder.rglob("*.mdx"))
    found = []
    for file in files:
        ids = tokenizer.encode(file.read_text(errors="replace"), add_special_tokens=False).ids
        found += [ids[at : at + PIECE] for at in range(0, len(ids), PIECE)]
    random.Random(0).shuffle(found)
    return found[:most]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model", type=pathlib.Path)
    arguments.add_argument("texts", type=pathlib.Path)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--pieces", type=int, default=2000, help="pieces to read at most")
    given = arguments.parse_args()

    tokenizer = tokenizers.Tokenizer.from_file(str(given.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(str(given.model / "model.onnx"), providers=["CPUExecutionProvider"])
    first, last = tokenizer.token_to_id(CLS), tokenizer.token_to_id(SEP)

    count, products = 0, 0
    for piece in pieces(tokenizer, given.texts, given.pieces):
        ids = numpy.array([[first, *piece, last]], dtype=numpy.int64)
        inputs = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        states = session.run(None, inputs)[0][0, 1:-1].astype(numpy.float64)
        is_word = [any(c.isalnum() for c in tokenizer.id_to_token(token)) for token in piece]
        states = states[is_word]
        states /= numpy.linalg.norm(states, axis=1, keepdims=True)
        count += len(states)
        products = products + states.T @ states
    if count <= COMPONENTS:
        raise SystemExit(f"{given.texts} has {count} tokens in Markdown files, far too few to fit {COMPONENTS} components")

    values, vectors = numpy.linalg.eigh(products / count)
    components = vectors[:, ::-1][:, :COMPONENTS]
    kept = values[::-1][:COMPONENTS].sum() / values.sum()
    numpy.round(components * 32767).astype("<i2").tofile(given.out)
    print(f"{given.out}: {count} tokens, {COMPONENTS} components keep {kept:.3f} of the squared length")


if __name__ == "__main__":
    main()
