"""The corpus of echoes: conversations in rooms, from a seed. bench/echo.py plays all of them, tests/audio/echo_corpus.py some.

What the assistant says are sentences of tests/text/data/english_sentences.txt by our own voices (Kokoro, Piper, flite), spoken once into
a folder. A conversation is a line of JSON for mynah_bench_echo, which makes its sound: a room by the
image-source method (a small, a middling or a large one, RT60 0.2 to 0.8 s), a loudspeaker that bends loud sound a little, a delay of 5 to
250 ms, clocks that are up to 100 ppm apart, an echo 20 dB below to 6 dB above somebody's voice, and noise 25 to 45 dB below it. What somebody says are
the English clips of ../shared/speech of at most nine seconds: most while the assistant speaks, some in its pauses.

usage: echo_corpus.py MYNAH FOLDER [--seed N] [--conversations N] [--minutes N]
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import wave

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("MYNAH_SHARED", ROOT / "../shared"))
WEIGHTS = pathlib.Path(os.environ.get("MYNAH_WEIGHTS", ROOT / ".cache/weights"))
SENTENCES = ROOT / "tests/text/data/english_sentences.txt"
SEED = 33

# Voices with how many of the replies each speaks. Kokoro takes ten times as long as the others.
KOKORO = ("af_heart", "am_michael", "bf_emma", "bm_george")
BUILT_IN = ("slt", "rms")
REPLIES = {"kokoro": 32, "piper": 40, "built-in": 48}

ROOMS = {  # least and most of length, width, height in metres
    "small": ((2.5, 2.2, 2.3), (3.5, 3.0, 2.6)),
    "medium": ((4.0, 3.0, 2.4), (6.0, 5.0, 2.8)),
    "large": ((7.0, 5.0, 2.6), (10.0, 8.0, 3.4)),
}
RT60 = {"small": (0.2, 0.4), "medium": (0.3, 0.6), "large": (0.4, 0.8)}


def texts(seed):
    """Replies of two or three sentences."""
    with open(SENTENCES) as f:
        sentences = [line.strip() for line in f if line.strip() and not line.startswith("# ")]
    rng = random.Random(seed)
    rng.shuffle(sentences)
    while len(sentences) >= 3:
        count = rng.choice((2, 2, 3))
        yield " ".join(sentences[:count])
        sentences = sentences[count:]


def speak(mynah, folder, lines, options, environment):
    """Speaks lines into folder; returns [{file, text, seconds}]."""
    done_as = folder / "spoken.json"
    if done_as.is_file():
        return json.loads(done_as.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([mynah, "speak", "-", "-q", "--output-dir", folder, *options], input="\n".join(lines) + "\n", text=True,
                   stdout=subprocess.DEVNULL, env=environment, check=True)
    spoken = []
    for number, text in enumerate(lines, 1):
        path = folder / f"{number:04}.wav"
        with wave.open(str(path)) as sound:
            seconds = sound.getnframes() / sound.getframerate()
        spoken.append({"file": str(path), "text": text, "seconds": seconds})
    done_as.write_text(json.dumps(spoken))
    return spoken


def built_in_voices(mynah, folder, count, seed=SEED):
    """Replies of the voices that need no weights, so many of each."""
    lines = texts(seed)
    environment = {**os.environ, "MYNAH_HOME": str(folder / "home")}
    return [one for voice in BUILT_IN
            for one in speak(mynah, folder / voice, [next(lines) for _ in range(count)], ["-m", "builtin", "-v", voice], environment)]


def voices(mynah, folder, seed=SEED):
    """Every reply that the assistant may say."""
    environment = {**os.environ, "MYNAH_HOME": str(folder / "home")}
    lines = texts(seed)
    take = lambda count: [next(lines) for _ in range(count)]  # noqa: E731
    wanted = {kind: take(count) for kind, count in REPLIES.items()}
    spoken = []
    for number, voice in enumerate(BUILT_IN):
        spoken += speak(mynah, folder / f"built-in-{voice}", wanted["built-in"][number::2], ["-m", "builtin", "-v", voice], environment)
    piper = WEIGHTS / "piper/en_US-joe-medium.onnx"
    if piper.is_file():
        spoken += speak(mynah, folder / "piper", wanted["piper"], ["-m", piper], environment)
    packs = SHARED / "weights/kokoro-voices"
    if packs.is_dir():
        if not (folder / "home/models/kokoro").is_dir():
            for source, name in ((WEIGHTS / "kokoro/kokoro.onnx", "kokoro"), (packs, "kokoro-voices"),
                                 (WEIGHTS / "phonemes", "english-phonemes")):
                subprocess.run([mynah, "import", source, "--name", name], env=environment, check=True, capture_output=True)
        for number, voice in enumerate(KOKORO):
            spoken += speak(mynah, folder / f"kokoro-{voice}", wanted["kokoro"][number::4], ["-m", "kokoro", "-v", voice], environment)
    return spoken


def clips():
    """English recordings of at most nine seconds, with what is said in them."""
    with open(SHARED / "speech/transcripts.tsv") as f:
        header, *rows = [line.rstrip("\n").split("\t") for line in f]
    column = {name: i for i, name in enumerate(header)}
    return [{"file": str(SHARED / "speech" / row[column["clip"]]), "text": row[column["text"]], "seconds": float(row[column["seconds"]])}
            for row in rows if row[column["lang"]] == "en" and float(row[column["seconds"]]) <= 9]


def room(rng, kind):
    size = [rng.uniform(low, high) for low, high in zip(*ROOMS[kind])]

    def place(height):
        return [rng.uniform(0.8, size[0] - 0.8), rng.uniform(0.8, size[1] - 0.8), height]

    microphone = place(rng.uniform(0.8, 1.1))

    def beside(least, most, rise):
        while True:
            away = [rng.uniform(-most, most), rng.uniform(-most, most), rng.uniform(*rise)]
            at = [m + a for m, a in zip(microphone, away)]
            far = sum(a * a for a in away) ** 0.5
            if least <= far <= most and all(0.2 < x < s - 0.2 for x, s in zip(at, size)):
                return at

    return {"size": size, "rt60": rng.uniform(*RT60[kind]), "microphone": microphone, "loudspeaker": beside(0.2, 0.8, (-0.1, 0.2)),
            "speaker": beside(0.5, 1.6, (0.1, 0.7))}


def conversation(number, of, seconds, barge_ins, spoken, recordings, noises, seed):
    rng = random.Random(f"{seed}/{number}")
    kind = list(ROOMS)[number % 3]
    # Echoes are spread evenly over conversations, in an order of their own.
    order = list(range(of))
    random.Random(f"{seed}/echoes").shuffle(order)
    echo_db = -20 + 26 * (order[number] + rng.random()) / of
    far, at = [], rng.uniform(0.5, 1.5)
    while True:
        reply = rng.choice(spoken)
        if at + reply["seconds"] > seconds - 1:
            break
        far.append({**reply, "at": at})
        at += reply["seconds"] + rng.uniform(1.0, 4.0)
    # In the first seconds nobody knows the room: there are none of them.
    near, place = [], 8.0
    known = [one for one in far if one["at"] + one["seconds"] > place + 1.0]
    room_for_one = (seconds - place - 2.0) / barge_ins
    for index in range(barge_ins):
        clip = rng.choice(recordings)
        free = max(0.0, room_for_one - clip["seconds"] - 1.0)
        begin = place + index * room_for_one + rng.uniform(0, free)
        # While the assistant speaks: within a reply that goes on for half a second at least.
        during = [one for one in known if one["at"] + 0.5 < begin < one["at"] + one["seconds"] - 0.5]
        if not during:
            one = min(known, key=lambda reply: abs(reply["at"] + reply["seconds"] / 2 - begin))
            begin = max(place, one["at"] + rng.uniform(0.5, max(0.6, one["seconds"] - 0.5)))
        if near and begin < near[-1]["at"] + near[-1]["seconds"] + 1.0:
            begin = near[-1]["at"] + near[-1]["seconds"] + 1.0
        if begin + clip["seconds"] > seconds:
            break
        near.append({**clip, "at": begin})
    noise = rng.choice([None, *noises])
    # Both clocks' difference is a part of the delay: 5 to 250 ms at the begin and at the end.
    delay_ms, drift_ppm = rng.uniform(5, 250), rng.uniform(-100, 100)
    grown_ms = drift_ppm * seconds / 1000
    delay_ms = min(max(delay_ms, 5 - min(0, grown_ms)), 250 - max(0, grown_ms))
    return {"name": f"{number:03}-{kind}", "seed": rng.randrange(2**31), "seconds": seconds, "room": room(rng, kind),
            "delay_ms": delay_ms, "drift_ppm": drift_ppm, "echo_db": echo_db, "near_db": rng.uniform(-34, -22),
            "drive": rng.uniform(0.0, 0.6), "noise": noise, "noise_db": rng.uniform(-45, -25), "far": far, "near": near}


def conversations(spoken, count=40, seconds=180.0, barge_ins=8, seed=SEED):
    noises = sorted(str(path) for path in (SHARED / "speech/noise").iterdir())
    recordings = clips()
    return [conversation(number, count, seconds, barge_ins, spoken, recordings, noises, seed) for number in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mynah")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--conversations", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=3)
    options = parser.parse_args()
    spoken = voices(options.mynah, options.folder, options.seed)
    for line in conversations(spoken, options.conversations, 60 * options.minutes, seed=options.seed):
        json.dump(line, sys.stdout)
        print()


if __name__ == "__main__":
    main()
