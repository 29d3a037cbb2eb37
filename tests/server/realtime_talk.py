"""Conversations by Realtime as openai-python has them, with SmolLM2's real weights; clients.py runs it."""
import base64
import contextlib
import json
import subprocess
import time

import openai

SILENCE = bytes(48000)  # a second at 24 kHz
PARIS = "What is the capital of France? Answer in one sentence."
LAMP = {
    "type": "function",
    "name": "HassTurnOn",
    "description": "Turns on a device",
    "parameters": {"type": "object", "properties": {"name": {"type": "string", "enum": ["hall", "desk"]}}, "required": ["name"]},
}
HEARD = "conversation.item.input_audio_transcription.completed"


def item_of(text, role="user"):
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


class TalkChecks:
    """`clip`: a recording whose first seconds are speech."""

    def __init__(self, address, clip, key):
        self.client = openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0, timeout=60)
        self.clip = clip

    @contextlib.contextmanager
    def connect(self, **session):
        with self.client.realtime.connect(model="gpt-realtime") as connection:
            assert connection.recv().type == "session.created"
            connection.session.update(session={"type": "realtime", **session})
            assert connection.recv().type == "session.updated"
            yield connection

    @staticmethod
    def until(connection, last):
        """Events up to the first of the type `last`, each as openai-python reads it."""
        events = []
        while not events or events[-1].type != last:
            events.append(connection.recv())
            assert events[-1].type != "error" or last == "error", events[-1]
        return events

    def say(self, connection, text):
        connection.conversation.item.create(item=item_of(text))
        return self.until(connection, "conversation.item.done")[-1].item.id

    def send(self, connection, sound):
        for at in range(0, len(sound), 9600):
            connection.input_audio_buffer.append(audio=base64.b64encode(sound[at : at + 9600]).decode())

    def speech(self, seconds):
        command = ["ffmpeg", "-loglevel", "error", "-t", str(seconds), "-i", self.clip, "-f", "s16le", "-ar", "24000", "-ac", "1", "-"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    def check_text(self):
        """A text is answered; the next one begins with what was read; instructions are the response's own where it has some."""
        with self.connect(output_modalities=["text"], temperature=0, max_output_tokens=40) as connection:
            self.say(connection, PARIS)
            connection.response.create()
            events = self.until(connection, "response.done")
            done = events[-1].response
            text = "".join(one.delta for one in events if one.type == "response.output_text.delta")
            assert "Paris" in text and done.output[0].content[0].text == text, done
            assert done.usage.total_tokens == done.usage.input_tokens + done.usage.output_tokens
            self.say(connection, "And of Italy?")
            connection.response.create()
            again = self.until(connection, "response.done")[-1].response
            assert again.usage.input_token_details.cached_tokens > 40, again.usage
            connection.response.create(response={"conversation": "none", "input": [], "instructions": "Say hello.", "max_output_tokens": 3, "metadata": {"topic": "x"}})
            aside = self.until(connection, "response.done")[-1].response
            assert (aside.status, aside.status_details.reason, aside.conversation_id) == ("incomplete", "max_output_tokens", None), aside
            assert aside.metadata == {"topic": "x"} and aside.usage.input_tokens < 40, aside

    def check_sound(self):
        """Spoken while it is written: the first sound is there before the text is whole, and the words that were played stay."""
        with self.connect(output_modalities=["audio"], temperature=0, max_output_tokens=80, audio={"output": {"voice": "slt"}}) as connection:
            self.say(connection, "Tell me a story of a fox and a bear.")
            connection.response.create()
            events = self.until(connection, "response.done")
            sound = b"".join(base64.b64decode(one.delta) for one in events if one.type == "response.output_audio.delta")
            texts = [one.delta for one in events if one.type == "response.output_audio_transcript.delta"]
            item = events[-1].response.output[0]
            assert len(texts) > 1 and "".join(texts) == item.content[0].transcript, texts
            assert len(sound) > 3 * len(SILENCE), len(sound)
            connection.conversation.item.truncate(item_id=item.id, content_index=0, audio_end_ms=2000)
            self.until(connection, "conversation.item.truncated")
            connection.conversation.item.retrieve(item_id=item.id)
            kept = self.until(connection, "conversation.item.retrieved")[-1].item.content[0].transcript
            assert 0 < len(kept) < len(item.content[0].transcript) / 2 and item.content[0].transcript.startswith(kept), kept

    def check_functions(self):
        with self.connect(output_modalities=["text"], temperature=0, tools=[LAMP], tool_choice="required") as connection:
            self.say(connection, "Turn on the hall lamp.")
            connection.response.create()
            events = self.until(connection, "response.done")
            call = events[-1].response.output[0]
            done = next(one for one in events if one.type == "response.function_call_arguments.done")
            assert (call.type, call.name, done.call_id, done.name) == ("function_call", "HassTurnOn", call.call_id, "HassTurnOn"), call
            assert json.loads(call.arguments)["name"] in ("hall", "desk") and done.arguments == call.arguments
            connection.conversation.item.create(item={"type": "function_call_output", "call_id": call.call_id, "output": "It is on."})
            self.until(connection, "conversation.item.done")
            connection.response.create(response={"tool_choice": "none", "max_output_tokens": 30})
            told = self.until(connection, "response.done")[-1].response
            # A model as small as this one may have nothing to say to it.
            assert told.status in ("completed", "incomplete") and all(one.type == "message" for one in told.output), told

    def check_turns(self):
        """Somebody speaks, is answered, and interrupts that."""
        with self.connect(temperature=0, audio={"output": {"voice": "slt"}}, instructions="Tell a long story.") as connection:
            speech = self.speech(4.6)
            self.send(connection, speech + SILENCE)
            events = self.until(connection, "response.output_audio.delta")
            types = [one.type for one in events]
            assert types.index("input_audio_buffer.committed") < types.index(HEARD) < types.index("response.created"), types
            assert "tools" in next(one.transcript for one in events if one.type == HEARD)
            item = events[-1].item_id
            self.send(connection, speech + SILENCE)
            events = self.until(connection, "response.done")
            assert "input_audio_buffer.speech_started" in [one.type for one in events], "it was told before it was interrupted"
            assert (events[-1].response.status, events[-1].response.status_details.reason) == ("cancelled", "turn_detected"), events[-1]
            connection.conversation.item.truncate(item_id=item, content_index=0, audio_end_ms=300)
            events = self.until(connection, "response.created")
            assert events[-1].response.status == "in_progress"
            connection.response.cancel()
            cancelled = self.until(connection, "response.done")[-1].response
            assert (cancelled.status, cancelled.status_details.reason) == ("cancelled", "client_cancelled"), cancelled

    def check_begun_in_a_pause(self):
        """The reply to what was said is begun while silence is waited for, and told once that is over."""
        turns = {"type": "server_vad", "silence_duration_ms": 3000}
        with self.connect(output_modalities=["text"], temperature=0, max_output_tokens=8, audio={"input": {"turn_detection": turns}}) as connection:
            self.send(connection, self.speech(4.6) + SILENCE[: len(SILENCE) // 3])
            self.until(connection, "input_audio_buffer.speech_started")
            time.sleep(1)  # less than a client is waited for that stalls
            self.send(connection, 4 * SILENCE)
            events = self.until(connection, "response.done")
            types = [one.type for one in events]
            assert types.index("input_audio_buffer.committed") < types.index(HEARD) < types.index("response.created"), types
            done = events[-1].response
            assert done.model_extra["mynah_prepared_ms"] > 0, done
            assert done.output[0].content[0].text == "".join(one.delta for one in events if one.type == "response.output_text.delta")

    def check_push_to_talk(self):
        """A commit and response.create at once, as programs with a key to press have it."""
        with self.connect(output_modalities=["text"], temperature=0, max_output_tokens=5, audio={"input": {"turn_detection": None}}) as connection:
            self.send(connection, self.speech(4.6))
            connection.input_audio_buffer.commit()
            connection.response.create()
            types = [one.type for one in self.until(connection, "response.done")]
            assert types.index("response.created") < types.index(HEARD) < types.index("response.output_text.delta"), types
            # Who presses it again while that is answered is told so.
            connection.response.create()
            connection.response.create(event_id="again")
            refused = self.until(connection, "error")[-1].error
            assert (refused.code, refused.event_id) == ("conversation_already_has_active_response", "again"), refused

    def check_as_agents_js(self):
        """What openai-agents-js sends: it reads each item again when that is done, and interrupts by a cancel and a cut at once."""
        turns = {"type": "semantic_vad", "create_response": True, "interrupt_response": True}
        form = {"type": "audio/pcm", "rate": 24000}
        audio = {
            "input": {"format": form, "noise_reduction": None, "transcription": {"model": "gpt-4o-mini-transcribe"}, "turn_detection": turns},
            "output": {"format": form, "voice": "slt", "speed": 1},
        }
        with self.connect(model="gpt-realtime", instructions="You are brief.", output_modalities=["audio"], audio=audio, tool_choice="auto", tools=[], tracing="auto") as connection:
            self.say(connection, PARIS)
            connection.response.create()
            done = self.until(connection, "response.done")[-1].response
            connection.conversation.item.retrieve(item_id=done.output[0].id)
            read = self.until(connection, "conversation.item.retrieved")[-1].item
            assert (read.status, read.role, read.content[0].type) == ("completed", "assistant", "output_audio"), read
            assert read.content[0].transcript == done.output[0].content[0].transcript
            self.say(connection, "Tell me a very long story of a fox and a bear.")
            connection.response.create()
            item = self.until(connection, "response.output_audio.delta")[-1].item_id
            connection.response.cancel()
            connection.conversation.item.truncate(item_id=item, content_index=0, audio_end_ms=120)
            events = []
            while not {"response.done", "conversation.item.truncated"} <= {one.type for one in events}:
                events.append(connection.recv())
                assert events[-1].type != "error", events[-1]
            assert next(one.response.status for one in events if one.type == "response.done") == "cancelled"
