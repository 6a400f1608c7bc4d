"""The cross-encoder ms-marco-MiniLM-L-12-v2 in JAX, with adapters of low rank and three heads.

The weights are those of the int8 ONNX file that bookrag's reranker runs, dequantised.
"""
import os, re

import jax, jax.numpy as jnp, numpy as np, onnx
from onnx import numpy_helper

HEADS = 12
PARTS = {"q": "attention/self/query", "k": "attention/self/key", "v": "attention/self/value",
         "o": "attention/output/dense", "i": "intermediate/dense", "d": "output/dense"}


def load(folder):
    """Returns the encoder's weights and the relevance head's."""
    graph = onnx.load(os.path.join(folder, "model.onnx")).graph
    stored = {i.name: numpy_helper.to_array(i) for i in graph.initializer}

    def dequantised(name):
        zero, scale = stored[name + "_zero_point"].astype(np.float32), stored[name + "_scale"]
        return (stored[name + "_quantized"].astype(np.float32) - zero) * scale

    products = {n.name: dequantised(n.input[1][:-len("_quantized")]) for n in graph.node if n.op_type == "MatMulInteger"}

    def matrix(pattern):
        found = [name for name in products if re.search(pattern, name)]
        assert len(found) == 1, (pattern, found)
        return products[found[0]]

    def embedding(name):
        name = f"bert.embeddings.{name}.weight"
        quantised = [n for n in stored if n.startswith(name) and n.endswith("_quantized")]
        return dequantised(quantised[0][:-len("_quantized")]) if quantised else stored[name]

    def norm(name):
        return stored[name + ".weight"], stored[name + ".bias"]

    count = 1 + max(int(n) for name in products for n in re.findall(r"layer\.(\d+)/", name))
    layers = []
    for n in range(count):
        own = f"bert.encoder.layer.{n}."
        layer = {short: (matrix(rf"layer\.{n}/{part}"), stored[own + part.replace("/", ".") + ".bias"]) for short, part in PARTS.items()}
        layer["n1"], layer["n2"] = norm(own + "attention.output.LayerNorm"), norm(own + "output.LayerNorm")
        layers.append(layer)
    layers = {name: tuple(np.stack([layer[name][i] for layer in layers]) for i in (0, 1)) for name in layers[0]}
    base = {
        "words": embedding("word_embeddings"), "places": embedding("position_embeddings"), "types": embedding("token_type_embeddings"),
        "norm": norm("bert.embeddings.LayerNorm"), "layers": layers, "pool": (matrix("pooler"), stored["bert.pooler.dense.bias"]),
    }
    heads = {"rel": (matrix("classifier"), stored["classifier.bias"])}
    as_floats = lambda tree: jax.tree.map(lambda x: jnp.asarray(np.asarray(x), jnp.float32), tree)
    return as_floats(base), as_floats(heads)


def start(base, heads, rank, seed):
    """Returns what is trained, so that it changes nothing yet; rank 0 trains the encoder's layers themselves."""
    random = np.random.default_rng(seed)
    width = base["words"].shape[1]
    trained = {
        "rel": heads["rel"],
        "ans": (heads["rel"][0] * 0.3, jnp.zeros(1)),
        "keep": (jnp.asarray(random.normal(0, 0.02, (width, 1)), jnp.float32), jnp.full(1, -1.5)),
        "pool": base["pool"],
    }
    if rank == 0:
        trained["layers"] = base["layers"]
    else:
        trained["adapters"] = {}
        for part in PARTS:
            count, rows, columns = base["layers"][part][0].shape
            down = random.normal(0, rows ** -0.5, (count, rows, rank))
            trained["adapters"][part] = jnp.asarray(down, jnp.float32), jnp.zeros((count, rank, columns))
    return trained


def linear(x, weights, adapter=None):
    kind = x.dtype
    y = x @ weights[0].astype(kind) + weights[1].astype(kind)
    if adapter is not None:
        y = y + (x @ adapter[0].astype(kind)) @ adapter[1].astype(kind) * 2
    return y


def norm(x, weights):
    x = x.astype(jnp.float32)
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12) * weights[0] + weights[1]


def forward(trained, base, ids, types, mask):
    """Returns each pair's relevance, whether the passage answers, and each token's mark, as logits."""
    kind = jnp.bfloat16 if jax.default_backend() != "cpu" else jnp.float32
    x = norm(base["words"][ids] + base["places"][:ids.shape[1]][None] + base["types"][types], base["norm"]).astype(kind)
    hidden = (1 - mask[:, None, None, :]).astype(kind) * -1e9

    @jax.checkpoint
    def encode(x, weights):
        layer, adapter = weights
        count, length, width = x.shape
        split = lambda t: t.reshape(count, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)
        q, k, v = (split(linear(x, layer[p], adapter.get(p))) for p in "qkv")
        scores = (q @ k.transpose(0, 1, 3, 2) / (width // HEADS) ** 0.5 + hidden).astype(jnp.float32)
        mixed = (jax.nn.softmax(scores, -1).astype(kind) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = norm(x + linear(mixed, layer["o"], adapter.get("o")), layer["n1"]).astype(kind)
        inner = jax.nn.gelu(linear(x, layer["i"], adapter.get("i")), approximate=False)
        return norm(x + linear(inner, layer["d"], adapter.get("d")), layer["n2"]).astype(kind), None

    x, _ = jax.lax.scan(encode, x, (trained.get("layers", base["layers"]), trained.get("adapters", {})))
    x = x.astype(jnp.float32)
    pooled = jnp.tanh(linear(x[:, 0], trained["pool"]))
    return linear(pooled, trained["rel"])[:, 0], linear(pooled, trained["ans"])[:, 0], linear(x, trained["keep"])[:, :, 0]


def flat(tree):
    """Names the leaves of what is trained."""
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}
