#!/usr/bin/env python3
"""Write the corpora of the readers' fuzz targets: small good files, and files broken in one way each.

usage: make_format_corpus.py CORPUS_FOLDER        (tests/fuzz/corpus; files are overwritten)

Deterministic, and needs nothing but Python: run it again after a change and commit what differs. A file called good-*
must be read, one called bad-* must be refused (tests/formats/corpus_test.cpp); the fuzzers start from both.
"""
import io
import json
import pickle
import random
import struct
import sys
import zipfile
import zlib
from pathlib import Path

SEED = 20240607


def floats(rng, count):
    return struct.pack(f"<{count}f", *(rng.uniform(-1, 1) for _ in range(count)))


# safetensors ------------------------------------------------------------------------------------------------------


def safetensors(table, data, pad=0):
    header = table if isinstance(table, bytes) else json.dumps(table).encode()
    header += b" " * pad
    return struct.pack("<Q", len(header)) + header + data


def safetensors_files(rng):
    weight = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    bias = {"dtype": "F16", "shape": [3], "data_offsets": [24, 30]}
    data = floats(rng, 6) + rng.randbytes(6)
    yield "good-two", safetensors({"__metadata__": {"format": "pt"}, "weight": weight, "bias": bias}, data)
    yield "good-unaligned", safetensors({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                                         "b": {"dtype": "F32", "shape": [], "data_offsets": [1, 5]}}, rng.randbytes(5))
    yield "good-widened", safetensors({"i16": {"dtype": "I16", "shape": [2], "data_offsets": [0, 4]},
                                       "u32": {"dtype": "U32", "shape": [1], "data_offsets": [4, 8]},
                                       "f64": {"dtype": "F64", "shape": [1], "data_offsets": [8, 16]}},
                                      struct.pack("<hhId", -2, 3, 2**32 - 1, 0.5))
    yield "good-empty", safetensors({"none": {"dtype": "F32", "shape": [0, 7], "data_offsets": [0, 0]}}, b"")
    yield "bad-f64-rounds", safetensors({"x": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}},
                                        struct.pack("<d", 0.1))
    yield "bad-header-length", struct.pack("<Q", 2**63) + b"{}"
    yield "bad-header-past-end", struct.pack("<Q", 100) + b"{}"
    yield "bad-overlap", safetensors({"a": dict(weight), "b": dict(weight, data_offsets=[20, 44])}, data + data[:14])
    yield "bad-gap", safetensors({"a": weight, "b": dict(bias, data_offsets=[26, 32])}, data + b"\0\0")
    yield "bad-size", safetensors({"a": dict(weight, shape=[2, 4])}, data[:24])
    yield "bad-overflow", safetensors({"a": dict(weight, shape=[2**62, 2**62, 4])}, data[:24])
    yield "bad-overflow-by-zero", safetensors(
        {"a": dict(weight, shape=[2**62, 2**62, 0], data_offsets=[0, 0])}, b"")
    yield "bad-rank", safetensors({"a": dict(weight, shape=[1, 1, 1, 1, 2, 3])}, data[:24])
    yield "bad-negative", safetensors({"a": dict(weight, shape=[-2, -3])}, data[:24])
    yield "bad-dtype", safetensors({"a": dict(weight, dtype="F8_E4M3")}, data[:24])
    yield "bad-trailing", safetensors({"a": weight}, data)
    yield "bad-duplicate", safetensors(
        b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}',
        b"xy")
    yield "bad-nesting", safetensors(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", b"")
    yield "bad-utf8", safetensors(b'{"\xff\xfe":1}', b"")
    yield "bad-metadata", safetensors({"__metadata__": "text"}, b"")
    yield "bad-not-object", safetensors(b'{"a":3}', b"")


# GGUF -------------------------------------------------------------------------------------------------------------

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
GGUF_VALUES = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}


