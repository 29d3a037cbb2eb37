#!/usr/bin/env python3
"""Print what real model files hold, read without mynah: the golden values of tests/formats/real_files_test.cpp.

usage: tensor_file_oracle.py WEIGHTS_FOLDER SHARED_FOLDER > tests/formats/real_files.txt
WEIGHTS_FOLDER: tiny.en/ (CTranslate2), silero/ and pysilero/, as ./dev test fetches them. Needs numpy.

One line a tensor: FILE NAME DTYPE SHAPE SUM ABSOLUTE_SUM, tab-separated; sums in float64 of the values as numbers.
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np


def line(file, name, array, dtype=None):
    values = array.astype(np.float64)
    shape = "(" + ", ".join(map(str, array.shape)) + ")"
    print(file, name, dtype or {"float32": "f32", "float16": "f16", "int8": "i8", "int16": "i32", "int32": "i32"}[array.dtype.name],
          shape, f"{values.sum():.17g}", f"{np.abs(values).sum():.17g}", sep="\t")


def ctranslate2(file, data):
    at = 4

    def text():
        nonlocal at
        size = struct.unpack_from("<H", data, at)[0]
        at += 2 + size
        return data[at - size:at - 1].decode()

    text()
    at += 4
    count = struct.unpack_from("<I", data, at)[0]
    at += 4
    for _ in range(count):
        name, rank = text(), data[at]
        shape = struct.unpack_from(f"<{rank}I", data, at + 1)
        kind, size = struct.unpack_from("<BI", data, at + 1 + 4 * rank)
        at += 6 + 4 * rank
        dtype = [np.float32, np.int8, np.int16, np.int32, np.float16][kind]
        line(file, name, np.frombuffer(data, dtype, size // np.dtype(dtype).itemsize, at).reshape(shape))
        at += size


def safetensors(file, data):
    size = struct.unpack_from("<Q", data)[0]
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            array = np.frombuffer(data[8 + size + begin:8 + size + end], {"F32": np.float32, "F16": np.float16}[entry["dtype"]])
            line(file, name, array.reshape(entry["shape"]))


def ggml_tensors(file, data, at):
    while at < len(data):
        rank, size, kind = struct.unpack_from("<3i", data, at)
        shape = struct.unpack_from(f"<{rank}i", data, at + 12)[::-1]
        at += 12 + 4 * rank
        name = data[at:at + size].decode()
        at += size
        dtype = {0: np.float32, 1: np.float16}[kind]
        count = int(np.prod(shape, dtype=np.int64))
        line(file, name, np.frombuffer(data, dtype, count, at).reshape(shape))
        at += count * np.dtype(dtype).itemsize


def ggml_table(file, data, at, name="mel_filters"):
    rows, columns = struct.unpack_from("<2i", data, at)
    line(file, name, np.frombuffer(data, np.float32, rows * columns, at + 8).reshape(rows, columns))
    return at + 8 + 4 * rows * columns


def ggml_vocabulary(data, at):
    count = struct.unpack_from("<i", data, at)[0]
    at += 4
    for _ in range(count):
        at += 4 + struct.unpack_from("<I", data, at)[0]
    return at


def ggml_silero(file, data):
    layers = struct.unpack_from("<i", data, 38)[0]
    ggml_tensors(file, data, 42 + 12 * layers + 16)


def ggml_whisper(file, data):
    ggml_tensors(file, data, ggml_vocabulary(data, ggml_table(file, data, 4 + 4 * 11)))


def ggml_parakeet(file, data):
    at = ggml_table(file, data, 4 + 4 * 15)
    window = struct.unpack_from("<i", data, at)[0]
    line(file, "mel_window", np.frombuffer(data, np.float32, window, at + 4))
    durations = struct.unpack_from("<i", data, 4 + 4 * 13)[0]
    ggml_tensors(file, data, ggml_vocabulary(data, at + 4 + 4 * window + 4 * durations))


def main():
    weights, shared = map(Path, sys.argv[1:3])
    files = [(weights, "tiny.en/model.bin", ctranslate2), (weights, "silero/silero_vad_16k.safetensors", safetensors),
             (weights, "pysilero/ggml-silero-v6.2.0.bin", ggml_silero),
             (shared, "formats/for-tests-ggml-tiny.bin", ggml_whisper),
             (shared, "formats/for-tests-ggml-tiny.en.bin", ggml_whisper),
             (shared, "formats/for-tests-ggml-parakeet-tdt.bin", ggml_parakeet)]
    for root, name, read in files:
        read(name, (root / name).read_bytes())


if __name__ == "__main__":
    main()
