"""What those of hostile.py send: requests, frames and messages, right ones and wrong ones."""
import gzip
import json
import os
import struct

UPGRADE = b"GET /v1/realtime?intent=transcription HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
DEEP = 100_000


def request(path, body, kind, more=b""):
    """Without a body: its head, which is to tell by `more` how long it is."""
    length = b"" if body is None else b"Content-Length: %d\r\n" % len(body)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n".encode() + more + length + b"\r\n"
    return head + (body or b"")


def part(name, value, file=None):
    where = f'; filename="{file}"' if file else ""
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{where}\r\n\r\n'.encode() + value + b"\r\n"


def form(sound, name="a.flac"):
    return part("model", b"whisper-1") + part("file", sound, name) + b"--b--\r\n"


def frame(payload, opcode=1, last=True, reserved=0, masked=True, length=None):
    payload = payload.encode() if isinstance(payload, str) else payload
    size = len(payload) if length is None else length
    head = bytes([(0x80 if last else 0) | reserved << 4 | opcode])
    mask = b"\x01\x02\x03\x04"
    bit = 0x80 if masked else 0
    if size < 126:
        head += bytes([bit | size])
    elif size < 1 << 16:
        head += bytes([bit | 126]) + struct.pack(">H", size)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", size)
    if not masked:
        return head + payload
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def close_code(told):
    """That of the frame which closes, the last of what a server sent."""
    at = told.index(b"\r\n\r\n") + 4
    while at + 2 <= len(told):
        opcode, size = told[at] & 15, told[at + 1] & 127
        at += 2
        if size > 125:
            more = 2 if size == 126 else 8
            size = int.from_bytes(told[at : at + more], "big")
            at += more
        if opcode == 8:
            return int.from_bytes(told[at : at + 2], "big") if size else 1005
        at += size
    return None


def wyoming(kind, data, payload=b""):
    text = json.dumps(data).encode()
    head = {"type": kind, "version": "1.9.0", "data_length": len(text)}
    if payload:
        head["payload_length"] = len(payload)
    return json.dumps(head).encode() + b"\n" + text + payload


def bad_heads():
    """Lines of a head, and the statuses that are right for them."""
    return [
        (b"A: b\r\n" * 20000, (431,)),
        (b"A: " + b"a" * (1 << 20), (431,)),
        (b"a" * 100000 + b": b", (400, 431)),
        (b"no colon", (400,)),
        (b": no name", (400,)),
        (b"A: \x00", (400,)),
        (b"A\x00B: c", (400,)),
        (b"A b: c", (400,)),
        (b"A : c", (400,)),
        (b" folded: first", (400, 421)),
        (b"A: b\rC: d", (400,)),
        (b"Content-Length: 5\r\nContent-Length: 5", (400,)),
        (b"Content-Length: 5\r\nContent-Length: 6", (400,)),
        (b"Content-Length: 5, 5", (400,)),
        (b"Content-Length: -1", (400,)),
        (b"Content-Length: +1", (400,)),
        (b"Content-Length: 0x10", (400,)),
        (b"Content-Length: 1e3", (400,)),
        (b"Content-Length: ", (400,)),
        (b"Content-Length: 18446744073709551616", (400, 413)),
        (b"Content-Length: 18446744073709551615", (400, 413)),
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked", (400,)),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 5", (400,)),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", (400,)),
        (b"Transfer-Encoding: chunked, chunked", (400,)),
        (b"Transfer-Encoding: gzip, chunked", (400,)),
        (b"Transfer-Encoding: gzip", (400,)),
        (b"Transfer-Encoding: identity", (400,)),
        (b"Transfer-Encoding: xchunked", (400,)),
        (b"Transfer-Encoding: \x0bchunked", (400,)),
        (b"Host: elsewhere.example", (400, 421)),
    ]


