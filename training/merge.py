#!/usr/bin/env python3
"""Merges adapters into the int8 ONNX file of the base, as bookrag does when it loads the model.

    merge.py MODEL ADAPTER.npz OUT.onnx
"""
import re, sys

import numpy as np, onnx
from onnx import numpy_helper

from model import PARTS


def main():
    folder, adapter, out = sys.argv[1:4]
    file = onnx.load(f"{folder}/model.onnx")
    stored = {i.name: i for i in file.graph.initializer}
    trained = np.load(adapter)
    leaf = lambda *path: trained["".join(f"[{p!r}]" for p in path)].astype(np.float32)

    def put(name, value):
        stored[name].CopyFrom(numpy_helper.from_array(value.astype(numpy_helper.to_array(stored[name]).dtype).reshape(numpy_helper.to_array(stored[name]).shape), name))

    def change(node, new):
        """Replaces the weights of a product by quantised ones; `new` maps the dequantised weights."""
        name = node.input[1][:-len("_quantized")]
        quantised, scale = (numpy_helper.to_array(stored[name + end]) for end in ("_quantized", "_scale"))
        weights = new(quantised.astype(np.float32) * scale)
        largest = np.abs(weights).max() / 127
        put(name + "_quantized", np.round(weights / largest))
        put(name + "_scale", np.full(scale.shape, largest))

    products = {n.name: n for n in file.graph.node if n.op_type == "MatMulInteger"}
    for name, node in products.items():
        found = re.search(r"layer\.(\d+)/", name)
        if found:
            layer = int(found[1])
            part = next(p for p, pattern in PARTS.items() if re.search(rf"layer\.{layer}/{pattern}", name))
            change(node, lambda old: old + 2 * leaf("adapters", part, 0)[layer] @ leaf("adapters", part, 1)[layer])
        elif "pooler" in name:
            change(node, lambda old: leaf("pool", 0))
        elif "classifier" in name:
            change(node, lambda old: leaf("rel", 0))
    put("bert.pooler.dense.bias", leaf("pool", 1))
    put("classifier.bias", leaf("rel", 1))
    onnx.save(file, out)


if __name__ == "__main__":
    main()
