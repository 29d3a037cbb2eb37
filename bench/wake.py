#!/usr/bin/env python3
"""Wake words: how many utterances are found, and how often an hour something else is taken for the word.

  wake.py make BUILD SPEECH FOLDER [--hours H]       the corpus, with `mynah speak`: what is there already is kept
  wake.py score BUILD SPEECH FOLDER [--words W ...]  the table

BUILD has mynah; $MYNAH_HOME its models (kokoro with its voices, joe). SPEECH is ../shared/speech. FOLDER gets

  WORD/NNN.wav   400 utterances of each word by 30 voices (Kokoro's 27, Piper's joe, flite's slt and rms) at speeds of
                 0.85 to 1.2, with its punctuation by chance
  read/NNN.wav   H hours of text by all voices in turns, of flite's and Piper's most: sentences of tests/text/data and of docs/

Everything is drawn with the seed below, so that two runs are of the same corpus. Scored are: the utterances in noise of
SPEECH/noise at 10 dB, one after the other with two to four seconds of noise between them; for false alarms the clips and
what was read, clean and with noise at 5 to 20 dB. A setting is a cutoff of the window's mean, or, where $MYNAH_HOME has a
recogniser, the published cutoff or a distance at which the recogniser confirms what is below it; it is chosen on the voices with even
numbers and the even files, and told on the others. A false alarm is a crossing or what was confirmed; two seconds after one
none counts. What is not made yet is left out, and the table says how much there was.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import soundfile

ROOT = pathlib.Path(__file__).parent.parent
SEED = 33
RATE = 16000
PER_WORD = 400
PHRASES = {"okay_nabu": "Okay Nabu", "hey_jarvis": "Hey Jarvis", "alexa": "Alexa", "hey_mycroft": "Hey Mycroft"}
READ_BY_NEURAL = 12  # of so many files one is read by a voice of Kokoro's, which take long
SENTENCES_A_FILE = 40
STEP_S = 0.1
REFRACTORY_S = 2.0
LATE_S = 1.5  # a word may be told so long after its end
SHOWN = [0.3, 0.5, 0.7, 0.8, 0.9]
DISTANCES = [round(0.02 * i, 2) for i in range(31)]
SHOWN_DISTANCES = [0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5]  # 0.25: the product's
TOGETHER = 40  # recordings that one process listens to
CUTOFFS = [round(0.02 * i, 2) for i in range(1, 50)] + [0.99]


def voices(mynah):
    out = subprocess.run([mynah, "voices", "--json"], check=True, capture_output=True, text=True).stdout
    found = {(row["model"], row["voice"]) for row in map(json.loads, out.splitlines()) if "voice" in row}
    return sorted(one for one in found if one[0] in ("kokoro", "joe", "builtin"))


def speak(mynah, folder, model, lines):
    """One process for all lines of one model."""
    lines = [line for line in lines if not (folder / line["output_file"]).exists()]
    if not lines:
        return
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    subprocess.run([mynah, "speak", "--model", model, "--json-input", "--file", "-", "--output-dir", folder, "--rate", str(RATE),
                    "--lang", "en-us", "--quiet", "--threads", "1"], input=text, text=True, check=True)


def make_words(mynah, folder, words):
    everyone = voices(mynah)
    for word in words:
        rng = np.random.default_rng([SEED, list(PHRASES).index(word)])
        lines = {}
        for i in range(PER_WORD):
            model, name = everyone[i % len(everyone)]
            text = PHRASES[word].replace(" ", rng.choice([" ", " ", ", "])) + rng.choice([".", "!", "?", ""])
            lines.setdefault(model, []).append({"text": text, "voice": name, "speed": round(rng.uniform(0.85, 1.2), 2),
                                                "output_file": f"{i:03}.wav"})
        for model, mine in lines.items():
            speak(mynah, folder / word, model, mine)


def sentences():
    found = (ROOT / "tests/text/data/english_sentences.txt").read_text(encoding="utf-8").splitlines()
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        for line in re.sub(r"^[|#].*$", "", text, flags=re.M).split("\n\n"):
            line = re.sub(r"\[([^\]]*)\]\([^)]*\)|`([^`]*)`|[*>]", r"\1\2", " ".join(line.split()))
            found += re.split(r"(?<=[.!?]) ", line)
    return [line for line in found if 20 < len(line) < 300]


def make_read(mynah, folder, hours):
    lines = sentences()
    order = np.random.default_rng([SEED, 100]).permutation(len(lines))
    everyone = voices(mynah)
    neural = [one for one in everyone if one[0] == "kokoro"]
    quick = [one for one in everyone if one[0] != "kokoro"]
    number, seconds = 0, 0.0
    while seconds < hours * 3600:
        path = folder / "read" / f"{number:03}.wav"
        model, name = (neural[number // READ_BY_NEURAL % len(neural)] if number % READ_BY_NEURAL == READ_BY_NEURAL - 1 else
                       quick[number % len(quick)])
        begin = number * SENTENCES_A_FILE
        text = " ".join(lines[order[k % len(lines)]] for k in range(begin, begin + SENTENCES_A_FILE))
        speak(mynah, path.parent, model, [{"text": text, "voice": name, "output_file": path.name}])
        seconds += soundfile.info(path).duration
        number += 1
    print(json.dumps({"files": number, "hours": round(seconds / 3600, 2)}))


def read(path):
    samples, rate = soundfile.read(path, dtype="float32")
    assert rate == RATE and samples.ndim == 1, path
    return samples


class Noise:
    """Pieces of the noise files, one after the other drawn by chance."""

    def __init__(self, speech, rng):
        self.files = [read(path) for path in sorted((speech / "noise").glob("*.flac"))]
        self.rng = rng

    def piece(self, size):
        out = np.zeros(0, np.float32)
        while len(out) < size:
            file = self.files[self.rng.integers(len(self.files))]
            out = np.concatenate([out, file[self.rng.integers(len(file) // 2):]])
        return out[:size]


def power(samples):
    """Of what is sounding: frames within 40 dB of the loudest."""
    frames = samples[:len(samples) // 160 * 160].reshape(-1, 160)
    each = (frames**2).mean(1) + 1e-12
    return each[each > each.max() * 1e-4].mean()


def with_noise(samples, noise, decibels):
    level = np.sqrt(power(samples) / power(noise) / 10**(decibels / 10))
    mixed = samples + noise * level
    return mixed / max(1.0, np.abs(mixed).max())


def write(path, samples):
    soundfile.write(path, np.clip(samples, -1, 1), RATE, subtype="PCM_16")


def listen(mynah, words, paths):
    """Of each recording each word's highest mean in each tenth of a second, and what the recogniser was asked to confirm:
    (its second, the distance of what it heard)."""
    out = subprocess.run([mynah, "wake", *paths, "--json", "--probabilities", "--word", ",".join(words)], check=True,
                         capture_output=True, text=True).stdout
    found = []
    for line in map(json.loads, out.splitlines()):
        looks = {word: [(look["time"], look["distance"]) for look in line["looks"] if look["word"] == word]
                 for word in line["probabilities"]}
        found.append({word: (np.array(row), looks[word]) for word, row in line["probabilities"].items()})
    assert len(found) == len(paths), (len(found), len(paths))
    return found


def alarms(heard, cutoff, distance=-1.0):
    """Seconds at which the word is told."""
    row, looks = heard
    times = [step * STEP_S for step in np.flatnonzero(row > cutoff)] + [at for at, far in looks if far <= distance]
    told = []
    for at in sorted(times):
        if not told or at >= told[-1] + REFRACTORY_S:
            told.append(at)
    return told


def score_words(mynah, model, word, folder, speech, voice_count, decibels=10):
    """Around each utterance the highest mean and the least distance, and its voice's number."""
    rng = np.random.default_rng([SEED, 200])
    noise, best = Noise(speech, rng), []
    paths = sorted((folder / word).glob("*.wav"))
    parts, places, at = [], [], 0
    for path in paths:
        spoken = read(path)
        pause = np.zeros(int(rng.uniform(2, 4) * RATE), np.float32)
        padded = np.concatenate([pause, spoken])
        level = np.sqrt(power(spoken) / 10**(decibels / 10))
        sound = noise.piece(len(padded))
        padded = padded + sound * level / np.sqrt(power(sound))
        places.append((at + len(pause), at + len(padded)))
        at += len(padded)
        parts.append(padded)
    track = np.concatenate(parts + [np.zeros(2 * RATE, np.float32)])
    scratch = folder / f"scratch-{word}.wav"
    write(scratch, track / max(1.0, np.abs(track).max()))
    row, looks = listen(mynah, [model], [scratch])[0][word]
    scratch.unlink()
    for path, (begin, end) in zip(paths, places):
        first, last = begin / RATE, end / RATE + LATE_S
        near = row[int(first / STEP_S):int(last / STEP_S) + 1]
        best.append((near.max(initial=0), min([far for at, far in looks if first <= at <= last], default=2.0),
                     int(path.stem) % voice_count))
    return best


