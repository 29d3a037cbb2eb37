#!/usr/bin/env python3
"""./dev bench serve: what `mynah serve` adds to the work itself, with tiny.en on this machine.

- One client, a clip of about five seconds: the time of a request less that of the call in the process (Server-Timing).
- Many clients at once with the English clips up to 12 s: seconds of sound a second, beside `mynah transcribe` on the same files in the
  same run, in turns; the texts must be the same. The load generator's own processor time is told and taken off.
- A short clip while an hour is transcribed, and while four clients dictate by Realtime besides: how long until its text.
- With --peers the same clients at other engines' servers: faster-whisper behind FastAPI, and whisper.cpp's where --whisper-server
  names it (built from its sources). Their errors are counted, too.

usage: serve.py [--only one|many|long ...] [--clients N] [--turns N] [--threads N] [--peers] [--whisper-server FILE] [--json]
"""
import argparse
import asyncio
import http.client
import json
import os
import queue
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import live_clients
import serving

ONE_CLIP_TIMES = 60
LONG_S = 3600
LEAST_TIMES = 100
DICTATING = 4
PAUSE_S = 1.5
MANY = "clients at once, s of sound a second"
LONGEST_S = 12


def clips():
    """The English recordings that are short enough: [[path, seconds], ...]."""
    with open(f"{serving.SHARED}/speech/transcripts.tsv") as f:
        _, *rows = [line.rstrip("\n").split("\t") for line in f]
    found = []
    for row in rows:
        if row[1] == "en":
            path = f"{serving.SHARED}/speech/{row[0]}"
            told = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path], capture_output=True, text=True)
            seconds = float(told.stdout.strip())
            if seconds <= LONGEST_S:
                found.append((path, seconds))
    return found


class Client:
    """One connection, which is kept."""

    def __init__(self, address):
        parts = urllib.parse.urlsplit(address)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)

    def post(self, path, body, kind):
        for last in (False, True):
            try:
                self.connection.request("POST", path, body, {"Content-Type": kind})
                return self.connection.getresponse()
            except (http.client.RemoteDisconnected, ConnectionError):
                self.connection.close()  # some servers end a connection that was quiet for long
                if last:
                    raise

    def hear(self, path, form):
        with open(path, "rb") as f:
            body, kind = serving.multipart(form, os.path.basename(path), f.read())
        answer = self.post("/v1/audio/transcriptions", body, kind)
        told = json.load(answer)
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {told}")
        self.hearing_ms = float(re.search(r"hear;dur=([0-9.]+)", answer.headers.get("Server-Timing", "hear;dur=0")).group(1))
        return told


def peers(options, folder):
    """Commands of other engines' servers by their names, all with tiny.en, one beam and the given threads."""
    import hear_models

    commands = {"faster-whisper int8": [sys.executable, f"{serving.ROOT}/bench/serve_peers.py", "faster-whisper", "{port}", f"{serving.WEIGHTS}/tiny.en"]}
    if options.whisper_server:
        model = f"{folder}/ggml-tiny.en.bin"
        hear_models.ggml_file(f"{serving.WEIGHTS}/tiny.en", model, serving.SHARED)
        commands["whisper.cpp f16"] = [options.whisper_server, "-m", model, "-t", str(options.threads), "-l", "en", "-bs", "1", "-bo", "1"]
        commands["whisper.cpp f16"] += ["--port", "{port}", "--inference-path", "/v1/audio/transcriptions"]
    else:
        print("no whisper.cpp: --whisper-server names its program", file=sys.stderr)
    return commands


def by_peer(command, work, clients, sound_s):
    """Seconds of sound a second that a peer's server hears, and its errors."""
    import hear

    server, address = serving.start_peer(command)
    Client(address).hear(work[0][0], {"language": "en"})  # opens what is opened late
    took, own, texts = by_server(address, work, clients, {"language": "en"})
    serving.end(server)
    wanted = dict(hear.english_clips())
    errors, words = hear.count_errors([wanted[path] for path, _ in work], [texts[path] for path, _ in work])
    return sound_s / (took - own / (os.cpu_count() or 1)), round(errors / words, 4)


