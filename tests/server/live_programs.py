#!/usr/bin/env python3
"""Uses `mynah serve` by the code of programs whose users point them at it: Home Assistant's Wyoming integration, Bazarr's Whisper
provider, Open WebUI's audio routes. Each is read where it lies and run as it is; what it imports of its program around it is stood in
for (Standins), what it sends and reads is not.

usage: live_programs.py MYNAH MYNAH_SHARED MYNAH_WEIGHTS SOURCES

SOURCES has folders bazarr (a checkout of github.com/morpheus65535/bazarr), homeassistant and open_webui, in each of which a wheel is unpacked (pip
download --no-deps --only-binary :all: --python-version 3.14.2 homeassistant==2026.11.0 open-webui==0.12.4): SOURCES/homeassistant/homeassistant/...
Where one is missing its checks are skipped. Runs with the packages of tools/requirements-live.txt.
"""
import __future__
import asyncio
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import typing

import aiohttp
import requests
import typing_extensions
from serving import Server, free_port, run_checks

CLIP = "speech/clips/azure_en-US_training_audio2.flac"
BEGINNING = "custom speech provides tools that allow you to visually inspect"
SENTENCE = "The train leaves at nine in the morning."
KEY = "key-of-this-test"
PATIENCE_S = 200


def words(text):
    return re.sub(r"[^a-z ]", "", text.lower()).strip()


class Standin(type):
    """Something of the program around: has whatever is asked of it, may be called, inherited from, and decorates nothing."""

    def __new__(cls, name, bases=(), body=None):
        return super().__new__(cls, name, bases, body if body is not None else {"stands_in": True})

    def __init__(cls, *_, **__):
        super().__init__(cls.__name__)

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = type(name, (Exception,), {}) if name.endswith(("Error", "Exception")) else Standin(name)
        setattr(cls, name, found)
        return found

    def __call__(cls, *given, **named):
        if "stands_in" not in vars(cls):
            return super().__call__(*given, **named)
        if len(given) == 1 and not named and isinstance(given[0], types.FunctionType):
            return given[0]
        return Standin("answer")

    def __getitem__(cls, _):
        return cls

    def __or__(cls, _):
        return cls

    __ror__ = __truediv__ = __or__


