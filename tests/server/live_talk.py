#!/usr/bin/env python3
"""Converses with `mynah serve` by Realtime as voice agents do (tools/requirements-live.txt): LiveKit's realtime model, the realtime sessions
of openai-agents and pipecat's realtime service, as they are, each pointed at the server by its address and a key alone. Replies are asked for,
spoken to, interrupted, cut to what was played, and call functions.

usage: live_talk.py MYNAH MYNAH_SHARED MYNAH_WEIGHTS
"""
import asyncio
import os
import sys
import tempfile

import openai
from agents import function_tool
from agents.realtime import RealtimeAgent, RealtimeRunner
from live_clients import CLIP, KEY, RATE, Client, Collector, LiveKitChecks, run_pipeline, words
from livekit.agents import llm as livekit
from livekit.plugins import openai as livekit_openai
from loguru import logger
from openai.types.realtime.realtime_audio_input_turn_detection import ServerVad
from pipecat.frames.frames import ErrorFrame, InputAudioRawFrame, LLMContextFrame, LLMFullResponseEndFrame, TranscriptionFrame, TTSAudioRawFrame, TTSTextFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.realtime import events as pipecat_events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from serving import CHAT_MODEL, Server, run_checks
from taught_model import write_taught

PARIS = "What is the capital of France? Answer in one sentence."
SPOKEN_S = 5
SILENCE = bytes(RATE * 2)
FRAME_S = 0.05


@function_tool
def turn_on(lamp: str) -> str:
    """Turns on a lamp."""
    return f"{lamp} is on."


class LiveKitTalk(Client):
    @staticmethod
    async def reply(generation):
        """Text and bytes of sound of a reply's messages, and its calls of functions."""
        text, sound = "", 0
        async for message in generation.message_stream:
            async def hear():
                return sum([len(frame.data) * 2 async for frame in message.audio_stream])

            hearing = asyncio.create_task(hear())
            text += "".join([piece async for piece in message.text_stream])
            sound += await hearing
        return text, sound, [call async for call in generation.function_stream]

    def talk(self, steps, **options):
        """What `steps` gives of a session."""

        async def ask():
            turns = ServerVad(type="server_vad", silence_duration_ms=500, create_response=True, interrupt_response=True)
            model = livekit_openai.realtime.RealtimeModel(**self.known(), **{"voice": "alloy", "turn_detection": turns} | options)
            session = model.session()
            errors = []
            session.on("error", errors.append)
            given = await steps(session)
            await session.aclose()
            await model.aclose()
            assert not errors, errors
            return given

        return self.run(ask())

    def check_a_reply_is_asked_for(self):
        async def steps(session):
            await session.update_instructions("You are brief.")
            chat = livekit.ChatContext.empty()
            chat.add_message(role="user", content=PARIS)
            await session.update_chat_ctx(chat)
            text, sound, calls = await self.reply(await session.generate_reply())
            await asyncio.sleep(0.2)
            said = [item for item in session.chat_ctx.items if item.type == "message" and item.role == "assistant"]
            return text, sound, calls, said

        text, sound, calls, said = self.talk(steps)
        assert text.strip() and sound > RATE and not calls, (text, sound)
        assert said and said[-1].text_content == text, (said, text)

    def check_a_turn_is_answered_and_interrupted(self):
        async def steps(session):
            begun, heard = asyncio.Queue(), []
            session.on("generation_created", begun.put_nowait)
            session.on("input_audio_transcription_completed", heard.append)
            await session.update_instructions("Tell a long story.")
            sound = self.seconds(SPOKEN_S) + SILENCE
            for frame in LiveKitChecks.frames(sound):
                session.push_audio(frame)
                await asyncio.sleep(FRAME_S / 5)
            generation = await begun.get()
            assert not generation.user_initiated
            message = await anext(generation.message_stream)
            await anext(message.audio_stream)
            session.interrupt()
            session.truncate(message_id=message.message_id, modalities=["audio", "text"], audio_end_ms=200)
            await asyncio.sleep(0.5)
            return [one.transcript for one in heard if one.is_final]

        finals = self.talk(steps)
        assert words(finals[0]).startswith("custom speech provides tools"), finals