def one_client(address, clip):
    """What a request takes beyond the call in the process, in ms."""
    client = Client(address)
    added = []
    for _ in range(ONE_CLIP_TIMES):
        begin = time.perf_counter()
        client.hear(clip, {"response_format": "verbose_json"})
        added.append(1e3 * (time.perf_counter() - begin) - client.hearing_ms)
    return sorted(added[ONE_CLIP_TIMES // 10 :])


def by_server(address, work, clients, form):
    waiting = queue.SimpleQueue()
    for path, _ in work:
        waiting.put(path)
    texts = {}

    def ask():
        client = Client(address)
        while True:
            try:
                path = waiting.get_nowait()
            except queue.Empty:
                return
            texts[path] = client.hear(path, form)["text"]

    before = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.perf_counter()
    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, own, texts


def by_command(options, work):
    command = [serving.MYNAH, "transcribe", *[path for path, _ in work], "--json", "--threads", str(options.threads), *serving.HEARING]
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    took = time.perf_counter() - begin
    heard = [json.loads(line) for line in done.stdout.splitlines()]
    return took, {one["file"]: one["text"].strip() for one in heard if "segments" in one}


def an_hour(work, folder):
    """The clips, again and again, as one file."""
    samples = b"".join(serving.samples_of(path, 16000) for path, _ in work)
    size = 2 * 16000 * LONG_S
    path = f"{folder}/long.wav"
    with open(path, "wb") as f:
        f.write(serving.wav_of((samples * (size // len(samples) + 1))[:size], 16000))
    return path


class Dictating(threading.Thread):
    """Clients who dictate, as fast as they speak, until they are told to end."""

    def __init__(self, address, work, clients):
        super().__init__()
        self.address = address
        self.ended = threading.Event()
        self.clients = clients
        # Each says something else, with a pause behind it.
        paths = [path for path, _ in work][:: max(1, len(work) // clients)][:clients]
        self.frames = [live_clients.frames_of(live_clients.sound_of(path, live_clients.REALTIME_RATE, PAUSE_S)) for path in paths]
        self.sessions = []
        self.failure = None

    def run(self):
        try:
            asyncio.run(self.speak())
        except SystemExit as told:
            self.failure = told

    async def speak(self):
        self.sessions = [await live_clients.Realtime.open(self.address) for _ in range(self.clients)]
        await asyncio.gather(*[self.dictate(session, frames) for session, frames in zip(self.sessions, self.frames, strict=True)])

    async def dictate(self, session, frames):
        while not self.ended.is_set():
            await session.say(frames)
        await session.settled()
        await session.close()

    def turns(self):
        return sum(len(session.turns()) for session in self.sessions)

    def waits_ms(self):
        """Of each turn; each has its text, or dictate() would not end."""
        self.ended.set()
        self.join()
        if self.failure:
            sys.exit(f"of those who dictate: {self.failure}")
        return [wait for session in self.sessions for wait in session.waits_ms()]


def while_long_work(address, clip, wanted, long):
    """How long a short clip's text takes while that is heard, over and over, for long enough; and how long the long one does."""
    client, times, took = Client(address), [], []
    while len(times) < LEAST_TIMES:
        thread = threading.Thread(target=lambda: took.append(timed(Client(address), long)[0]))
        thread.start()
        time.sleep(1)
        while thread.is_alive():
            ms, text = timed(client, clip)
            if text != wanted:
                sys.exit(f"{clip}: heard as {text!r} beside others, and as {wanted!r} alone")
            times.append(ms)
            time.sleep(0.1)
        thread.join()
    return times, took


def behind_long_work(address, work, folder):
    """A short clip alone, beside an hour, and beside an hour and those who dictate."""
    clip = min(work, key=lambda one: abs(one[1] - 3))[0]
    client = Client(address)
    alone, texts = zip(*[timed(client, clip) for _ in range(10)])
    long = an_hour(work, folder)
    beside, _ = while_long_work(address, clip, texts[0], long)
    dictating = Dictating(address, work, DICTATING)
    dictating.start()
    while dictating.turns() < DICTATING and dictating.is_alive():
        time.sleep(0.1)
    with_all, took = while_long_work(address, clip, texts[0], long)
    waits = dictating.waits_ms()
    return {
        "a clip of 3 s alone, ms": serving.spread(alone),
        "while an hour is heard, ms": serving.spread(beside) | {"times": len(beside)},
        f"while an hour is heard and {DICTATING} dictate, ms": serving.spread(with_all) | {"most": round(max(with_all), 1), "times": len(with_all)},
        "meanwhile an hour takes, s": round(statistics.median(took) / 1e3, 1),
        "meanwhile texts of those who dictate, ms": serving.spread(waits) | {"times": len(waits)},
    }


def timed(client, clip):
    """In ms, and the text."""
    begin = time.perf_counter()
    text = client.hear(clip, {})["text"]
    return 1e3 * (time.perf_counter() - begin), text


def added_by_http(address, work):
    """To a clip of five seconds."""
    added = one_client(address, min(work, key=lambda one: abs(one[1] - 5))[0])
    return {"HTTP adds to a clip of 5 s, ms": serving.spread(added, 2)}


def many_clients(address, work, options):
    """What they hear in sum, beside mynah transcribe on the same files."""
    sound_s = sum(seconds for _, seconds in work)
    rates, commands, shares = [], [], []
    for _ in range(options.turns):
        took, own, texts = by_server(address, work, options.clients, {})
        alone, wanted = by_command(options, work)
        different = [path for path, text in wanted.items() if texts[path] != text]
        if different:
            sys.exit(f"heard otherwise by the server: {different[:3]}")
        # The load generator computes on the same cores.
        rates.append(sound_s / (took - own / (os.cpu_count() or 1)))
        commands.append(sound_s / alone)
        shares.append(own / took)
    return {
        MANY: round(statistics.median(rates)),
        "mynah transcribe, s of sound a second": round(statistics.median(commands)),
        "ratio": round(statistics.median(a / b for a, b in zip(rates, commands)), 3),
        "load generator's share of a core": round(statistics.median(shares), 2),
    }


def main():
    parts = ["one", "many", "long"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=parts, default=parts)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--whisper-server")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    work = clips()
    sound_s = sum(seconds for _, seconds in work)
    report = {"clips": len(work), "sound, s": round(sound_s)}
    with tempfile.TemporaryDirectory() as folder:
        server, address = serving.start(options.threads, f"{folder}/home", "--no-share-texts")
        if "one" in options.only:
            report |= added_by_http(address, work)
        if "many" in options.only:
            report |= many_clients(address, work, options)
        if "long" in options.only:
            report |= behind_long_work(address, work, folder)
        serving.end(server)
        for name, command in (peers(options, folder) if options.peers and MANY in report else {}).items():
            rate, errors = by_peer(command, work, options.clients, sound_s)
            report[name] = {"s of sound a second": round(rate), "mynah's ratio": round(report[MANY] / rate, 2), "word errors": errors}
    print(json.dumps(report, indent=None if options.json else 1))


if __name__ == "__main__":
    main()
