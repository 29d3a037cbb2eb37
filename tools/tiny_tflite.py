"""Writes small streaming networks as TensorFlow Lite files: what tools/wake_oracle.py and the corpus of the reader need.

Tables are written by the slots of schema.fbs (version 3), so that flatbuffers is all that is needed.
"""
import flatbuffers
import numpy as np

TYPES = {"int32": 2, "uint8": 3, "int8": 9, "resource": 13}
OPS = {"CONCATENATION": 2, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "FULLY_CONNECTED": 9, "LOGISTIC": 14, "RESHAPE": 22,
       "STRIDED_SLICE": 45, "SPLIT_V": 102, "QUANTIZE": 114, "CALL_ONCE": 129, "VAR_HANDLE": 142, "READ_VARIABLE": 143,
       "ASSIGN_VARIABLE": 144}
# BuiltinOptions' number of the table, and its slots: name, slot, kind (b: int8, i: int32, s: text).
OPTIONS = {"CONCATENATION": (10, {"axis": (0, "i")}),
           "CONV_2D": (1, {"padding": (0, "b"), "stride_w": (1, "i"), "stride_h": (2, "i"), "activation": (3, "b")}),
           "DEPTHWISE_CONV_2D": (2, {"padding": (0, "b"), "stride_w": (1, "i"), "stride_h": (2, "i"),
                                     "multiplier": (3, "i"), "activation": (4, "b")}),
           "FULLY_CONNECTED": (8, {"activation": (0, "b")}),
           "STRIDED_SLICE": (32, {"begin_mask": (0, "i"), "end_mask": (1, "i")}),
           "SPLIT_V": (79, {"splits": (0, "i")}),
           "CALL_ONCE": (103, {"graph": (0, "i")}),
           "VAR_HANDLE": (111, {"name": (1, "s")})}
VALID = 1


class Graph:
    """Tensors and operators of one subgraph; `buffers` is the file's."""

    def __init__(self, buffers):
        self.buffers, self.tensors, self.operators, self.inputs, self.outputs = buffers, [], [], [], []

    def tensor(self, kind, shape, scale=None, zero=None, values=None, axis=0, name="t"):
        buffer = 0
        if values is not None:
            self.buffers.append(np.ascontiguousarray(values).tobytes())
            buffer = len(self.buffers) - 1
        scales = [] if scale is None else np.atleast_1d(scale)
        zeros = [] if scale is None else np.broadcast_to(np.atleast_1d(zero or 0), len(scales))
        self.tensors.append((kind, list(shape), scales, zeros, axis, buffer, f"{name}{len(self.tensors)}"))
        return len(self.tensors) - 1

    def numbers(self, *values):
        return self.tensor("int32", [len(values)] if len(values) > 1 else [], values=np.array(values, np.int32))

    def add(self, op, inputs, outputs, **options):
        self.operators.append((op, inputs, outputs, options))
        return outputs[0] if outputs else None