class AgentsTalk(Client):
    def talk(self, agent, settings, steps):
        async def ask():
            config = {"url": f"{self.base.replace('http', 'ws')}/realtime?model=gpt-realtime", "api_key": self.key, "initial_model_settings": settings}
            async with await RealtimeRunner(agent).run(model_config=config) as session:
                return await steps(session)

        return self.run(ask())

    @staticmethod
    async def until(session, kinds):
        """Events up to the first that is of one of these kinds."""
        events = []
        async for event in session:
            assert event.type != "error", event
            events.append(event)
            if event.type in kinds:
                return events

    def check_a_message_is_answered(self):
        async def steps(session):
            await session.send_message(PARIS)
            events = await self.until(session, ["audio_end"])
            events += await self.until(session, ["agent_end"])
            return events, [one for event in events if event.type == "history_updated" for one in event.history][-1]

        events, last = self.talk(RealtimeAgent(name="brief", instructions="You are brief."), {"output_modalities": ["audio"]}, steps)
        assert sum(len(event.audio.data) for event in events if event.type == "audio") > RATE
        assert last.role == "assistant" and last.content[0].transcript.strip(), last

    def check_sound_is_answered_and_interrupted(self):
        async def steps(session):
            sound = self.seconds(SPOKEN_S) + SILENCE
            for at in range(0, len(sound), RATE // 5):
                await session.send_audio(sound[at : at + RATE // 5])
                await asyncio.sleep(0.01)
            events = await self.until(session, ["audio"])
            await session.interrupt()
            return events + await self.until(session, ["audio_interrupted", "agent_end"])

        turns = {"type": "server_vad", "silence_duration_ms": 500, "interrupt_response": True}
        events = self.talk(RealtimeAgent(name="long", instructions="Tell a long story."), {"turn_detection": turns, "output_modalities": ["audio"]}, steps)
        heard = [item for event in events if event.type == "history_updated" for item in event.history if item.type == "message" and item.role == "user"]
        assert "speech provides tools" in words(heard[-1].content[0].transcript or ""), heard

    def check_a_function_is_called(self):
        async def steps(session):
            await session.send_message("Turn on the lamp in the hall.")
            return await self.until(session, ["tool_end"])

        agent = RealtimeAgent(name="lamps", instructions="Use the tools.", tools=[turn_on])
        events = self.talk(agent, {"output_modalities": ["text"], "tool_choice": "required"}, steps)
        assert events[-1].tool.name == "turn_on" and events[-1].output.endswith("is on."), events[-1]


class PipecatTalk(Client):
    def talk(self, steps, **session):
        async def ask():
            properties = pipecat_events.SessionProperties(**session)
            service = OpenAIRealtimeLLMService(
                api_key=self.key,
                base_url=f"{self.base.replace('http', 'ws')}/realtime",
                settings=OpenAIRealtimeLLMService.Settings(system_instruction="You are brief.", session_properties=properties),
            )
            end = Collector()
            given, errors = await run_pipeline([service, end], end, steps, RATE)
            assert not errors, errors
            return given

        return self.run(ask())

    def check_a_context_is_answered(self):
        async def steps(worker, end):
            await worker.queue_frame(LLMContextFrame(LLMContext([{"role": "user", "content": PARIS}])))
            return list(await end.until((LLMFullResponseEndFrame, ErrorFrame)))

        frames = self.talk(steps)
        assert sum(len(one.audio) for one in frames if isinstance(one, TTSAudioRawFrame)) > RATE
        assert "".join(one.text for one in frames if isinstance(one, TTSTextFrame)).strip()

    def check_a_turn_is_answered(self):
        async def steps(worker, end):
            await worker.queue_frame(LLMContextFrame(LLMContext([])))
            sound = self.seconds(SPOKEN_S) + SILENCE
            for at in range(0, len(sound), RATE // 10):
                await worker.queue_frame(InputAudioRawFrame(sound[at : at + RATE // 10], RATE, 1))
                await asyncio.sleep(0.01)
            return list(await end.until((TTSAudioRawFrame, ErrorFrame)))

        turns = pipecat_events.TurnDetection(type="server_vad", silence_duration_ms=500)
        audio = pipecat_events.AudioConfiguration(input=pipecat_events.AudioInput(turn_detection=turns, transcription=pipecat_events.InputAudioTranscription()))
        frames = self.talk(steps, audio=audio)
        assert any(isinstance(one, TTSAudioRawFrame) for one in frames), frames


def hear(client, clip):
    """Opens the model that hears: LiveKit waits 5 s for an item behind the first session.update, which does it, too."""
    with open(clip, "rb") as file:
        openai.OpenAI(**client.known()).audio.transcriptions.create(model="whisper-1", file=file)


def main():
    program, shared, weights = sys.argv[1:]
    if not os.path.isfile(f"{shared}/{CLIP}") or not os.path.isdir(f"{weights}/tiny.en") or not os.path.isfile(f"{weights}/{CHAT_MODEL}"):
        print("no recordings or no weights here")
        return 77
    logger.remove()  # pipecat's, which tells every frame
    with tempfile.TemporaryDirectory() as home:
        model = write_taught(f"{weights}/{CHAT_MODEL}", f"{home}/{os.path.basename(CHAT_MODEL)}")
        options = ["--wyoming-port", "0", "--voice-model", "builtin", "--chat-model", model, "--vad-model", f"{weights}/silero/silero_vad_16k_op15.onnx"]
        server = Server(program, weights, home, options, {"MYNAH_API_KEYS": KEY})
        checks = [kind(server.address, f"{shared}/{CLIP}") for kind in (LiveKitTalk, AgentsTalk, PipecatTalk)]
        hear(checks[0], f"{shared}/{CLIP}")
        passed, failed = map(sum, zip(*map(run_checks, checks)))
        if (code := server.stop()) != 0:
            failed += 1
            print(f"FAILED: the server ended with {code}:\n{''.join(server.log)}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
