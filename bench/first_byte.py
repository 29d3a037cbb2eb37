#!/usr/bin/env python3
"""./dev bench first_byte: how soon the first byte of speech is there, for 50 words, beside the engine's first sound in that same call.

One client asks `mynah serve` by turns for each voice (Kokoro's af_heart, Piper's joe) as pcm, wav, mp3 and opus: the time from the request's
first byte to the first byte of sound, behind what headers a file has. The first sound of the call in the process is the server's own
(Server-Timing: from the text's handing over to its first clause). Each sound is decoded, and must be as long as the others of its voice.
With --peers the same text at piper's own HTTP server and at Kokoro on ONNX Runtime behind FastAPI, by the same turns.

usage: first_byte.py [--turns N] [--threads N] [--peers] [--json]
"""
import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

import serving
from speak import LONG

VOICES = {"Kokoro": "af_heart", "Piper": "joe"}
MUST_MS = {"pcm": 10, "wav": 10, "mp3": 25, "opus": 25}
RATES = {"Kokoro": 24000, "Piper": 22050}
# Of the sound's length, by which encoders and resamplers change it.
LENGTH_S = 0.15


class Answer:
    """A body as it came: all of it, and when each of its bytes was here."""

    def __init__(self, address, path, body):
        parts = urllib.parse.urlsplit(address)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
        connection.connect()
        begin = time.perf_counter()
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        self.body, self.arrivals = b"", []
        while piece := answer.read1(1 << 16):
            self.body += piece
            self.arrivals.append((len(self.body), 1e3 * (time.perf_counter() - begin)))
        connection.close()
        if answer.status != 200 or not self.body:
            sys.exit(f"{path}: {answer.status} {self.body[:300]}")
        self.timing = answer.headers.get("Server-Timing", "")

    def ms_of_byte(self, at):
        return next(ms for size, ms in self.arrivals if size > at)


def begin_of_sound(kind, body):
    """Where its first sample is, or the first frame or packet that has some."""
    if kind == "wav":
        return body.index(b"data") + 8
    if kind == "mp3":
        at = 10 + sum((byte & 0x7F) << shift for byte, shift in zip(body[6:10], (21, 14, 7, 0))) if body.startswith(b"ID3") else 0
        at = body.index(b"\xff", at)
        following = next(found.start() for found in re.finditer(rb"\xff[\xe2-\xff]", body[at + 2 :])) + at + 2
        return following if b"Xing" in body[at:following] or b"Info" in body[at:following] else at
    if kind == "opus":  # behind the pages of OpusHead and OpusTags
        at = [found.start() for found in re.finditer(rb"OggS", body)][2]
        return at + 27 + body[at + 26]
    return 0


def length_s(kind, body, rate):
    """By ffmpeg."""
    form = ["-f", "s16le", "-ar", str(rate), "-ac", "1"] if kind == "pcm" else []
    command = ["ffmpeg", "-v", "error", *form, "-i", "-", "-f", "s16le", "-ar", "24000", "-ac", "1", "-"]
    samples = subprocess.run(command, input=body, check=True, stdout=subprocess.PIPE).stdout
    if not any(samples):
        sys.exit(f"{kind}: nothing but silence was spoken")
    return len(samples) / 2 / 24000


def ask_mynah(address, name, kind):
    """The first byte, and the first sound of the call in the process, in ms; and how long the sound is, in s."""
    answer = Answer(address, "/v1/audio/speech", {"input": LONG, "voice": VOICES[name], "response_format": kind})
    first = re.search(r"first-sound;dur=([0-9.]+)", answer.timing)
    if not first:
        sys.exit(f"wanted the first sound's time in Server-Timing, found {answer.timing!r}")
    return answer.ms_of_byte(begin_of_sound(kind, answer.body)), float(first.group(1)), length_s(kind, answer.body, 24000)