def gguf_string(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf_value(kind, value):
    if kind == STRING:
        return gguf_string(value)
    if kind == ARRAY:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(gguf_value(inner, i) for i in items)
    return struct.pack("<" + GGUF_VALUES[kind], value)


def gguf(values, infos, data, version=3, counts=None, alignment=32):
    """infos: (name, sizes innermost first, type, offset)."""
    out = b"GGUF" + struct.pack("<IQQ", version, *(counts or (len(infos), len(values))))
    for key, kind, value in values:
        out += gguf_string(key) + struct.pack("<I", kind) + gguf_value(kind, value)
    for name, sizes, kind, offset in infos:
        out += gguf_string(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, offset)
    if not infos:
        return out
    return out + b"\0" * (-len(out) % alignment) + data


def gguf_files(rng):
    values = [("general.architecture", STRING, "tiny"), ("u8", U8, 200), ("i8", I8, -3), ("u16", U16, 65535),
              ("i16", I16, -300), ("u32", U32, 2**32 - 1), ("i32", I32, -5), ("f32", F32, 0.25), ("yes", BOOL, 1),
              ("u64", U64, 2**40), ("i64", I64, -2**40), ("f64", F64, 0.1), ("tokens", ARRAY, (STRING, ["a", "", "bc"])),
              ("scores", ARRAY, (F32, [0.5, -1.0])), ("types", ARRAY, (I32, [1, 2, 3])), ("none", ARRAY, (U8, []))]
    infos = [("weight", [3, 2], 0, 0), ("blocks", [32, 2], 8, 32), ("half", [4], 1, 128)]
    data = floats(rng, 6) + b"\0" * 8 + rng.randbytes(68) + b"\0" * 28 + rng.randbytes(8)
    yield "good-v3", gguf(values, infos, data)
    yield "good-v2", gguf(values[:3], infos, data, version=2)
    yield "good-vocabulary", gguf(values, [], b"")
    yield "good-scales", gguf([("general.alignment", U32, 8)], [("w", [3, 2], 24, 0), ("w.scale", [2], 0, 8)],
                              b"\1\2\3\4\5\6\0\0" + struct.pack("<2f", 0.5, 0.25), alignment=8)
    yield "good-k-quants", gguf([], [(f"k{kind}", [256], kind, i * 256) for i, kind in enumerate(range(10, 15))],
                                rng.randbytes(4 * 256 + 210))
    yield "bad-magic", b"GGUG" + gguf([], [], b"")[4:]
    yield "bad-version", gguf([], [], b"", version=1)
    yield "bad-big-endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0)
    yield "bad-tensor-count", gguf([], infos, data, counts=(2**60, 0))
    yield "bad-value-count", gguf(values, infos, data, counts=(len(infos), 2**64 - 1))
    yield "bad-value-type", gguf([("x", U8, 1)], [], b"").replace(struct.pack("<I", U8) + b"\1", struct.pack("<I", 77) + b"\1")
    yield "bad-array-count", gguf([], [], b"", counts=(0, 1)) + gguf_string("x") + struct.pack("<IIQ", ARRAY, STRING, 2**61)
    yield "bad-array-of-arrays", gguf([], [], b"", counts=(0, 1)) + gguf_string("x") + struct.pack("<I", ARRAY) + \
        struct.pack("<IQ", ARRAY, 1) * 3000
    yield "bad-string-length", gguf([], [], b"", counts=(0, 1)) + struct.pack("<Q", 2**64 - 1) + b"x"
    yield "bad-u64", gguf([("x", U64, 2**64 - 1)], [], b"")
    yield "bad-duplicate-key", gguf([("x", U8, 1), ("x", U8, 2)], [], b"")
    yield "bad-duplicate-tensor", gguf([], [("a", [2], 0, 0), ("a", [2], 0, 32)], rng.randbytes(40))
    yield "bad-overlap", gguf([], [("a", [8], 0, 0), ("b", [8], 0, 16)], rng.randbytes(64))
    yield "bad-offset", gguf([], [("a", [8], 0, 2**64 - 16)], rng.randbytes(64))
    yield "bad-overflow", gguf([], [("a", [2**32, 2**32, 2**32], 0, 0)], rng.randbytes(64))
    yield "bad-overflow-bytes", gguf([], [("a", [2**62], 0, 0)], rng.randbytes(64))
    yield "bad-rank", gguf([], [("a", [1] * 5, 0, 0)], rng.randbytes(64))
    yield "bad-rank-huge", gguf([], [], b"", counts=(1, 0)) + gguf_string("a") + struct.pack("<I", 2**32 - 1) + b"\0" * 64
    yield "bad-type", gguf([], [("a", [32], 16, 0)], rng.randbytes(64))
    yield "bad-block", gguf([], [("a", [33], 8, 0)], rng.randbytes(64))
    yield "bad-alignment", gguf([("general.alignment", U32, 24)], [("a", [2], 0, 0)], rng.randbytes(64))
    yield "bad-alignment-zero", gguf([("general.alignment", U32, 0)], [("a", [2], 0, 0)], rng.randbytes(64))
    yield "bad-scales", gguf([], [("w", [3, 2], 24, 0), ("w.scale", [3], 0, 32)], rng.randbytes(64))


# CTranslate2 ------------------------------------------------------------------------------------------------------


def ct2_string(text):
    raw = text.encode() + b"\0"
    return struct.pack("<H", len(raw)) + raw


def ct2_variable(name, sizes, kind, data, byte_count=None):
    return ct2_string(name) + struct.pack(f"<B{len(sizes)}IBI", len(sizes), *sizes, kind,
                                          len(data) if byte_count is None else byte_count) + data


def ct2(variables, aliases=(), version=6, count=None, alias_count=None):
    out = struct.pack("<I", version) + ct2_string("TinySpec") + struct.pack("<I", 3)
    out += struct.pack("<I", len(variables) if count is None else count) + b"".join(variables)
    out += struct.pack("<I", len(aliases) if alias_count is None else alias_count)
    return out + b"".join(ct2_string(a) + ct2_string(b) for a, b in aliases)


def ct2_files(rng):
    weight = ct2_variable("a/weight", [2, 3], 0, floats(rng, 6))
    int8 = [ct2_variable("q/weight", [2, 3], 1, bytes([1, 2, 3, 255, 254, 253])),
            ct2_variable("q/weight_scale", [2], 0, struct.pack("<2f", 127.0, 254.0))]
    scalars = [ct2_variable("a/heads", [], 2, struct.pack("<h", 6)), ct2_variable("a/flag", [], 1, b"\1")]
    yield "good-float", ct2([weight] + scalars, [("b/weight", "a/weight")])
    yield "good-int8", ct2(int8 + scalars)
    yield "good-half", ct2([ct2_variable("h", [3], 4, rng.randbytes(6)), ct2_variable("b16", [3], 5, rng.randbytes(6)),
                            ct2_variable("i32", [2], 3, rng.randbytes(8)), ct2_variable("i16", [2], 2, rng.randbytes(4))])
    yield "bad-version", ct2([weight], version=5)
    yield "bad-count", ct2([weight], count=2**32 - 1)
    yield "bad-alias-count", ct2([weight], alias_count=2**32 - 1)
    yield "bad-alias-target", ct2([weight], [("b", "nowhere")])
    yield "bad-size", ct2([ct2_variable("a", [2, 4], 0, floats(rng, 6))])
    yield "bad-overflow", ct2([ct2_variable("a", [2**32 - 1] * 4, 0, floats(rng, 6))])
    yield "bad-byte-count", ct2([ct2_variable("a", [6], 0, floats(rng, 6), 2**32 - 1)])
    yield "bad-type", ct2([ct2_variable("a", [6], 6, floats(rng, 6))])
    yield "bad-rank", ct2([ct2_variable("a", [1] * 255, 0, floats(rng, 1))])
    yield "bad-duplicate", ct2([weight, weight])
    yield "bad-name", ct2([struct.pack("<H", 3) + b"a\0b" + weight[10:]])
    yield "bad-scale-zero", ct2([int8[0], ct2_variable("q/weight_scale", [2], 0, struct.pack("<2f", 0.0, 1.0))])
    yield "bad-scale-shape", ct2([int8[0], ct2_variable("q/weight_scale", [3], 0, floats(rng, 3))])
    yield "bad-trailing", ct2([weight]) + b"\0"


# zip --------------------------------------------------------------------------------------------------------------


def zip_member(name, data, method=0, crc=None, size=None, packed=None, flags=0, local_name=None, extra=b""):
    """(local header and bytes, function of the offset that gives the directory entry)"""
    raw = name if isinstance(name, bytes) else name.encode()
    if packed is None:
        packed = data if method == 0 else zlib.compress(data, 9, -15)
    crc = zlib.crc32(data) if crc is None else crc
    common = struct.pack("<HHHHIII", flags, method, 0, 33, crc, len(packed), len(data) if size is None else size)
    own = raw if local_name is None else local_name
    local = struct.pack("<IH", 0x04034B50, 20) + common + struct.pack("<HH", len(own), 0) + own + packed

    def entry(offset):
        return struct.pack("<IHH", 0x02014B50, 20, 20) + common + struct.pack(
            "<HHHHHII", len(raw), len(extra), 0, 0, 0, 0, offset) + raw + extra

    return local, entry


def zip_file(members, offsets=None, entries=None, comment=b"", directory_offset=None):
    body, directory = b"", b""
    for i, (local, entry) in enumerate(members):
        directory += entry(len(body) if offsets is None else offsets[i])
        body += local
    at = len(body) if directory_offset is None else directory_offset
    count = len(members) if entries is None else entries
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), at, len(comment)) + comment
    return body + directory + end


