"""`mynah talk --satellite` and `--wake`, with a PulseAudio of the test's own: Home Assistant's part is played on the satellite's port.

usage: talk_satellite.py MYNAH. Skipped without pulseaudio and the wake words' weights.
"""
import array
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from chat_terminal import LONGEST_S
from checks import SKIPPED, WEIGHTS, Checks, environment, needs, run
from talk_desk import SILERO, THINKER, TINY, Listener, SoundServer, until

WORD = WEIGHTS / "wake/okay_nabu.tflite"
RATE = 16000


class Home:
    """Home Assistant's end of the satellite's port."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), LONGEST_S)
        self.stream = self.socket.makefile("rb")

    def send(self, kind, data=None, payload=b""):
        head = {"type": kind, "data": data or {}, "payload_length": len(payload)}
        self.socket.sendall(json.dumps(head).encode() + b"\n" + payload)

    def until(self, *kinds):
        """What comes up to a message of one of these kinds: (kind, data, payload) each."""
        found = []
        while not found or found[-1][0] not in kinds:
            line = self.stream.readline()
            assert line, f"it hung up behind {[kind for kind, _, _ in found]}"
            head = json.loads(line)
            data = head.get("data", {}) | json.loads(self.stream.read(head.get("data_length") or 0) or "{}")
            found.append((head["type"], data, self.stream.read(head.get("payload_length") or 0)))
        return found

    def close(self):
        self.stream.close()
        self.socket.close()


def make(program, env, path, text):
    subprocess.run([program, "speak", "--model", "builtin", "--voice", "rms", "--markup", "ssml", "--rate", str(RATE), "--quiet", "--out", path,
                    f'<speak><break time="1s"/>{text}<break time="1s"/></speak>'], env=env, check=True)
    return path


def as_satellite(program, env, server, heard, checks):
    listener = Listener(server)
    talk = subprocess.Popen([program, "talk", "--satellite", "--port", "0", "--wake", str(WORD), "--json"], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    told = json.loads(talk.stdout.readline())
    checks.add("it says where it listens", None if "listening on tcp://127.0.0.1:" in told["text"] else str(told))
    home = Home(int(told["text"].rsplit(":", 1)[1]))
    home.send("describe")
    _, facts, _ = home.until("info")[-1]
    checks.add("it is a satellite with a word", None if facts["satellite"]["active_wake_words"] == ["okay_nabu"] else str(facts))
    home.send("run-satellite")
    until(lambda: server.listens() > 0)
    player = subprocess.Popen(["paplay", "--device=room", str(heard)], env=server.env)
    woken = [kind for kind, _, _ in home.until("streaming-started")]
    checks.add("the word is heard at the desk's microphone", None if woken == ["detection", "run-pipeline", "streaming-started"] else str(woken))
    sound = array.array("h")
    while len(sound) < 2 * RATE:
        sound.frombytes(home.until("audio-chunk")[-1][2])
    checks.add("what follows it is sent", None if max(map(abs, sound)) > 1000 else f"{max(map(abs, sound))} was the loudest")
    home.send("transcript", {"text": "turn on the light"})
    home.until("streaming-stopped")
    player.wait(LONGEST_S)
    before = listener.length()
    form = {"rate": RATE, "width": 2, "channels": 1}
    home.send("audio-start", form)
    home.send("audio-chunk", form, array.array("h", [8000] * 20 + [-8000] * 20).tobytes() * 400)
    begun = time.monotonic()
    home.send("audio-stop")
    home.until("played")
    checks.add("a reply is said to be played once it was", None if time.monotonic() - begun > 0.8 else "that was too soon")
    checks.add("the loudspeaker plays it", None if until(lambda: listener.sounds(before)) else "it was silent")
    home.close()
    talk.terminate()
    talk.wait(LONGEST_S)
    checks.add("SIGTERM ends it", None if talk.returncode == 128 + signal.SIGTERM else f"exit code {talk.returncode}")
    listener.process.terminate()
    listener.process.wait()


def asleep(program, env, heard, other, checks):
    """Without a desk: a recording whose question has the word before it is replied to, another is not."""
    command = [program, "talk", "--json", "--model", str(THINKER), "--asr-model", str(TINY), "--vad-model", "silero", "--voice-model", "builtin",
               "--max-tokens", "4", "--pause", "0.7", "--wake", str(WORD), "--wake-window", "3"]
    for name, path, wanted in (("a question behind the word is replied to", heard, True), ("one without it is not", other, False)):
        result = run(env, *command, "--wav", path)
        events = [json.loads(line) for line in result.stdout.splitlines()]
        names = [event["event"] for event in events]
        texts = [event["text"] for event in events if event["event"] == "heard"]
        good = ("woke" in names and "said" in names and "light" in " ".join(texts).lower()) if wanted else names == ["organs"]
        checks.add(name, None if good and result.returncode == 0 else f"{result.returncode}: {names} {texts} {result.stderr[-300:]}")
    noted = run(env, *command[:-4], "--wake", "hey mynah", "--wav", other)
    checks.add("words of one's own are said to be no model's",
               None if "'hey mynah' is no model" in noted.stderr and noted.returncode == 0 else f"{noted.returncode}: {noted.stderr[-300:]}")
    for name, more in (("two ways of listening are refused", ["--push-to-talk"]), ("an address without a satellite is refused", ["--host", "0.0.0.0"]),
                       ("a word that is no model and no phrase is refused", ["--wake", "nobody"]), ("a satellite has no recording", ["--satellite", "--wav", heard]),
                       ("nor does it wait for a phrase", ["--satellite", "--wake", "hey mynah"])):
        result = run(env, program, "talk", "--wake", WORD, *more)
        checks.add(name, None if result.returncode == 2 or "nobody" in more and result.returncode != 0 else f"exit code {result.returncode}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    needs(THINKER, TINY, SILERO, WORD)
    for name in ("pulseaudio", "pactl", "paplay", "parec"):
        if not shutil.which(name):
            print(f"skipped: no {name}")
            sys.exit(SKIPPED)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        server = SoundServer(folder)
        env = environment(folder, PULSE_SERVER=server.env["PULSE_SERVER"], XDG_RUNTIME_DIR=str(folder))
        subprocess.run([program, "import", str(SILERO), "--name", "silero"], env=env, check=True, capture_output=True)
        heard = make(program, env, folder / "heard.wav", 'Okay Nabu. <break time="300ms"/> Turn on the light in the kitchen.')
        other = make(program, env, folder / "other.wav", "Turn on the light in the kitchen.")
        try:
            as_satellite(program, env, server, heard, checks)
            asleep(program, env, heard, other, checks)
        finally:
            server.end()
    checks.close()


if __name__ == "__main__":
    main()
