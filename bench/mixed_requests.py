"""What bench/soak.py asks of `mynah serve`: requests of every kind, each with what must be answered.

A request is a function of an Asker that gives what was answered, without what differs each time (ids, times). It is asked once alone, when
its kind looks at the answer; each later answer must be the same.
"""
import asyncio
import base64
import dataclasses
import http.client
import json
import re
import socket
import struct
import subprocess
import time
import urllib.parse
from collections.abc import Callable

import live_clients
import serving

KEY = "key-of-the-soak"
JOB_PATIENCE_S = 120
SAID = "Hello there, it is a quarter past seven."
FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"]


class Wrong(Exception):
    """An answer that is not the right one."""


def same(answer):
    return answer


@dataclasses.dataclass
class Kind:
    name: str
    weight: int  # of 1,000 requests
    requests: list[Callable]
    is_right: Callable  # of an answer that came alone
    steady: Callable = same  # what of it is the same each time


class Asker:
    """A client, whose connection is kept as long as it likes."""

    def __init__(self, address, wyoming_port):
        self.address = address
        self.wyoming_port = wyoming_port
        parts = urllib.parse.urlsplit(address)
        self.host, self.port = parts.hostname, parts.port
        self.connection = http.client.HTTPConnection(self.host, self.port, timeout=JOB_PATIENCE_S)

    def ask(self, method, path, body=None, kind=None, **more):
        """Status and body."""
        headers = {"Authorization": f"Bearer {KEY}"} | ({"Content-Type": kind} if kind else {}) | more
        headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        for last in (False, True):
            try:
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                return answer.status, answer.read()
            except (http.client.RemoteDisconnected, ConnectionError):
                self.connection.close()  # it was quiet for long
                if last:
                    raise

    def get(self, path):
        return self.ask("GET", path)

    def json_post(self, path, fields):
        return self.ask("POST", path, json.dumps(fields), "application/json")

    def form_post(self, path, fields, sound, name="file"):
        body, kind = serving.multipart(fields, "clip.wav", sound)
        return self.ask("POST", path, body.replace(b'name="file"', f'name="{name}"'.encode(), 1), kind)

    def raw(self):
        """A connection of its own."""
        return socket.create_connection((self.host, self.port), timeout=JOB_PATIENCE_S)

    def close(self):
        self.connection.close()


def wanted(status, answer):
    if answer[0] != status:
        raise Wrong(f"wanted {status}, found {answer[0]} {answer[1][:300]}")
    return answer[1]


def hear(sound, **fields):
    return lambda asker: wanted(200, asker.form_post("/v1/audio/transcriptions", fields, sound)).decode()


def hear_stream(sound):
    def request(asker):
        events = re.findall(r"^data: (\{.*)$", hear(sound, stream="true")(asker), re.MULTILINE)
        events = [json.loads(event) for event in events]
        text = "".join(event["delta"] for event in events if event["type"] == "transcript.text.delta")
        if events[-1]["type"] != "transcript.text.done" or events[-1]["text"] != text.strip():
            raise Wrong(f"wanted increments of the text, found {events}")
        return events[-1]["text"]

    return request


def hear_elsewise(path, name, sound, **fields):
    """As other servers are asked."""
    return lambda asker: wanted(200, asker.form_post(path, fields, sound, name)).decode()


def job(sound):
    """Made, waited for, fetched and removed."""

    def request(asker):
        name = json.loads(wanted(202, asker.form_post("/v1/jobs", {"response_format": "srt"}, sound)))["id"]
        deadline = time.monotonic() + JOB_PATIENCE_S
        while (state := json.loads(wanted(200, asker.get(f"/v1/jobs/{name}")))["state"]) in ("queued", "running"):
            if time.monotonic() > deadline:
                raise Wrong(f"a job is {state} for {JOB_PATIENCE_S} s")
            time.sleep(0.02)
        text = wanted(200, asker.get(f"/v1/jobs/{name}/result")).decode()
        status, _ = asker.ask("DELETE", f"/v1/jobs/{name}")
        wanted(404, asker.get(f"/v1/jobs/{name}"))
        return state, status, text

    return request


def speak(voice, kind, **fields):
    fields = {"input": SAID, "voice": voice, "response_format": kind} | fields
    return lambda asker: wanted(200, asker.json_post("/v1/audio/speech", fields))


def speak_events(voice):
    def request(asker):
        body = wanted(200, asker.json_post("/v1/audio/speech", {"input": SAID, "voice": voice, "response_format": "pcm", "stream_format": "sse"}))
        events = [json.loads(event) for event in re.findall(r"^data: (\{.*)$", body.decode(), re.MULTILINE)]
        if events[-1]["type"] != "speech.audio.done":
            raise Wrong(f"wanted the end of the events, found {events[-1]}")
        return b"".join(base64.b64decode(event["audio"]) for event in events[:-1])

    return request


