"""Realtime, as openai-python and plain WebSockets ask for it; clients.py runs it."""
import asyncio
import base64
import io
import json
import subprocess
import time
import wave

import openai
import websockets.exceptions
import websockets.sync.client

# Of turns in a recording whose pauses are short.
TURNS = {"type": "server_vad", "threshold": 0.5, "prefix_padding_ms": 300, "silence_duration_ms": 250}
TRANSCRIBED = "conversation.item.input_audio_transcription"


def text_of(data):
    return base64.b64encode(data).decode()


class RealtimeChecks:
    def __init__(self, address, clip, key):
        self.base = f"{address}/v1"
        self.clip = clip
        self.key = key
        self.client = openai.OpenAI(base_url=self.base, api_key=key, max_retries=0, timeout=30)

    def samples(self, codec="s16le", rate=24000):
        command = ["ffmpeg", "-loglevel", "error", "-i", self.clip, "-f", codec, "-ar", str(rate), "-ac", "1", "-"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    def posted(self):
        with open(self.clip, "rb") as file:
            return self.client.audio.transcriptions.create(model="whisper-1", file=file).text

    @staticmethod
    def plain(text):
        return [word for word in "".join(c if c.isalnum() else " " for c in text.lower()).split()]

    def connect(self, headers=None, **options):
        address = self.base.replace("http", "ws") + "/realtime?" + options.pop("query", "intent=transcription")
        return websockets.sync.client.connect(address, additional_headers=headers, **options)

    @staticmethod
    def until(connection, last, count=1):
        """Events up to the `count`th of the type `last`."""
        events = []
        while count > 0:
            events.append(json.loads(connection.recv(timeout=30)))
            assert events[-1]["type"] != "error" or last == "error", events[-1]
            count -= events[-1]["type"] == last
        assert len({event["event_id"] for event in events}) == len(events)
        return events

    @staticmethod
    def texts(events):
        """What was completed, each with the deltas before it, which must add up to it."""
        told, completed = {}, []
        for event in events:
            if event["type"] == f"{TRANSCRIBED}.delta":
                told[event["item_id"]] = told.get(event["item_id"], "") + event["delta"]
            elif event["type"] == f"{TRANSCRIBED}.completed":
                assert told.get(event["item_id"], "") == event["transcript"], (told, event)
                completed.append(event["transcript"])
        return completed

    def check_client_secrets(self):
        """A page is handed a secret for a minute, which opens one socket with the session that it was made for."""
        audio = {"input": {"format": {"type": "audio/pcmu"}, "turn_detection": None}}
        made = self.client.realtime.client_secrets.create(session={"type": "transcription", "audio": audio})
        assert made.value.startswith("ek_") and 0 < made.expires_at - time.time() <= 61, made
        protocols = ["realtime", f"openai-insecure-api-key.{made.value}"]
        with self.connect(query="", subprotocols=protocols) as connection:
            session = self.until(connection, "session.created")[-1]["session"]
            assert session["type"] == "transcription" and session["audio"]["input"]["turn_detection"] is None, session
            assert session["audio"]["input"]["format"]["type"] == "audio/pcmu", session
        try:
            self.connect(query="", subprotocols=protocols).close()
        except websockets.exceptions.InvalidStatus as refused:
            assert refused.response.status_code == 401
        else:
            raise AssertionError("a secret opens one socket")

    def check_turns(self):
        """As LiveKit has it: text while somebody speaks, a turn for every pause; openai-python reads every event."""
        with self.client.realtime.connect(extra_query={"intent": "transcription", "model": "gpt-4o-mini-transcribe"}) as connection:
            created = connection.recv()
            assert created.type == "session.created" and created.session.type == "transcription"
            audio = {"format": {"type": "audio/pcm", "rate": 24000}, "transcription": {"model": "gpt-4o-mini-transcribe", "language": "en"}, "turn_detection": TURNS}
            connection.session.update(session={"type": "transcription", "audio": {"input": audio}})
            updated = connection.recv()
            assert updated.type == "session.updated" and updated.session.audio.input.turn_detection.silence_duration_ms == 250
            sound = self.samples() + bytes(48000)
            for at in range(0, len(sound), 9600):
                connection.input_audio_buffer.append(audio=text_of(sound[at : at + 9600]))
                if at < 9 * 48000:
                    time.sleep(0.06)  # three times as fast as somebody speaks: there is time for drafts
            events, last = [], ""
            while not any(one["type"] == f"{TRANSCRIBED}.completed" and one["item_id"] == last for one in events[-1:]):
                events.append(json.loads(connection.recv_bytes()))
                if events[-1]["type"] == "input_audio_buffer.speech_stopped" and events[-1]["audio_end_ms"] > 23000:
                    last = events[-1]["item_id"]
        completed = self.texts(events)
        assert len(completed) > 2, completed
        for event in events:
            assert event["type"] != "error", event
        order = [event["type"] for event in events if event.get("item_id") == events[0]["item_id"]]
        wanted = [
            "input_audio_buffer.speech_started",
            f"{TRANSCRIBED}.delta",
            "input_audio_buffer.speech_stopped",
            "input_audio_buffer.committed",
            f"{TRANSCRIBED}.completed",
        ]
        assert [one for one in dict.fromkeys(order)] == wanted, order
        wrong = [pair for pair in zip(self.plain(" ".join(completed)), self.plain(self.posted())) if pair[0] != pair[1]]
        assert len(wrong) < 3, wrong

    def check_commits(self):
        """As pipecat has it: no turns, a commit; the whole is what a POST hears."""
        with self.client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
            connection.recv()
            audio = {"format": {"type": "audio/pcm", "rate": 24000}, "turn_detection": None}
            connection.session.update(session={"type": "transcription", "audio": {"input": audio}})
            assert connection.recv().session.audio.input.turn_detection is None
            connection.input_audio_buffer.commit()
            refused = connection.recv()
            assert refused.type == "error" and refused.error.code == "input_audio_buffer_commit_empty"
            sound = self.samples()
            for at in range(0, len(sound), 240000):
                connection.input_audio_buffer.append(audio=text_of(sound[at : at + 240000]))
            connection.input_audio_buffer.commit()
            events = []
            while not events or events[-1]["type"] != f"{TRANSCRIBED}.completed":
                events.append(json.loads(connection.recv_bytes()))
            assert events[-1]["languages"] == [{"code": "en"}] and 24 < events[-1]["usage"]["seconds"] < 25
            assert self.plain(self.texts(events)[0]) == self.plain(self.posted())
            connection.conversation.item.retrieve(item_id=events[-1]["item_id"])
            kept = connection.recv().item
            assert kept.content[0].transcript == events[-1]["transcript"]
            connection.conversation.item.delete(item_id=events[-1]["item_id"])
            assert connection.recv().type == "conversation.item.deleted"

    def check_beta_and_telephony(self):
        with self.connect({"Authorization": f"Bearer {self.key}", "OpenAI-Beta": "realtime=v1"}) as connection:
            assert json.loads(connection.recv())["type"] == "transcription_session.created"
            for form, codec in (("g711_ulaw", "mulaw"), ("g711_alaw", "alaw")):
                session = {"input_audio_format": form, "input_audio_transcription": {"model": "whisper-1"}, "turn_detection": None}
                connection.send(json.dumps({"type": "transcription_session.update", "session": session}))
                assert json.loads(connection.recv())["session"]["input_audio_format"] == form
                sound = self.samples(codec, 8000)[: 8000 * 9]
                connection.send(json.dumps({"type": "input_audio_buffer.append", "audio": text_of(sound)}))
                connection.send(json.dumps({"type": "input_audio_buffer.commit"}))
                events = self.until(connection, f"{TRANSCRIBED}.completed")
                assert [one["type"] for one in events if one["type"].startswith("conversation.item.c")] == ["conversation.item.created"]
                assert "visually inspect the recognition quality" in self.texts(events)[0], self.texts(events)

    def check_browser(self):
        """The key as a subprotocol; pages of other sites and wrong keys are turned away."""
        with self.connect(subprotocols=["realtime", f"openai-insecure-api-key.{self.key}", "openai-agents-sdk.0.1"]) as connection:
            assert connection.subprotocol == "realtime"
            assert json.loads(connection.recv())["type"] == "session.created"
        for options, status in (
            ({"subprotocols": ["realtime", "openai-insecure-api-key.another"]}, 401),
            ({"subprotocols": ["realtime", f"openai-insecure-api-key.{self.key}"], "origin": "https://elsewhere.example"}, 403),
        ):
            try:
                self.connect(**options)
                raise AssertionError(f"wanted {status}, was let in")
            except websockets.exceptions.InvalidStatus as told:
                assert told.response.status_code == status, told

    def check_speaks_given_text(self):
        said = "The train leaves at nine in the morning."
        with self.client.realtime.connect(model="gpt-realtime") as connection:
            connection.recv()
            # As agents-js has it.
            turns = {"type": "semantic_vad", "eagerness": "high", "create_response": True, "interrupt_response": False}
            audio = {"input": {"turn_detection": turns, "noise_reduction": None}, "output": {"voice": "slt", "speed": 1}}
            session = {"type": "realtime", "model": "none", "output_modalities": ["audio"], "tracing": "auto", "audio": audio}
            connection.session.update(session=session)
            effective = connection.recv().session.audio.input.turn_detection
            assert (effective.type, effective.create_response, effective.interrupt_response) == ("server_vad", False, False)
            connection.send({"type": "response.create", "event_id": "mine"})
            refused = connection.recv()
            assert (refused.type, refused.error.code, refused.error.event_id) == ("error", "language_model_missing", "mine")
            assert "response.create" in refused.error.message
            item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
            connection.response.create(response={"input": [item], "metadata": {"a": "b"}})
            sound, transcript, event = b"", "", connection.recv()
            assert event.type == "response.created" and event.response.metadata == {"a": "b"}
            while event.type != "response.done":
                event = connection.recv()
                if event.type == "response.output_audio.delta":
                    sound += base64.b64decode(event.delta)
                elif event.type == "response.output_audio_transcript.delta":
                    transcript += event.delta
            assert event.response.status == "completed" and event.response.output[0].content[0].transcript == said == transcript
            connection.conversation.item.truncate(item_id=event.response.output[0].id, content_index=0, audio_end_ms=100)
            assert connection.recv().type == "conversation.item.truncated"
        file = io.BytesIO()
        with wave.open(file, "wb") as writer:
            writer.setparams((1, 2, 24000, 0, "NONE", ""))
            writer.writeframes(sound)
        heard = self.client.audio.transcriptions.create(model="whisper-1", file=("said.wav", file.getvalue()))
        assert "train leaves at" in heard.text, heard.text

    def check_async_and_cancel(self):
        async def ask():
            client = openai.AsyncOpenAI(base_url=self.base, api_key=self.key, max_retries=0, timeout=30)
            async with client.realtime.connect(model="gpt-realtime") as connection:
                await connection.recv()
                await connection.session.update(session={"type": "realtime", "model": "none"})
                await connection.recv()
                await connection.conversation.item.create(
                    item={"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One two three. " * 200}]}
                )
                assert (await connection.recv()).type == "conversation.item.added"
                assert (await connection.recv()).type == "conversation.item.done"
                await connection.response.create()
                event = await connection.recv()
                while event.type != "response.output_audio.delta":
                    event = await connection.recv()
                await connection.response.create(event_id="second")
                await connection.response.cancel()
                refused = None
                while event.type != "response.done":
                    event = await connection.recv()
                    refused = event if event.type == "error" else refused
                assert refused.error.code == "conversation_already_has_active_response" and refused.error.event_id == "second"
                assert event.response.status == "cancelled" and event.response.status_details.reason == "client_cancelled"

        asyncio.run(ask())
