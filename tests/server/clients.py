#!/usr/bin/env python3
"""Asks `mynah serve` with the libraries that its clients use (tools/requirements-clients.txt), in every way that they ask.

usage: clients.py MYNAH MYNAH_SHARED MYNAH_WEIGHTS
"""
import asyncio
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import wave

import chat_clients
import embed_clients
import openai
import wake_clients
from realtime import RealtimeChecks
from realtime_talk import TalkChecks
from recorded import RecordedRequests
from serving import CHAT_MODEL, Server, free_port, run_checks
from taught_model import write_taught
from wyoming import asr, audio, client, info, ping, tts

CLIP = "speech/clips/azure_en-US_training_audio2.flac"
SAID = "custom speech provides tools that allow you to visually inspect the recognition quality of a model"
KEY = "key-of-this-test"


def words(text):
    return re.sub(r"[^a-z ]", "", text.lower())


class Checks:
    def __init__(self, address, wyoming_port, shared):
        self.clip = f"{shared}/{CLIP}"
        self.base = f"{address}/v1"
        self.wyoming_port = wyoming_port
        self.client = openai.OpenAI(base_url=self.base, api_key=KEY, max_retries=0, timeout=30)

    def hear(self, **fields):
        with open(self.clip, "rb") as file:
            return self.client.audio.transcriptions.create(**{"model": "whisper-1", "file": file} | fields)

    def speak(self, **fields):
        return self.client.audio.speech.create(**{"model": "tts-1", "voice": "alloy", "input": "Hello there. This is a test."} | fields)

    def refused(self, error, call):
        try:
            call()
        except error as told:
            return told
        raise AssertionError(f"wanted {error.__name__}, was answered")

    def check_transcription_json(self):
        heard = self.hear()
        assert words(heard.text).startswith(SAID), heard.text
        assert heard.usage.type == "duration" and heard.usage.seconds == 25

    def check_transcription_texts(self):
        assert words(self.hear(response_format="text")).startswith(SAID)
        assert re.match(r"1\n00:00:00,\d{3} --> ", self.hear(response_format="srt"))
        assert self.hear(response_format="vtt").startswith("WEBVTT\n\n")

    def check_transcription_verbose(self):
        heard = self.hear(response_format="verbose_json", timestamp_granularities=["word", "segment"])
        assert abs(heard.duration - 24.33) < 0.1 and heard.language == "english", (heard.duration, heard.language)
        assert len(heard.words) > 60 and heard.words[0].word.lower() == "custom" and heard.words[0].end > heard.words[0].start
        assert heard.segments[0].tokens and heard.segments[0].avg_logprob < 0
        assert heard.segments[-1].end <= heard.duration + 0.1

    def check_transcription_log_probabilities(self):
        heard = self.hear(include=["logprobs"], chunking_strategy={"type": "server_vad", "threshold": 0.4})
        said = b"".join(bytes(int(byte) for byte in one.bytes) for one in heard.logprobs).decode()
        assert words(said).strip() == words(heard.text).strip() and all(one.logprob <= 0 for one in heard.logprobs)

    def check_transcription_stream(self):
        events = list(self.hear(model="gpt-4o-mini-transcribe", stream=True, include=["logprobs"]))
        deltas, done = events[:-1], events[-1]
        assert len(deltas) > 2 and {one.type for one in deltas} == {"transcript.text.delta"}
        assert done.type == "transcript.text.done" and "".join(one.delta for one in deltas) == done.text, done.text
        assert done.usage.output_tokens > 50 and all(one.logprobs for one in deltas)

    def check_many_transcriptions_at_once(self):
        async def ask():
            client = openai.AsyncOpenAI(base_url=self.base, api_key=KEY, max_retries=0, timeout=30)
            files = [open(self.clip, "rb") for _ in range(8)]
            return await asyncio.gather(*[client.audio.transcriptions.create(model="whisper-1", file=file) for file in files])

        assert len({heard.text for heard in asyncio.run(ask())}) == 1

    def check_speech_formats(self):
        starts = {"mp3": b"\xff", "opus": b"OggS", "aac": b"\xff", "flac": b"fLaC", "wav": b"RIFF", "pcm": b""}
        for name, start in starts.items():
            answer = self.speak(response_format=name)
            assert answer.response.headers["content-type"].startswith("audio/"), name
            assert answer.content.startswith(start) and len(answer.content) > 5000, name
        with wave.open(io.BytesIO(self.speak(response_format="wav").content)) as sound:
            assert (sound.getnchannels(), sound.getsampwidth()) == (1, 2)
        # The same words at half the speed take twice the time.
        fast, slow = (len(self.speak(response_format="pcm", speed=speed).content) for speed in (1.0, 0.5))
        assert 1.7 < slow / fast < 2.3, slow / fast

    def check_speech_stream(self):
        with self.client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="nova", input="Hello there. " * 8, response_format="pcm", instructions="Softly."
        ) as answer:
            pieces = list(answer.iter_bytes())
            assert answer.headers["x-mynah-ignored"] == "instructions"
        assert sum(map(len, pieces)) > 200000

    def check_speech_is_heard(self):
        sound = self.speak(response_format="wav", input="The train leaves at nine in the morning.").content
        heard = self.client.audio.transcriptions.create(model="whisper-1", file=("said.wav", sound))
        assert "train leaves at" in words(heard.text), heard.text

    def check_models(self):
        models = [one.id for one in self.client.models.list()]
        assert "builtin" in models
        assert self.client.models.retrieve("builtin").object == "model"
        told = self.refused(openai.NotFoundError, lambda: self.client.models.retrieve("no-such-model"))
        assert told.code == "model_not_found"

    def check_errors(self):
        told = self.refused(openai.BadRequestError, lambda: self.hear(response_format="diarized_json"))
        assert told.param == "response_format"
        told = self.refused(openai.BadRequestError, lambda: self.hear(temperature=7))
        assert told.param == "temperature"
        told = self.refused(openai.BadRequestError, lambda: self.hear(file=("talk.wav", b"this is no sound")))
        assert told.param == "file" and "talk.wav" in told.message
        told = self.refused(openai.BadRequestError, lambda: self.speak(input="  "))
        assert told.param == "input"
        self.refused(openai.NotFoundError, lambda: self.speak(voice="nobody"))
        # English alone is known by tiny.en.
        with open(self.clip, "rb") as file:
            self.refused(openai.BadRequestError, lambda: self.client.audio.translations.create(model="whisper-1", file=file))

    async def wyoming(self, events, last):
        """What is answered to events over a connection of their own, up to an event of the type `last`; None: up to its end."""
        async with client.AsyncTcpClient("127.0.0.1", self.wyoming_port) as connection:
            for event in events:
                await connection.write_event(event.event())
            answers = []
            while not answers or answers[-1].type != last:
                answer = await asyncio.wait_for(connection.read_event(), 30)
                answers.append(answer)
                if answer is None:
                    assert last is None, f"the server closed behind {answers}"
                    break
            return answers

    def samples(self):
        command = ["ffmpeg", "-loglevel", "error", "-i", self.clip, "-f", "s16le", "-ar", "16000", "-ac", "1", "-"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    def check_wyoming_describe(self):
        answers = asyncio.run(self.wyoming([ping.Ping(text="here?"), info.Describe()], "info"))
        assert answers[0].type == "pong" and answers[0].data["text"] == "here?"
        told = info.Info.from_event(answers[1])
        assert told.asr[0].models[0].languages == ["en"] and told.asr[0].installed
        assert {"slt", "rms"} <= {voice.name for voice in told.tts[0].voices} and told.tts[0].supports_synthesize_streaming

    def check_wyoming_hears(self):
        samples, size = self.samples(), 2048
        events = [asr.Transcribe(language="en-GB"), audio.AudioStart(16000, 2, 1)]
        events += [audio.AudioChunk(16000, 2, 1, samples[at : at + size]) for at in range(0, len(samples), size)]
        answers = asyncio.run(self.wyoming(events + [audio.AudioStop()], "transcript-stop"))
        whole = asr.Transcript.from_event(answers[-2])
        assert words(whole.text).startswith(SAID) and whole.language == "en"
        chunks = [one.data["text"] for one in answers if one.type == "transcript-chunk"]
        assert len(chunks) > 2 and "".join(chunks) == whole.text

    def check_wyoming_speaks(self):
        voice = tts.SynthesizeVoice(name="slt")
        whole = asyncio.run(self.wyoming([tts.Synthesize("Hello there. How are you?", voice=voice)], "audio-stop"))
        pieces = [tts.SynthesizeChunk(text) for text in ("Hello th", "ere. How ", "are you?")]
        events = [tts.SynthesizeStart(voice=voice), *pieces, tts.Synthesize("Hello there. How are you?", voice=voice), tts.SynthesizeStop()]
        streamed = asyncio.run(self.wyoming(events, "synthesize-stopped"))
        assert whole[0].type == "audio-start" and whole[0].data["width"] == 2
        sound = [b"".join(one.payload or b"" for one in answers) for answers in (whole, streamed)]
        assert len(sound[0]) > 20000 and sound[0] == sound[1], [len(one) for one in sound]
        refused = asyncio.run(self.wyoming([tts.Synthesize("Hello.", voice=tts.SynthesizeVoice(name="nobody"))], "error"))
        assert "nobody" in refused[-1].data["text"]
        # Some clients wait on behind an error: the connection's end tells them.
        assert asyncio.run(self.wyoming([tts.Synthesize("Hello.", voice=tts.SynthesizeVoice(name="nobody"))], None))[-1] is None

    def check_description(self):
        with urllib.request.urlopen(f"{self.base.removesuffix('/v1')}/openapi.json") as answer:
            told = json.load(answer)
        speech = told["paths"]["/v1/audio/speech"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert speech["required"] == ["input"] and "mp3" in speech["properties"]["response_format"]["enum"]
        assert told["paths"]["/asr"]["post"]["parameters"] and told["paths"]["/v1/models/{name}"]["delete"]

    def check_key(self):
        client = openai.OpenAI(base_url=self.base, api_key="another", max_retries=0, timeout=30)
        self.refused(openai.AuthenticationError, client.models.list)


class Endpointing:
    """A server that finds where a turn ends, and tells the network by Avahi (a script that stands for it) where it is."""

    def __init__(self, checks, home):
        self.checks = checks
        self.told = f"{home}/told"

    def check_turn(self):
        """A second of silence, a sentence, and silence: as a microphone sends it. No audio-stop is ever sent."""
        second = 32000

        async def speak():
            async with client.AsyncTcpClient("127.0.0.1", self.checks.wyoming_port) as connection:
                await connection.write_event(info.Describe().event())
                told = info.Info.from_event(await asyncio.wait_for(connection.read_event(), 30))
                await connection.write_event(asr.Transcribe(language="en").event())
                await connection.write_event(audio.AudioStart(16000, 2, 1).event())
                sound = bytes(second) + self.checks.samples()[: 4 * second] + bytes(30 * second)
                seen = []

                async def listen():
                    while not seen or seen[-1].type != "transcript":
                        seen.append(await asyncio.wait_for(connection.read_event(), 30))

                listening = asyncio.create_task(listen())
                sent = 0
                while not listening.done() and sent < len(sound):
                    await connection.write_event(audio.AudioChunk(16000, 2, 1, sound[sent : sent + 2048]).event())
                    sent += 2048
                    await asyncio.sleep(0.001)
                await listening
                return told, seen

        told, seen = asyncio.run(speak())
        types = [one.type for one in seen]
        assert told.asr[0].requires_external_vad is False
        assert types[0] == "voice-started" and types.index("voice-stopped") < types.index("transcript"), types
        assert words(seen[-1].data["text"]).startswith("custom speech"), seen[-1].data
        stopped_s = next(one.data["timestamp"] for one in seen if one.type == "voice-stopped") / 1000
        assert 4 < stopped_s < 8, stopped_s

    def check_announcement(self):
        for _ in range(100):
            if os.path.exists(self.told):
                break
            time.sleep(0.05)
        with open(self.told) as file:
            told = file.read().split()
        assert told[-2:] == ["_wyoming._tcp", str(self.checks.wyoming_port)] and "--service" in told, told


def endpointing(program, shared, weights, home):
    """Passed and failed checks of a server of its own."""
    publish = f"{home}/avahi-publish"
    with open(publish, "w") as file:
        file.write(f'#!/bin/sh\necho "$@" > {home}/told.new; echo $$ > {home}/pid; mv {home}/told.new {home}/told; exec sleep 600\n')
    os.chmod(publish, 0o755)
    port = free_port()
    options = ["--wyoming-port", str(port), "--voice-model", "builtin", "--wyoming-endpointing", "--wyoming-allow", "192.0.2.0/24"]
    server = Server(program, weights, home, options, {"PATH": f"{home}:{os.environ['PATH']}"})
    passed, failed = run_checks(Endpointing(Checks(server.address, port, shared), home))
    server.stop()
    with open(f"{home}/pid") as file:
        if os.path.exists(f"/proc/{file.read().strip()}"):
            failed += 1
            print("FAILED: what announced the server outlives it")
    return passed, failed


def main():
    program, shared, weights = sys.argv[1:]
    if not os.path.isfile(f"{shared}/{CLIP}") or not os.path.isdir(f"{weights}/tiny.en"):
        print("no recordings or no weights here")
        return 77
    with tempfile.TemporaryDirectory() as home:
        port = free_port()
        options = ["--wyoming-port", str(port), "--voice-model", "builtin", "--vad-model", f"{weights}/silero/silero_vad_16k_op15.onnx"]
        writes = os.path.isfile(f"{weights}/{CHAT_MODEL}")
        options += ["--chat-model", write_taught(f"{weights}/{CHAT_MODEL}", f"{home}/{os.path.basename(CHAT_MODEL)}")] if writes else []
        embeds = os.path.isdir(f"{weights}/{embed_clients.MODEL}")
        options += ["--embedding-model", f"{weights}/{embed_clients.MODEL}"] if embeds else []
        wakes = wake_clients.bring(program, weights, home)
        server = Server(program, weights, home, options, {"MYNAH_API_KEYS": KEY})
        checks = Checks(server.address, port, shared)
        requests = RecordedRequests(server.address, KEY, checks.samples(), SAID[:29])
        all_checks = [checks, requests, RealtimeChecks(server.address, checks.clip, KEY)]
        if writes:
            all_checks += [chat_clients.ChatChecks(server.address, KEY), TalkChecks(server.address, checks.clip, KEY)]
        if embeds:
            all_checks.append(embed_clients.EmbedChecks(server.address, KEY))
        if wakes:
            all_checks.append(wake_clients.WakeChecks(port))
        passed, failed = map(sum, zip(*map(run_checks, all_checks)))
        code = server.stop()
        log = "".join(server.log)
        told = [word for word in (KEY, "talk.wav", "train") if word in log]
        if code != 0 or told or "POST /v1/audio/speech 200" not in log:
            failed += 1
            print(f"FAILED: the server ended with {code}; its log tells {told}:\n{log}")
    with tempfile.TemporaryDirectory() as home:
        others = endpointing(program, shared, weights, home)
    passed, failed = (sum(counts) for counts in zip((passed, failed), others))
    kinds = ((chat_clients.ChatChecks, writes), (TalkChecks, writes), (embed_clients.EmbedChecks, embeds), (wake_clients.WakeChecks, wakes))
    absent = [kind for kind, here in kinds if not here]
    skipped = sum(name.startswith("check_") for kind in absent for name in vars(kind))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