def captions(voice):
    return lambda asker: wanted(200, asker.json_post("/dev/captioned_speech", {"input": SAID, "voice": voice, "response_format": "wav", "stream": False}))


def piper(asker):
    return wanted(200, asker.json_post("/synthesize", {"text": SAID, "voice": "joe"}))


def without_serial(body):
    """Ogg's pages have a number of their stream, made anew each time, and a sum over it."""
    at, kept = 0, bytearray(body)
    while at < len(kept):
        kept[at + 14 : at + 18] = kept[at + 22 : at + 26] = bytes(4)
        segments = kept[at + 26]
        at += 27 + segments + sum(kept[at + 27 : at + 27 + segments])
    return bytes(kept)


def get(path, *members):
    """Those members of the answer, or all of it."""

    def request(asker):
        body = wanted(200, asker.get(path))
        if not members:
            return body
        told = json.loads(body)
        return [told.get(name) for name in members]

    return request


def names_of(path):
    return lambda asker: sorted(re.findall(r'"id":\s*"([^"]+)"', wanted(200, asker.get(path)).decode()))


def refused(status, method, path, body=None, kind=None, **headers):
    """With that status, and a reason that stays the same."""

    def request(asker):
        told = wanted(status, asker.ask(method, path, body, kind, **headers))
        if status != 401:  # what is refused before its body may end the connection
            json.loads(told)
        return told

    return request


def left(head, body, sent, how):
    """A client that leaves: behind so much of its body, or behind the begin of the answer."""

    def request(asker):
        with asker.raw() as client:
            client.sendall(head.format(size=len(body), key=KEY).encode() + body[: int(sent * len(body))])
            if how == "answered" and not client.recv(1000).startswith(b"HTTP/1.1 200"):
                raise Wrong("wanted the begin of an answer")
            if how == "reset":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return "left"

    return request


def wyoming(*messages, last):
    async def talk(asker):
        client = await live_clients.Wyoming.open(asker.wyoming_port)
        events = await client.ask(messages, last)
        await client.close()
        return [[event["type"], event["data"], event["payload"]] for event in events]

    return lambda asker: asyncio.run(talk(asker))


def wyoming_text(sound):
    messages = live_clients.messages_of(sound)

    async def talk(asker):
        client = await live_clients.Wyoming.open(asker.wyoming_port)
        text, _ = await client.hear(messages, in_time=False)
        await client.close()
        return text

    return lambda asker: asyncio.run(talk(asker))


def realtime(frames, leave_early):
    """A socket that is opened and closed, or is given a turn, by the client's own word, and is left with its text."""
    manual = {"type": "session.update", "session": {"type": "transcription", "audio": {"input": {"turn_detection": None}}}}

    async def talk(asker):
        client = await live_clients.Realtime.open(asker.address, KEY)
        await client.send(live_clients.frame_of(manual) + b"".join(frames))
        await client.until(lambda: any(event["type"].endswith("session.updated") for _, event in client.told))
        if not leave_early:
            await client.send(live_clients.frame_of({"type": "input_audio_buffer.commit"}))
            await client.until(lambda: client.texts())
            await client.send(bytes([0x88, 0x80, 0, 0, 0, 0]))  # it says so
        await client.close()
        return client.text()

    return lambda asker: asyncio.run(talk(asker))


def is_sound(kind, body, rate):
    """Whether it is speech of some seconds, by ffmpeg."""
    form = ["-f", "s16le", "-ar", str(rate), "-ac", "1"] if kind == "pcm" else []
    command = ["ffmpeg", "-v", "error", *form, "-i", "-", "-f", "s16le", "-ar", "16000", "-ac", "1", "-"]
    samples = subprocess.run(command, input=body, check=False, stdout=subprocess.PIPE).stdout
    return 32000 < len(samples) < 160000 and max(samples) > 0


def without_times(text):
    """How long each stage took differs each time."""
    told = json.loads(text)
    told.pop("timings")
    return told


