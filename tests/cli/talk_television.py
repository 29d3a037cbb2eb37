"""`mynah talk` hears a turn with another voice behind it, ten decibels below and until six seconds after its end.

usage: talk_television.py MYNAH. Skipped without real weights. The mixes are made as bench/turns.py makes its own.
"""
import array
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import wave

from checks import ANOTHER, LIBRIVOX, SENTENCE, WEIGHTS, Checks, environment, needs

THINKER, TINY = WEIGHTS / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", WEIGHTS / "tiny.en"
SILERO = WEIGHTS / "silero/silero_vad_16k.safetensors"
RATE_HZ = 16000
FRAME = RATE_HZ // 50
BELOW_DB, BEHIND_S, MOST_S = 10, 6, 2
QUIET_DB = 30  # below the loudest frame nobody speaks in these recordings


def read_samples(path):
    with wave.open(str(path)) as sound:
        assert sound.getframerate() == RATE_HZ and sound.getnchannels() == 1 and sound.getsampwidth() == 2
        samples = array.array("h")
        samples.frombytes(sound.readframes(sound.getnframes()))
        return samples


def level(samples):
    return math.sqrt(sum(sample * sample for sample in samples) / len(samples))


def spoken(samples):
    """Without the silence around it."""
    levels = [level(samples[at:at + FRAME]) for at in range(0, len(samples) - FRAME, FRAME)]
    least = max(levels) * 10 ** (-QUIET_DB / 20)
    loud = [number for number, one in enumerate(levels) if one > least]
    return samples[loud[0] * FRAME:(loud[-1] + 1) * FRAME]


def mix(user, others, path):
    """Returns the second at which the user ends."""
    length = len(user) + (BEHIND_S + 1) * RATE_HZ
    other = array.array("h")
    while len(other) < length:
        for one in others:
            other.extend(one)
    part = level(user) / level(other[:length]) * 10 ** (-BELOW_DB / 20)
    mixed = [part * sample for sample in other[:length]]
    for number, sample in enumerate(user):
        mixed[RATE_HZ + number] += sample
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        out.writeframes(array.array("h", [max(-32768, min(32767, round(sample / 2))) for sample in mixed]).tobytes())
    return 1 + len(user) / RATE_HZ


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    needs(THINKER, TINY, SILERO, SENTENCE)
    checks = Checks()
    users = {path.name: spoken(read_samples(path)) for path in (SENTENCE, ANOTHER)}
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        subprocess.run([program, "import", str(SILERO), "--name", "silero"], env=env, check=True, capture_output=True)
        for name, user in users.items():
            others = [spoken(read_samples(path)) for path in sorted(LIBRIVOX.glob("*.wav")) if path.name not in users]
            ended_s = mix(user, others, folder / "mix.wav")
            talk = subprocess.run([program, "talk", "--json", "--wav", folder / "mix.wav", "--model", THINKER, "--asr-model", TINY, "--vad-model", "silero",
                                   "--voice-model", "builtin", "--max-tokens", "40", "--temperature", "0"], env=env, capture_output=True, text=True)
            events = [json.loads(line) for line in talk.stdout.splitlines()]
            names = [event["event"] for event in events]
            replies = [event for event in events if event["event"] == "replies"]
            # By the recording's clock, whatever the organs take.
            waits = [event["at_s"] - (event["times"]["sound_ms"] - event["times"]["decided_ms"]) / 1000 - ended_s for event in replies]
            checks.add(f"{name}: the turn ends soon behind the user", None if waits and -0.3 < waits[0] <= MOST_S else f"{waits} of {names}, {talk.stderr[-300:]}")
            checks.add(f"{name}: who goes on interrupts nothing", None if "held" not in names and names.count("heard") == 1 else str(names))
    checks.close()


if __name__ == "__main__":
    main()