def ask_peer(address, path, body, rate):
    """The first byte of its WAV, in ms."""
    answer = Answer(address, path, body)
    if length_s("wav", answer.body, rate) < 5:
        sys.exit(f"{path}: wanted 50 words, found {length_s('wav', answer.body, rate)} s of sound")
    return answer.ms_of_byte(begin_of_sound("wav", answer.body))


def start_peers(threads):
    """{voice: [process, what asks it, its engine's name]}."""
    import speak_peers

    reader = subprocess.run(
        [sys.executable, f"{serving.ROOT}/bench/speak_peers.py", "phonemes"], input=json.dumps({"text": LONG}), text=True, check=True, stdout=subprocess.PIPE
    )
    kokoro = {
        "model": serving.SPEECH["kokoro"],
        "vocabulary": f"{serving.WEIGHTS}/kokoro/vocab.json",
        "voice": f"{serving.VOICES}/{VOICES['Kokoro']}.pt",
        "phonemes": {LONG: json.loads(reader.stdout)["phonemes"]},
        "threads": threads,
    }
    process, address = serving.start_peer([sys.executable, f"{serving.ROOT}/bench/serve_peers.py", "kokoro", "{port}", json.dumps(kokoro)])
    found = {"Kokoro": [process, lambda: ask_peer(address, "/v1/audio/speech", {"input": LONG}, speak_peers.KOKORO_RATE), "ONNX Runtime behind FastAPI"]}
    process, piper = serving.start_peer([sys.executable, "-m", "piper.http_server", "--host", "127.0.0.1", "--port", "{port}", "-m", serving.JOE])
    found["Piper"] = [process, lambda: ask_peer(piper, "/synthesize", {"text": LONG}, RATES["Piper"]), "piper.http_server"]
    return found


def measure(address, beside, turns):
    asked = [(name, kind) for name in VOICES for kind in MUST_MS]
    firsts = {one: [] for one in asked}
    sounds = {one: [] for one in asked}
    peers = {name: [] for name in beside}
    for turn in range(turns + 1):
        for name in VOICES:
            lengths = []
            for kind in MUST_MS:
                first, sound, length = ask_mynah(address, name, kind)
                lengths.append(length)
                if turn > 0:  # the first opens what is opened late
                    firsts[name, kind].append(first)
                    sounds[name, kind].append(sound)
            if max(lengths) - min(lengths) > LENGTH_S:
                sys.exit(f"{name}: wanted the same sound in each format, found {dict(zip(MUST_MS, lengths))} s")
        for name, (_, ask, _) in beside.items():
            first = ask()
            if turn > 0:
                peers[name].append(first)
        print(f"... turn {turn}", file=sys.stderr, flush=True)
    report, missed = {}, []
    for name, kind in asked:
        added = [first - sound for first, sound in zip(firsts[name, kind], sounds[name, kind], strict=True)]
        told = {"first byte, ms": serving.spread(firsts[name, kind]), "first sound, ms": serving.spread(sounds[name, kind]), "added, ms": serving.spread(added, 2)}
        report.setdefault(name, {})[kind] = told
        if told["added, ms"]["median"] > MUST_MS[kind]:
            missed.append(f"{name} as {kind}")
    for name, (_, _, engine) in beside.items():
        told = serving.spread(peers[name])
        report[name][f"{engine}, first byte, ms"] = told | {"times mynah's": round(told["median"] / report[name]["wav"]["first byte, ms"]["median"], 1)}
    return report, missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    home = serving.home_with("kokoro", "kokoro-voices", "english-phonemes", "joe")
    with tempfile.TemporaryDirectory() as folder:
        server, address = serving.start(options.threads, home, state=folder)
        beside = start_peers(options.threads) if options.peers else {}
        report, missed = measure(address, beside, options.turns)
        for process in [server, *[peer[0] for peer in beside.values()]]:
            serving.end(process)
    print(json.dumps(report, indent=None if options.json else 1))
    if missed:
        sys.exit(f"wanted at most {MUST_MS} ms beyond the first sound, missed by: {', '.join(missed)}")


if __name__ == "__main__":
    main()
