#!/usr/bin/env python3
"""A mynah that another one computes with (docs/placement.md, "A mynah elsewhere"): two processes on this machine, the text of
both the same, whatever happens to the other: a key, https, a slow network, another model, and its death in the middle.

usage: elsewhere.py MYNAH MYNAH_SHARED MYNAH_WEIGHTS
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from serving import Server, free_port, run_checks

CLIPS = [f"speech/clips/librispeech_misc_{name}.flac" for name in ("1089-134686-0001", "1089-134691-0000", "1995-1837-0001")]
ANSWERS = ("device", "placement", "timings")  # what differs by where it was heard


class Relay:
    """A network between. Answers are late by so much; each question of windows is counted, and `on_windows` told of it before it passes on."""

    def __init__(self, port, late_s=0.0, on_windows=lambda number: None):
        self.target, self.late_s, self.on_windows, self.windows = port, late_s, on_windows, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            there = self.listener.accept()[0]
            try:
                back = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                there.close()
                continue
            threading.Thread(target=self.pass_on, args=(there, back, False), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(back, there, True), daemon=True).start()

    def pass_on(self, source, sink, answers):
        try:
            while piece := source.recv(65536):
                if answers:
                    time.sleep(self.late_s)
                elif (found := re.search(rb"POST /v1/elsewhere/windows .*Content-Length: (\d+)", piece, re.S)) and int(found[1]) > 10_000:
                    self.windows += 1
                    self.on_windows(self.windows)
                sink.sendall(piece)
        except OSError:
            pass  # one of them is gone, and the other hears of it
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)  # the other thread, which waits for it, hears of it, too
            except OSError:
                pass


class Checks:
    def __init__(self, program, shared, weights, home):
        self.program, self.weights, self.home = program, weights, home
        self.clips = [f"{shared}/{clip}" for clip in CLIPS]
        self.local = self.hear("cpu")[0]
        self.number = 0

    def environment(self, folder):
        plain = {name: value for name, value in os.environ.items() if not name.startswith("MYNAH_")}
        return plain | {"MYNAH_HOME": f"{self.home}/{folder}", "XDG_CACHE_HOME": f"{self.home}/{folder}/cache", "XDG_CONFIG_HOME": f"{self.home}/{folder}/config"}

    def run(self, device, *options, clips=None):
        command = [self.program, "transcribe", "--model", f"{self.weights}/tiny.en", "--vad-model", "builtin", "--json", "--device", device]
        return subprocess.run(command + list(options) + (clips or self.clips), capture_output=True, text=True, env=self.environment("here"))

    def hear(self, device, *options):
        """Each recording's JSON, and what was said of it."""
        done = self.run(device, *options)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def same_as_local(self, heard, or_as=None):
        """The same as here, or as `or_as`."""
        def plain(recordings):
            return [{key: value for key, value in one.items() if key not in ANSWERS} for one in recordings]

        assert len(heard) == len(self.local)
        for one, *others in zip(plain(heard), plain(self.local), plain(or_as or self.local)):
            assert one in others, (one, others)

    def other(self, *options, variables=None):
        self.number += 1
        return Server(self.program, self.weights, f"{self.home}/there{self.number}", ["--wyoming-port", "0", *options],
                      {"XDG_CONFIG_HOME": f"{self.home}/no-config"} | (variables or {}))

    @staticmethod
    def port_of(server):
        return server.address.rsplit(":", 1)[1]

    def check_hears_what_is_heard_here(self):
        other = self.other()
        heard, said = self.hear(f"stt=box=mynah://127.0.0.1:{self.port_of(other)},vad=cpu")
        self.same_as_local(heard)
        assert {one["device"] for one in heard} == {"box"}, heard[0]["device"]
        stage = heard[0]["placement"]["stages"][-1]
        assert stage["proven_seconds_ago"] is not None and 0 <= stage["worst_error"] <= stage["error_bound"], stage
        assert "proving box for stt" in said
        assert other.stop() == 0
        refused = self.run(f"box=mynah://127.0.0.1:{self.port_of(other)}")
        assert refused.returncode == 3 and "box cannot be reached" in refused.stderr, refused.stderr

    def dies_in_the_middle(self, end):
        """With its second batch under way."""
        other = self.other()
        relay = Relay(int(self.port_of(other)))
        device = f"box=mynah://{relay.address}?prefer,cpu"
        self.hear(device)  # proves it
        relay.windows, relay.on_windows = 0, lambda number: number == 2 and other.process.send_signal(end)
        began = time.monotonic()
        done = self.run(device, clips=self.clips * 6)
        took_s = time.monotonic() - began
        other.process.kill()
        other.stop()
        assert done.returncode == 0, done.stderr
        heard = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(heard) == 6 * len(self.clips) and relay.windows >= 2, relay.windows
        # What goes on here has weights of whichever type is fastest here.
        alone, _ = self.hear("box=mynah://127.0.0.1:1?prefer,cpu")
        for i in range(0, len(heard), len(self.clips)):
            self.same_as_local(heard[i:i + len(self.clips)], or_as=alone)
        moves = heard[-1]["placement"]["moves"]
        assert [(move["from"], move["to"]) for move in moves] == [("box", "cpu")], moves
        assert moves[0]["reason"].startswith("box "), moves
        assert "stt goes on on cpu" in done.stderr, done.stderr
        return moves[0]["reason"], took_s

    def check_killed_in_the_middle(self):
        reason, _ = self.dies_in_the_middle(signal.SIGKILL)
        assert "left in the middle" in reason, reason

    def check_stopped_in_the_middle(self):
        """Its machine hangs: nobody closes the connection, and no sign of life comes."""
        reason, _ = self.dies_in_the_middle(signal.SIGSTOP)
        assert "no step in" in reason, reason

    def check_speaks_what_is_spoken_here(self):
        """A Piper voice: nothing reads but espeak-ng, and noise is drawn from the seed."""
        voices = [f"{self.weights}/piper/{name}" for name in sorted(os.listdir(f"{self.weights}/piper")) if name.endswith(".onnx")]
        if not voices:
            return
        other = self.other("--voice-model", voices[0])
        device = f"tts=box=mynah://127.0.0.1:{self.port_of(other)}?prefer,cpu"

        def speak(where, name, text="Hello there. This is a test. Here is another sentence, which is the last."):
            command = [self.program, "speak", "--model", voices[0], "--device", where, "--explain", "-o", f"{self.home}/{name}.wav", text]
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment("here"))
            assert done.returncode == 0, done.stderr
            with open(f"{self.home}/{name}.wav", "rb") as file:
                return file.read(), done.stderr

        here, _ = speak("cpu", "here")
        there, said = speak(device, "there")
        assert "tts on box" in said, said
        assert here == there
        other.stop()
        _, said = speak(device, "again")  # with weights of whichever type is fastest here
        assert "box was preferred, but it cannot be reached" in said, said

    def check_a_slow_network_is_not_taken(self):
        other = self.other()
        relay = Relay(int(self.port_of(other)), late_s=0.5)
        heard, said = self.hear(f"box=mynah://{relay.address},cpu")
        assert {one["device"] for one in heard} == {"cpu"}, said
        assert re.search(r"stt on cpu: box was preferred, but it takes [\d.]+ ms( as \w+)? for a second of sound, cpu [\d.]+ ms", said), said
        heard, _ = self.hear(f"box=mynah://{relay.address}?prefer,cpu")
        assert {one["device"] for one in heard} == {"box"}
        self.same_as_local(heard)
        other.stop()

    def check_keys_and_https(self):
        """`--lan` makes a key and a certificate of its own."""
        config = f"{self.home}/config"
        other = self.other("--lan", "--vad-model", "builtin", variables={"XDG_CONFIG_HOME": config})
        said = ""
        while "SHA-256 must be" not in said or not re.search(r"(?:[0-9A-F]{2}:){31}[0-9A-F]{2}", said):
            time.sleep(0.05)
            said = "".join(other.log)
        key, fingerprint = re.search(r"#key=(\S+)", said)[1], re.search(r"(?:[0-9A-F]{2}:){31}[0-9A-F]{2}", said)[0]
        for name, text in {"right": key, "wrong": "mynah-wrong", "empty": ""}.items():
            with open(f"{config}/{name}", "w", encoding="utf-8") as file:
                file.write(text + "\n")
        address = f"box=mynah://127.0.0.1:{self.port_of(other)}"
        for trust in (f"fingerprint={fingerprint}", f"ca-file={config}/mynah/lan-certificate.pem"):
            heard, _ = self.hear(f"{address}?{trust}&key-file={config}/right")
            self.same_as_local(heard)
            assert {one["device"] for one in heard} == {"box"}
        for rest, told in {f"fingerprint={fingerprint}": "does not take the key",
                           f"fingerprint={fingerprint}&key-file={config}/wrong": "does not take the key",
                           f"fingerprint={fingerprint}&key-file={config}/empty": "there is no key in its key file",
                           f"fingerprint={'00:' * 31}00&key-file={config}/right": "shows another certificate",
                           f"ca-file={config}/right&key-file={config}/right": "cannot read the certificates"}.items():
            refused = self.run(f"{address}?{rest}")
            assert refused.returncode == 3 and told in refused.stderr and key not in refused.stderr, (rest, refused.stderr)
        # A key without the right to hear is no failure of the device: the next key is tried at once.
        made = subprocess.run([self.program, "keys", "add", "talker", "--rights", "speak", "--key-file", f"{config}/mynah/keys.json"], capture_output=True, text=True)
        with open(f"{config}/talks", "w", encoding="utf-8") as file:
            file.write(made.stdout)
        other.process.send_signal(signal.SIGHUP)
        other.until_said("read again")
        refused = self.run(f"{address}?fingerprint={fingerprint}&key-file={config}/talks")
        assert refused.returncode == 3 and "does not take the key" in refused.stderr, refused.stderr
        shutil.copy(f"{config}/right", f"{config}/talks")
        _, said = self.hear(f"{address}?fingerprint={fingerprint}&key-file={config}/talks,cpu")
        assert "failed" not in said and "does not take the key" not in said, said
        other.stop()

    def check_another_model_is_refused(self):
        # No model of that file is there: the very one is wanted, whatever it is called.
        shutil.copytree(f"{self.weights}/tiny.en", f"{self.home}/other/tiny.en")
        with open(f"{self.home}/other/tiny.en/README.md", "a", encoding="utf-8") as file:
            file.write("another\n")
        changed = Server(self.program, f"{self.home}/other", f"{self.home}/there-changed", ["--wyoming-port", "0"], {"XDG_CONFIG_HOME": f"{self.home}/no-config"})
        refused = self.run(f"box=mynah://127.0.0.1:{self.port_of(changed)}")
        changed.stop()
        assert refused.returncode == 3 and "box has not this very model" in refused.stderr and "tiny.en;" in refused.stderr, refused.stderr


def main():
    program, shared, weights = sys.argv[1:]
    if not all(os.path.isfile(f"{shared}/{clip}") for clip in CLIPS) or not os.path.isdir(f"{weights}/tiny.en"):
        print("no recordings or no weights here")
        return 77
    with tempfile.TemporaryDirectory() as home:
        passed, failed = run_checks(Checks(program, shared, weights, home))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
