"""A satellite as Home Assistant meets it: by the library wyoming, over its port.

usage: satellite.py SATELLITE_PROGRAM MYNAH WEIGHTS
"""
import array
import asyncio
import os
import subprocess
import sys
import tempfile
import time

from wyoming import asr, audio, client, info, pipeline, ping, satellite, snd, wake

RATE = 16000


class Kitchen:
    """The program, its microphone hearing a word said by Flite and then a sentence."""

    def __init__(self, program, mynah, weights, home):
        heard, self.played = f"{home}/heard.wav", f"{home}/played.raw"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MYNAH_")} | {"MYNAH_HOME": home}
        text = '<speak><break time="2s"/>Okay Nabu.<break time="1s"/>Turn on the light.<break time="2s"/>Okay Nabu.</speak>'
        subprocess.run([mynah, "speak", "--model", "builtin", "--voice", "rms", "--markup", "ssml", "--rate", str(RATE), "--quiet",
                        "--out", heard, text], check=True, env=environment)
        self.process = subprocess.Popen([program, f"{weights}/wake/okay_nabu.tflite", heard, self.played], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def end(self):
        self.process.stdin.close()
        return self.process.wait(10)


async def until(connection, *types):
    """The events up to one of these types."""
    found = []
    while not found or found[-1].type not in types:
        event = await asyncio.wait_for(connection.read_event(), 30)
        assert event is not None, f"the satellite closed behind {[one.type for one in found]}"
        found.append(event)
    return found


async def describe(port):
    async with client.AsyncTcpClient("127.0.0.1", port) as connection:
        await connection.write_event(info.Describe().event())
        return info.Info.from_event((await until(connection, "info"))[-1])


async def converse(kitchen):
    told = await describe(kitchen.port)
    assert told.satellite.name == "kitchen" and told.satellite.active_wake_words == ["okay_nabu"], told.satellite
    assert told.wake[0].models[0].phrase == "Okay Nabu"
    async with client.AsyncTcpClient("127.0.0.1", kitchen.port) as home:
        await home.write_event(satellite.RunSatellite().event())
        await home.write_event(ping.Ping("still?").event())
        assert ping.Pong.from_event((await until(home, "pong"))[-1]).text == "still?"
        woken = await until(home, "streaming-started")
        assert wake.Detection.from_event(woken[0]).name == "okay_nabu", woken[0]
        run = pipeline.RunPipeline.from_event(woken[1])
        assert (run.start_stage, run.end_stage, run.wake_word_name) == ("asr", "tts", "okay_nabu"), run
        # Somebody else may look, and is not taken for the server.
        assert (await describe(kitchen.port)).satellite.name == "kitchen"
        sound = b""
        while len(sound) < 4 * RATE:
            chunk = audio.AudioChunk.from_event((await until(home, "audio-chunk"))[-1])
            assert (chunk.rate, chunk.width, chunk.channels) == (RATE, 2, 1)
            sound += chunk.audio
        assert max(map(abs, array.array("h", sound))) > 1000, "what was said did not come"
        await home.write_event(asr.Transcript("turn on the light").event())
        await until(home, "streaming-stopped")
        tone = array.array("h", [8000, -8000] * 4000).tobytes()
        await home.write_event(audio.AudioStart(RATE, 2, 1).event())
        await home.write_event(audio.AudioChunk(RATE, 2, 1, tone).event())
        begun = time.monotonic()
        await home.write_event(audio.AudioStop().event())
        told = await until(home, "played", "detection")
        assert snd.Played.is_type(told[-1].type) and time.monotonic() - begun > 0.3, "said to be played before it was"
        with open(kitchen.played, "rb") as file:
            played = array.array("h", file.read())
        assert len(played) == 8000 and abs(played[0] - 8000) < 3 and abs(played[1] + 8000) < 3, played[:4]
        # The word once more: the next round.
        await until(home, "streaming-started")
        await home.write_event(satellite.PauseSatellite().event())
        await until(home, "streaming-stopped")
    # It waits for another server, and no message ends it that is none.
    reader, writer = await asyncio.open_connection("127.0.0.1", kitchen.port)
    writer.write(b"no message\n")
    answer = await asyncio.wait_for(reader.read(), 10)
    assert b'"error"' in answer, answer
    assert (await describe(kitchen.port)).satellite.name == "kitchen"


def main():
    program, mynah, weights = sys.argv[1:]
    if not os.path.isfile(f"{weights}/wake/okay_nabu.tflite"):
        print("no wake words here")
        return 77
    with tempfile.TemporaryDirectory() as home:
        kitchen = Kitchen(program, mynah, weights, home)
        try:
            asyncio.run(converse(kitchen))
        finally:
            code = kitchen.end()
        assert code == 0, code
    print("1 passed, 0 failed, 0 skipped")
    return 0


sys.exit(main())