def zip_file64(members):
    body, directory = b"", b""
    for local, entry in members:
        fields = bytearray(entry(0xFFFFFFFF))
        size, packed = struct.unpack_from("<I", fields, 24)[0], struct.unpack_from("<I", fields, 20)[0]
        struct.pack_into("<II", fields, 20, 0xFFFFFFFF, 0xFFFFFFFF)
        extra = struct.pack("<HHQQQ", 1, 24, size, packed, len(body))
        struct.pack_into("<H", fields, 30, len(extra))
        directory += bytes(fields) + extra
        body += local
    end64 = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, len(members), len(members), len(directory), len(body))
    locator = struct.pack("<IIQI", 0x07064B50, 0, len(body) + len(directory), 1)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return body + directory + end64 + locator + end


def zip_files(rng):
    text = b"hello " * 50
    stored, packed = zip_member("a/stored.txt", b"hello"), zip_member("a/packed.txt", text, 8)
    yield "good-two", zip_file([stored, packed, zip_member("folder/", b"")])
    yield "good-comment", zip_file([stored], comment=b"a comment with PK\5\6 in it")
    yield "good-zip64", zip_file64([stored, packed])
    yield "good-no-crc", zip_file([zip_member("x", b"data", crc=0)])
    yield "good-empty", zip_file([])
    yield "good-empty-member", zip_file([zip_member("e", b"", 8), zip_member("f", b"")])
    yield "bad-crc", zip_file([zip_member("x", b"data", crc=1)])
    yield "bad-crc-packed", zip_file([zip_member("x", text, 8, crc=1)])
    yield "bad-deflate", zip_file([zip_member("x", text, 8, packed=b"\xff\xff\xff\xff")])
    yield "bad-deflate-short", zip_file([zip_member("x", text, 8, packed=zlib.compress(text, 9, -15)[:-3])])
    yield "bad-deflate-trailing", zip_file([zip_member("x", text, 8, packed=zlib.compress(text, 9, -15) + b"zz")])
    yield "bad-bomb", zip_file([zip_member("x", b"", 8, crc=0, size=2**32 - 2, packed=zlib.compress(b"", 9, -15))])
    yield "bad-larger-than-said", zip_file([zip_member("x", text, 8, crc=0, size=10)])
    yield "bad-smaller-than-said", zip_file([zip_member("x", text, 8, crc=0, size=301)])
    yield "bad-stored-sizes", zip_file([zip_member("x", b"data", size=5)])
    yield "bad-overlap", zip_file([stored, zip_member("a/stored.txt2", b"data")], offsets=[0, 0])
    yield "bad-quine", zip_file([stored, stored], offsets=[0, 0])
    yield "bad-duplicate", zip_file([stored, stored])
    yield "bad-entries", zip_file([stored], entries=2)
    yield "bad-few-entries", zip_file([stored, packed], entries=1)
    yield "bad-directory-offset", zip_file([stored], directory_offset=2**31)
    yield "bad-member-offset", zip_file([stored], offsets=[2**31])
    yield "bad-local-name", zip_file([zip_member("x", b"data", local_name=b"y")])
    yield "bad-absolute", zip_file([zip_member("/etc/x", b"data")])
    yield "bad-parent", zip_file([zip_member("a/../../x", b"data")])
    yield "bad-backslash", zip_file([zip_member("a\\..\\x", b"data")])
    yield "bad-nul", zip_file([zip_member("a\0b", b"data")])
    yield "bad-no-name", zip_file([zip_member("", b"data")])
    yield "bad-encrypted", zip_file([zip_member("x", b"data", flags=1)])
    yield "bad-method", zip_file([zip_member("x", b"data", method=0)]).replace(
        struct.pack("<HHH", 20, 0, 0), struct.pack("<HHH", 20, 0, 12))
    yield "bad-zip64-extra", zip_file([zip_member("x", b"data", extra=struct.pack("<HH", 9, 900))])
    yield "bad-zip64-locator", zip_file64([stored]).replace(struct.pack("<I", 0x07064B50), b"oops")
    yield "bad-end", b"PK\3\4" + b"\0" * 100


