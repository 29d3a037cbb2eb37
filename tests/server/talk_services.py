#!/usr/bin/env python3
"""`mynah talk` whose organs are a `mynah serve`: it hears, replies and speaks as it does by itself, over TLS with a key too, and says why where
one of them is gone.

usage: talk_services.py MYNAH MYNAH_WEIGHTS
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import wave

from serving import CHAT_MODEL, Server, free_port, run_checks

QUESTIONS = ["What is the capital of France?", "Tell me one thing about the sea."]
SILENCE_S = 40  # in which a machine that is busy, too, has heard, replied and spoken


class Checks:
    def __init__(self, program, weights, home):
        self.program, self.weights, self.home, self.number = program, weights, home, 0
        self.wav = f"{home}/questions.wav"
        self.write_questions()

    def environment(self):
        plain = {name: value for name, value in os.environ.items() if not name.startswith("MYNAH_")}
        return plain | {"MYNAH_HOME": f"{self.home}/here", "XDG_CACHE_HOME": f"{self.home}/here/cache", "XDG_CONFIG_HOME": f"{self.home}/no-config"}

    def write_questions(self):
        """In the built-in voice, with silence behind each."""
        with wave.open(self.wav, "wb") as out:
            for i, question in enumerate(QUESTIONS):
                spoken = f"{self.home}/{i}.wav"
                subprocess.run([self.program, "speak", "--model", "builtin", "-o", spoken, question], check=True, env=self.environment())
                with wave.open(spoken) as one:
                    if i == 0:
                        out.setparams(one.getparams())
                    out.writeframes(one.readframes(one.getnframes()) + bytes(2 * SILENCE_S * one.getframerate()))

    def serve(self, *options, variables=None):
        self.number += 1
        options = ["--wyoming-port", "0", "--voice-model", "builtin", "--vad-model", "builtin", "--chat-model", f"{self.weights}/{CHAT_MODEL}", *options]
        return Server(self.program, self.weights, f"{self.home}/there{self.number}", options,
                      {"XDG_CONFIG_HOME": f"{self.home}/no-config"} | (variables or {}))

    def command(self, name, *options):
        return [self.program, "talk", "--wav", self.wav, "--out", f"{self.home}/{name}.wav", "--json", "--lang", "en", "--vad-model", "builtin", "--pause", "0.7",
                "--device", "cpu", "--temperature", "0", "--max-tokens", "16", *options]

    def talk(self, name, *options):
        done = subprocess.run(self.command(name, *options), capture_output=True, text=True, env=self.environment())
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def local(self, *but):
        """Options of the organs in this process, but of those."""
        models = {"llm": ["--model", f"{self.weights}/{CHAT_MODEL}"], "stt": ["--asr-model", f"{self.weights}/tiny.en"], "tts": ["--voice-model", "builtin"]}
        return [word for organ, words in models.items() if organ not in but for word in words]

    @staticmethod
    def texts(events, kind):
        return [event["text"] for event in events if event["event"] == kind]

    @staticmethod
    def organs(events):
        return {name: events[0][name] for name in ("hearing", "reply", "speech")}

    def played_s(self, name):
        with wave.open(f"{self.home}/{name}.wav") as sound:
            samples = memoryview(sound.readframes(sound.getnframes())).cast("h")
            return sum(1 for sample in samples if abs(sample) > 300) / sound.getframerate()

    def check_a_wrong_path(self):
        """It is refused before anything begins, though the model is named and nobody lists any."""
        other = self.serve()
        code, events, said = self.talk("wrong", "--llm", other.address + "/wrong", "--model", "any", *self.local("llm"))
        assert code == 3 and not events, (code, events, said)
        assert "/wrong/chat/completions: the server answers 404" in said, said
        assert other.stop() == 0

    def check_the_same_turns(self):
        code, here, said = self.talk("here", *self.local())
        assert code == 0, said
        assert len(self.texts(here, "heard")) == len(QUESTIONS) and all(self.texts(here, "said")), here
        other = self.serve()
        everywhere = ["--llm", other.address, "--stt", other.address, "--tts", other.address]
        code, there, said = self.talk("there", *everywhere)
        assert code == 0, said
        assert self.texts(there, "heard") == self.texts(here, "heard"), (there, here)
        assert self.texts(there, "said") == self.texts(here, "said"), (there, here)
        ratio = self.played_s("there") / self.played_s("here")
        assert 0.8 < ratio < 1.25, ratio
        for name, organ in self.organs(there).items():
            assert organ["device"] == other.address + "/v1" and not organ["leaves_machine"], (name, organ)
        assert self.organs(there)["hearing"]["model"] == "tiny.en", there[0]
        # Each by itself, too.
        for organ, option in {"llm": "reply", "stt": "hearing", "tts": "speech"}.items():
            code, mixed, said = self.talk("mixed", f"--{organ}", other.address, *self.local(organ))
            assert code == 0, said
            assert self.texts(mixed, "heard") == self.texts(here, "heard") and self.texts(mixed, "said") == self.texts(here, "said"), (organ, mixed)
            assert [name for name, one in self.organs(mixed).items() if one["device"] != "cpu"] == [option], mixed[0]
        assert other.stop() == 0

    def check_the_model_goes_in_the_middle(self):
        """Killed once its first reply was spoken: the second is heard, and why nobody replies is told."""
        other = self.serve()
        process = subprocess.Popen(self.command("gone", "--llm", other.address, *self.local("llm")), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment())
        events = []
        for line in process.stdout:
            events.append(json.loads(line))
            if events[-1]["event"] == "said":
                other.process.kill()
        said = process.stderr.read()
        assert process.wait() == 1, said
        assert len(self.texts(events, "heard")) == len(QUESTIONS), events
        faults = [event for event in events if event["event"] == "fault"]
        assert faults and {fault["organ"] for fault in faults} == {"reply"}, events
        assert other.address + "/v1/chat/completions: " in faults[-1]["error"], faults
        other.stop()

    def check_who_is_not_there_is_told_at_once(self):
        nobody = f"http://127.0.0.1:{free_port()}"
        for organ in ("llm", "stt", "tts"):
            code, events, said = self.talk("nobody", f"--{organ}", nobody, *self.local(organ))
            assert code == 3 and not events and f"{nobody}/v1/models: cannot connect" in said, (organ, code, said)
        code, _, said = self.talk("nobody", "--llm", "127.0.0.1:8080", *self.local("llm"))
        assert code == 2 and "--llm: wanted an address like https://host/path, found no scheme" in said, said
        code, _, said = self.talk("nobody", "--stt-key-file", "/nowhere", *self.local())
        assert code == 2 and "--stt-key-file is for --stt URL" in said, said

    def check_keys_and_certificates(self):
        """`--lan` makes a key and a certificate of its own."""
        config = f"{self.home}/config"
        other = self.serve("--lan", variables={"XDG_CONFIG_HOME": config})
        other.until_said("#key=")
        key = re.search(r"#key=(\S+)", "".join(other.log))[1]
        address = "https://127.0.0.1:" + other.address.rsplit(":", 1)[1]
        for name, text in {"right": key, "wrong": "mynah-wrong"}.items():
            with open(f"{config}/{name}", "w", encoding="utf-8") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(text + "\n")
        with open(f"{config}/open", "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(key + "\n")
        trust = ["--ca-file", f"{config}/mynah/lan-certificate.pem"]
        code, events, said = self.talk("tls", "--llm", address, "--llm-key-file", f"{config}/right", *trust, *self.local("llm"))
        assert code == 0 and all(self.texts(events, "said")), said
        for options, code, told in ((["--llm-key-file", f"{config}/right"], 3, "certificate verify failed"),
                                    (trust, 3, "--llm-key-file FILE"),
                                    ([*trust, "--llm-key-file", f"{config}/wrong"], 3, "answers 401"),
                                    ([*trust, "--llm-key-file", f"{config}/open"], 1, "may be read by others")):
            found, events, said = self.talk("tls", "--llm", address, *options, *self.local("llm"))
            assert found == code and not events and told in said and key not in said, (options, found, said)
        other.stop()


def main():
    program, weights = sys.argv[1:]
    if not os.path.isdir(f"{weights}/tiny.en") or not os.path.isfile(f"{weights}/{CHAT_MODEL}"):
        print("no weights here")
        return 77
    with tempfile.TemporaryDirectory() as home:
        passed, failed = run_checks(Checks(program, weights, home))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
