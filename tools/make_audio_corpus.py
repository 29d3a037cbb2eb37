#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets media_stream, iff_length and wav_header: small files by hand."""

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


def wav_format(tag, channels, bits, rate=16000, frame=None, extra=b""):
    frame = channels * bits // 8 if frame is None else frame
    return chunk(b"fmt ", struct.pack("<HHIIHH", tag, channels, rate, rate * frame & 0xFFFFFFFF, frame, bits) + extra)


def extensible(subformat, channels, bits):
    guid = struct.pack("<H", subformat) + bytes.fromhex("000000001000800000aa00389b71")
    return wav_format(0xFFFE, channels, bits, extra=struct.pack("<HHI", 22, bits, 3) + guid)


def rf64(sample_bytes, *chunks, name=b"RF64"):
    ds64 = chunk(b"ds64", struct.pack("<QQQI", 0, sample_bytes, 0, 0))
    return name + b"\xff\xff\xff\xffWAVE" + ds64 + b"".join(chunks)


WAVE64_RIFF = b"riff" + bytes.fromhex("2e91cf11a5d628db04c10000")
WAVE64_TAIL = bytes.fromhex("f3acd3118cd100c04f8edb8a")


def wave64_chunk(name, payload=b"", size=None):
    size = 24 + len(payload) if size is None else size
    return name + WAVE64_TAIL + struct.pack("<Q", size) + payload + bytes(-len(payload) % 8)


def wave64(*chunks):
    body = b"wave" + WAVE64_TAIL + b"".join(chunks)
    return WAVE64_RIFF + struct.pack("<Q", 24 + len(body)) + body


FMT_BODY = FORMAT[8:]
ENDLESS = chunk(b"data", b"", 0xFFFFFFFF)

WAV = {
    "pcm16": riff(FORMAT, chunk(b"data", bytes(8))),
    "pcm8": riff(wav_format(1, 1, 8), ENDLESS),
    "pcm24": riff(wav_format(1, 2, 24), ENDLESS),
    "pcm32": riff(wav_format(1, 1, 32), ENDLESS),
    "float32": riff(wav_format(3, 2, 32), ENDLESS),
    "float64": riff(wav_format(3, 1, 64), ENDLESS),
    "alaw": riff(wav_format(6, 1, 8, 8000), ENDLESS),
    "mulaw": riff(wav_format(7, 1, 8, 8000), ENDLESS),
    "ffmpeg": riff(FORMAT, chunk(b"LIST", b"INFOISFT\x0e\0\0\0Lavf59.27.100\0"), ENDLESS),
    "sox": riff(FORMAT, chunk(b"data", b"", 0x7FFFF000)),
    "unwritten": riff(FORMAT, chunk(b"data")),
    "extensible": riff(extensible(1, 6, 24), ENDLESS),
    "extensible_float": riff(extensible(3, 2, 32), ENDLESS),
    "extensible_other": riff(extensible(0x161, 2, 16), ENDLESS),
    "odd_chunk": riff(chunk(b"LIST", b"abc"), FORMAT, chunk(b"data", bytes(2))),
    "rf64": rf64(1 << 40, FORMAT, ENDLESS),
    "rf64_unwritten": rf64(0, FORMAT, ENDLESS),
    "rf64_absurd": rf64(0xFFFFFFFFFFFFFFFF, FORMAT, ENDLESS),
    "bw64": rf64(8, FORMAT, ENDLESS, name=b"BW64"),
    "wave64": wave64(wave64_chunk(b"fmt ", FMT_BODY), wave64_chunk(b"data", bytes(8))),
    "wave64_zero_size": wave64(wave64_chunk(b"junk", b"", 0), wave64_chunk(b"fmt ", FMT_BODY)),
    "wave64_jump": wave64(wave64_chunk(b"junk", b"", 0xFFFFFFFFFFFFFFF8)),
    "data_first": riff(chunk(b"data", bytes(8)), FORMAT),
    "adpcm": riff(wav_format(2, 1, 4, frame=256), ENDLESS),
    "no_channels": riff(wav_format(1, 0, 16), ENDLESS),
    "wrong_frame": riff(wav_format(1, 2, 16, frame=3), ENDLESS),
    "short_format": riff(chunk(b"fmt ", bytes(14)), ENDLESS),
    "no_rate": riff(wav_format(1, 1, 16, 0), ENDLESS),
    "absurd_rate": riff(wav_format(1, 1, 16, 0xFFFFFFFF), ENDLESS),
    "long_header": riff(chunk(b"LIST", b"", 0x10000), FORMAT, ENDLESS),
    "avi": b"RIFF\0\0\0\0AVI LIST",
    "stub": b"RIF",
}

for folder, files in (("media_stream", MEDIA), ("iff_length", IFF), ("wav_header", WAV)):
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (ROOT / folder / name).write_bytes(data)
