"""Clients of Realtime and Wyoming for bench/leaving.py: each begins a turn and leaves in the middle of it."""
import array
import asyncio
import difflib
import sys

import live_clients
from live_clients import frame_of, message_of

RATE_HZ = live_clients.WYOMING_RATE
# A WebSocket that is half-closed is closed; a client of it may say that it leaves, or that it wants no more.
WORDS = {
    "goodbye": bytes([0x88, 0x80, 0, 0, 0, 0]),
    "cancel": frame_of({"type": "response.cancel"}),
    "clear": frame_of({"type": "input_audio_buffer.clear"}),
}
HEARING = {"type": "transcription", "audio": {"input": {"format": {"type": "audio/pcm", "rate": RATE_HZ}, "turn_detection": None, "transcription": {"language": "en"}}}}
SPEAKING = {"type": "realtime", "audio": {"input": {"turn_detection": None}, "output": {"voice": "af_heart"}}}


def without_pauses(samples):
    """So that it is heard as one turn, none of which is heard before its end."""
    frame, quiet, kept = RATE_HZ // 50, 0, array.array("h")
    values = array.array("h", samples)
    for at in range(0, len(values), frame):
        piece = values[at : at + frame]
        quiet = quiet + 1 if max(map(abs, piece)) < 600 else 0
        if quiet < 10:
            kept += piece
    return kept.tobytes()


class Guest:
    """A client of live_clients, a step at a time; between them it reads nothing."""

    loop = asyncio.new_event_loop()

    def __init__(self, turn):
        self.client = self.loop.run_until_complete(turn)

    def leave(self, how):
        self.client.listener.cancel()
        self.loop.run_until_complete(self.client.send(WORDS[how]) if how in WORDS else self.client.leave(how))

    def close(self):
        self.leave("close")


class Turns:
    """What they ask for: each a turn that has just begun."""

    def __init__(self, address, wyoming_port, text):
        self.address = address
        self.wyoming_port = wyoming_port
        self.text = text  # to be spoken

    async def realtime(self, session, *frames):
        """A session of that kind, which has dealt with those frames."""
        client = await live_clients.Realtime.open(self.address)
        update = frame_of({"type": "session.update", "session": session})
        await client.send(update + b"".join(frames) + update)
        await client.until(lambda: len(client.told_of("session.updated")) == 2)
        return client

    async def draft(self, sound):
        return await self.realtime(HEARING, *live_clients.frames_of(sound))

    async def hears(self, sound):
        client = await self.draft(sound)
        await client.send(frame_of({"type": "input_audio_buffer.commit"}))
        await client.until(lambda: client.told_of("input_audio_buffer.committed"))
        return client

    async def speaks(self):
        client = await self.realtime(SPEAKING)
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": self.text}]}
        await client.send(frame_of({"type": "response.create", "response": {"input": [item]}}))
        await client.until(lambda: client.told_of("response.created"))
        return client

    async def wyoming_hears(self, sound):
        client = await live_clients.Wyoming.open(self.wyoming_port)
        await client.ask([message_of("transcribe", {"language": "en"}), *live_clients.messages_of(sound), message_of("ping")], "pong")
        await client.send(message_of("audio-stop"))
        return client

    async def wyoming_speaks(self):
        client = await live_clients.Wyoming.open(self.wyoming_port)
        await client.send(message_of("synthesize", {"text": self.text, "voice": {"name": "af_heart"}}))
        return client

    def check(self, sound, wanted):
        """Those who stay are told that text, but for what drafts change of it, and hear something."""
        heard = [self.stays(self.hears(sound), live_clients.DONE)["transcript"], self.stays(self.wyoming_hears(sound), "transcript")["data"]["text"]]
        for text in heard:
            if difflib.SequenceMatcher(None, text, wanted).ratio() < 0.9:
                sys.exit(f"heard as {text!r} by a socket, and as {wanted!r} in one call")
        self.stays(self.speaks(), "response.output_audio.delta")
        self.stays(self.wyoming_speaks(), "audio-chunk")

    @staticmethod
    def stays(turn, came):
        """The first event of that type."""
        guest = Guest(turn)
        guest.loop.run_until_complete(guest.client.until(lambda: guest.client.told_of(came)))
        guest.close()
        return guest.client.told_of(came)[0]
