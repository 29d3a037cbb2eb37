#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets media_stream and iff_length: small files by hand."""

import pathlib
import struct

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests/fuzz/corpus"


def message(kind, payload=b""):
    return struct.pack("<II", 0x594D0000 + kind, len(payload)) + payload


def media_format(rate=16000, channels=2, frames=-1, first=0):
    return message(1, struct.pack("<IIqq", rate, channels, frames, first))


SAMPLES = message(2, struct.pack("<8f", *range(8)))
END = message(4)

MEDIA = {
    "whole": b"\xff" + media_format() + SAMPLES + SAMPLES + END,
    "bytewise": b"\x00" + media_format() + SAMPLES + END,
    "error_after_samples": b"\xff" + media_format() + SAMPLES + message(3, b"is cut off"),
    "error_alone": b"\xff" + message(3, b"is no recording\x1b[2J"),
    "ends_early": b"\xff" + media_format() + SAMPLES[:20],
    "too_large": b"\xff" + media_format() + struct.pack("<II", 0x594D0002, 0xFFFFFFF8),
    "no_channels": b"\xff" + media_format(channels=0) + SAMPLES,
    "many_channels": b"\xff" + media_format(channels=1024) + SAMPLES,
    "no_format": b"\xff" + SAMPLES,
}


def chunk(name, payload=b"", size=None, order="<"):
    size = len(payload) if size is None else size
    return name + struct.pack(order + "I", size) + payload + b"\0" * (len(payload) & 1)


def riff(*chunks):
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


FORMAT = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 16000, 32000, 2, 16))

IFF = {
    "wav": riff(FORMAT, chunk(b"data", bytes(8))),
    "wav_cut": riff(FORMAT, chunk(b"data", bytes(8), 100)),
    "wav_piped": riff(FORMAT, chunk(b"data", bytes(8), 0xFFFFFFFF)),
    "wav_odd_chunk": riff(FORMAT, chunk(b"LIST", b"abc"), chunk(b"data", bytes(2))),
    "wav_jump": riff(chunk(b"LIST", b"", 0xFFFFFFFE), chunk(b"data", bytes(2))),
    "aiff": b"FORM\0\0\0\x1aAIFF" + chunk(b"SSND", bytes(8), 50, ">"),
    "stub": b"RIFF",
}

for folder, files in (("media_stream", MEDIA), ("iff_length", IFF)):
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (ROOT / folder / name).write_bytes(data)
