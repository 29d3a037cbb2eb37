"""Speech that is hard to find: now and then in long silence (memory does not grow with what lies between, the times are
right), from a sender that stops sending, in a recording of half a second, very quiet, the same twelve times.

usage: hard_audio.py MYNAH. Skipped without real weights.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import wave

from checks import SENTENCE, SHARED, WEIGHTS, Checks, environment, is_sanitized, needs, run

RATE = 16000
MOST_MB = 150  # of mynah and mynah-media each
BETWEEN_S = 900
SENTENCES = 3


def samples_of(path):
    with wave.open(str(path)) as part:
        assert part.getframerate() == RATE and part.getnchannels() == 1 and part.getsampwidth() == 2
        return part.readframes(part.getnframes())


def sparse(speech):
    """Pieces of samples: a sentence each quarter of an hour."""
    silence = bytes(2 * RATE * 30)
    for _ in range(SENTENCES):
        yield speech
        for _ in range(BETWEEN_S // 30):
            yield silence


def peak_mb(command, env, pieces):
    """The process's output, and its peak of memory."""
    with subprocess.Popen([str(word) for word in command], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        def feed():
            with process.stdin:
                for piece in pieces:
                    process.stdin.write(piece)
        feeder = threading.Thread(target=feed)
        feeder.start()
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        feeder.join()
    return process.returncode, out.decode(), used.ru_maxrss / 1024


def check_memory(checks, command, env, speech):
    code, out, peak = peak_mb([*command, "--json"], env, sparse(speech))
    checks.add("sparse: ends well", None if code == 0 else f"exit code {code}")
    segments = json.loads(out)["segments"] if code == 0 else []
    every_s = BETWEEN_S + len(speech) / 2 / RATE
    begins = [min((s["start"] for s in segments if abs(s["start"] - i * every_s) < 3), default=None) for i in range(SENTENCES)]
    checks.add("sparse: each sentence at its time", None if None not in begins else f"{begins} of {segments}")
    texts = ["".join(s["text"] for s in segments if i * every_s - 3 <= s["start"] < (i + 1) * every_s - 3) for i in range(SENTENCES)]
    checks.add("sparse: the same text each time", None if texts[0] and len(set(texts)) == 1 else f"{texts}")
    checks.memory(f"sparse: at most {MOST_MB} MB", command[0], peak, MOST_MB)


def check_sender(checks, command, env, speech):
    """A sentence, then nothing for three seconds, twice: the text comes before the sender goes on."""
    with subprocess.Popen([*map(str, command)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        lines = []

        def listen():
            for line in process.stdout:
                lines.append((time.monotonic(), line))
        listener = threading.Thread(target=listen)
        listener.start()
        sent = []
        for _ in range(2):
            process.stdin.write(speech)
            process.stdin.flush()
            sent.append(time.monotonic())
            time.sleep(4)  # 0.6 are wanted; and 2 until it is known that this is no recording
        process.stdin.close()
        listener.join()
        process.wait()
    for i, begin in enumerate(sent):
        end = sent[i + 1] if i + 1 < len(sent) else begin + 4
        checks.add(f"sender: sentence {i + 1} is written before the sender goes on",
                   None if any(begin < at < end for at, _ in lines) else f"sent {sent}, written {lines}")


def check_cases(checks, program, env, silero):
    """The recordings of ../shared/cases, and what is said in them."""
    wanted = {"under-half-a-second/okay-0.44s.wav": r"Okay\.", "under-half-a-second/no-0.41s.wav": r"No\.",
              "under-half-a-second/no-at-the-end.flac": r".*country\.\s+No\.",
              "quiet-recording/peak-55dB.flac": r"And so my fellow Americans.* for your country\.",
              "chant-loops/rep12.flac": r"(Please call Stella[.,]\s*){12}"}
    if is_sanitized(program):  # whose compiler's arithmetic hears a comma there
        wanted["quiet-recording/peak-55dB.flac"] = r"And so, my fellow Americans.* for your country\."
    for name, pattern in wanted.items():
        path = SHARED / "cases/hear" / name
        if not path.exists():
            checks.skip(name, f"no {path}")
            continue
        result = run(env, program, "transcribe", "--model", "tiny.en", "--vad-model", silero, path)
        said = result.stdout.strip()
        checks.add(name, None if re.fullmatch(pattern, said, re.DOTALL | re.IGNORECASE) else f"{said!r} {result.stderr!r}")


def main():
    program, silero = sys.argv[1], WEIGHTS / "silero/silero_vad.onnx"
    needs(WEIGHTS / "tiny.en", silero, SENTENCE)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        env = environment(pathlib.Path(home))
        speech = samples_of(SENTENCE)
        checks.ended("import", run(env, program, "import", WEIGHTS / "tiny.en", "--name", "tiny.en"), 0)
        command = [program, "transcribe", "--model", "tiny.en", "--vad-model", silero, "--raw", "s16le", "-"]
        check_cases(checks, program, env, silero)
        check_sender(checks, command, env, speech)
        check_memory(checks, command, env, speech)
    checks.close()


main()