# whisper.cpp's ggml .bin ------------------------------------------------------------------------------------------


def ggml_tensor(name, sizes, kind, data, rank=None):
    """sizes: innermost first."""
    raw = name.encode()
    return struct.pack(f"<3i{len(sizes)}i", len(sizes) if rank is None else rank, len(raw), kind, *sizes) + raw + data


def ggml_tables(rng, mels, bins, tokens, rows=None):
    out = struct.pack("<2i", mels if rows is None else rows, bins) + floats(rng, mels * bins)
    return out, struct.pack("<i", len(tokens)) + b"".join(struct.pack("<I", len(t)) + t for t in tokens)


def ggml_bin_files(rng):
    magic = struct.pack("<I", 0x67676D6C)
    whisper = [5, 1500, 4, 1, 1, 448, 4, 1, 1, 2, 1]
    tokens = [b"a", b"", b"\xff\xfe", b"long token"]
    mel, vocabulary = ggml_tables(rng, 2, 3, tokens)
    tensors = [ggml_tensor("encoder.conv1.bias", [1, 4], 0, floats(rng, 4)),
               ggml_tensor("odd", [3], 1, rng.randbytes(6)), ggml_tensor("q8", [32, 2], 8, rng.randbytes(68))]

    def whisper_file(fields=whisper, tables=mel + vocabulary, body=b"".join(tensors)):
        return magic + struct.pack("<11i", *fields) + tables + body

    yield "good-whisper", whisper_file()
    yield "good-no-tensors", whisper_file(body=b"")
    yield "good-quantised", whisper_file(body=b"".join(
        ggml_tensor(f"q{kind}", [count], kind, rng.randbytes(size)) for kind, count, size in
        ((2, 32, 18), (3, 32, 20), (6, 32, 22), (7, 32, 24), (10, 256, 84), (12, 256, 144))))
    silero = magic + struct.pack("<i", 10) + b"silero-16k" + struct.pack("<3i2ii3i3i4i", 6, 2, 0, 512, 64, 2, 129, 128, 3,
                                                                      128, 64, 3, 128, 128, 128, 1)
    yield "good-silero", silero + tensors[0]
    parakeet = [10, 3200, 8, 2, 1, 2, 0, 4, 8, 4, 3, 8, 1, 2, 5]
    window = struct.pack("<i", 4) + floats(rng, 4) + struct.pack("<2I", 0, 1)

    def parakeet_file(fields=parakeet):
        return magic + struct.pack("<15i", *fields) + mel + window + vocabulary + tensors[1]

    yield "good-parakeet", parakeet_file()
    yield "bad-parakeet-nfft0", parakeet_file(parakeet[:7] + [0] + parakeet[8:])
    yield "bad-parakeet-durations", parakeet_file(parakeet[:13] + [2**31 - 1] + parakeet[14:])
    yield "bad-magic", b"ggjt" + whisper_file()[4:]
    yield "bad-zero-layers", whisper_file(whisper[:4] + [0] + whisper[5:])
    yield "bad-negative-vocabulary", whisper_file(tables=mel + struct.pack("<i", -1))
    yield "bad-token-count", whisper_file(tables=mel + struct.pack("<i", 2**31 - 1), body=b"")
    yield "bad-token-length", whisper_file(tables=mel + struct.pack("<iI", 1, 2**32 - 1), body=b"")
    yield "bad-mel-rows", whisper_file(whisper[:9] + [7] + whisper[10:], struct.pack("<2i", 7, 2**31 - 1))
    yield "bad-mel-differs", whisper_file(whisper[:9] + [3] + whisper[10:])
    yield "bad-type", whisper_file(body=ggml_tensor("x", [32], 16, rng.randbytes(66)))
    yield "bad-rank", whisper_file(body=ggml_tensor("x", [1] * 5, 0, floats(rng, 1)))
    yield "bad-rank-negative", whisper_file(body=ggml_tensor("x", [], 0, floats(rng, 1), rank=-1))
    yield "bad-size-negative", whisper_file(body=ggml_tensor("x", [-1, -1], 0, floats(rng, 1)))
    yield "bad-overflow", whisper_file(body=ggml_tensor("x", [2**31 - 1] * 4, 0, floats(rng, 1)))
    yield "bad-size", whisper_file(body=ggml_tensor("x", [9], 0, floats(rng, 8)))
    yield "bad-block", whisper_file(body=ggml_tensor("x", [31, 2], 8, rng.randbytes(68)))
    yield "bad-duplicate", whisper_file(body=tensors[1] * 2)
    yield "bad-silero-layers", silero[:38] + struct.pack("<i", 2**31 - 1) + silero[42:]
    yield "bad-other-model", magic + struct.pack("<20i", *range(1, 21))


