"""Clients that send sound as fast as it is spoken, by OpenAI's Realtime and by Wyoming, and note when they are told what."""
import asyncio
import base64
import json
import socket
import struct
import sys
import time
import urllib.parse

import serving

PIECE_S = 0.05
REALTIME_RATE = 24000
WYOMING_RATE = 16000
DONE = "conversation.item.input_audio_transcription.completed"
STOPPED = "input_audio_buffer.speech_stopped"
PATIENCE_S = 60


def pieces_of(sound, rate):
    """16-bit samples, as microphones have them."""
    step = int(rate * PIECE_S) * 2
    return [sound[at : at + step] for at in range(0, len(sound), step)]


def frame_of(event):
    """A client's frame; a mask of zeros is as good as any, and costs nothing."""
    text = json.dumps(event).encode()
    size = len(text)
    head = bytes([0x81, 0x80 | size]) if size < 126 else struct.pack(">BBH", 0x81, 0xFE, size) if size < 65536 else struct.pack(">BBQ", 0x81, 0xFF, size)
    return head + bytes(4) + text


def frames_of(sound):
    return [frame_of({"type": "input_audio_buffer.append", "audio": base64.b64encode(piece).decode()}) for piece in pieces_of(sound, REALTIME_RATE)]


def message_of(kind, data=None, payload=b""):
    """One of Wyoming."""
    body = json.dumps(data).encode() if data else b""
    return json.dumps({"type": kind, "data_length": len(body), "payload_length": len(payload)}).encode() + b"\n" + body + payload


def messages_of(sound):
    format_of_it = {"rate": WYOMING_RATE, "width": 2, "channels": 1}
    return [message_of("audio-chunk", format_of_it, piece) for piece in pieces_of(sound, WYOMING_RATE)]


def leave(connection, how):
    """What a socket is told before it is closed, or in place of that."""
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if how == "half-close":
        connection.shutdown(socket.SHUT_WR)


class Client:
    """A connection; `told`: what the server said, each with its time."""

    async def connect(self, host, port):
        self.reader, self.writer = await asyncio.open_connection(host, port)
        self.told = []
        self.changed = asyncio.Event()

    def begin_to_listen(self):
        self.listener = asyncio.create_task(self.listen())
        self.listener.add_done_callback(lambda _: self.changed.set())

    def take(self, event):
        self.told.append((time.perf_counter(), event))
        self.changed.set()

    async def say(self, pieces):
        """As fast as it is spoken."""
        begin = time.perf_counter()
        for i, piece in enumerate(pieces):
            await asyncio.sleep(max(0, begin + i * PIECE_S - time.perf_counter()))
            await self.send(piece)

    async def send(self, piece):
        self.writer.write(piece)
        await self.writer.drain()

    async def until(self, holds):
        """Once that holds of what was told."""
        end = time.perf_counter() + PATIENCE_S
        while not holds():
            if self.listener.done():
                sys.exit(f"the server left ({self.listener.exception()}) behind {self.told[-3:]}")
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), max(0.001, end - time.perf_counter()))
            except TimeoutError:
                sys.exit(f"nothing came for {PATIENCE_S} s behind {self.told[-3:]}")

    def told_of(self, kind):
        """Its events of that type."""
        return [event for _, event in self.told if event["type"] == kind]

    async def close(self):
        self.listener.cancel()
        self.writer.close()

    async def leave(self, how):
        """Whatever is under way."""
        leave(self.writer.get_extra_info("socket"), how)
        if how != "half-close":
            self.writer.transport.abort()
            await asyncio.sleep(0)  # which closes it


class Realtime(Client):
    """A WebSocket; of transcription, unless `query` says otherwise."""

    @classmethod
    async def open(cls, address, key=None, query="intent=transcription"):
        self = cls()
        parts = urllib.parse.urlsplit(address)
        await self.connect(parts.hostname, parts.port)
        allowed = f"Authorization: Bearer {key}\r\n" if key else ""
        self.writer.write(
            f"GET /v1/realtime?{query} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{allowed}"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head:
            sys.exit(f"no WebSocket: {head}")
        self.begin_to_listen()
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
                self.take(event)
            elif first == 0x89:
                self.writer.write(bytes([0x8A, 0x80 | size]) + bytes(4) + payload)
            else:
                return

    async def settled(self):
        """Once every turn that ended has its text."""
        await self.until(lambda: self.turns() and len(self.turns()) == len(self.texts()))

    def waits_ms(self):
        ends = {event["item_id"]: at for at, event in self.told if event["type"] == STOPPED}
        return [1e3 * (at - ends[event["item_id"]]) for at, event in self.told if event["type"] == DONE]

    def texts(self):
        return [event["transcript"] for _, event in self.told if event["type"] == DONE]

    def text(self):
        return " ".join(self.texts())

    def turns(self):
        """Where each ended: the same of the same sound, however it is heard."""
        return [event["audio_end_ms"] for _, event in self.told if event["type"] == STOPPED]


class Wyoming(Client):
    """A connection of Home Assistant's kind, which says when somebody is done."""

    @classmethod
    async def open(cls, port):
        self = cls()
        await self.connect("127.0.0.1", port)
        self.begin_to_listen()
        return self

    async def listen(self):
        while line := await self.reader.readline():
            head = json.loads(line)
            data = head.get("data", {})
            if head.get("data_length"):
                data |= json.loads(await self.reader.readexactly(head["data_length"]))
            payload = await self.reader.readexactly(head.get("payload_length") or 0)
            if head["type"] == "error":
                sys.exit(f"the server told an error: {data}")
            self.take({"type": head["type"], "data": data, "payload": payload})

    async def ask(self, messages, last):
        """What it says up to an event of that type."""
        before = len(self.told)
        for message in messages:
            await self.send(message)
        await self.until(lambda: any(event["type"] == last for _, event in self.told[before:]))
        return [event for _, event in self.told[before:]]

    async def hear(self, messages, in_time=True):
        """The text of that sound, and how long it took from its end, in ms."""
        await self.send(message_of("transcribe", {"language": "en"}) + message_of("audio-start", {"rate": WYOMING_RATE, "width": 2, "channels": 1}))
        if in_time:
            await self.say(messages)
        else:
            await self.send(b"".join(messages))
        stopped = time.perf_counter()
        await self.ask([message_of("audio-stop")], "transcript")
        at, event = next(one for one in reversed(self.told) if one[1]["type"] == "transcript")
        return event["data"]["text"], 1e3 * (at - stopped)


def sound_of(path, rate, silence_s=0):
    return serving.samples_of(path, rate) + bytes(2 * int(rate * silence_s))
