"""Servers that bench/serve.py sets beside `mynah serve`: other engines behind as little as makes a server of them.

usage: serve_peers.py faster-whisper PORT MODEL_FOLDER
       serve_peers.py kokoro PORT '{"model", "vocabulary", "voice", "phonemes": {TEXT: PHONEMES}}'
"""
import io
import json
import sys
import tempfile
import wave

import uvicorn
from fastapi import FastAPI, Form, Request, UploadFile
from fastapi.responses import Response

import speak_peers

THREADS = 2


def faster_whisper(folder):
    from faster_whisper import WhisperModel

    model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=THREADS)
    app = FastAPI()

    @app.post("/v1/audio/transcriptions")
    def transcribe(file: UploadFile, language: str = Form("en")):
        with tempfile.NamedTemporaryFile() as kept:
            kept.write(file.file.read())
            kept.flush()
            segments, _ = model.transcribe(kept.name, beam_size=1, language=language, condition_on_previous_text=False)
            return {"text": "".join(segment.text for segment in segments).strip()}

    return app


def kokoro(options):
    asked = json.loads(options) | {"threads": THREADS}
    say = speak_peers.kokoro_voice(asked)
    app = FastAPI()

    @app.post("/v1/audio/speech")
    async def speak(request: Request):
        samples = say((await request.json())["input"])
        sound = io.BytesIO()
        with wave.open(sound, "wb") as f:
            f.setnchannels(1)
            f.setsampwidth(2)
            f.setframerate(speak_peers.KOKORO_RATE)
            f.writeframes((samples.clip(-1, 1) * 32767).astype("<i2").tobytes())
        return Response(sound.getvalue(), media_type="audio/wav")

    return app


def main():
    kind, port, model = sys.argv[1:]
    app = {"faster-whisper": faster_whisper, "kokoro": kokoro}[kind](model)
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")


main()