# NumPy ------------------------------------------------------------------------------------------------------------


def npy(header, data, version=1):
    if isinstance(header, tuple):
        header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % header
    header = header.encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data


def npy_files(rng):
    six = floats(rng, 6)
    yield "good-f4", npy(("<f4", False, "(2, 3)"), six)
    yield "good-fortran", npy(("<f4", True, "(2, 3)"), six)
    yield "good-version2", npy(("<i8", False, "(3,)"), rng.randbytes(24), 2)
    yield "good-scalar", npy(("|u1", False, "()"), b"x")
    yield "good-f8", npy(("<f8", False, "(2,)"), struct.pack("<2d", 0.5, -3.0))
    yield "good-empty", npy(("<f2", True, "(0, 3)"), b"")
    yield "bad-magic", b"\x93NUMPZ" + npy(("<f4", False, "(2, 3)"), six)[6:]
    yield "bad-version", npy(("<f4", False, "(2, 3)"), six, 4)
    yield "bad-big-endian", npy((">f4", False, "(2, 3)"), six)
    yield "bad-object", npy(("|O", False, "(2, 3)"), six)
    yield "bad-records", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", six)
    yield "bad-f8-rounds", npy(("<f8", False, "(1,)"), struct.pack("<d", 0.1))
    yield "bad-size", npy(("<f4", False, "(2, 4)"), six)
    yield "bad-trailing", npy(("<f4", False, "(2, 2)"), six)
    yield "bad-overflow", npy(("<f4", False, "(4294967296, 4294967296)"), six)
    yield "bad-overflow-text", npy(("<f4", False, "(99999999999999999999999,)"), six)
    yield "bad-overflow-fortran", npy(("<f4", True, "(4294967296, 4294967296, 0)"), b"")
    yield "bad-rank", npy(("<f4", False, "(1, 1, 1, 1, 1, 6)"), six)
    yield "bad-negative", npy(("<f4", False, "(-2, -3)"), six)
    yield "bad-no-shape", npy("{'descr': '<f4', 'fortran_order': False}", six)
    yield "bad-twice", npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", six)
    yield "bad-python", npy("__import__('os').system('true')", six)
    yield "bad-open", npy("{'descr': '<f4", six)


def npz_files(rng):
    first = npy(("<f4", False, "(2, 3)"), floats(rng, 6))
    second = npy(("<f2", False, "(3,)"), rng.randbytes(6))
    yield "good-stored", zip_file([zip_member("a.npy", first), zip_member("dir/b.npy", second)])
    yield "good-deflated", zip_file([zip_member("a.npy", first, 8), zip_member("b.npy", second, 8)])
    yield "bad-member", zip_file([zip_member("a.txt", first)])
    yield "bad-array", zip_file([zip_member("a.npy", first[:-1])])
    yield "bad-duplicate", zip_file([zip_member("a.npy", first), zip_member("a.npy", second)])
    yield "bad-crc", zip_file([zip_member("a.npy", first, crc=1)])


# ONNX -------------------------------------------------------------------------------------------------------------