class Writer:
    def __init__(self):
        self.out = flatbuffers.Builder(4096)

    def vector(self, values, kind):
        self.out.StartVector({"i": 4, "q": 8, "f": 4, "o": 4}[kind], len(values), {"q": 8}.get(kind, 4))
        put = {"i": self.out.PrependInt32, "q": self.out.PrependInt64, "f": self.out.PrependFloat32,
               "o": self.out.PrependUOffsetTRelative}[kind]
        for value in reversed(values):
            put(value if kind == "o" else float(value) if kind == "f" else int(value))
        return self.out.EndVector()

    def table(self, slots, fields):
        """fields: slot to (kind, value); b u8, B int8, i int32, u uint32, o offset."""
        self.out.StartObject(slots)
        for slot, (kind, value) in fields.items():
            {"B": self.out.PrependUint8Slot, "b": self.out.PrependInt8Slot, "i": self.out.PrependInt32Slot,
             "u": self.out.PrependUint32Slot, "o": self.out.PrependUOffsetTRelativeSlot}[kind](slot, value, 0)
        return self.out.EndObject()

    def tensor(self, kind, shape, scales, zeros, axis, buffer, name):
        fields = {0: ("o", self.vector(shape, "i")), 1: ("b", TYPES[kind]), 2: ("u", buffer),
                  3: ("o", self.out.CreateString(name))}
        if len(scales):
            quantised = {2: ("o", self.vector(scales, "f")), 3: ("o", self.vector(zeros, "q")), 6: ("i", axis)}
            fields[4] = ("o", self.table(7, quantised))
        return self.table(7, fields)

    def operator(self, codes, op, inputs, outputs, options):
        kind, slots = OPTIONS.get(op, (0, {}))
        fields = {slots[name][0]: ("o", self.out.CreateString(value)) if slots[name][1] == "s" else
                  (slots[name][1], value) for name, value in options.items()}
        made = self.table(7, fields) if kind else None
        parts = {0: ("u", codes.index(op)), 1: ("o", self.vector(inputs, "i")), 2: ("o", self.vector(outputs, "i"))}
        if kind:
            parts |= {3: ("B", kind), 4: ("o", made)}
        return self.table(6, parts)

    def graph(self, graph, codes):
        tensors = self.vector([self.tensor(*one) for one in graph.tensors], "o")
        operators = self.vector([self.operator(codes, *one) for one in graph.operators], "o")
        return self.table(5, {0: ("o", tensors), 1: ("o", self.vector(graph.inputs, "i")),
                              2: ("o", self.vector(graph.outputs, "i")), 3: ("o", operators)})

    def model(self, graphs, buffers, version=3):
        codes = sorted({one[0] for graph in graphs for one in graph.operators}, key=OPS.get)
        made = []
        for op in codes:
            made.append(self.table(4, {0: ("b", min(OPS[op], 127)), 2: ("i", 1), 3: ("i", OPS[op])}))
        codes_at = self.vector(made, "o")
        graphs_at = self.vector([self.graph(one, codes) for one in graphs], "o")
        data = [self.out.CreateByteVector(one) if one else None for one in buffers]
        buffers_at = self.vector([self.table(3, {0: ("o", one)} if one else {}) for one in data], "o")
        root = self.table(8, {0: ("u", version), 1: ("o", codes_at), 2: ("o", graphs_at), 4: ("o", buffers_at)})
        self.out.Finish(root, file_identifier=b"TFL3")
        return bytes(self.out.Output())


