"""Requests as clients send them, byte by byte (recorded/*.http), each looked at as its client looks at the answer."""
import base64
import io
import json
import os
import re
import socket
import wave

FOLDER = os.path.join(os.path.dirname(__file__), "recorded")


class Answer:
    def __init__(self, head, body):
        self.status = int(head.split(" ", 2)[1])
        self.headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        self.body = body

    def json(self):
        assert self.headers["content-type"].startswith("application/json"), self.headers
        return json.loads(self.body)


class RecordedRequests:
    """`samples`: a recording of 16 kHz, 16 bits, mono, without a header; `said`: what is said in it."""

    def __init__(self, address, key, samples, said):
        self.host = address.removeprefix("http://")
        self.key = key
        self.samples = samples
        self.said = said
        kept = io.BytesIO()
        with wave.open(kept, "wb") as file:
            file.setparams((1, 2, 16000, 0, "NONE", ""))
            file.writeframes(samples)
        self.wav = kept.getvalue()

    def send(self, name, sound=b""):
        with open(f"{FOLDER}/{name}.http", "rb") as file:
            request = file.read().replace(b"\n", b"\r\n")
        head, body = request.split(b"\r\n\r\n", 1)
        body = body.replace(b"@SOUND@", sound)
        if head.endswith(b"application/json") or b"\r\n" not in body.strip():
            body = body.strip()
        login = base64.b64encode(f"any:{self.key}".encode()).decode()
        for word, value in {"HOST": self.host, "KEY": self.key, "LOGIN": login, "LENGTH": str(len(body))}.items():
            head = head.replace(f"@{word}@".encode(), value.encode())
        host, port = self.host.rsplit(":", 1)
        if b"Transfer-Encoding: chunked" in head:
            pieces = [body[at : at + 65536] for at in range(0, len(body), 65536)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        with socket.create_connection((host, int(port)), 60) as connection:
            connection.sendall(head + b"\r\n\r\n" + body)
            return self.read(connection.makefile("rb"))

    @staticmethod
    def read(file):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = file.readline()
            assert line, f"the server closed behind {head!r}"
            head += line
        answer = Answer(head.decode()[:-4], b"")
        if "content-length" in answer.headers:
            answer.body = file.read(int(answer.headers["content-length"]))
        else:
            assert answer.headers["transfer-encoding"] == "chunked", answer.headers
            while size := int(file.readline(), 16):
                answer.body += file.read(size)
                assert file.readline() == b"\r\n"
        assert answer.status == 200, (answer.status, answer.body[:500])
        return answer

    def is_said(self, text):
        return re.sub(r"[^a-z ]", "", text.lower()).strip().startswith(self.said)

    def check_open_webui(self):
        assert self.is_said(self.send("open_webui_transcription", self.wav).json()["text"])
        sound = self.send("open_webui_speech")
        assert sound.headers["content-type"] == "audio/mpeg" and sound.body[0] == 0xFF and len(sound.body) > 3000
        voices = self.send("open_webui_voices").json()["voices"]
        assert all(voice["id"] and voice["name"] for voice in voices)

    def check_bazarr(self):
        """The film is sent as samples without a header; whatever is answered is taken as subtitles."""
        assert self.send("bazarr_status").json()["version"]
        film = self.send("bazarr_asr", self.samples)
        assert film.headers["content-type"].startswith("text/plain")
        assert re.match(rb"1\n00:00:0\d,\d{3} --> 00:00:\d\d,\d{3}\n", film.body), film.body[:100]
        # The same film once more is not heard once more.
        again = self.send("bazarr_asr", self.samples)
        assert again.headers["x-mynah-shared"] == "kept" and again.body == film.body

    def check_silly_tavern(self):
        sound = self.send("silly_tavern_speech")
        assert sound.headers["content-type"] == "audio/mpeg" and len(sound.body) > 3000

    def check_livekit(self):
        assert self.send("livekit_prewarm").body
        answer = self.send("livekit_speech")
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line[6:]) for line in answer.body.decode().split("\n\n") if line.startswith("data: {")]
        assert events[0]["type"] == "speech.audio.delta" and events[0]["audio"]
        assert events[-1]["type"] == "speech.audio.done" and events[-1]["usage"]["total_tokens"] > 0

    def check_pipecat(self):
        sound = self.send("pipecat_speech")
        assert sound.headers["content-type"].startswith("audio/pcm") and len(sound.body) % 2 == 0
        assert 0.5 < len(sound.body) / 48000 < 3

    def check_kokoro_fastapi(self):
        told = self.send("kokoro_captioned").json()
        assert [one["word"] for one in told["timestamps"]] == ["Good", "morning."]
        assert told["audio_format"] == "audio/mpeg" and all(one["end_time"] > one["start_time"] for one in told["timestamps"])

    def check_piper(self):
        with wave.open(io.BytesIO(self.send("piper_synthesize").body)) as sound:
            assert sound.getnchannels() == 1 and sound.getnframes() > sound.getframerate() / 2

    def check_whisper_cpp(self):
        assert self.is_said(self.send("whisper_cpp_inference", self.wav).json()["text"])