def varint(value):
    value &= 2**64 - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A varint for an int, a fixed32 for a float, else length-delimited."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_tensor(name, sizes, kind, raw=None, packed=None, extra=b""):
    out = b"".join(field(1, size) for size in sizes) + field(2, kind) + (field(8, name) if name else b"") + extra
    if raw is not None:
        out += field(9, raw)
    if packed is not None:
        out += field(*packed)
    return out


def onnx_attribute(name, number, value):
    return field(1, name) + field(number, value)


def onnx_node(op, inputs, outputs, attributes=(), name=""):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    return out + (field(3, name) if name else b"") + field(4, op) + b"".join(field(5, a) for a in attributes)


def onnx_graph(nodes=(), initializers=(), name="g"):
    return b"".join(field(1, n) for n in nodes) + field(2, name) + b"".join(field(5, i) for i in initializers) + \
        field(11, field(1, "x")) + field(12, field(1, "y"))


def onnx_model(graph, opset=field(2, 16), more=b""):
    out = field(1, 8) + field(2, "mynah") + field(7, graph)
    return out + more + (field(8, opset) if opset is not None else b"")


def onnx_files(rng):
    raw = floats(rng, 6)
    weight = onnx_tensor("w", [2, 3], 1, raw)
    typed = [onnx_tensor("f", [2], 1, packed=(4, struct.pack("<2f", 1.5, -2.0))),
             onnx_tensor("i8", [3], 3, packed=(5, varint(-1) + varint(-128) + varint(127))),
             onnx_tensor("f16", [2], 10, packed=(5, varint(0x3C00) + varint(0xC000))),
             onnx_tensor("i64", [2], 7, packed=(7, varint(-5) + varint(2**62))),
             onnx_tensor("f64", [1], 11, packed=(10, struct.pack("<d", 0.25))),
             onnx_tensor("u32", [1], 12, packed=(11, varint(2**32 - 1))),
             onnx_tensor("one", [1], 7, packed=(7, 9))]
    constant = onnx_node("Constant", [], ["c"], [onnx_attribute("value", 5, onnx_tensor("", [], 1, struct.pack("<f", 2.0)))])
    body = onnx_graph([constant], [onnx_tensor("w", [2, 3], 1, raw)], "then")
    other = onnx_graph([], [onnx_tensor("w", [1], 1, raw[:4])], "else")
    branch = onnx_node("If", ["x"], ["y"], [onnx_attribute("then_branch", 6, body), onnx_attribute("else_branch", 6, other)],
                       "If_0")
    conv = onnx_node("Conv", ["x", "w"], ["y"], [onnx_attribute("strides", 8, varint(2) + varint(1)), onnx_attribute("alpha", 2, 0.5),
                                                 onnx_attribute("mode", 4, "same"), onnx_attribute("axis", 3, -1),
                                                 onnx_attribute("scales", 7, struct.pack("<2f", 1, 2)),
                                                 onnx_attribute("names", 9, "a") + field(9, "b")])
    yield "good-initialisers", onnx_model(onnx_graph([conv], [weight] + typed))
    yield "good-branches", onnx_model(onnx_graph([branch, constant], [weight]))
    yield "good-metadata", onnx_model(onnx_graph([], [weight]), more=field(14, field(1, "key") + field(2, "value")))
    yield "bad-no-graph", field(1, 8) + field(8, field(2, 16))
    yield "bad-no-opset", onnx_model(onnx_graph([], [weight]), None)
    yield "bad-two-graphs", onnx_model(onnx_graph(), more=field(7, onnx_graph()))
    yield "bad-size", onnx_model(onnx_graph([], [onnx_tensor("w", [2, 4], 1, raw)]))
    yield "bad-overflow", onnx_model(onnx_graph([], [onnx_tensor("w", [2**62, 2**62], 1, raw)]))
    yield "bad-negative", onnx_model(onnx_graph([], [onnx_tensor("w", [-2, -3], 1, raw)]))
    yield "bad-rank", onnx_model(onnx_graph([], [onnx_tensor("w", [1] * 6, 1, raw[:4])]))
    yield "bad-type", onnx_model(onnx_graph([], [onnx_tensor("w", [2, 3], 17, raw)]))
    yield "bad-strings", onnx_model(onnx_graph([], [onnx_tensor("w", [1], 8, packed=(6, b"text"))]))
    yield "bad-external", onnx_model(onnx_graph([], [onnx_tensor("w", [2, 3], 1, extra=field(13, field(1, "location")))]))
    yield "bad-no-name", onnx_model(onnx_graph([], [onnx_tensor("", [2, 3], 1, raw)]))
    yield "bad-duplicate", onnx_model(onnx_graph([], [weight, weight]))
    yield "bad-outside-type", onnx_model(onnx_graph([], [onnx_tensor("w", [1], 3, packed=(5, varint(300)))]))
    yield "bad-values-and-size", onnx_model(onnx_graph([], [onnx_tensor("w", [3], 1, packed=(4, raw[:8]))]))
    yield "bad-wire-type", onnx_model(onnx_graph([], [varint(8 << 3) + varint(1) + weight]))
    yield "bad-length", field(1, 8) + varint(7 << 3 | 2) + varint(2**63) + b"x"
    yield "bad-varint", field(1, 8) + varint(7 << 3 | 2) + b"\xff" * 12
    yield "bad-group", field(1, 8) + varint(7 << 3 | 3) + b"x"
    yield "bad-field-zero", field(1, 8) + varint(2) + b"\0"
    deep = onnx_graph()
    for _ in range(200):
        deep = onnx_graph([onnx_node("If", [], [], [onnx_attribute("then_branch", 6, deep)])])
    yield "bad-nesting", onnx_model(deep)


