#!/usr/bin/env python3
"""./dev bench realtime: how soon after somebody's words their text is there, and many sessions at once, with tiny.en on this machine.

- One client, English clips as fast as they are spoken: from input_audio_buffer.speech_stopped to the completed text, beside what the
  call in the process takes for the same clip (Server-Timing of POST /v1/audio/transcriptions).
- Many open sessions, some of whom speak: what a silent one costs in memory, with and without silence as sound; every turn must end
  where it does of a client alone, as no sound is dropped; how late the texts are, and how many are the same to the letter.

usage: realtime.py [--clips N] [--sessions N] [--speaking N] [--threads N] [--json]
"""
import argparse
import asyncio
import base64
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

import serve

RATE = 24000
PIECE_S = 0.05
SILENCE_S = 1.5
DONE = "conversation.item.input_audio_transcription.completed"
STOPPED = "input_audio_buffer.speech_stopped"


def samples_of(path):
    command = ["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ar", str(RATE), "-ac", "1", "-"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def frame_of(event):
    """A client's frame; a mask of zeros is as good as any, and costs nothing."""
    text = json.dumps(event).encode()
    size = len(text)
    head = bytes([0x81, 0x80 | size]) if size < 126 else struct.pack(">BBH", 0x81, 0xFE, size) if size < 65536 else struct.pack(">BBQ", 0x81, 0xFF, size)
    return head + bytes(4) + text


def frames_of(sound):
    step = int(RATE * PIECE_S) * 2
    return [
        frame_of({"type": "input_audio_buffer.append", "audio": base64.b64encode(sound[at : at + step]).decode()}) for at in range(0, len(sound), step)
    ]


class Session:
    """A WebSocket of transcription; what it was told, each with its time."""

    @classmethod
    async def open(cls, address):
        self = cls()
        parts = urllib.parse.urlsplit(address)
        self.reader, self.writer = await asyncio.open_connection(parts.hostname, parts.port)
        self.writer.write(
            f"GET /v1/realtime?intent=transcription HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert b" 101 " in head, head
        self.told = []
        self.listener = asyncio.create_task(self.listen())
        return self

    async def listen(self):
        while True:
            first, size = await self.reader.readexactly(2)
            if size >= 126:
                size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
            payload = await self.reader.readexactly(size)
            if first == 0x81:
                event = json.loads(payload)
                if event["type"] == "error":
                    sys.exit(f"the server told an error: {event}")
                self.told.append((time.perf_counter(), event))
            elif first == 0x89:
                self.writer.write(bytes([0x8A, 0x80 | size]) + bytes(4) + payload)
            else:
                return

    async def say(self, frames):
        """As fast as it is spoken."""
        begin = time.perf_counter()
        for i, frame in enumerate(frames):
            await asyncio.sleep(max(0, begin + i * PIECE_S - time.perf_counter()))
            self.writer.write(frame)
            await self.writer.drain()

    async def settled(self):
        """Once every turn that ended has its text."""
        for _ in range(600):
            stopped = {event["item_id"] for _, event in self.told if event["type"] == STOPPED}
            done = {event["item_id"] for _, event in self.told if event["type"] == DONE}
            if stopped and stopped == done:
                return
            await asyncio.sleep(0.05)
        sys.exit("a text did not come")

    def waits_ms(self):
        ends = {event["item_id"]: at for at, event in self.told if event["type"] == STOPPED}
        return [1e3 * (at - ends[event["item_id"]]) for at, event in self.told if event["type"] == DONE]

    def text(self):
        return " ".join(event["transcript"] for _, event in self.told if event["type"] == DONE)

    def turns(self):
        """Where each ended: the same of the same sound, however it is heard."""
        return [event["audio_end_ms"] for _, event in self.told if event["type"] == STOPPED]

    async def close(self):
        self.listener.cancel()
        self.writer.close()


async def one_by_one(address, work):
    """For each clip: how long its last text took, and what and where it was."""
    waits, heard = [], {}
    for path, frames in work.items():
        session = await Session.open(address)
        await session.say(frames)
        await session.settled()
        waits.append(session.waits_ms()[-1])
        heard[path] = (session.turns(), session.text())
        await session.close()
    return waits, heard


def resident_mb(process):
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def threads_of(process):
    return len(os.listdir(f"/proc/{process.pid}/task"))


async def many(address, process, work, options):
    silent_count = options.sessions - options.speaking
    before = resident_mb(process)
    silent = [await Session.open(address) for _ in range(silent_count)]
    await asyncio.sleep(1)
    opened = resident_mb(process)
    quiet = frames_of(bytes(RATE * 2 * 3))
    await asyncio.gather(*[session.say(quiet) for session in silent])
    listening = resident_mb(process)
    speakers = [await Session.open(address) for _ in range(options.speaking)]
    paths = [list(work)[i % len(work)] for i in range(options.speaking)]
    await asyncio.gather(*[session.say(work[path]) for session, path in zip(speakers, paths)])
    await asyncio.gather(*[session.settled() for session in speakers])
    threads = threads_of(process)
    waits = [wait for session in speakers for wait in session.waits_ms()]
    heard = [(path, session.turns(), session.text()) for session, path in zip(speakers, paths)]
    for session in silent + speakers:
        await session.close()
    return {
        "a session without sound, KB": round(1024 * (opened - before) / silent_count),
        "a session that sends silence, KB": round(1024 * (listening - before) / silent_count),
        "threads": threads,
    }, waits, heard


def measure(server, address, options):
    """The report; `server`: its process."""
    clips = sorted(serve.clips(), key=lambda one: one[1])[:: max(1, len(serve.clips()) // options.clips)][: options.clips]
    work = {path: frames_of(samples_of(path) + bytes(int(RATE * 2 * SILENCE_S))) for path, _ in clips}
    client = serve.Client(address)
    in_process = []
    for path, _ in clips:
        times = []
        for _ in range(3):
            client.hear(path, {})
            times.append(client.hearing_ms)
        in_process.append(statistics.median(times))
    waits, alone = asyncio.run(one_by_one(address, work))
    memory, crowd_waits, crowd = asyncio.run(many(address, server, work, options))
    dropped = [path for path, turns, _ in crowd if turns != alone[path][0]]
    if dropped:
        sys.exit(f"other turns were found among many than alone, as where sound is dropped: {dropped[:3]}")
    ratios = [wait / took for wait, took in zip(waits, in_process)]
    return {
        "clips": len(work),
        "end of speech to text, ms": {"median": round(statistics.median(waits), 1), "95 %": round(serve.percentile(waits, 0.95), 1)},
        "the clips in the process, ms": round(statistics.median(in_process), 1),
        "ratio": {"median": round(statistics.median(ratios), 2), "95 %": round(serve.percentile(ratios, 0.95), 2)},
        f"{options.sessions} sessions, {options.speaking} speak": memory
        | {
            "end of speech to text, ms": {"median": round(statistics.median(crowd_waits), 1), "95 %": round(serve.percentile(crowd_waits, 0.95), 1)},
            "the same text as alone": sum(text == alone[path][1] for path, _, text in crowd),
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--speaking", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server, address = serve.start(options, f"{folder}/home")
        report = measure(server, address, options)
        server.terminate()
        server.wait()
    print(json.dumps(report, indent=None if options.json else 1))


if __name__ == "__main__":
    main()
