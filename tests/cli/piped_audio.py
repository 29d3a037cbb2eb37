"""A recording behind "<", poured through a pipe or under the name of one has the text that it has by its own name.

usage: piped_audio.py MYNAH. Skipped without real weights.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import wave

from checks import ANOTHER, SENTENCE, WEIGHTS, Checks, environment, needs, run


def join(path):
    """Three sentences with pauses between them that end a piece of what is heard live."""
    with wave.open(str(path), "wb") as whole:
        for recording in (SENTENCE, ANOTHER, SENTENCE):
            with wave.open(str(recording)) as part:
                if whole.getnframes() == 0:
                    whole.setparams(part.getparams())
                whole.writeframes(part.readframes(part.getnframes()))
                whole.writeframes(b"\0\0" * part.getframerate())


def poured(path, command, env):
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as cat:
        return run(env, *command, stdin=cat.stdout)


def through_named_pipe(path, pipe, command, env):
    os.mkfifo(pipe)
    feeder = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    feeder.start()
    result = run(env, *command, pipe)
    feeder.join()
    return result


def main():
    program, silero = sys.argv[1], WEIGHTS / "silero/silero_vad.onnx"
    needs(WEIGHTS / "tiny.en", silero, SENTENCE, ANOTHER)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        path = folder / "talk.wav"
        join(path)
        command = [program, "transcribe", "--model", WEIGHTS / "tiny.en", "--vad-model", silero]
        by_name = run(env, *command, path)
        checks.ended("by name", by_name, 0)
        checks.add("by name: says something", None if len(by_name.stdout.split()) > 40 else by_name.stdout)
        with open(path, "rb") as recording:
            redirected = run(env, *command, "-", stdin=recording)
        others = {
            "behind <": redirected,
            "poured through a pipe": poured(path, [*command, "-"], env),
            "poured, as /dev/stdin": poured(path, [*command, "/dev/stdin"], env),
            "named pipe": through_named_pipe(path, folder / "pipe.wav", command, env),
        }
        for name, result in others.items():
            checks.ended(name, result, 0)
            checks.add(f"{name}: the same text", None if result.stdout == by_name.stdout else
                       f"wanted {by_name.stdout!r}, found {result.stdout!r}")
    checks.close()


main()