# PyTorch ----------------------------------------------------------------------------------------------------------


class Persistent:
    """A reference to a storage: torch.save writes it as the pickle's persistent id."""

    def __init__(self, kind, key, count):
        self.kind, self.key, self.count = kind, key, count


class Named:
    """A global by its name alone, with arguments where it is called."""

    def __init__(self, name, *arguments):
        self.name, self.arguments = name, arguments


def text(value):
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def pickled(value):
    """A pickle of protocol 2 without a memo, of plain values, Named and Persistent."""
    if value is None or value is True or value is False:
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value) if -2**31 <= value < 2**31 else b"\x8a\x08" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, tuple):
        return b"(" + b"".join(map(pickled, value)) + b"t"
    if isinstance(value, list):
        return b"](" + b"".join(map(pickled, value)) + b"e"
    if isinstance(value, dict):
        return b"}(" + b"".join(pickled(k) + pickled(v) for k, v in value.items()) + b"u"
    if isinstance(value, Persistent):
        return pickled(("storage", Named(value.kind), value.key, "cpu", value.count)) + b"Q"
    called = b"c" + value.name.replace(" ", "\n").encode() + b"\n"
    return called + (pickled(value.arguments) + b"R" if value.arguments or value.name.endswith("Dict") else b"")


def torch_tensor(kind, key, count, offset, sizes, strides):
    return Named("torch._utils _rebuild_tensor_v2", Persistent(f"torch {kind}Storage", key, count), offset, sizes, strides,
                 False, Named("collections OrderedDict"))


def torch_zip(value, storages, method=0, byteorder=b"little", program=None):
    data = b"\x80\x02" + pickled(value) + b"." if program is None else program
    members = [zip_member("m/data.pkl", data, method), zip_member("m/byteorder", byteorder)]
    return zip_file(members + [zip_member(f"m/data/{k}", v, method) for k, v in storages.items()])


def torch_files(rng):
    raw = floats(rng, 6)
    weight = torch_tensor("Float", "0", 6, 0, (2, 3), (3, 1))
    state = {"model": {"w": weight, "t": torch_tensor("Float", "0", 6, 0, (3, 2), (1, 3)),
                       "part": torch_tensor("Float", "0", 6, 4, (2,), (1,)),
                       "half": torch_tensor("Half", "1", 3, 0, (3,), (1,)),
                       "scalar": torch_tensor("Long", "2", 1, 0, (), ()),
                       "p": Named("torch._utils _rebuild_parameter", weight, True, Named("collections OrderedDict"))},
             "dims": {"n_mels": 80, "big": 2**40}, "name": "tiny", "eps": 1e-5, "yes": True, "none": None,
             "list": [1, 2, 3], "mixed": [1, "a", {"deep": 2}], 7: "seven", "dtype": Named("torch float32")}
    storages = {"0": raw, "1": rng.randbytes(6), "2": struct.pack("<q", -4)}
    yield "good-stored", torch_zip(state, storages)
    yield "good-deflated", torch_zip(state, storages, 8)
    memo = pickle.dumps({"a": {"x": 1, "y": [1.5, 2.5]}, "b": ("t", None)}, 4)
    yield "good-protocol-4", torch_zip(None, {}, program=memo)
    yield "good-bare-tensor", torch_zip(weight, {"0": raw})
    yield "bad-global", torch_zip({"x": Named("os system", "true")}, {})
    yield "bad-class", torch_zip({"x": Named("numpy.core.multiarray scalar", 1)}, {})
    yield "bad-storage-missing", torch_zip({"w": torch_tensor("Float", "9", 6, 0, (6,), (1,))}, storages)
    yield "bad-storage-kind", torch_zip({"w": Named("torch._utils _rebuild_tensor_v2", Persistent("torch float32", "0", 6), 0,
                                                    (6,), (1,), False, None)}, storages)
    yield "bad-storage-none", torch_zip({"w": Named("torch._utils _rebuild_tensor_v2", None, 0, (6,), (1,), False, None)}, storages)
    yield "bad-offset", torch_zip({"w": torch_tensor("Float", "0", 6, 1, (6,), (1,))}, storages)
    yield "bad-offset-negative", torch_zip({"w": torch_tensor("Float", "0", 6, -1, (6,), (1,))}, storages)
    yield "bad-offset-overflow", torch_zip({"w": torch_tensor("Float", "0", 6, 2**62, (6,), (1,))}, storages)
    yield "bad-stride", torch_zip({"w": torch_tensor("Float", "0", 6, 0, (2, 3), (4, 1))}, storages)
    yield "bad-stride-negative", torch_zip({"w": torch_tensor("Float", "0", 6, 5, (6,), (-1,))}, storages)
    yield "bad-stride-overflow", torch_zip({"w": torch_tensor("Float", "0", 6, 0, (2, 3), (2**62, 2**62))}, storages)
    yield "bad-expanded", torch_zip({"w": torch_tensor("Float", "0", 6, 0, (1000000, 1000000), (0, 0))}, storages)
    yield "bad-strides-missing", torch_zip({"w": torch_tensor("Float", "0", 6, 0, (2, 3), (1,))}, storages)
    yield "bad-shared-copies", torch_zip(
        {f"t{i}": torch_tensor("Float", "0", 9216, 0, (96, 96), (1, 96)) for i in range(60)}, {"0": b"\0" * 36864}, 8)
    yield "bad-overflow", torch_zip({"w": torch_tensor("Float", "0", 6, 0, (2**62, 4), (4, 1))}, storages)
    yield "bad-byteorder", torch_zip(state, storages, byteorder=b"big")
    yield "bad-key", torch_zip({(1, 2): 3}, {})
    yield "bad-no-pickle", zip_file([zip_member("m/data/0", raw)])
    yield "bad-empty-pickle", torch_zip(None, {}, program=b"")
    yield "bad-stack", torch_zip(None, {}, program=b"\x80\x02\x86.")
    yield "bad-mark", torch_zip(None, {}, program=b"\x80\x02t.")
    yield "bad-memo", torch_zip(None, {}, program=b"\x80\x02h\x05.")
    yield "bad-opcode", torch_zip(None, {}, program=b"\x80\x02i.")
    yield "bad-long", torch_zip(None, {}, program=b"\x80\x02\x8a\x09" + b"\1" * 9 + b".")
    yield "bad-setitem", torch_zip(None, {}, program=b"\x80\x02]NNs.")
    yield "bad-call", torch_zip(None, {}, program=b"\x80\x02NNR.")
    yield "bad-nesting", torch_zip(None, {}, program=b"\x80\x02" + b"]" * 3000 + b"a" * 2999 + b".")
    yield "bad-cycle", torch_zip(None, {}, program=b"\x80\x02]q\0h\0a.")
    laughs = b"\x80\x02" + b"]q\0" + b"".join(
        b"](" + b"h" + bytes([i]) + b"h" + bytes([i]) + b"eq" + bytes([i + 1]) for i in range(50)) + b"."
    yield "bad-laughs", torch_zip(None, {}, program=laughs)


