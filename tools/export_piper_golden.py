#!/usr/bin/env python3
"""A tiny Piper voice with random weights and what ONNX Runtime makes of it, for tests of src/models/piper.

  export_piper_golden.py OUT_FOLDER               writes voice.onnx and golden.npz

What the real voice of the tests has not: two speakers, durations by two convolutions, a generator whose blocks have pairs of
convolutions; and a graph whose nodes have no names, so that modules are told by their parameters' names alone. Written as an
ONNX graph from the equations of VITS (arXiv:2106.06103) and HiFi-GAN (arXiv:2010.05646), without noise. Needs onnx, onnxruntime.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SYMBOLS, WIDTH, INNER, HEADS, WINDOW = 9, 8, 12, 2, 2
LATENT, FLOW, SPEAKERS, OF_SPEAKER = 6, 8, 2, 4
IDS = [1, 4, 0, 8, 2, 5, 3]
SEED = 20261122


class Graph:
    def __init__(self):
        self.random = np.random.default_rng(SEED)
        self.nodes, self.constants, self.count = [], {}, 0

    def constant(self, values, name=None):
        self.count += 1
        name = name or f"onnx::{self.count}"
        self.constants[name] = np.asarray(values)
        return name

    def weights(self, name, *shape, scale=None):
        scale = scale or 1.0 / np.sqrt(np.prod(shape[1:]))
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32), name)

    def node(self, op, *inputs, outputs=1, **attributes):
        names = []
        for _ in range(outputs):
            self.count += 1
            names.append(f"{self.count}")
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def number(self, value):
        return self.constant(np.float32(value))

    def conv(self, module, x, size_in, size_out, kernel=1, dilation=1, named=True):
        weight = self.weights(f"{module}.weight" if named else None, size_out, size_in, kernel)
        bias = self.weights(f"{module}.bias", size_out, scale=0.1)
        pad = dilation * (kernel - 1) // 2
        return self.node("Conv", x, weight, bias, dilations=[dilation], pads=[pad, pad], strides=[1], group=1, kernel_shape=[kernel])

    def halves(self, x, size, axis=1):
        return self.node("Split", x, self.constant(np.array([size, size], np.int64)), outputs=2, axis=axis)

    def flip(self, x):
        ends = [self.constant(np.array([v], np.int64)) for v in (-1, -1000, 1, -1)]
        return self.node("Slice", x, *ends)

    def turned(self, x):
        return self.node("Transpose", x, perm=[0, 2, 1])

    def norm(self, module, x, size):
        gamma = self.constant((1 + 0.1 * self.random.standard_normal(size)).astype(np.float32), f"{module}.gamma")
        beta = self.weights(f"{module}.beta", size, scale=0.1)
        x = self.turned(x)
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1]))
        variance = self.node("ReduceMean", self.node("Mul", centred, centred), axes=[-1])
        x = self.node("Div", centred, self.node("Sqrt", self.node("Add", variance, self.number(1e-5))))
        return self.turned(self.node("Add", self.node("Mul", x, gamma), beta))


def attention(g, module, x):
    n, head = len(IDS), WIDTH // HEADS
    shape = g.constant(np.array([HEADS, head, n], np.int64))
    q, k, v = (g.node("Transpose", g.node("Reshape", g.conv(f"{module}.{name}", x, WIDTH, WIDTH), shape), perm=[0, 2, 1])
               for name in ("conv_q", "conv_k", "conv_v"))
    q = g.node("Div", q, g.number(np.sqrt(head)))
    distance = np.arange(n)[None, :] - np.arange(n)[:, None]
    place = g.constant(np.where(np.abs(distance) <= WINDOW, distance + WINDOW, 2 * WINDOW + 1))

    def near(name):
        rows = g.weights(f"{module}.{name}", 1, 2 * WINDOW + 1, head)
        rows = g.node("Concat", rows, g.constant(np.zeros((1, 1, head), np.float32)), axis=1)
        return g.node("Gather", g.node("Squeeze", rows, g.constant(np.array([0], np.int64))), place, axis=0)  # (n, n, head)

    unsqueezed = g.node("Unsqueeze", q, g.constant(np.array([2], np.int64)))  # (heads, n, 1, head)
    of_distance = g.node("MatMul", unsqueezed, g.node("Transpose", near("emb_rel_k"), perm=[0, 2, 1]))  # (heads, n, 1, n)
    of_distance = g.node("Squeeze", of_distance, g.constant(np.array([2], np.int64)))
    scores = g.node("Add", g.node("MatMul", q, g.node("Transpose", k, perm=[0, 2, 1])), of_distance)
    chances = g.node("Softmax", scores, axis=-1)
    seen = g.node("MatMul", g.node("Unsqueeze", chances, g.constant(np.array([2], np.int64))), near("emb_rel_v"))
    seen = g.node("Add", g.node("MatMul", chances, v), g.node("Squeeze", seen, g.constant(np.array([2], np.int64))))
    seen = g.node("Reshape", g.node("Transpose", seen, perm=[0, 2, 1]), g.constant(np.array([1, WIDTH, n], np.int64)))
    return g.conv(f"{module}.conv_o", seen, WIDTH, WIDTH)


def text_encoder(g):
    table = g.weights("sid_or_any_other_name", SYMBOLS, WIDTH, scale=1.0)
    x = g.turned(g.node("Mul", g.node("Gather", table, "input"), g.number(np.sqrt(WIDTH))))
    for i in range(2):
        stack = "enc_p.encoder"
        x = g.norm(f"{stack}.norm_layers_1.{i}", g.node("Add", x, attention(g, f"{stack}.attn_layers.{i}", x)), WIDTH)
        inner = g.node("Relu", g.conv(f"{stack}.ffn_layers.{i}.conv_1", x, WIDTH, INNER, 3))
        x = g.norm(f"{stack}.norm_layers_2.{i}", g.node("Add", x, g.conv(f"{stack}.ffn_layers.{i}.conv_2", inner, INNER, WIDTH, 3)), WIDTH)
    mean, _ = g.halves(g.conv("enc_p.proj", x, WIDTH, 2 * LATENT), LATENT)
    return x, mean


def durations(g, x, speaker):
    x = g.node("Add", x, g.conv("dp.cond", speaker, OF_SPEAKER, WIDTH))
    x = g.norm("dp.norm_1", g.node("Relu", g.conv("dp.conv_1", x, WIDTH, INNER, 3)), INNER)
    x = g.norm("dp.norm_2", g.node("Relu", g.conv("dp.conv_2", x, INNER, INNER, 3)), INNER)
    return g.conv("dp.proj", x, INNER, 1)


def lengthened(g, mean, logarithms):
    slower = g.node("Gather", "scales", g.constant(np.int64(1)))
    frames = g.node("Ceil", g.node("Mul", g.node("Exp", logarithms), slower))  # (1, 1, n)
    ends = g.node("CumSum", frames, g.constant(np.int64(2)))
    total = g.node("ReduceMax", ends, keepdims=0)
    times = g.node("Range", g.number(0), total, g.number(1))
    times = g.node("Unsqueeze", times, g.constant(np.array([0, 2], np.int64)))  # (1, frames, 1)
    begun = g.node("GreaterOrEqual", times, g.node("Sub", ends, frames))
    path = g.node("Cast", g.node("And", begun, g.node("Less", times, ends)), to=TensorProto.FLOAT)
    return g.turned(g.node("MatMul", path, g.turned(mean)))


def flow(g, z, speaker):
    for layer in (6, 4, 2, 0):
        module = f"flow.flows.{layer}"
        first, second = g.halves(g.flip(z), LATENT // 2)
        x = g.conv(f"{module}.pre", first, LATENT // 2, FLOW)
        heard = g.conv(f"{module}.enc.cond_layer", speaker, OF_SPEAKER, 4 * FLOW, named=False)
        total = None
        for i in range(2):
            both = g.conv(f"{module}.enc.in_layers.{i}", x, FLOW, 2 * FLOW, 5, named=False)
            own = g.node("Slice", heard, *(g.constant(np.array([v], np.int64)) for v in (2 * FLOW * i, 2 * FLOW * (i + 1), 1)))
            a, b = g.halves(g.node("Add", both, own), FLOW)
            gated = g.node("Mul", g.node("Tanh", a), g.node("Sigmoid", b))
            out = g.conv(f"{module}.enc.res_skip_layers.{i}", gated, FLOW, FLOW if i else 2 * FLOW, named=False)
            if i == 0:
                rest, total = g.halves(out, FLOW)
                x = g.node("Add", x, rest)
            else:
                total = g.node("Add", total, out)
        second = g.node("Sub", second, g.conv(f"{module}.post", total, FLOW, LATENT // 2))
        z = g.node("Concat", first, second, axis=1)
    return z


def generator(g, z, speaker):
    def leaky(x, slope=0.1):
        return g.node("LeakyRelu", x, alpha=slope)

    channels = 8
    x = g.node("Add", g.conv("dec.conv_pre", z, LATENT, channels, 7), g.conv("dec.cond", speaker, OF_SPEAKER, channels))
    for stage, (stride, kernel) in enumerate(((4, 8), (2, 4))):
        weight = g.weights(f"dec.ups.{stage}.weight", channels, channels // 2, kernel, scale=0.2)
        channels //= 2
        bias = g.weights(f"dec.ups.{stage}.bias", channels, scale=0.1)
        pad = (kernel - stride) // 2
        x = g.node("ConvTranspose", leaky(x), weight, bias, strides=[stride], pads=[pad, pad], kernel_shape=[kernel])
        total = None
        for k, size in enumerate((3, 5)):
            own = x
            for i, dilation in enumerate((1, 3)):
                module = f"dec.resblocks.{2 * stage + k}"
                inner = g.conv(f"{module}.convs1.{i}", leaky(own), channels, channels, size, dilation)
                own = g.node("Add", own, g.conv(f"{module}.convs2.{i}", leaky(inner), channels, channels, size))
            total = g.node("Add", total, own) if total else own
        x = g.node("Div", total, g.number(2))
    weight = g.weights("dec.conv_post.weight", 1, channels, 7)
    return g.node("Tanh", g.node("Conv", leaky(x, 0.01), weight, pads=[3, 3], kernel_shape=[7]))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    g = Graph()
    table = g.weights("onnx::Gather_5", SPEAKERS, OF_SPEAKER, scale=1.0)
    speaker = g.node("Unsqueeze", g.node("Gather", table, "sid"), g.constant(np.array([2], np.int64)))
    encoded, mean = text_encoder(g)
    logarithms = durations(g, encoded, speaker)
    latent = flow(g, lengthened(g, mean, logarithms), speaker)
    samples = generator(g, latent, speaker)
    stages = {"encoded": encoded, "durations": logarithms, "latent": latent, "samples": samples}
    inputs = [helper.make_tensor_value_info("input", TensorProto.INT64, [1, len(IDS)]),
              helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
              helper.make_tensor_value_info("sid", TensorProto.INT64, [1])]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in stages.values()]
    constants = [numpy_helper.from_array(values, name) for name, values in g.constants.items()]
    graph = helper.make_graph(g.nodes, "voice", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    model.metadata_props.add(key="made by", value=f"tools/export_piper_golden.py, seed {SEED}, onnxruntime {onnxruntime.__version__}")
    onnx.save(model, folder / "voice.onnx")
    run = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    arrays = {"ids": np.array(IDS, np.int32)}
    for speaker_id in range(SPEAKERS):
        feed = {"input": np.array([IDS], np.int64), "scales": np.array([0, 1.5, 0], np.float32),
                "sid": np.array([speaker_id], np.int64)}
        found = run.run(None, feed)
        for stage, values in zip(stages, found):
            arrays[f"{stage}{speaker_id}"] = np.ascontiguousarray(values.reshape(values.shape[-2:]).T, np.float32)
    np.savez(folder / "golden.npz", **arrays)


if __name__ == "__main__":
    main()