class Network:
    """A streaming network built from the front: each method adds a layer and returns its tensor."""

    def __init__(self, rng, frames=3, features=40):
        self.rng, self.buffers = rng, [b""]
        self.main, self.first = Graph(self.buffers), Graph(self.buffers)
        self.main.add("CALL_ONCE", [], [], graph=1)
        scale = np.float32(26 / 255)
        self.input = self.main.tensor("int8", [1, frames, features], scale, -128)
        self.main.inputs = [self.input]
        shape = self.main.numbers(1, frames, 1, features)
        self.top = self.main.add("RESHAPE", [self.input, shape],
                                 [self.main.tensor("int8", [1, frames, 1, features], scale, -128)])

    def like(self, tensor, shape):
        kind, _, scales, zeros, *_ = self.main.tensors[tensor]
        return self.main.tensor(kind, shape, scales[0], zeros[0])

    def keep(self, rows):
        """Puts `rows` that came before in front, and keeps the last of them for the next step."""
        _, (_, fresh, _, channels), scales, zeros, *_ = self.main.tensors[self.top]
        name = f"state{len(self.first.operators)}"
        handle = self.first.add("VAR_HANDLE", [], [self.first.tensor("resource", [])], name=name)
        start = self.first.tensor("int8", [1, rows, 1, channels], scales[0], zeros[0],
                                  np.full((rows, channels), zeros[0], np.int8))
        self.first.add("ASSIGN_VARIABLE", [handle, start], [])
        handle = self.main.add("VAR_HANDLE", [], [self.main.tensor("resource", [])], name=name)
        old = self.main.add("READ_VARIABLE", [handle], [self.like(self.top, [1, rows, 1, channels])])
        both = self.main.add("CONCATENATION", [old, self.top], [self.like(self.top, [1, rows + fresh, 1, channels])],
                             axis=1)
        kept = self.last_rows(both, rows)
        self.main.add("ASSIGN_VARIABLE", [handle, kept], [])
        self.top = both

    def last_rows(self, tensor, rows):
        _, (_, height, _, channels), *_ = self.main.tensors[tensor]
        begin, end, step = self.main.numbers(0, -rows, 0, 0), self.main.numbers(0, 0, 0, 0), self.main.numbers(1, 1, 1, 1)
        return self.main.add("STRIDED_SLICE", [tensor, begin, end, step], [self.like(tensor, [1, rows, 1, channels])],
                             begin_mask=13, end_mask=15)

    def weights(self, shape, scale, axis):
        return self.main.tensor("int8", shape, scale, 0, self.rng.integers(-127, 128, shape).astype(np.int8), axis)

    def bias(self, tensor, weights, most):
        """In the scale of the products, as TensorFlow Lite asks of one with a scale for all."""
        scales = np.float32(self.main.tensors[tensor][2][0]) * np.atleast_1d(self.main.tensors[weights][2])
        channels = self.main.tensors[weights][1][self.main.tensors[weights][4]]
        return self.main.tensor("int32", [channels], scales, 0,
                                self.rng.integers(-most, most + 1, channels).astype(np.int32))

    def ratios(self, tensor, out_scale, channels, ratio):
        """Scales of weights such that sums are multiplied with about `ratio`, every second with a power of two."""
        scale = self.main.tensors[tensor][2][0]
        wanted = np.full(channels, ratio) * np.where(np.arange(channels) % 2, self.rng.uniform(0.6, 1.4, channels), 1)
        return (wanted * out_scale / scale).astype(np.float32)

    def conv(self, channels, kernel, stride, out_scale, ratio, zero=-128, relu=1):
        _, (_, height, _, depth), *_ = self.main.tensors[self.top]
        weights = self.weights([channels, kernel, 1, depth], self.ratios(self.top, out_scale, channels, ratio), 0)
        out = self.main.tensor("int8", [1, (height - kernel) // stride + 1, 1, channels], out_scale, zero)
        self.top = self.main.add("CONV_2D", [self.top, weights, self.bias(self.top, weights, 2000)], [out], padding=VALID,
                                 stride_w=1, stride_h=stride, activation=relu)

    def depthwise(self, tensor, out_scale, ratio, zero):
        _, (_, height, _, channels), *_ = self.main.tensors[tensor]
        weights = self.weights([1, height, 1, channels], self.ratios(tensor, out_scale, channels, ratio), 3)
        return self.main.add("DEPTHWISE_CONV_2D", [tensor, weights, self.bias(tensor, weights, 500)],
                             [self.main.tensor("int8", [1, 1, 1, channels], out_scale, zero)], padding=VALID, stride_w=1,
                             stride_h=1, multiplier=1, activation=0)

    def mixed(self, kernels, out_scale, ratio, zero):
        """Channels in equal parts, each with a kernel of its own over its last rows."""
        _, (_, height, _, channels), *_ = self.main.tensors[self.top]
        part = channels // len(kernels)
        parts = [self.like(self.top, [1, height, 1, part]) for _ in kernels]
        self.main.add("SPLIT_V", [self.top, self.main.numbers(*[part] * len(kernels)), self.main.numbers(-1)], parts,
                      splits=len(kernels))
        done = [self.depthwise(one if rows == height else self.last_rows(one, rows), out_scale, ratio, zero)
                for one, rows in zip(parts, kernels)]
        self.top = self.main.add("CONCATENATION", done, [self.like(done[0], [1, 1, 1, channels])], axis=-1)

    def probability(self, ratio, scale, zero):
        size = int(np.prod(self.main.tensors[self.top][1]))
        flat = self.main.add("RESHAPE", [self.top, self.main.numbers(1, size)], [self.like(self.top, [1, size])])
        weights = self.weights([1, size], self.ratios(flat, scale, 1, ratio)[0], 0)
        logit = self.main.add("FULLY_CONNECTED", [flat, weights, self.bias(flat, weights, 1000)],
                              [self.main.tensor("int8", [1, 1], scale, zero)], activation=0)
        code = self.main.add("LOGISTIC", [logit], [self.main.tensor("int8", [1, 1], 1 / 256, -128)])
        self.main.outputs = [self.main.add("QUANTIZE", [code], [self.main.tensor("uint8", [1, 1], 1 / 256, 0)])]

    def file(self, **changes):
        return Writer().model([self.main, self.first], self.buffers, **changes)


def tiny_network(seed):
    """All that microWakeWord's networks do, in two kilobytes: a strided convolution over two rows that came before,
    channels in two parts with kernels of 3 and 5, a product of rows, and a layer that sees the last three of them."""
    network = Network(np.random.default_rng(seed))
    network.keep(2)
    network.conv(8, 5, 3, 0.25, 2.0**-10)
    network.keep(4)
    network.mixed([3, 5], 0.25, 2.0**-7, 3)
    network.conv(8, 1, 1, 0.5, 2.0**-7, zero=-128)
    network.keep(2)
    network.probability(2.0**-9, 0.0625, 7)
    return network
