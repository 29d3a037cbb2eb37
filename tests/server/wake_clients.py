"""Wyoming's wake words, as Home Assistant asks for them: with the library wyoming, on what the server's own voice says."""
import asyncio
import os
import subprocess

from wyoming import audio, client, info, tts, wake

WORDS = ("okay_nabu", "alexa")


def bring(program, weights, home):
    """Takes the words into the home of a server that is not started yet; whether they are here."""
    paths = [f"{weights}/wake/{word}.tflite" for word in WORDS]
    if not all(map(os.path.isfile, paths)):
        return False
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MYNAH_")} | {"MYNAH_HOME": home}
    for path in paths:
        subprocess.run([program, "import", path], check=True, env=environment, stdout=subprocess.DEVNULL)
    return True


class WakeChecks:
    def __init__(self, port):
        self.port = port

    async def ask(self, requests):
        """The last event that is answered to each list of events, on one connection."""
        answers = []
        async with client.AsyncTcpClient("127.0.0.1", self.port) as connection:
            for events, last in requests:
                for event in events:
                    await connection.write_event(event.event())
                answer = None
                while answer is None or answer.type not in last:
                    answer = await asyncio.wait_for(connection.read_event(), 30)
                    assert answer is not None, f"the server closed behind {answers}"
                    answers.append(answer)
        return answers

    def said(self, text):
        voice = tts.SynthesizeVoice(name="rms")
        told = asyncio.run(self.ask([([tts.Synthesize(text, voice=voice)], ("audio-stop",))]))
        chunks = [audio.AudioChunk.from_event(one) for one in told if one.type == "audio-chunk"]
        rate = chunks[0].rate
        sound = bytes(rate) + b"".join(one.audio for one in chunks) + bytes(2 * rate)
        return [audio.AudioStart(rate, 2, 1), *(audio.AudioChunk(rate, 2, 1, sound[at : at + 2048], timestamp=7000 + at * 500 // rate)
                                                for at in range(0, len(sound), 2048)), audio.AudioStop()]

    def heard(self, sound, names):
        return asyncio.run(self.ask([([wake.Detect(names=names), *sound], ("detection", "not-detected", "error"))]))[-1]

    def check_wake_words_are_described(self):
        told = info.Info.from_event(asyncio.run(self.ask([([info.Describe()], ("info",))]))[0])
        models = {model.name: model for model in told.wake[0].models}
        assert set(models) == set(WORDS) and models["okay_nabu"].phrase == "Okay Nabu" and "en" in models["alexa"].languages

    def check_a_word_is_detected(self):
        sound = self.said("Okay Nabu.")
        for names in (None, ["okay_nabu"], ["okay-nabu", "alexa"]):
            found = wake.Detection.from_event(self.heard(sound, names))
            assert found.name == "okay_nabu" and 7500 < found.timestamp < 10000, found

    def check_other_words_are_not(self):
        assert self.heard(self.said("Okay Nabu."), ["alexa"]).type == "not-detected"
        assert self.heard(self.said("Turn on the light in the kitchen please."), None).type == "not-detected"
        assert self.heard([audio.AudioStart(16000, 2, 1), audio.AudioStop()], None).type == "not-detected"

    def check_one_connection_detects_and_speaks_and_detects(self):
        sound = self.said("Okay Nabu.")
        answers = asyncio.run(self.ask([([wake.Detect(), *sound], ("detection",)), ([tts.Synthesize("Yes?")], ("audio-stop",)),
                                        ([wake.Detect(), *sound], ("detection",))]))
        assert answers[0].type == answers[-1].type == "detection"

    def check_words_that_are_not_here_are_refused(self):
        for names in (["hey_nobody"], ["/etc/passwd"], ["../alexa"]):
            told = self.heard([], names)  # at once: no sound is waited for, and the connection ends
            assert told.type == "error" and "/etc" not in told.data["text"], told.data