def bad_lines():
    host = b"\r\nHost: localhost\r\n\r\n"
    return [
        (b"GET /" + b"a" * 100000 + b" HTTP/1.1" + host, (414,)),
        (b"A" * 100000 + b" / HTTP/1.1" + host, (400, 414)),
        (b"GET /?" + b"a=b&" * 10000 + b" HTTP/1.1\r\nConnection: close" + host, (404, 200)),
        (b"GET /%00 HTTP/1.1" + host, (400,)),
        (b"GET /\x80\xff HTTP/1.1\r\nConnection: close" + host, (400, 404)),
        (b"GET /v1/models/" + b"../" * 1000 + b"etc/passwd HTTP/1.1\r\nConnection: close" + host, (400, 404)),
        (b"GET /v1/jobs/" + b"%2e%2e%2f" * 20 + b" HTTP/1.1\r\nConnection: close" + host, (400, 404)),
        (b"GET  / HTTP/1.1" + host, (400,)),
        (b"GET / HTTP/9.9" + host, (400,)),
        (b"GET / HTTP/1.1 x" + host, (400,)),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 600, (400,)),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400,)),
        (b"\x00" * 1000, (400,)),
        (os.urandom(70000), (400, 414, 431)),
    ]


def chunked(chunks, path="/v1/audio/speech", kind="application/json"):
    return request(path, None, kind, b"Transfer-Encoding: chunked\r\nConnection: close\r\n") + chunks


