#!/usr/bin/env python3
"""What Smart Turn v3 computes, by ONNX Runtime, and how far its rounded activations are from it.

usage: turn_oracle.py tiny FOLDER                  tests/models/turn/golden: a tiny random network as the exporter writes one (tiny.onnx)
                                                   and as ONNX Runtime quantises it (tiny-int8.onnx), spectra and scores of both: tiny.npz
       turn_oracle.py clips MODEL SPEECH OUT.npz   of the real one: scores of every recording of SPEECH/clips, whole and of its first
                                                   seconds, as the file is and without its rounding

The front end is transformers' WhisperFeatureExtractor with do_normalize over eight seconds, zeros in front, as pipecat 1.14.0 calls it: here
in double precision (the same but for its last digits as pipecat's own, whose normalised samples are float32).

The real file rounds 78 activations to 256 steps each, some of them coarsely: steps of 1.3 where most numbers are below 0.2. mynah does not
round them: `exact` is ONNX Runtime's score of the same weights without those steps, `runtime` that of the file as it is. How far those two
are apart is what rounding does to a score, clip by clip. Needs numpy, onnx, onnxruntime and, for `clips`, ffmpeg.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

RATE, FFT, HOP = 16000, 400, 160
SHORT_S = 2


def mel_filters(mels):
    step = np.log(6.4) / 27
    mel = lambda hz: np.where(hz < 1000, hz * 3 / 200, 15 + np.log(np.maximum(hz, 1) / 1000) / step)
    hz = lambda mel: np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(step * (mel - 15)))
    corners = hz(np.linspace(mel(np.array(0.0)), mel(np.array(RATE / 2)), mels + 2))
    bins = np.linspace(0, RATE / 2, FFT // 2 + 1)
    left, peak, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    return np.maximum(0, np.minimum((bins - left) / (peak - left), (right - bins) / (right - peak))) * 2 / (right - left)


def features(samples, positions=400, mels=80):
    """(mels, 2 * positions) of the last samples."""
    size = positions * 2 * HOP
    x = np.pad(samples[-size:].astype(np.float64), (max(0, size - len(samples)), 0))
    x = (x - x.mean()) / np.sqrt(x.var() + 1e-7)
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(x, FFT // 2, mode="reflect"), FFT)[::HOP][:-1]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FFT) / FFT)
    levels = np.log10(np.maximum(1e-10, mel_filters(mels) @ (np.abs(np.fft.rfft(frames * window)) ** 2).T))
    return ((np.maximum(levels, levels.max() - 8) + 4) / 4).astype(np.float32)


def without_rounding(model):
    """The graph in which activations pass their steps untouched, and weights are the f32 that their codes stand for: ONNX Runtime would else
    make products of int8 out of them."""
    import onnx
    from onnx import numpy_helper
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    steps = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "QuantizeLinear"}
    passed, kept = {}, []
    for node in graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0] in steps:
            passed[node.output[0]] = steps[node.input[0]]
        elif node.op_type == "DequantizeLinear":
            codes, scale, zero = (constants[name] for name in node.input)
            axis = next((attribute.i for attribute in node.attribute), 0)
            along = [-1 if i == axis and scale.ndim else 1 for i in range(codes.ndim)]
            values = (codes.astype(np.float64) - zero.reshape(along)) * scale.reshape(along)
            graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
        elif node.op_type != "QuantizeLinear":
            kept.append(node)
    for node in kept:
        for i in range(len(node.input)):
            while node.input[i] in passed:
                node.input[i] = passed[node.input[i]]
    del graph.node[:]
    graph.node.extend(kept)
    return model


def session(model):
    import onnxruntime
    onnxruntime.set_default_logger_severity(3)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def score(run, mel):
    return float(run.run(None, {"input_features": mel[None]})[0].reshape(-1)[0])


def clips(path, speech, out):
    import onnx
    model = onnx.load(path)
    runs = {"runtime": session(model), "exact": session(without_rounding(model))}
    names, lengths, scores = [], [], {name: [] for name in runs}
    for file in sorted(pathlib.Path(speech, "clips").glob("*.flac")):
        sound = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", file, "-f", "s16le", "-"], capture_output=True, check=True).stdout
        samples = np.frombuffer(sound, np.int16).astype(np.float32) / 32768
        for length in (len(samples), min(SHORT_S * RATE, len(samples))):
            mel = features(samples[:length])
            names.append(file.name)
            lengths.append(length)
            for name, run in runs.items():
                scores[name].append(score(run, mel))
    np.savez_compressed(out, names=np.frombuffer("\n".join(names).encode(), np.uint8), lengths=np.array(lengths, np.int32),
                        **{name: np.array(values, np.float32) for name, values in scores.items()})


# Sizes of the tiny network; it looks at 0.4 s.
MELS, POSITIONS, WIDTH, HEADS, LAYERS, POOLED, FIRST, SECOND = 8, 20, 16, 2, 2, 8, 12, 4


def tiny_graph(random):
    """As torch's exporter writes the model: matrices of products have names of its own, all else PyTorch's."""
    from onnx import TensorProto, helper, numpy_helper
    nodes, constants = [], []

    def constant(name, values, dtype=np.float32):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(values, dtype), name))
        return name

    def add(op, inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"val_{len(nodes)}"], name=f"node_{op}_{len(nodes)}", **attributes))
        return nodes[-1].output[0]

    def weight(*shape):
        return random.uniform(-1, 1, shape) * 3 / np.sqrt(np.prod(shape[1:]))

    def bias(name, size):
        return constant(f"inner.{name}.bias", random.uniform(-.25, .25, size))

    def product(x, name, size_in, size_out, biased=True):
        y = add("MatMul", [x, constant(f"val_w{len(nodes)}", weight(size_out, size_in).T)])
        return add("Add", [y, bias(name, size_out)]) if biased else y

    def norm(x, name, size):
        gamma = constant(f"inner.{name}.weight", 1 + random.uniform(-.25, .25, size))
        return add("LayerNormalization", [x, gamma, bias(name, size)], axis=-1, epsilon=1e-5)

    def gelu(x):
        half = add("Add", [add("Erf", [add("Div", [x, "root"])]), "one"])
        return add("Mul", [x, add("Mul", ["half", half])])

    for name, value in (("root", np.sqrt(2)), ("one", 1), ("half", .5)):
        constant(name, value)
    x = "input_features"
    for name, stride, size in (("conv1", 1, MELS), ("conv2", 2, WIDTH)):
        kernel = constant(f"inner.encoder.{name}.weight", weight(WIDTH, size, 3))
        x = gelu(add("Conv", [x, kernel, bias(f"encoder.{name}", WIDTH)], kernel_shape=[3], pads=[1, 1], strides=[stride]))
    places = constant("inner.encoder.embed_positions.weight", random.uniform(-.5, .5, (POSITIONS, WIDTH)))
    x = add("Add", [add("Transpose", [x], perm=[0, 2, 1]), places])
    sizes = [constant("sizes", [1, POSITIONS, HEADS, WIDTH // HEADS], np.int64),
             add("Concat", [constant(f"size{i}", [size], np.int64) for i, size in enumerate([1, POSITIONS, HEADS, WIDTH // HEADS])], axis=0)]
    whole, scale = constant("whole", [1, POSITIONS, WIDTH], np.int64), constant("scale", (WIDTH // HEADS) ** -.25)
    for i in range(LAYERS):
        layer = f"encoder.layers.{i}"
        y = norm(x, f"{layer}.self_attn_layer_norm", WIDTH)
        q, k, v = (add("Reshape", [product(y, f"{layer}.self_attn.{part}_proj", WIDTH, WIDTH, part != "k"), sizes[i % 2]]) for part in "qkv")
        q = add("Mul", [add("Transpose", [q], perm=[0, 2, 1, 3]), scale])
        k = add("Mul", [add("Transpose", [k], perm=[0, 2, 3, 1]), scale])
        mixed = add("MatMul", [add("Softmax", [add("MatMul", [q, k])], axis=-1), add("Transpose", [v], perm=[0, 2, 1, 3])])
        mixed = add("Reshape", [add("Transpose", [mixed], perm=[0, 2, 1, 3]), whole])
        x = add("Add", [x, product(mixed, f"{layer}.self_attn.out_proj", WIDTH, WIDTH)])
        inner = gelu(product(norm(x, f"{layer}.final_layer_norm", WIDTH), f"{layer}.fc1", WIDTH, 4 * WIDTH))
        x = add("Add", [x, product(inner, f"{layer}.fc2", 4 * WIDTH, WIDTH)])
    x = norm(x, "encoder.layer_norm", WIDTH)
    shares = product(add("Tanh", [product(x, "pool_attention.0", WIDTH, POOLED)]), "pool_attention.2", POOLED, 1)
    pooled = add("ReduceSum", [add("Mul", [x, add("Softmax", [shares], axis=1)]), constant("axis", [1], np.int64)], keepdims=0)

    def layer(x, name, size_in, size_out):
        return add("Gemm", [x, constant(f"inner.{name}.weight", weight(size_out, size_in)), bias(name, size_out)], transB=1)

    y = gelu(norm(layer(pooled, "classifier.0", WIDTH, FIRST), "classifier.1", FIRST))
    y = layer(gelu(layer(y, "classifier.4", FIRST, SECOND)), "classifier.6", SECOND, 1)
    nodes.append(helper.make_node("Sigmoid", [y], ["logits"]))
    graph = helper.make_graph(nodes, "turn", [helper.make_tensor_value_info("input_features", TensorProto.FLOAT, [1, MELS, 2 * POSITIONS])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def tiny(folder):
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    random = np.random.default_rng(33)
    folder = pathlib.Path(folder)
    model = tiny_graph(random)
    size = POSITIONS * 2 * HOP
    # Longer than what is looked at, as long, shorter, nothing, and a sound that goes on at both ends.
    turns = [random.normal(0, .1, size + 777), .3 * np.sin(np.arange(size) * .2) * random.uniform(.5, 1, size), random.normal(0, .02, 1500) + .05,
             np.zeros(0), np.full(size, .25)]
    turns = [turn.astype(np.float32) for turn in turns]
    spectra = [features(turn, POSITIONS, MELS) for turn in turns]

    class Spectra(CalibrationDataReader):
        left = [{"input_features": mel[None]} for mel in spectra]

        def get_next(self):
            return self.left.pop() if self.left else None

    with tempfile.TemporaryDirectory() as scratch:
        plain, whole = pathlib.Path(scratch, "plain.onnx"), folder / "tiny-int8.onnx"
        onnx.save(model, plain)
        onnx.save(model, folder / "tiny.onnx")
        quantize_static(plain, whole, Spectra(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, op_types_to_quantize=["Conv", "Gemm", "MatMul"])
    runs = {"f32": session(model), "int8": session(without_rounding(onnx.load(whole)))}
    kept = {f"turn.{i}": turn for i, turn in enumerate(turns)} | {f"mel.{i}": mel.T.copy() for i, mel in enumerate(spectra)}
    for name, run in runs.items():
        kept[name] = np.array([score(run, mel) for mel in spectra], np.float32)
        print(name, kept[name])
    np.savez_compressed(folder / "tiny.npz", **kept)


if __name__ == "__main__":
    {"tiny": tiny, "clips": clips}[sys.argv[1]](*sys.argv[2:])