def pickle_files(rng):
    value = {"a": [1, 2.5, "x", None, True], "b": (1, (2, 3)), 3: {"c": b"bytes"}, "big": 2**50}
    yield "good-protocol-2", pickle.dumps(dict(value) | {3: {"c": "bytes"}}, 2)
    for protocol in (4, 5):
        yield f"good-protocol-{protocol}", pickle.dumps(value, protocol)
    yield "bad-codecs", pickle.dumps(value, 2)  # Python 3 writes bytes of protocol 2 as a call of its codecs
    yield "good-persistent", b"\x80\x02" + pickled({"s": Persistent("torch FloatStorage", "0", 6)}) + b"."
    yield "good-ordered", b"\x80\x02" + pickled(Named("collections OrderedDict"))[:-1] + b"R(" + text("k") + b"K\1u}b."
    yield "bad-protocol-0", pickle.dumps(value, 0)
    yield "bad-global", b"cos\nsystem\n(X\x04\0\0\0truetR."
    yield "bad-stack-global", b"\x8c\x02os\x8c\x06system\x93."
    yield "bad-string", b"X\xff\xff\xff\xffa"
    yield "bad-no-stop", b"\x80\x02N"


def tensor_file_files(rng):
    """One good file of each format, which open_tensor_file tells apart, and bytes of none."""
    makers = {"safetensors": safetensors_files, "gguf": gguf_files, "ctranslate2": ct2_files, "ggml": ggml_bin_files,
              "npy": npy_files, "npz": npz_files, "onnx": onnx_files, "pytorch": torch_files}
    for name, files in makers.items():
        yield f"good-{name}", next(iter(files(rng)))[1]
    yield "bad-empty", b""
    yield "bad-text", b"This is not a model.\n"
    yield "bad-zip", zip_file([zip_member("x.txt", b"data")])
    yield "bad-legacy-pytorch", pickle.dumps(0x1950A86A20F9469CFC6C, 2)
    yield "bad-lfs-pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


CORPORA = {
    "onnx": onnx_files,
    "pytorch": torch_files,
    "pickle": pickle_files,
    "tensor_file": tensor_file_files,
    "ggml_bin": ggml_bin_files,
    "npy": npy_files,
    "npz": npz_files,
    "zip": zip_files,
    "safetensors": safetensors_files,
    "gguf": gguf_files,
    "ctranslate2": ct2_files,
}


def main():
    root = Path(sys.argv[1])
    for folder, files in CORPORA.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name, data in files(random.Random(f"{SEED} {folder}")):
            (root / folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
