"""`mynah talk` at a desk: a recording is heard through a PulseAudio of the test's own, and the reply is heard there. The microphone hears the
loudspeaker, too, fainter and later, and the assistant does not take that for somebody.

usage: talk_desk.py MYNAH. Skipped without pulseaudio and real weights.
"""
import array
import fcntl
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from chat_terminal import LONGEST_S, Terminal
from checks import ANOTHER, LIBRIVOX, SENTENCE, SKIPPED, WEIGHTS, Checks, environment, needs

THINKER, TINY = WEIGHTS / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", WEIGHTS / "tiny.en"
SILERO = WEIGHTS / "silero/silero_vad_16k.safetensors"
OVER = LIBRIVOX / "sense_and_sensibility_01_austen_64kb-0930.wav"
LEAVES = "\x1b[?1049l"
CLEARS = "\x1b[2J"
ECHO_MS, ECHO_VOLUME = 60, "60%"  # PulseAudio's volume is cubic: -13 dB


class SoundServer:
    """Two null sinks: "box" is the usual loudspeaker, what is played to "room" is what the usual microphone hears."""

    def __init__(self, folder):
        self.env = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "PULSE_RUNTIME_PATH": str(folder / "runtime"),
                    "PULSE_SERVER": f"unix:{folder}/socket", "PATH": os.environ["PATH"], "LC_ALL": "C"}
        self.folder = folder
        self.start()

    def start(self):
        (self.folder / "socket").unlink(missing_ok=True)
        modules = [f"module-native-protocol-unix socket={self.folder}/socket auth-anonymous=1", "module-null-sink sink_name=box norewinds=1",
                   "module-null-sink sink_name=room norewinds=1"]
        self.daemon = subprocess.Popen(
            ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes", "--realtime=no",
             "--high-priority=no", *(word for module in modules for word in ("-L", module))],
            env=self.env, stderr=subprocess.DEVNULL)
        end = time.monotonic() + LONGEST_S
        while self.pactl("info").returncode and time.monotonic() < end:
            time.sleep(0.05)
        self.pactl("set-default-sink", "box")
        self.pactl("set-default-source", "room.monitor")

    def pactl(self, *words):
        return subprocess.run(["pactl", *words], env=self.env, capture_output=True, text=True, check=False)

    def listens(self):
        """How many programs have the microphone open, beside this test."""
        return self.pactl("list", "short", "source-outputs").stdout.count("float32le")

    def end(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()


def until(wanted):
    end = time.monotonic() + LONGEST_S
    while not wanted() and time.monotonic() < end:
        time.sleep(0.05)
    return wanted()


class Listener:
    """What the loudspeaker plays, as it comes."""

    def __init__(self, server):
        self.file = server.folder / "played.raw"
        self.process = subprocess.Popen(["parec", "--device=box.monitor", "--format=s16le", "--rate=16000", "--channels=1"], env=server.env,
                                        stdout=self.file.open("wb"))

    def sounds(self, behind=0):
        """Whether a sound was played behind so many bytes."""
        samples = array.array("h")
        data = self.file.read_bytes()[behind:]
        samples.frombytes(data[:len(data) // 2 * 2])
        return any(abs(sample) > 300 for sample in samples)

    def length(self):
        return self.file.stat().st_size // 2 * 2


def at_terminal(program, env, server, checks):
    listener = Listener(server)
    terminal = Terminal(env, program, "talk", "--model", THINKER, "--asr-model", TINY, "--vad-model", "silero", "--voice-model", "builtin",
                        "--max-tokens", "12", "--temperature", "0", "--pause", "1")
    slave = os.open(os.readlink(f"/proc/{terminal.process.pid}/fd/0"), os.O_RDWR | os.O_NOCTTY)
    before = termios.tcgetattr(slave)

    def shows(name, text, at=0):
        found = terminal.wait_for(text, at)
        checks.add(name, None if found >= 0 else f"shown was {terminal.shown[-600:]!r}")
        return max(found, 0)

    shows("it says that it loads", "loading the models")
    shows("it listens", "listening")
    resized(terminal, shows, checks)
    checks.add("the terminal gives keys", None if not termios.tcgetattr(slave)[3] & termios.ICANON else "it gives lines")
    shows("digital silence is told", "no signal")
    subprocess.run(["paplay", "--device=room", str(SENTENCE)], env=server.env, check=True)
    at = shows("what was said is shown", "you: ")
    shows("and the reply", "mynah: ", at)
    checks.add("the reply is played", None if until(listener.sounds) else "the loudspeaker was silent")
    at = len(terminal.shown)
    terminal.type("m")
    shows("m mutes", "muted", at)
    checks.add("the microphone is closed then", None if until(lambda: server.listens() == 0) else f"{server.listens()} are open")
    played = listener.length()
    terminal.type("r")
    checks.add("r repeats the reply", None if until(lambda: listener.sounds(played)) else "nothing was played")
    at = len(terminal.shown)
    terminal.type("sm")
    shows("m opens it again", "listening", at)
    server.end()
    at = shows("a sound server that dies is told", "the sound server is gone", at)
    server.start()
    shows("and its return", "is back", at)
    at = len(terminal.shown)
    terminal.type("q")
    at = shows("q gives the screen back", LEAVES, at)
    at = shows("where the conversation stays", "you: ", at)
    at = shows("with replies", "mynah: ", at)
    shows("and what was told", "is back", at)
    try:
        code = terminal.process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        terminal.process.kill()
        code = "none: it went on"
    checks.add("and leaves", None if code == 0 else f"exit code {code}: {terminal.shown[-300:]!r}")
    checks.add("the terminal is as it was", None if termios.tcgetattr(slave) == before else "its settings are others")
    os.close(slave)
    listener.process.terminate()
    listener.process.wait()


def resized(terminal, shows, checks):
    """Another size: all rows are painted anew."""
    rows = 12
    at = len(terminal.shown)
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 60, 0, 0))
    at = shows("another size is painted anew", CLEARS, at)
    shows("down to the last row", "q: quit", at)
    painted = terminal.shown[at:].split(CLEARS)[0].split("\x1b[H")[1]
    checks.add("in as many rows", None if painted.count("\r\n") == rows - 1 else repr(painted))


def left_while_loading(program, env, checks):
    """Ctrl-C before the models are there."""
    terminal = Terminal(env, program, "talk", "--model", THINKER, "--asr-model", TINY, "--vad-model", "silero", "--voice-model", "builtin")
    at = terminal.wait_for("loading the models")
    terminal.type("\x03")
    code = terminal.process.wait(LONGEST_S)
    checks.add("Ctrl-C leaves while models load", None if at >= 0 and code == 128 + signal.SIGINT else f"exit code {code}")
    checks.add("at once", None if "stopping" not in terminal.shown and LEAVES not in terminal.shown else repr(terminal.shown))


def signalled_twice(program, env, checks):
    """Both signals are there before anything can be done in order."""
    terminal = Terminal(env, program, "talk", "--model", THINKER, "--asr-model", TINY, "--vad-model", "silero", "--voice-model", "builtin")
    slave = os.open(os.readlink(f"/proc/{terminal.process.pid}/fd/0"), os.O_RDWR | os.O_NOCTTY)
    before = termios.tcgetattr(slave)
    at = max(terminal.wait_for("listening"), 0)
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        terminal.process.send_signal(number)
    found = terminal.wait_for(LEAVES, at)
    code = terminal.process.wait(LONGEST_S)
    checks.add("a second signal gives the screen back", None if found >= 0 else repr(terminal.shown[-300:]))
    checks.add("and ends it at once", None if code in (128 + signal.SIGINT, 128 + signal.SIGTERM) else f"exit code {code}")
    checks.add("with the terminal as it was", None if termios.tcgetattr(slave) == before else "its settings are others")
    os.close(slave)


class Talk:
    """`mynah talk --json`: its events, one by one."""

    def __init__(self, program, env, *words):
        self.process = subprocess.Popen([program, "talk", "--json", "--model", str(THINKER), "--asr-model", str(TINY), "--vad-model", "silero",
                                         "--voice-model", "builtin", "--temperature", "0", "--microphone", "pulse:room.monitor", *words],
                                        env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.events = []

    def until(self, name):
        """The next event of that name; None: there is none any more."""
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            if self.events[-1]["event"] == name:
                return self.events[-1]
        return None

    def end(self):
        self.process.terminate()
        self.process.wait(LONGEST_S)


def plays(server, recording):
    return subprocess.Popen(["paplay", "--device=room", str(recording)], env=server.env)


def in_a_room(program, env, server, checks):
    """What the loudspeaker plays is heard by the microphone."""
    server.pactl("load-module", "module-loopback", "source=box.monitor", "sink=room", f"latency_msec={ECHO_MS}")
    loop = server.pactl("list", "short", "sink-inputs").stdout.split()[0]
    server.pactl("set-sink-input-volume", loop, ECHO_VOLUME)
    talk = Talk(program, env, "--max-tokens", "60", "--pause", "1.2")
    organs = talk.until("organs")
    checks.add("the organs are told at once, through a pipe", None if organs else "they are not")
    until(lambda: server.listens() > 0)
    plays(server, ANOTHER).wait()
    said = talk.until("said")
    begun = next((event["at_s"] for event in talk.events if event["event"] == "replies"), None)
    alone = None if said and not said["interrupted"] and "held" not in {event["event"] for event in talk.events} else str(talk.events[-6:])
    checks.add("nothing interrupts a reply that echoes", alone)
    checks.add("which lasts long enough for the echo to be learned", None if said and begun and said["at_s"] - begun > 5 else f"{begun} to {said}")
    plays(server, ANOTHER).wait()
    talk.until("replies")
    time.sleep(4)
    plays(server, OVER).wait()
    said = talk.until("said")
    checks.add("somebody who speaks over it does", None if said and said["interrupted"] else str(said))
    heard = words_of(talk.until("heard")["text"])
    alone = subprocess.run([program, "transcribe", "-m", TINY, "--vad-model", "silero", "--json", OVER], env=env, capture_output=True, text=True, check=True)
    wanted = words_of(json.loads(alone.stdout.splitlines()[0])["text"])
    missing = [word for word in wanted if word not in heard]
    whole = len(missing) * 5 <= len(wanted) and wanted[0] in heard[:3]
    checks.add("and is heard from the first word on", None if whole else f"wanted {' '.join(wanted)}, heard {' '.join(heard)}")
    talk.end()
    server.pactl("unload-module", "module-loopback")


def words_of(text):
    return "".join(letter if letter.isalpha() or letter.isspace() else "" for letter in text.lower()).split()


def without_terminal(program, env, server, folder, checks):
    """Lines of JSON, what is kept, and SIGTERM as the end."""
    kept = folder / "kept"
    talk = Talk(program, env, "--max-tokens", "4", "--pause", "1", "--keep-audio", str(kept))
    until(lambda: server.listens() > 0)
    plays(server, SENTENCE).wait()
    talk.until("said")
    names = [event["event"] for event in talk.events]
    checks.add("the organs are told first", None if names[:1] == ["organs"] else str(names))
    news = [event["news"] for event in talk.events if event["event"] == "device"]
    checks.add("and the devices", None if news[:1] == ["opened"] else str(news))
    checks.add("heard, then said", None if "heard" in names and names[-1:] == ["said"] else str(names))
    talk.end()
    code = talk.process.returncode
    checks.add("SIGTERM ends it", None if code == 128 + signal.SIGTERM else f"exit code {code}")
    sizes = {path.name: path.stat().st_size for path in kept.glob("*.wav")}
    checks.add("both sides are kept", None if set(sizes) == {"heard.wav", "said.wav"} and min(sizes.values()) > 1000 else str(sizes))


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    needs(THINKER, TINY, SILERO, SENTENCE)
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
        try:
            at_terminal(program, env, server, checks)
            without_terminal(program, env, server, folder, checks)
            in_a_room(program, env, server, checks)
            left_while_loading(program, env, checks)
            signalled_twice(program, env, checks)
        finally:
            server.end()
    checks.close()


if __name__ == "__main__":
    main()