def kinds(clips, samples):
    """Of all requests. `clips`: WAV files' bytes by what is said in them; `samples`: (16 kHz, 24 kHz) of one of them."""
    sounds = list(clips.values())
    long_name = "x" * 300
    form, form_kind = serving.multipart({"response_format": "poem"}, "clip.wav", sounds[0])
    cold, cold_kind = serving.multipart({"temperature": "hot"}, "clip.wav", sounds[0])
    whole, whole_kind = serving.multipart({}, "clip.wav", sounds[0])
    nothing, nothing_kind = serving.multipart({}, "clip.wav", b"this is no sound at all")
    head = "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {{key}}\r\nContent-Type: {kind}\r\nContent-Length: {{size}}\r\n\r\n"
    hearing = head.format(path="/v1/audio/transcriptions", kind=whole_kind)
    speaking = head.format(path="/v1/audio/speech", kind="application/json")
    said = {voice: json.dumps({"input": f"{SAID} " * 20, "voice": voice, "response_format": "pcm"}).encode() for voice in ("heart", "joe", "af_heart")}
    hears = lambda text: bool(re.search("[a-z]{3}", text if isinstance(text, str) else text[-1]))
    told = lambda answer: bool(answer)
    at_16, at_24 = samples
    frames = live_clients.frames_of(at_24)
    kinds_of_sound = [
        Kind(
            f"speech {voice} {kind}", weight, [speak(voice, kind)], lambda body, kind=kind: is_sound(kind, body, 24000), without_serial if kind == "opus" else same
        )
        for voice, weight in (("heart", 10), ("joe", 8))
        for kind in FORMATS
    ] + [Kind(f"speech af_heart {kind}", 4, [speak("af_heart", kind)], lambda body, kind=kind: is_sound(kind, body, 24000)) for kind in ("mp3", "pcm")]
    return kinds_of_sound + [
        Kind("json", 160, [hear(sound) for sound in sounds], hears),
        Kind("srt", 60, [hear(sound, response_format="srt") for sound in sounds], lambda text: " --> " in text),
        Kind("verbose_json", 60, [hear(sound, response_format="verbose_json") for sound in sounds], hears, without_times),
        Kind("stream", 100, [hear_stream(sound) for sound in sounds], hears),
        Kind("inference", 20, [hear_elsewise("/inference", "file", sound) for sound in sounds], hears),
        Kind("asr", 20, [hear_elsewise("/asr?output=srt", "audio_file", sound) for sound in sounds], lambda text: " --> " in text),
        Kind("jobs", 20, [job(sound) for sound in sounds], lambda answer: answer[0] == "done" and answer[1] in (200, 204) and " --> " in answer[2]),
        Kind("speech events", 10, [speak_events("heart"), speak_events("joe")], lambda body: is_sound("pcm", body, 24000)),
        Kind("captions", 10, [captions("heart"), captions("joe")], lambda body: len(json.loads(body)["timestamps"]) == len(SAID.split())),
        Kind("piper", 10, [piper], lambda body: is_sound("wav", body, 0)),
        Kind("speech whole", 10, [speak("joe", "mp3", stream=False), speak("heart", "wav", stream=False, speed=1.5)], lambda body: len(body) > 5000),
        Kind("lists", 80, [get("/v1/audio/voices"), get("/v1/audio/models"), names_of("/v1/models"), get("/v1/models/kokoro", "id", "object")], told),
        Kind("health", 80, [get("/health"), get("/health/live"), get("/version"), get("/health/ready", "status"), get("/v1/queue", "object"), get("/openapi.json")], told),
        Kind(
            "400",
            60,
            [
                refused(400, "POST", "/v1/audio/transcriptions", form, form_kind),
                refused(400, "POST", "/v1/audio/transcriptions", cold, cold_kind),
                refused(400, "POST", "/v1/audio/transcriptions", nothing, nothing_kind),
                refused(400, "POST", "/v1/audio/speech", "{", "application/json"),
                refused(400, "POST", "/v1/audio/speech", "{}", "application/json"),
                refused(400, "POST", "/v1/audio/speech", json.dumps({"input": SAID, "speed": 900}), "application/json"),
            ],
            told,
        ),
        Kind("401", 20, [refused(401, "GET", "/v1/models", Authorization=None), refused(401, "POST", "/v1/audio/transcriptions", whole, whole_kind, Authorization=None)], told),
        Kind("403", 10, [refused(403, "GET", "/v1/models", Origin="https://elsewhere.example"), refused(403, "GET", "/metrics")], told),
        Kind("404", 40, [refused(404, "GET", path) for path in ("/v1/nothing", "/v1/models/absent", "/v1/jobs/job_absent", f"/v1/models/{long_name}")], told),
        Kind("405", 10, [refused(405, "GET", "/v1/audio/speech"), refused(405, "PUT", "/v1/models")], told),
        Kind(
            "left",
            40,
            [left(hearing, whole, share, how) for share in (0.1, 0.7, 1) for how in ("close", "reset")]
            + [left(speaking, said[voice], 1, how) for voice in ("heart", "joe", "af_heart") for how in ("answered", "reset")],
            told,
        ),
        Kind("Wyoming describes", 20, [wyoming(live_clients.message_of("describe"), last="info")], told),
        Kind("Wyoming hears", 20, [wyoming_text(at_16)], hears),
        Kind("Wyoming speaks", 10, [wyoming(live_clients.message_of("synthesize", {"text": SAID, "voice": {"name": "joe"}}), last="audio-stop")], told),
        Kind("Realtime is opened", 10, [realtime([], True), realtime(frames[:10], True)], lambda text: text == ""),
        Kind("Realtime hears", 10, [realtime(frames, False)], hears),
    ]