def lying_bodies():
    """Chunks and lengths that are not what they say; none of them is waited for."""
    head = b"Connection: close\r\n"
    text = b'{"input": ""}'
    return [
        (chunked(b"fffffffffffffffff\r\n"), (400,)),
        (chunked(b"-1\r\n"), (400,)),
        (chunked(b"+1\r\na\r\n"), (400,)),
        (chunked(b"0x1\r\na\r\n0\r\n\r\n"), (400,)),
        (chunked(b" 1\r\na\r\n"), (400,)),
        (chunked(b"g\r\n"), (400,)),
        (chunked(b"\r\n"), (400,)),
        (chunked(b"1\r\nab\r\n0\r\n\r\n"), (400,)),
        (chunked(b"2\r\na\r\n0\r\n\r\n" + b"a" * 8), (400,)),
        (chunked(b"1;" + b"a" * 400000), (400,)),
        (chunked(b"d;" + b"a=b;" * 3000 + b"\r\n" + text + b"\r\n0\r\n\r\n"), (400,)),
        (chunked(b"d\r\n" + text + b"\r\n0\r\n" + b"A: b\r\n" * 20000 + b"\r\n"), (400, 431)),
        (chunked(b"d\r\n" + text + b"\r\n0\r\nno colon\r\n\r\n"), (400,)),
        (chunked(b"".join(b"1\r\n \r\n" for _ in range(50000)) + b"0\r\n\r\n"), (400,)),
        (chunked(b"100000\r\n" + b"a" * (1 << 20) + b"\r\n" + b"100000\r\n" + b"a" * (1 << 20) + b"\r\n0\r\n\r\n"), (400, 413)),
        (request("/v1/audio/speech", None, "application/json", head + b"Content-Length: 99999999999\r\n"), (413,)),
        (request("/v1/audio/speech", b"a" * (17 << 20), "application/json", head), (413,)),
        (request("/v1/audio/speech", gzip.compress(b'{"input": "One.", "voice": "slt"}'), "application/json", head + b"Content-Encoding: gzip\r\n"), (400, 415)),
        (request("/v1/audio/transcriptions", gzip.compress(b"a" * (1 << 24)), "multipart/form-data; boundary=b", head + b"Content-Encoding: gzip\r\n"), (400, 415)),
        # More than it says is the next request, which is none.
        (request("/v1/audio/speech", None, "application/json", b"Content-Length: 2\r\n") + b"{}garbage\r\n\r\n", (400,)),
        (b"GET /version HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n" + b"a" * 2000000, (413,)),
        (UPGRADE.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\nhello"), (400, 426)),
    ]


def bad_forms(clip):
    endless = b"--b\r\nContent-Disposition: form-data; name=" + b"a" * 200000
    return [
        (b"".join(part("a", b"b") for _ in range(100000)) + b"--b--\r\n", (400, 413)),
        (b"".join(part("file", b"b", "a.wav") for _ in range(1000)) + b"--b--\r\n", (400, 413)),
        (b"".join(part("file", clip, "a.wav") for _ in range(20)) + b"--b--\r\n", (400, 413)),
        (endless, (400,)),
        (b"--b\r\n" + b"A: b\r\n" * 50000, (400,)),
        (b"--b\r\n" + b"A\r\n" * 100 + b"\r\n", (400,)),
        (b"--b\r\n\r\n\r\n--b--\r\n", (400,)),
        (b"--c\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--c--\r\n", (400,)),
        (b"x" * 1000000, (400,)),
        (b"\r\n--b" * 50000, (400,)),
        (b"--b" + b" " * 100000 + b"\r\n", (400,)),
        (form(clip)[:-4], (400,)),
        (form(clip).replace(b"--b--", b"--c--"), (400,)),
        (part("a[" * 5000 + "]" * 5000, b"b") + b"--b--\r\n", (400,)),
        (part("file", b"", "a.wav") + b"--b--\r\n", (400,)),
        (part("file", clip, "../" * 1000 + "etc/passwd\x00.wav") + part("temperature", b"9") + b"--b--\r\n", (400,)),
        (part("model", b"a" * (17 << 20)) + b"--b--\r\n", (400, 413)),
        (part("model", b"\xff\xfe\x00") + part("file", b"none", "a.wav") + b"--b--\r\n", (400,)),
        (b'--b\r\nContent-Disposition: form-data; name="file"; filename="' + b"\\\"" * 4000 + b'\r\n\r\nx\r\n--b--\r\n', (400,)),
        (b"--b\r\nContent-Disposition: form-data" + b";" * 15000 + b"\r\n\r\nx\r\n--b--\r\n", (400,)),
        (b"--b\r\nContent-Disposition: form-data; name=file; filename=a\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n" + b"--c\r\n" * 1000 + b"\r\n--b--\r\n", (400,)),
    ]


def bad_json():
    return [
        b"[" * DEEP,
        b'{"input":' * DEEP,
        b'{"input":' + b"[" * DEEP + b"]" * DEEP + b"}",
        b'{"input": ' + b"9" * 100000 + b"}",
        b'{"input": 1e999999999}',
        b'{"input": "a", "speed": 1e999999999}',
        b'{"input": "a", "speed": -' + b"9" * 1000 + b"}",
        b'{"input": "\xff\xfe"}',
        b'{"input": "\xed\xa0\x80"}',
        b'{"input": "\\ud800"}',
        b'{"input": "a\x00b"}',
        b'\xef\xbb\xbf{"input":',
        b'{"input": "a' + b"\\" * 100001,
        b"{" + b",".join(b'"a%d":0' % i for i in range(50000)) + b',"input":[]}',
        b"null",
        b"",
        b"\x00" * 100000,
        b'"' * 100000,
        b" " * (15 << 20),
    ]


def bad_frames():
    """Frames, and the code that closes."""
    hello = '{"type":"x"}'
    return [
        (frame(hello, reserved=4), 1002),
        (frame(hello, reserved=1), 1002),
        (frame(hello, masked=False), 1002),
        (frame(hello, 3), 1002),
        (frame(b"", 11), 1002),
        (frame(b"", 9, last=False), 1002),
        (frame(b"a" * 126, 9), 1002),
        (frame(hello, 0), 1002),
        (frame("a", last=False) + frame("b"), 1002),
        (frame("", length=1 << 62), 1009),
        (frame("", length=(1 << 64) - 1), 1009),
        (frame("", length=(1 << 20) + 1), 1009),
        (frame("a" * 600000, last=False) + frame("a" * 600000, 0), 1009),
        (frame("", length=1 << 62, last=False), 1009),
        (frame(b"\xff\xfe"), 1007),
        (frame(b"\xc3", last=False) + frame(b"\x28", 0), 1007),
        (frame(b"\xf0\x9f"), 1007),
        (frame(b"sound", 2), 1003),
        (frame(b"\x03", 8), 1002),
        (frame(b"\x00\x00", 8), 1002),
        (frame(struct.pack(">H", 1005), 8), 1002),
        (frame(struct.pack(">H", 1006), 8), 1002),
        (frame(struct.pack(">H", 5000), 8), 1002),
        (frame(struct.pack(">H", 1000) + b"\xff", 8), 1007),
        (frame(struct.pack(">H", 3000) + b"bye", 8), 3000),
        (b"\x81\xfe\x00\x05\x01\x02\x03\x04hello", 1002),
        (b"\x81\xff" + b"\x00" * 7 + b"\x05\x01\x02\x03\x04hello", 1002),
        (b"\xff" * 100, 1002),
    ]


def bad_messages():
    """Texts that no event of Realtime is."""
    return [
        "",
        "{}",
        "[]",
        "hello",
        '{"type": 5}',
        '{"type": "no.such"}',
        "[" * 200000,
        '{"type":"session.update","session":' + "[" * 100000 + "]" * 100000 + "}",
        '{"type":"session.update","session":' + '{"a":' * 100000,
        '{"type":"session.update","session":{"audio":{"input":{"format":{"type":"audio/pcm","rate":1e99}}}}}',
        '{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"server_vad","silence_duration_ms":-1e300}}}}}',
        '{"type":"input_audio_buffer.append","audio":"!!!"}',
        '{"type":"input_audio_buffer.append","audio":"A"}',
        '{"type":"input_audio_buffer.append","audio":5}',
        '{"type":"input_audio_buffer.append"}',
        '{"type":"input_audio_buffer.commit"}',
        '{"type":"conversation.item.create","item":5}',
        '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[5]}}',
        '{"type":"conversation.item.truncate","item_id":"x","content_index":-1,"audio_end_ms":1e99}',
        '{"type":"conversation.item.delete","item_id":"' + "x" * 100000 + '"}',
        '{"type":"conversation.item.retrieve","item_id":{}}',
        '{"type":"response.create","response":[]}',
        '{"type":"response.create","response":{"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":5}]}]}}',
        '{"type":"response.cancel","response_id":"nobody"}',
    ]


def bad_wyoming():
    """What is no message: the server says so and closes, or closes."""
    deep = b"[" * 30000 + b"]" * 30000
    return [
        b"hello\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\n",
        b"\x00" * 1000 + b"\n",
        b"[]\n",
        b"null\n",
        b'{"type":5}\n',
        b"a" * 1000000,
        b'{"type":"' + b"a" * 1000000 + b'"}\n',
        b'{"type":"ping","data_length":-1}\n',
        b'{"type":"ping","data_length":1.5}\n',
        b'{"type":"ping","data_length":"5"}\n',
        b'{"type":"ping","data_length":1048577}\n',
        b'{"type":"ping","data_length":18446744073709551615}\n',
        b'{"type":"ping","data_length":99999999999999999999999}\n',
        b'{"type":"ping","payload_length":-9223372036854775808}\n',
        b'{"type":"ping","payload_length":16777217}\n',
        b'{"type":"ping","data_length":2}\n[]',
        b'{"type":"ping","data_length":3}\n\xff\xff\xff',
        b'{"type":"ping","data_length":500000}\n' + b"[" * 500000,
        b'{"type":"ping","data":{"text":' + deep + b"}}\n",
        b'{"type":"ping","data_length":500}\n{}',  # the rest never comes
        b'{"type":"audio-chunk","payload_length":1000000}\n12',
        os.urandom(100000),
    ]


def refused_wyoming():
    """Messages that are refused."""

    def sound(**start):
        usual = {"rate": 16000, "width": 2, "channels": 1} | start
        return wyoming("audio-start", usual) + wyoming("audio-chunk", usual, bytes(3200)) + wyoming("audio-stop", {})

    return [
        sound(rate=0),
        sound(rate=-16000),
        sound(rate=(1 << 32) + 16000),
        sound(rate=1 << 62),
        sound(width=0),
        sound(width=-1),
        sound(width=1 << 33),
        sound(channels=0),
        sound(channels=-1),
        sound(channels=(1 << 32) + 1),
        sound(channels=1 << 31),
        wyoming("synthesize", {"text": "a", "voice": {"name": "nobody"}}),
        wyoming("synthesize", {"text": ""}) + wyoming("synthesize", {"text": "a", "voice": {"name": "../../x"}}),
    ]


def riff(size, chunks):
    return b"RIFF" + struct.pack("<I", size) + b"WAVE" + chunks


def bad_sounds():
    """Files that are no recordings, or claim to be far more than they are."""

    def fmt(tag=1, channels=1, rate=16000, align=2, bits=16):
        return b"fmt " + struct.pack("<IHHIIHH", 16, tag, channels, rate, rate * align & 0xFFFFFFFF, align, bits)

    tag = b"ID3\x04\x00\x00\x7f\x7f\x7f\x7f"
    info = struct.pack(">HH", 4096, 4096) + bytes(6) + (16000 << 44 | 15 << 36 | (1 << 36) - 1).to_bytes(8, "big") + bytes(16)
    atom = b""
    for _ in range(5000):
        atom = struct.pack(">I", len(atom) + 8) + b"moov" + atom
    return [
        ("a.wav", riff(0xFFFFFFFF, fmt() + b"data" + struct.pack("<I", 0xFFFFFFFF))),
        ("a.wav", riff(36, fmt(channels=0) + b"data" + struct.pack("<I", 8) + bytes(8))),
        ("a.wav", riff(36, fmt(channels=65535, align=0) + b"data" + struct.pack("<I", 8) + bytes(8))),
        ("a.wav", riff(36, fmt(rate=0) + b"data" + struct.pack("<I", 8) + bytes(8))),
        ("a.wav", riff(36, fmt(rate=0xFFFFFFFF) + b"data" + struct.pack("<I", 8) + bytes(8))),
        ("a.wav", riff(36, fmt(bits=65535, align=0) + b"data" + struct.pack("<I", 8) + bytes(8))),
        ("a.wav", riff(36, b"fmt " + struct.pack("<I", 0xFFFFFFFF))),
        ("a.wav", riff(36, b"LIST" + struct.pack("<I", 0) * 100000)),
        ("a.wav", riff(36, b"ds64" + struct.pack("<I", 28) + b"\xff" * 28)),
        ("a.flac", b"fLaC\x80\x00\x00\x22" + info),
        ("a.flac", b"fLaC" + b"\x04\xff\xff\xff" * 100),
        ("a.mp3", tag + b"\x00" * 1000),
        ("a.mp3", b"\xff\xfb\x90\x00" * 3),
        ("a.ogg", b"OggS\x00\x02" + b"\xff" * 20 + b"\xff" + b"\xff" * 255),
        ("a.mp4", struct.pack(">I", 16) + b"ftypM4A " + struct.pack(">I", 0) + atom),
        ("a.mp4", struct.pack(">I", 1) + b"ftyp" + b"\xff" * 8),
        ("a.mkv", b"\x1aE\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff" + b"\x18S\x80g" * 1000),
        ("a.zip", b"PK\x03\x04" + bytes(26) + b"\xff" * 100),
        ("a.gz", gzip.compress(bytes(1 << 26))),
        ("a.m3u8", b"#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\nhttp://127.0.0.1:1/a.ts\n" * 100),
        ("a.ffconcat", b"ffconcat version 1.0\nfile '/etc/passwd'\n" * 1000),
        ("a.sdp", b"v=0\no=- 0 0 IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n"),
        ("a.svg", b"<!DOCTYPE a [" + b'<!ENTITY a "aaaaaaaaaa">' * 1000 + b"]>"),
        ("a.wav", os.urandom(100000)),
        ("\\..\\..\\a\r\nX-Evil: 1", b"nothing"),
    ]
