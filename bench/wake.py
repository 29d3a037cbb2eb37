#!/usr/bin/env python3
"""Wake words: how many utterances are found, and how often an hour something else is taken for the word.

  wake.py make BUILD SPEECH FOLDER [--hours H] [--words W ...] [--models M ...]   the corpus, with `mynah speak`
  wake.py score BUILD SPEECH FOLDER [--words W ...]                               the table

Both may be ended and begun again: what is made and what is heard already (FOLDER/heard) is kept. Remove FOLDER/heard where
mynah hears differently.

BUILD has mynah; $MYNAH_HOME its models (kokoro with its voices, joe). SPEECH is ../shared/speech. FOLDER gets

  WORD/NNN.wav   400 utterances of each word by 30 voices (Kokoro's 27, Piper's joe, flite's slt and rms) at speeds of
                 0.85 to 1.2, with its punctuation by chance
  read/NNN.wav   H hours of text by all voices in turns, of flite's and Piper's most: sentences of tests/text/data and of docs/

Everything is drawn with the seed below and a recording's name, so that a recording is the same whichever others there are.
Scored are: each utterance in noise of SPEECH/noise at 10 dB, two to four seconds of noise before it; for false alarms the
clips and what was read, clean and with noise at 5 to 20 dB. The sentences of docs/ are those of today, so that what
is read is the same only for the same docs/. A setting is a cutoff of the window's mean, or, where $MYNAH_HOME has a
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
import tempfile

import numpy as np
import soundfile

ROOT = pathlib.Path(__file__).parent.parent
SEED = 33
RATE = 16000
PER_WORD = 400
PHRASES = {"okay_nabu": "Okay Nabu", "hey_jarvis": "Hey Jarvis", "alexa": "Alexa", "hey_mycroft": "Hey Mycroft"}
MODELS = ("builtin", "joe", "kokoro")  # the quickest first, so that what is ended early has the most of it
READ_BY_NEURAL = 12  # of so many files one is read by a voice of Kokoro's, which take long
SENTENCES_A_FILE = 40
LETTERS_A_SECOND = 15
STEP_S = 0.1
REFRACTORY_S = 2.0
LATE_S = 1.5  # a word may be told so long after its end
SHOWN = [0.3, 0.5, 0.7, 0.8, 0.9]
DISTANCES = [round(0.02 * i, 2) for i in range(31)]
SHOWN_DISTANCES = [0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5]  # 0.25: the product's
TOGETHER = 8  # recordings that one process listens to
CUTOFFS = [round(0.02 * i, 2) for i in range(1, 50)] + [0.99]


def voices(mynah):
    out = subprocess.run([mynah, "voices", "--json"], check=True, capture_output=True, text=True).stdout
    found = {(row["model"], row["voice"]) for row in map(json.loads, out.splitlines()) if "voice" in row}
    return sorted(one for one in found if one[0] in MODELS)


def speak(mynah, folder, model, lines):
    """One process for all lines of one model."""
    lines = [line for line in lines if not (folder / line["output_file"]).exists()]
    if not lines:
        return
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    subprocess.run([mynah, "speak", "--model", model, "--json-input", "--file", "-", "--output-dir", folder, "--rate", str(RATE),
                    "--lang", "en-us", "--quiet", "--threads", "1"], input=text, text=True, check=True)


def make_words(mynah, folder, words, models):
    everyone = voices(mynah)
    for word in words:
        rng = np.random.default_rng([SEED, list(PHRASES).index(word)])
        lines = {}
        for i in range(PER_WORD):
            model, name = everyone[i % len(everyone)]
            text = PHRASES[word].replace(" ", rng.choice([" ", " ", ", "])) + rng.choice([".", "!", "?", ""])
            lines.setdefault(model, []).append({"text": text, "voice": name, "speed": round(rng.uniform(0.85, 1.2), 2),
                                                "output_file": f"{i:03}.wav"})
        for model in (one for one in MODELS if one in lines and one in models):
            speak(mynah, folder / word, model, lines[model])


def sentences():
    found = (ROOT / "tests/text/data/english_sentences.txt").read_text(encoding="utf-8").splitlines()
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        for line in re.sub(r"^[|#].*$", "", text, flags=re.M).split("\n\n"):
            line = re.sub(r"\[([^\]]*)\]\([^)]*\)|`([^`]*)`|[*>]", r"\1\2", " ".join(line.split()))
            found += re.split(r"(?<=[.!?]) ", line)
    return [line for line in found if 20 < len(line) < 300]


def make_read(mynah, folder, hours, models):
    lines = sentences()
    order = np.random.default_rng([SEED, 100]).permutation(len(lines))
    everyone = voices(mynah)
    neural = [one for one in everyone if one[0] == "kokoro"]
    quick = [one for one in everyone if one[0] != "kokoro"]
    plan, letters = [], 0
    while letters < hours * 3600 * LETTERS_A_SECOND:
        number = len(plan)
        voice = (neural[number // READ_BY_NEURAL % len(neural)] if number % READ_BY_NEURAL == READ_BY_NEURAL - 1 else
                 quick[number % len(quick)])
        begin = number * SENTENCES_A_FILE
        text = " ".join(lines[order[k % len(lines)]] for k in range(begin, begin + SENTENCES_A_FILE))
        plan.append((voice, number, text))
        letters += len(text)
    for (model, name), number, text in sorted(plan, key=lambda one: (MODELS.index(one[0][0]), one[1])):
        if model in models:
            speak(mynah, folder / "read", model, [{"text": text, "voice": name, "output_file": f"{number:03}.wav"}])
    made = sorted((folder / "read").glob("*.wav"))
    seconds = sum(soundfile.info(path).duration for path in made)
    print(json.dumps({"files": len(made), "planned": len(plan), "hours": round(seconds / 3600, 2)}))


def read(path):
    samples, rate = soundfile.read(path, dtype="float32")
    assert rate == RATE and samples.ndim == 1, path
    return samples


def drawn(*names):
    """The chance of one recording, whichever others there are."""
    return np.random.default_rng([SEED, *"/".join(names).encode()])


def read_noises(speech):
    return [read(path) for path in sorted((speech / "noise").glob("*.flac"))]


def noise_piece(noises, rng, size):
    """Pieces of the noise files, one after the other drawn by chance."""
    out = np.zeros(0, np.float32)
    while len(out) < size:
        file = noises[rng.integers(len(noises))]
        out = np.concatenate([out, file[rng.integers(len(file) // 2):]])
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


def listen(mynah, models, folder, recordings):
    """Of each recording (its name, what makes its samples) each word's highest mean in each tenth of a second, and what the
    recogniser was asked to confirm: (its second, the distance of what it heard). Kept in FOLDER/heard, a file for each, so
    that what was heard once is not heard again."""
    kept = folder / "heard" / "+".join(sorted(models))
    kept.mkdir(parents=True, exist_ok=True)
    waiting = [(name, make) for name, make in recordings if not (kept / f"{name}.json").exists()]
    for first in range(0, len(waiting), TOGETHER):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            paths = [pathlib.Path(scratch) / f"{name}.wav" for name, _ in waiting[first:first + TOGETHER]]
            for path, (_, make) in zip(paths, waiting[first:first + TOGETHER]):
                soundfile.write(path, np.clip(make(), -1, 1), RATE, subtype="PCM_16")
            with subprocess.Popen([mynah, "wake", *paths, "--json", "--probabilities", "--word", ",".join(models)],
                                  stdout=subprocess.PIPE, text=True) as heard:
                for path, line in zip(paths, heard.stdout):
                    if "error" in json.loads(line):
                        sys.exit(line)
                    part = kept / f"{path.stem}.part"
                    part.write_text(line, encoding="utf-8")
                    part.rename(kept / f"{path.stem}.json")
            if heard.returncode != 0:
                sys.exit(f"mynah wake ended with {heard.returncode}")
    return {name: json.loads((kept / f"{name}.json").read_text(encoding="utf-8")) for name, _ in recordings}


def of_word(heard, word):
    looks = [(look["time"], look["distance"]) for look in heard["looks"] if look["word"] == word]
    return np.array(heard["probabilities"][word]), looks


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
    noises = read_noises(speech)

    def in_noise(path):
        spoken = read(path)
        rng = drawn(word, path.stem)
        before = int(rng.uniform(2, 4) * RATE)
        padded = np.concatenate([np.zeros(before, np.float32), spoken, np.zeros(2 * RATE, np.float32)])
        sound = noise_piece(noises, rng, len(padded))
        level = np.sqrt(power(spoken) / power(sound) / 10**(decibels / 10))
        padded = padded + sound * level
        return padded / max(1.0, np.abs(padded).max()), before / RATE, (before + len(spoken)) / RATE

    paths = sorted((folder / word).glob("*.wav"))
    recordings = [(f"{word}-{path.stem}", lambda path=path: in_noise(path)[0]) for path in paths]
    heard, best = listen(mynah, [model], folder, recordings), []
    for path, (name, _) in zip(paths, recordings):
        _, first, end = in_noise(path)
        row, looks = of_word(heard[name], word)
        last = end + LATE_S
        near = row[int(first / STEP_S):int(last / STEP_S) + 1]
        best.append((near.max(initial=0), min([far for at, far in looks if first <= at <= last], default=2.0),
                     int(path.stem) % voice_count))
    return best


def score_others(mynah, models, folder, speech):
    """Of each recording, clean and in noise: (kind, even, seconds, what was heard)."""
    noises = read_noises(speech)

    def in_noise(path):
        clean, rng = read(path), drawn(path.parent.name, path.stem)
        return with_noise(clean, noise_piece(noises, rng, len(clean)), rng.uniform(5, 20))

    recordings, kinds = [], []
    for kind, paths in (("clips", sorted((speech / "clips").glob("*.flac"))), ("read", sorted((folder / "read").glob("*.wav")))):
        for i, path in enumerate(paths):
            even = (i if kind == "clips" else int(path.stem)) % 2 == 0
            recordings += [(f"{kind}-{path.stem}-clean", lambda path=path: read(path)),
                           (f"{kind}-{path.stem}-noise", lambda path=path: in_noise(path))]
            kinds += [(kind, even)] * 2
    heard = listen(mynah, models, folder, recordings)
    return [(*kind, heard[name]["duration"], heard[name]) for kind, (name, _) in zip(kinds, recordings)]


def table(word, own, best, rows):
    def found(cutoff, distance, even):
        mine = [height > cutoff or far <= distance for height, far, voice in best if even is None or (voice % 2 == 0) == even]
        return 100 * float(np.mean(mine))

    def hourly(cutoff, distance, even):
        mine = [row for row in rows if even is None or row[0] == even]
        return sum(len(alarms(row[2], cutoff, distance)) for row in mine) / (sum(row[1] for row in mine) / 3600)

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
    looks = sum(len(row[2][1]) for row in rows)
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
    parser.add_argument("--words", nargs="*", default=list(PHRASES))
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    options = parser.parse_args()
    mynah = options.build / "mynah"
    if options.what == "make":
        make_words(mynah, options.folder, options.words, options.models)
        make_read(mynah, options.folder, options.hours, options.models)
        return
    models = {word: word.replace("_", "-") for word in options.words if any((options.folder / word).glob("*.wav"))}
    # All words of one recording at once: listening to four costs twice as much as listening to one.
    others = score_others(mynah, list(models.values()), options.folder, options.speech)
    for kind in ("clips", "read"):
        seconds = [seconds for one, _, seconds, _ in others if one == kind]
        print(json.dumps({"kind": kind, "recordings": len(seconds), "hours": round(sum(seconds) / 3600, 2)}))
    for word, model in models.items():
        manifest = pathlib.Path(os.environ["MYNAH_HOME"]) / "models" / model / f"{word}.json"
        published = json.loads(manifest.read_text(encoding="utf-8"))["micro"]["probability_cutoff"]
        best = score_words(mynah, model, word, options.folder, options.speech, len(voices(mynah)))
        table(word, published, best, [(even, seconds, of_word(heard, word)) for _, even, seconds, heard in others])


if __name__ == "__main__":
    sys.exit(main())