def score_others(mynah, words, folder, speech):
    """Of each recording, clean and in noise: (even, seconds, listen()'s)."""
    rng = np.random.default_rng([SEED, 300])
    noise, rows = Noise(speech, rng), []
    recordings = sorted((speech / "clips").glob("*.flac")) + sorted((folder / "read").glob("*.wav"))
    waiting = []

    def score():
        for (even, seconds, path), heard in zip(waiting, listen(mynah, words, [path for _, _, path in waiting])):
            rows.append((even, seconds, heard))
            path.unlink()
        waiting.clear()

    for i, path in enumerate(recordings):
        clean = read(path)
        noisy = with_noise(clean, noise.piece(len(clean)), rng.uniform(5, 20))
        for samples in (clean, noisy):
            waiting.append((i % 2 == 0, len(samples) / RATE, folder / f"scratch-{len(waiting)}.wav"))
            write(waiting[-1][2], samples)
        if len(waiting) >= TOGETHER:
            score()
    score()
    return rows


def table(word, own, best, rows):
    def found(cutoff, distance, even):
        mine = [height > cutoff or far <= distance for height, far, voice in best if even is None or (voice % 2 == 0) == even]
        return 100 * float(np.mean(mine))

    def hourly(cutoff, distance, even):
        mine = [row for row in rows if even is None or row[0] == even]
        return sum(len(alarms(row[2][word], cutoff, distance)) for row in mine) / (sum(row[1] for row in mine) / 3600)

    def line(setting, cutoff, even, distance=-1.0):
        told = {"word": word, "setting": setting, "cutoff": cutoff, "distance": distance,
                "utterances": sum(even is None or (voice % 2 == 0) == even for _, _, voice in best),
                "found_percent": round(found(cutoff, distance, even), 1),
                "hours": round(sum(row[1] for row in rows if even is None or row[0] == even) / 3600, 2),
                "false_alarms_an_hour": round(hourly(cutoff, distance, even), 2)}
        print(json.dumps(told), flush=True)

    line("published", own, None)
    for cutoff in SHOWN:
        line("all", cutoff, None)
    # The lowest cutoff that keeps to half a false alarm an hour on one half finds the most.
    chosen = next((cutoff for cutoff in CUTOFFS if hourly(cutoff, -1, True) <= 0.5), CUTOFFS[-1])
    line("chosen on even", chosen, True)
    line("told on odd", chosen, False)
    looks = sum(len(row[2][word][1]) for row in rows)
    if looks == 0 and all(far == 2.0 for _, far, _ in best):
        return
    print(json.dumps({"word": word, "looks_an_hour": round(looks / (sum(row[1] for row in rows) / 3600), 1)}))
    for distance in SHOWN_DISTANCES:
        line("confirmed", own, None, distance)
    # The greatest that keeps to it; each finds no less than the one before.
    chosen = max((distance for distance in DISTANCES if hourly(own, distance, True) <= 0.5), default=-1.0)
    line("confirmed, chosen on even", own, True, chosen)
    line("confirmed, told on odd", own, False, chosen)
    missed = {}
    for height, far, voice in best:
        if height <= own and far > chosen:
            missed[voice] = missed.get(voice, 0) + 1
    print(json.dumps({"word": word, "missed_by_voice": missed}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "score"])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("speech", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--hours", type=float, default=6)
    parser.add_argument("--words", nargs="+", default=list(PHRASES))
    options = parser.parse_args()
    mynah = options.build / "mynah"
    if options.what == "make":
        make_words(mynah, options.folder, options.words)
        make_read(mynah, options.folder, options.hours)
        return
    models = {word: word.replace("_", "-") for word in options.words if any((options.folder / word).glob("*.wav"))}
    rows = score_others(mynah, list(models.values()), options.folder, options.speech)
    for word, model in models.items():
        manifest = pathlib.Path(os.environ["MYNAH_HOME"]) / "models" / model / f"{word}.json"
        published = json.loads(manifest.read_text(encoding="utf-8"))["micro"]["probability_cutoff"]
        best = score_words(mynah, model, word, options.folder, options.speech, len(voices(mynah)))
        table(word, published, best, rows)


if __name__ == "__main__":
    sys.exit(main())
