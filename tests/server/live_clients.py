#!/usr/bin/env python3
"""Uses `mynah serve` by the services that voice agents are made of (tools/requirements-live.txt), as they are: LiveKit's and pipecat's
speech to text and text to speech, those of openai-agents, each pointed at the server by its address and a key alone.

usage: live_clients.py MYNAH MYNAH_SHARED MYNAH_WEIGHTS
"""
import asyncio
import os
import re
import subprocess
import sys
import tempfile

import aiohttp
import numpy
import openai
from agents.voice import STTModelSettings, StreamedAudioInput, TTSModelSettings
from agents.voice.input import AudioInput
from agents.voice.models.openai_model_provider import OpenAIVoiceModelProvider
from livekit import rtc
from livekit.agents import APIStatusError
from livekit.agents.stt import SpeechEventType
from livekit.agents.types import APIConnectOptions
from livekit.plugins import openai as livekit_openai
from loguru import logger
from pipecat.frames.frames import (
    ErrorFrame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.stt import OpenAIRealtimeSTTService, OpenAISTTService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.workers.runner import WorkerRunner
from serving import Server, free_port, run_checks
from wyoming.client import AsyncTcpClient
from wyoming.info import Describe, Info
from wyoming.tts import Synthesize, SynthesizeVoice

CLIP = "speech/clips/azure_en-US_training_audio2.flac"
BEGINNING = "custom speech provides tools that allow you to visually inspect"
SENTENCE = "The train leaves at nine in the morning."
KEY = "key-of-this-test"
RATE = 24000
PATIENCE_S = 60
MOST_TRIES = 100  # LiveKit comes again sooner than it is told to, however slow the machine is


def words(text):
    return re.sub(r"[^a-z ]", "", text.lower()).strip()


def turns(events):
    return sum(one.type == SpeechEventType.START_OF_SPEECH for one in events)


def is_the_sentence(text):
    return "the train leaves at" in words(text) and words(text).endswith("in the morning")


class Client:
    """What every client is told, and what is said to it."""

    def __init__(self, address, clip, key=KEY):
        self.base = f"{address}/v1"
        self.key = key
        command = ["ffmpeg", "-loglevel", "error", "-i", clip, "-f", "s16le", "-ar", str(RATE), "-ac", "1", "-"]
        self.samples = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    def known(self):
        return {"base_url": self.base, "api_key": self.key}

    def seconds(self, count):
        return self.samples[: count * RATE * 2]

    @staticmethod
    def run(steps):
        return asyncio.run(asyncio.wait_for(steps, PATIENCE_S))


class LiveKitChecks(Client):
    def wrong(self):
        return {"base_url": self.base, "api_key": "another"}

    @staticmethod
    def frames(samples, ms=50):
        size = RATE * ms // 1000 * 2
        return [rtc.AudioFrame(samples[at : at + size], RATE, 1, len(samples[at : at + size]) // 2) for at in range(0, len(samples), size)]

    async def said(self, **options):
        """The sound of a sentence, as frames."""
        service = livekit_openai.TTS(**self.known(), **options)
        service.prewarm()
        frames = [one.frame async for one in service.synthesize(SENTENCE)]
        await service.aclose()
        assert frames and {one.sample_rate for one in frames} == {RATE}
        return frames

    def check_speech_is_heard(self):
        """tts-1 has bytes, other models have events; whisper-1 is asked for verbose_json, others for json."""

        async def ask():
            for options in ({"model": "tts-1"}, {"model": "gpt-4o-mini-tts", "instructions": "Calmly."}, {"response_format": "wav"}, {"response_format": "opus"}):
                frames = await self.said(voice="ash", **options)
                for model in ("whisper-1", "gpt-4o-mini-transcribe"):
                    heard = await livekit_openai.STT(**self.known(), model=model).recognize(frames)
                    assert heard.type == SpeechEventType.FINAL_TRANSCRIPT
                    assert is_the_sentence(heard.alternatives[0].text), (options, model, heard)
                    assert heard.alternatives[0].language == "en", heard

        self.run(ask())

    def check_recording(self):
        async def ask():
            service = livekit_openai.STT(**self.known(), model="gpt-transcribe", language=["en"], keywords=["Custom Speech"], prompt="A talk.")
            return (await service.recognize(self.frames(self.samples))).alternatives[0].text

        assert words(self.run(ask())).startswith(BEGINNING)

    async def stream(self, service, samples):
        """Events of a stream that is fed three times as fast as somebody speaks."""
        events = []
        async with aiohttp.ClientSession() as session:
            service._session = session  # LiveKit's worker keeps one for all
            stream = service.stream()

            async def feed():
                for frame in self.frames(samples + bytes(RATE * 2)):
                    stream.push_frame(frame)
                    await asyncio.sleep(0.016)

            async def listen():
                async for event in stream:
                    events.append(event)

            listening = asyncio.create_task(listen())
            await feed()
            while not events or len({one.request_id for one in events if one.type == SpeechEventType.FINAL_TRANSCRIPT}) < turns(events):
                assert not listening.done(), listening.exception()
                await asyncio.sleep(0.05)
            await stream.aclose()
            await listening
            await service.aclose()
        return events

    def check_realtime(self):
        """Turns by the server's ear; what is final is what a recording's text begins with."""

        async def ask():
            return await self.stream(livekit_openai.STT(**self.known(), use_realtime=True, language="en"), self.seconds(12))

        events = self.run(ask())
        types = [one.type for one in events]
        assert types[0] == SpeechEventType.START_OF_SPEECH and SpeechEventType.END_OF_SPEECH in types, types
        assert SpeechEventType.INTERIM_TRANSCRIPT in types, types
        finals = [one.alternatives[0].text for one in events if one.type == SpeechEventType.FINAL_TRANSCRIPT]
        assert words(" ".join(finals)).startswith(BEGINNING), finals
        used = [one.recognition_usage.audio_duration for one in events if one.type == SpeechEventType.RECOGNITION_USAGE]
        assert 4 < sum(used) < 13, used

    def check_realtime_commits(self):
        """A model without turns of its own: LiveKit's VAD says when, and commits."""

        async def ask():
            service = livekit_openai.STT(**self.known(), model="gpt-live-transcribe", language=["en", "de"], keywords=["Custom Speech"])
            return await self.stream(service, self.seconds(12))

        finals = [one.alternatives[0].text for one in self.run(ask()) if one.type == SpeechEventType.FINAL_TRANSCRIPT]
        assert words(" ".join(finals)).startswith(BEGINNING), finals

    def check_wrong_key(self):
        async def ask():
            try:
                await livekit_openai.STT(**self.wrong()).recognize(self.frames(self.seconds(2)), conn_options=APIConnectOptions(max_retry=0))
            except APIStatusError as refused:
                assert refused.status_code == 401 and "key" in refused.message and not refused.retryable, refused
            else:
                raise AssertionError("a wrong key was taken")

        self.run(ask())


class Collector(FrameProcessor):
    """The end of a pipeline: keeps what comes."""

    def __init__(self):
        super().__init__()
        self.frames = []
        self.came = asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        self.frames.append(frame)
        self.came.set()
        await self.push_frame(frame, direction)

    async def until(self, wanted):
        """Frames up to the first of the type `wanted`."""
        while not any(isinstance(one, wanted) for one in self.frames):
            self.came.clear()
            await self.came.wait()
        return self.frames


async def run_pipeline(processors, end, steps, rate=16000, metrics=False):
    """What `steps` gives of a pipeline, whose frames are seen by the collector `end` in it; and the errors told on the way."""
    errors = []
    params = PipelineParams(audio_in_sample_rate=rate, audio_out_sample_rate=RATE, enable_metrics=metrics, enable_usage_metrics=metrics)
    worker = PipelineWorker(Pipeline(processors), params=params, cancel_on_idle_timeout=False)
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")
    async def start(*_):
        started.set()

    @worker.event_handler("on_pipeline_error")
    async def told(_, frame):
        errors.append(frame.error)
        end.frames.append(frame)
        end.came.set()

    async def go():
        await started.wait()
        try:
            return await steps(worker, end)
        finally:
            await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    given, _ = await asyncio.gather(go(), runner.run())
    return given, errors


class PipecatChecks(Client):
    async def pipeline(self, service, steps, rate=16000):
        """Of a pipeline that has the service and a collector behind it."""
        end = Collector()
        return await run_pipeline([service, end], end, steps, rate)

    async def speak_to(self, worker, samples, rate, pause_s=0.0):
        """A turn as a transport and a VAD have it."""
        await worker.queue_frame(VADUserStartedSpeakingFrame())
        size = rate // 50 * 2
        for at in range(0, len(samples), size):
            await worker.queue_frame(InputAudioRawFrame(samples[at : at + size], rate, 1))
            await asyncio.sleep(pause_s)
        await worker.queue_frame(VADUserStoppedSpeakingFrame())

    def spoken(self):
        async def ask():
            service = OpenAITTSService(**self.known(), settings=OpenAITTSService.Settings(voice="nova", instructions="Calmly.", speed=1.0))

            async def steps(worker, end):
                await worker.queue_frames([TTSSpeakFrame(SENTENCE)])
                await end.until((TTSAudioRawFrame, ErrorFrame))
                await worker.stop_when_done()
                return end

            end, errors = await self.pipeline(service, steps)
            assert not errors, errors
            return b"".join(one.audio for one in end.frames if isinstance(one, TTSAudioRawFrame))

        return self.run(ask())

    def check_speech_is_heard(self):
        samples = self.spoken()
        assert 1.5 < len(samples) / RATE / 2 < 6, len(samples)

        async def ask():
            for options in ({"model": "whisper-1"}, {"model": "gpt-4o-transcribe", "prompt": "A station.", "temperature": 0.0}):
                service = OpenAISTTService(**self.known(), settings=OpenAISTTService.Settings(**options), include_prob_metrics=True)

                async def steps(worker, end):
                    await self.speak_to(worker, samples, RATE)
                    return await end.until((TranscriptionFrame, ErrorFrame))

                frames, errors = await self.pipeline(service, steps, rate=RATE)
                heard = [one.text for one in frames if isinstance(one, TranscriptionFrame)]
                assert heard and is_the_sentence(heard[0]), (options, heard, errors)

        self.run(ask())

    def realtime(self, **options):
        service = OpenAIRealtimeSTTService(api_key=self.key, base_url=f"{self.base.replace('http', 'ws')}/realtime", **options)

        async def steps(worker, end):
            await self.speak_to(worker, self.seconds(8) + bytes(RATE * 2), RATE, 0.007)
            return list(await end.until((TranscriptionFrame, ErrorFrame)))

        frames, errors = self.run(self.pipeline(service, steps, rate=RATE))
        assert not errors, errors
        return frames

    def check_realtime_commits(self):
        frames = self.realtime(settings=OpenAIRealtimeSTTService.Settings(delay="low", noise_reduction="near_field"))
        heard = [one.text for one in frames if isinstance(one, TranscriptionFrame)]
        assert words(heard[0]).startswith(BEGINNING), heard

    def check_realtime_turns(self):
        frames = self.realtime(settings=OpenAIRealtimeSTTService.Settings(model="gpt-transcribe"), turn_detection={"type": "server_vad", "silence_duration_ms": 350})
        heard = [one.text for one in frames if isinstance(one, TranscriptionFrame)]
        drafts = "".join(one.text for one in frames if isinstance(one, InterimTranscriptionFrame))
        assert words(heard[0]).startswith("custom speech provides tools") and drafts.startswith(heard[0][:20]), (heard, drafts)

    def check_wrong_key(self):
        async def ask():
            service = OpenAISTTService(base_url=self.base, api_key="another")

            async def steps(worker, end):
                await self.speak_to(worker, self.seconds(2), RATE)
                await end.until(ErrorFrame)

            _, errors = await self.pipeline(service, steps, rate=RATE)
            assert "401" in errors[0] and "key" in errors[0], errors

        self.run(ask())


class AgentsChecks(Client):
    """The voice pipeline of openai-agents: its models of speech to text and text to speech."""

    def provider(self):
        return OpenAIVoiceModelProvider(**self.known())

    def check_speech_is_heard(self):
        async def ask():
            spoken = self.provider().get_tts_model(None)
            sound = b"".join([one async for one in spoken.run(SENTENCE, TTSModelSettings(voice="coral", speed=1.0))])
            heard = self.provider().get_stt_model(None)
            samples = numpy.frombuffer(sound[: len(sound) // 2 * 2], numpy.int16)
            return await heard.transcribe(AudioInput(samples), STTModelSettings(prompt="A station.", language="en"), False, False)

        text = self.run(ask())
        assert is_the_sentence(text), text

    def check_realtime(self):
        """semantic_vad, which is the default; at the end a commit of what is left and a clear, whose answers it waits for."""

        async def ask():
            given = StreamedAudioInput()
            session = await self.provider().get_stt_model(None).create_session(given, STTModelSettings(keywords=["Custom Speech"], languages=["en"]), False, False)

            async def feed():
                samples = numpy.frombuffer(self.seconds(9), numpy.int16)
                for at in range(0, len(samples), RATE // 10):
                    await given.add_audio(samples[at : at + RATE // 10])
                    await asyncio.sleep(0.03)
                await given.add_audio(None)

            feeding = asyncio.create_task(feed())
            texts = [one async for one in session.transcribe_turns()]
            await feeding
            await session.close()
            return texts

        texts = self.run(ask())
        assert words(" ".join(texts)).startswith(BEGINNING), texts


class ListedVoicesChecks(Client):
    """Every voice that is listed can be had; programs offer them in menus."""

    def __init__(self, address, clip, wyoming_port):
        super().__init__(address, clip)
        self.wyoming_port = wyoming_port

    def check_openai(self):
        client = openai.OpenAI(**self.known(), max_retries=0)
        for voice in client.get("/audio/voices", cast_to=object)["voices"]:
            assert len(client.audio.speech.create(model="tts-1", voice=voice["id"], input="Hello.", response_format="pcm").content) > 5000, voice

    async def wyoming(self, event, last):
        async with AsyncTcpClient("127.0.0.1", self.wyoming_port) as connection:
            await connection.write_event(event.event())
            answers = []
            while not answers or (answers[-1] is not None and answers[-1].type != last):
                answers.append(await connection.read_event())
            return answers

    def check_wyoming(self):
        async def ask():
            told = Info.from_event((await self.wyoming(Describe(), "info"))[-1])
            voices = told.tts[0].voices
            assert voices and all(voice.languages == ["en_US"] for voice in voices), voices
            for voice in voices:
                answers = await self.wyoming(Synthesize("Hello.", voice=SynthesizeVoice(name=voice.name)), "audio-stop")
                assert sum(len(one.payload or b"") for one in answers) > 5000, (voice, answers)
            # Home Assistant reads on up to the end of the connection.
            refused = await self.wyoming(Synthesize("Hello.", voice=SynthesizeVoice(name="nobody")), "audio-stop")
            assert refused[0].type == "error" and refused[1] is None, refused

        self.run(ask())


class LimitChecks(Client):
    """A key that has one request at once: who is told 429 comes again when it is told to."""

    def check_livekit(self):
        async def ask():
            service = livekit_openai.STT(**self.known())
            frames = LiveKitChecks.frames(self.seconds(8))
            return await asyncio.gather(*[service.recognize(frames, conn_options=APIConnectOptions(max_retry=MOST_TRIES, retry_interval=0.3)) for _ in range(3)])

        assert len({one.alternatives[0].text for one in self.run(ask())}) == 1

    def check_openai(self):
        async def ask():
            client = openai.AsyncOpenAI(**self.known(), max_retries=MOST_TRIES)
            asked = [client.audio.speech.create(model="tts-1", voice="alloy", input=SENTENCE * 3, response_format="pcm") for _ in range(3)]
            return [len(one.content) for one in await asyncio.gather(*asked)]

        assert min(self.run(ask())) > 100000


def limited(program, weights, shared, options, home):
    """Passed and failed checks of a server of its own, and whether anybody was refused."""
    path = f"{home}/keys.json"
    added = subprocess.run([program, "keys", "add", "kitchen", "--at-once", "1", "--key-file", path], check=True, capture_output=True, text=True)
    server = Server(program, weights, home, [*options, "--key-file", path], {})
    counts = run_checks(LimitChecks(server.address, f"{shared}/{CLIP}", re.search(r"mynah_\w+|\S{32,}", added.stdout + added.stderr).group()))
    server.stop()
    assert " 429 " in "".join(server.log), server.log
    return counts


def main():
    program, shared, weights = sys.argv[1:]
    voices = [f"{weights}/piper/{name}" for name in sorted(os.listdir(f"{weights}/piper")) if name.endswith(".onnx")]
    if not os.path.isfile(f"{shared}/{CLIP}") or not os.path.isdir(f"{weights}/tiny.en") or not voices:
        print("no recordings or no weights here")
        return 77
    logger.remove()  # pipecat's, which tells every frame
    with tempfile.TemporaryDirectory() as home:
        port = free_port()
        options = ["--wyoming-port", str(port), "--voice-model", voices[0], "--vad-model", f"{weights}/silero/silero_vad_16k_op15.onnx"]
        server = Server(program, weights, home, options, {"MYNAH_API_KEYS": KEY})
        checks = [kind(server.address, f"{shared}/{CLIP}") for kind in (LiveKitChecks, PipecatChecks, AgentsChecks)]
        checks.append(ListedVoicesChecks(server.address, f"{shared}/{CLIP}", port))
        passed, failed = map(sum, zip(*map(run_checks, checks)))
        if (code := server.stop()) != 0:
            failed += 1
            print(f"FAILED: the server ended with {code}:\n{''.join(server.log)}")
    with tempfile.TemporaryDirectory() as home:
        counts = limited(program, weights, shared, options, home)
    passed, failed = passed + counts[0], failed + counts[1]
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
