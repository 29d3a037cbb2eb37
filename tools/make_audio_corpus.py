#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets media_stream, iff_length, wav_header, ogg_pages and
mpeg_frame: small files by hand."""

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


def ogg_sum(page):
    total = 0
    for byte in page:
        total ^= byte << 24
        for _ in range(8):
            total = (total << 1 ^ (0x04C11DB7 if total >> 31 else 0)) & 0xFFFFFFFF
    return total


BEGINS, ENDS = 2, 4


def page(number, flags=0, granule=0, serial=7, lengths=(5,), payload=None):
    """One page of an Ogg stream (RFC 3533, section 6)."""
    payload = bytes(range(sum(lengths) % 256)) if payload is None else payload
    head = b"OggS" + struct.pack("<BBqII", 0, flags, granule, serial, number)
    tail = bytes([len(lengths)]) + bytes(lengths) + payload
    return head + struct.pack("<I", ogg_sum(head + bytes(4) + tail)) + tail


FIRST, SECOND, LAST = page(0, BEGINS), page(1, 0, 960, lengths=(255, 3), payload=bytes(258)), page(2, ENDS, 1920)
STREAM = FIRST + SECOND + LAST
PICTURE = page(0, BEGINS, serial=9), page(1, ENDS, -1, serial=9)

OGG = {  # name: flags and size of the pieces, bytes
    "whole": (0x7F, STREAM),
    "bytewise": (0x00, STREAM),
    "checksums_made": (0x86, STREAM[:22] + bytes(4) + STREAM[26:]),
    "wrong_checksum": (0x7F, FIRST + SECOND[:-1] + b"x" + LAST),
    "page_missing": (0x7F, FIRST + LAST),
    "no_first_page": (0x7F, SECOND + LAST),
    "no_last_page": (0x7F, FIRST + SECOND),
    "cut_in_page": (0x1F, STREAM[:-3]),
    "cut_in_header": (0x1F, FIRST + SECOND[:20]),
    "tag_before": (0x03, b"ID3" + bytes(20) + STREAM),
    "tag_after": (0x03, STREAM + b"TAG" + bytes(125)),
    "bytes_between": (0x7F, FIRST + b"OggSOgg" + SECOND + LAST),
    "joined": (0x30, STREAM + STREAM),
    "two_streams": (0x11, FIRST + PICTURE[0] + SECOND + PICTURE[1] + LAST),
    "no_segments": (0x7F, FIRST + page(1, 0, -1, lengths=()) + page(2, ENDS, 5)),
    "most_segments": (0x7F, page(0, BEGINS | ENDS, lengths=(0,) * 255)),
    "wrapping_number": (0xFF, page(0, BEGINS) + page(0xFFFFFFFF) + page(0, ENDS)),
    "stub": (0x01, b"Ogg"),
}
OGG = {name: bytes([first]) + data for name, (first, data) in OGG.items()}


def frame(header, size):
    """A frame of MPEG audio: ISO/IEC 11172-3, section 2.4.2.3."""
    return bytes.fromhex(header) + bytes(size - 4)


LAYER3 = frame("fffb9000", 417)

MPEG = {
    "mpeg1_layer3": LAYER3 + frame("fffb9200", 418),
    "mpeg1_layer2": frame("fffda000", 626),
    "mpeg1_layer1": frame("ffff4400", 128) * 2,
    "mpeg2_layer3": frame("fff3180c", 24) + frame("fff31a0c", 25) + frame("fff3e8c4", 720),
    "mpeg2_layer2": frame("fff5e8c4", 1440),
    "mpeg2_layer1": frame("fff718c4", 64),
    "mpeg25_layer3": frame("ffe318c4", 72),
    "mpeg25_longest": frame("ffe5eac4", 2881),
    "open_length": frame("fffb0000", 400) + LAYER3,
    "forbidden_rate": frame("fffbf000", 400) + LAYER3,
    "reserved_version": frame("ffeb9000", 417),
    "reserved_layer": frame("fff99000", 417),
    "reserved_sampling": frame("fffb9c00", 417),
    "cut": LAYER3 + LAYER3[:100],
    "junk_between": LAYER3 + b"\xff\xfbjunk\xff" + LAYER3,
    "id3": b"ID3\x04\0\0\0\0\0\x0a" + bytes(10) + LAYER3 + b"TAG" + bytes(125),
    "ape": LAYER3 + b"APETAGEX" + bytes(24),
    "stub": b"\xff\xfb\x90",
}

CORPORA = {"media_stream": MEDIA, "iff_length": IFF, "wav_header": WAV, "ogg_pages": OGG, "mpeg_frame": MPEG}

for folder, files in CORPORA.items():
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (ROOT / folder / name).write_bytes(data)