class LaterPython(importlib.machinery.SourceFileLoader):
    """Reads what is written for a later Python: annotations are not looked at (3.14), names of types are names (3.12), and exceptions
    need no brackets (3.14). `typing` has what it has later, too."""

    typing.override = typing_extensions.override  # 3.12

    def source_to_code(self, data, path, *, _optimize=-1):
        text = re.sub(r"^type (\w+) = ", r"\1 = ", data.decode(), flags=re.MULTILINE)
        text = re.sub(r"except ((?:[\w.]+, )+[\w.]+):", r"except (\1):", text)
        return compile(text, path, "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True, optimize=_optimize)


class Standins(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of `package` that are not among `real` stand in for themselves; and so do the packages `others`."""

    def __init__(self, package, folder, real, others=()):
        self.package = package
        self.folder = folder
        self.real = real
        self.others = others

    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in self.others:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if top != self.package:
            return None
        if any(name == one or name.startswith(f"{one}.") for one in self.real):
            spec = importlib.machinery.PathFinder.find_spec(name, [os.path.join(self.folder, *name.split(".")[:-1])])
            spec.loader = LaterPython(spec.loader.name, spec.loader.path)
            return spec
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        standin = Standin(spec.name)
        module.__getattr__ = lambda name: getattr(standin, name)
        return module

    def exec_module(self, module):
        pass


class Program:
    def __init__(self, server, clip, sources):
        self.server = server
        self.clip = clip
        self.sources = sources

    def run(self, steps):
        return asyncio.run(asyncio.wait_for(steps, PATIENCE_S))

    def samples(self, rate=16000):
        command = ["ffmpeg", "-loglevel", "error", "-i", self.clip, "-f", "s16le", "-ar", str(rate), "-ac", "1", "-"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


class HomeAssistantError(Exception):
    """Home Assistant's, with what it is translated from."""

    def __init__(self, *told, **more):
        super().__init__(*told, more)


class HomeAssistantChecks(Program):
    FOLDER = "homeassistant"

    def __init__(self, *given):
        super().__init__(*given)
        sys.meta_path.insert(0, Standins("homeassistant", self.sources, ["homeassistant.components.wyoming"], ["voluptuous", "probatio", "hassil", "propcache"]))
        importlib.import_module("homeassistant.exceptions").HomeAssistantError = HomeAssistantError
        self.data = importlib.import_module("homeassistant.components.wyoming.data")
        self.stt = importlib.import_module("homeassistant.components.wyoming.stt")
        self.tts = importlib.import_module("homeassistant.components.wyoming.tts")
        self.stt.stt.SpeechResult = lambda text, state: text
        self.tts.tts.TTSAudioResponse = lambda extension, data: (extension, data)
        self.tts.tts.Voice = lambda voice_id, name: types.SimpleNamespace(voice_id=voice_id, name=name)
        self.entry = types.SimpleNamespace(entry_id="1", async_create_background_task=lambda _, steps, __: asyncio.ensure_future(steps))

    def service(self):
        return self.data.WyomingService.create("127.0.0.1", self.server.wyoming_port)

    async def voice(self):
        """What speaks; nobody tells it of voices that come later."""
        return self.tts.WyomingTtsProvider(self.entry, None, await self.service())

    def check_hears(self):
        async def ask():
            service = await self.service()
            provider = self.stt.WyomingSttProvider(self.entry, service)
            assert provider.supported_languages == ["en"] and service.has_services() and service.get_name()
            samples = self.samples()

            async def stream():
                for at in range(0, len(samples), 2048):
                    yield samples[at : at + 2048]

            return await provider.async_process_audio_stream(types.SimpleNamespace(language="en"), stream())

        assert words(self.run(ask())).startswith(BEGINNING)

    def check_speaks(self):
        async def ask():
            provider = await self.voice()
            provider.hass = None
            assert provider.async_supports_streaming_input()
            voices = provider.async_get_supported_voices(provider._attr_default_language)
            options = {self.tts.tts.ATTR_VOICE: voices[0].voice_id}
            extension, whole = await provider.async_get_tts_audio(SENTENCE, "en", options)
            assert extension == "wav" and whole.startswith(b"RIFF") and len(whole) > 50000, len(whole)

            async def pieces():
                for piece in ("The train leaves", " at nine in the", " morning."):
                    yield piece

            extension, data = await provider.async_stream_tts_audio(types.SimpleNamespace(options=options, message_gen=pieces()))
            streamed = b"".join([one async for one in data])
            assert extension == "wav" and streamed.startswith(b"RIFF") and abs(len(streamed) - len(whole)) < 100, (len(streamed), len(whole))

        self.run(ask())

    def check_tells_what_is_wrong(self):
        async def ask():
            return await (await self.voice()).async_get_tts_audio(SENTENCE, "en", {self.tts.tts.ATTR_VOICE: "nobody"})

        try:
            raise AssertionError(f"nobody spoke: {self.run(ask())}")
        except HomeAssistantError as told:
            assert "nobody" in str(told), told


class BazarrChecks(Program):
    FOLDER = "bazarr"

    def __init__(self, *given):
        super().__init__(*given)
        sys.path[:0] = [f"{self.sources}/custom_libs", f"{self.sources}/libs"]
        self.whisper = importlib.import_module("subliminal_patch.providers.whisperai")
        self.language = importlib.import_module("subzero.language").Language
        self.movie = importlib.import_module("subliminal.video").Movie

    def film(self, languages):
        film = self.movie("A film.mkv", "A film")
        film.original_name, film.original_path, film.audio_languages = "A film.mkv", self.clip, languages
        return film

    def provider(self, endpoint):
        provider = self.whisper.WhisperAIProvider(endpoint=endpoint, response=5, timeout=PATIENCE_S, ffmpeg_path="ffmpeg", pass_video_name=True, loglevel="INFO")
        provider.initialize()
        return provider

    def subtitles(self, endpoint, languages):
        provider = self.provider(endpoint)
        (found,) = provider.list_subtitles(self.film(languages), {self.language("eng")})
        provider.download_subtitle(found)
        provider.terminate()
        return found

    def endpoint(self, key):
        return self.server.address.replace("://", f"://bazarr:{key}@")

    def check_subtitles(self):
        """The key stands in the address, where the program has no field for it."""
        found = self.subtitles(self.endpoint(KEY), {"eng"})
        assert re.match(rb"1\r?\n00:00:0\d,\d{3} --> ", found.content), found.content[:100]
        assert words(re.sub(r"\d+\n.* --> .*\n", "", found.content.decode()).replace("\n", " ")).startswith("custom speech provides tools")
        assert found.is_valid(), found.content[:100]

    def check_wrong_key(self):
        """What is no subtitle is not taken for one."""
        found = self.subtitles(self.endpoint("another"), {"eng"})
        assert not found.is_valid(), found.content


class OpenWebUiChecks(Program):
    FOLDER = "open_webui"

    def __init__(self, *given):
        super().__init__(*given)
        around = ["fastapi", "starlette", "pydub", "aiofiles"]
        sys.meta_path.insert(0, Standins("open_webui", self.sources, ["open_webui.routers.audio"], around))
        sys.modules["aiofiles"] = types.SimpleNamespace(open=OpenFile)
        self.audio = importlib.import_module("open_webui.routers.audio")
        self.session = None
        self.settings = {f"audio.{task}.openai.{name}": value for task in ("stt", "tts") for name, value in {"api_base_url": f"{self.server.address}/v1", "api_key": KEY}.items()}
        self.settings |= {"audio.tts.engine": "openai", "audio.tts.model": "tts-1", "audio.tts.voice": "alloy", "audio.stt.engine": "openai", "audio.stt.model": "whisper-1"}
        audio = self.audio
        audio.Config.get, audio.get_session, audio.JSONCodec = self.setting, self.kept_session, json
        audio.USE_SLIM, audio.AIOHTTP_CLIENT_SESSION_SSL, audio.AIOHTTP_FILE_STREAM_CHUNK_SIZE = True, None, 65536
        audio.AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST, audio.ENABLE_FORWARD_USER_INFO_HEADERS = PATIENCE_S, False
        audio.HTTPException = Refused
        audio.FileResponse = lambda path, media_type: (path, media_type)

    async def setting(self, name):
        return self.settings.get(name)

    async def kept_session(self):
        return self.session

    def ask(self, steps):
        async def with_session():
            async with aiohttp.ClientSession() as self.session:
                return await steps()

        return self.run(with_session())

    def hear(self, languages=(None,)):
        with tempfile.TemporaryDirectory() as folder:
            return self.ask(lambda: self.audio._transcribe_openai(None, self.clip, "0b7d.flac", list(languages), folder, "0b7d"))

    def speak(self, **payload):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "said.mp3"
            _, kind = self.ask(lambda: self.audio._tts_openai(None, {"input": SENTENCE} | payload, path, path.with_suffix(".json"), None))
            return kind, path.read_bytes()

    def check_hears(self):
        """The form comes in chunks, without a length; languages one after the other up to one that is answered."""
        assert words(self.hear()["text"]).startswith(BEGINNING)
        assert words(self.hear(["de", "en"])["text"]).startswith(BEGINNING)

    def check_speaks(self):
        kind, said = self.speak(voice="nova")
        assert kind == "audio/mpeg" and said[0] == 0xFF and len(said) > 5000, (kind, len(said))

    def check_lists(self):
        """Asked for without a key."""
        assert {one["id"] for one in self.ask(lambda: self.audio.get_available_models(None))}
        voices = self.ask(lambda: self.audio.get_available_voices(None))
        assert voices and voices != self.audio._OPENAI_DEFAULT_VOICES, voices

    def check_wrong_key(self):
        self.settings |= {"audio.stt.openai.api_key": "another", "audio.tts.openai.api_key": "another"}
        for call in (self.hear, self.speak):
            try:
                call()
                raise AssertionError("a wrong key was taken")
            except AssertionError:
                raise
            except Exception as told:  # it raises a plain one
                assert "External: " in str(told) and ("key" in str(told) or "401" in str(told)), told
        self.settings |= {"audio.stt.openai.api_key": KEY, "audio.tts.openai.api_key": KEY}


class Refused(Exception):
    def __init__(self, status_code, detail=None):
        super().__init__(f"{status_code} {detail}")


class OpenFile:
    """A file that is waited for, as aiofiles has it."""

    def __init__(self, *given):
        self.file = open(*given)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.file.close()

    async def read(self, *given):
        return self.file.read(*given)

    async def write(self, data):
        return self.file.write(data)


def main():
    program, shared, weights, sources = sys.argv[1:]
    kinds = [HomeAssistantChecks, BazarrChecks, OpenWebUiChecks]
    skipped = [kind for kind in kinds if not os.path.isdir(f"{sources}/{kind.FOLDER}")]
    for kind in skipped:
        print(f"skipped: there is no {sources}/{kind.FOLDER}")
    with tempfile.TemporaryDirectory() as home:
        voice = f"{weights}/piper/en_US-joe-medium.onnx"
        port = free_port()
        options = ["--wyoming-port", str(port), "--voice-model", voice, "--vad-model", f"{weights}/silero/silero_vad_16k_op15.onnx"]
        server = Server(program, weights, home, options, {"MYNAH_API_KEYS": KEY})
        server.wyoming_port = port
        passed = failed = 0
        try:
            for kind in kinds:
                if kind not in skipped:
                    counts = run_checks(kind(server, f"{shared}/{CLIP}", f"{sources}/{kind.FOLDER}"))
                    passed, failed = passed + counts[0], failed + counts[1]
        finally:
            server.stop()
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
