#!/usr/bin/env python3
"""./dev bench speak: mynah's voices beside the engines people run today, in one run.

Both engines of a pair say the first 40 English texts of shared/speech, turn by turn: one sentence mynah, the same sentence the
other, so that a machine that gets slower meanwhile gets slower for both. What they said is heard again first, by
faster-whisper's tiny.en (float32, one beam, as shared/baselines has it) and by mynah's (its defaults), and an engine that is
not understood has no time. Times are medians: of a sentence over the rounds, of the first sound over the turns.

mynah's seconds are those of the clock from a line of text on its standard input to its answer, the WAV written; the others'
those of their synthesis alone, Kokoro's phonemes (hibari's) not counted. Peak memory is what the kernel says of each process
after all of its sentences, loading and 50 words at once among them. Prints tables and writes build/bench/speak.json.

usage: speak.py [--only kokoro|piper|hibari|book ...] [--sentences N] [--rounds N] [--threads N] [--book-seconds S]
"""
import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import wave

import jiwer
import numpy as np
from whisper_normalizer.english import EnglishTextNormalizer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("MYNAH_SHARED", f"{ROOT}/../shared")
WEIGHTS = os.environ.get("MYNAH_WEIGHTS", f"{ROOT}/.cache/weights")
MYNAH = os.environ.get("MYNAH", f"{ROOT}/build/release/mynah")
VOICES = f"{SHARED}/weights/kokoro-voices"
# Sound is written where no disk is waited for: mynah syncs what it has written, the others write nothing.
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
# One process's kilobytes: the kernel's name for the most that it held.
PEAK = "VmHWM:"
# More words than this heard wrong is no speech: shared/baselines/README.md has 6 to 12 % of words.
MOST_WRONG = 0.3
FIRST_SOUNDS = 3
SETTLE_S = 0.03  # until an engine's threads no longer wait for more work by turning round
BOOK_WORDS = 100_000
CHAPTER_WORDS = 5_000
LONG = ("When the sun had gone down behind the hills, the travellers gathered around the fire to hear the old man tell of the "
        "years when he had sailed across the northern sea, looking for an island that nobody but his grandfather had ever "
        "seen, or so the old story went.")
assert len(LONG.split()) == 50

NORMAL = EnglishTextNormalizer()


def english():
    with open(f"{SHARED}/speech/transcripts.tsv") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [" ".join(r["text"].split()) for r in rows if r["lang"] == "en"]


def errors_of(said, heard):
    errors = words = 0
    for reference, text in zip(said, heard, strict=True):
        o = jiwer.process_words(NORMAL(reference), NORMAL(text) or " ")
        errors += o.substitutions + o.deletions + o.insertions
        words += o.hits + o.substitutions + o.deletions
    return errors, words


def peak_mb(process):
    with open(f"/proc/{process.pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(PEAK)) / 1024


class Process:
    """One that answers a line with a line of JSON. What it says beside that is shown where it fails."""

    def __init__(self, program, **options):
        self.name = " ".join(os.path.basename(part) for part in program[:3])
        self.errors = tempfile.TemporaryFile()
        self.child = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, **options)

    def ask(self, line):
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer or "error" in json.loads(answer):
            self.errors.seek(0)
            self.child.kill()
            sys.exit(f"{self.name} failed on {line[:100]}\n{answer.decode()}{self.errors.read().decode()[-2000:]}")
        return json.loads(answer)

    def end(self):
        """Ends it; the most memory that it held, in MB."""
        peak = peak_mb(self.child)
        self.child.stdin.close()
        self.child.stdout.read()
        if self.child.wait():
            self.errors.seek(0)
            sys.exit(f"{self.name} failed at its end:\n{self.errors.read().decode()[-2000:]}")
        return peak


class Peer(Process):
    """An engine of bench/speak_peers.py."""

    def __init__(self, engine, **options):
        super().__init__([sys.executable, f"{ROOT}/bench/speak_peers.py", engine, json.dumps(options)])

    def say(self, text, path):
        return self.ask(json.dumps({"text": text, "path": path}))["seconds"]

    def first_sound(self, text, path):
        """Of engines that begin with the whole."""
        return self.say(text, path)


class Mynah(Process):
    """mynah speak, a file for each line of its standard input."""

    def __init__(self, bench, *flags):
        self.bench = bench
        self.flags = ["--threads", str(bench.threads), "--json", *flags]
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        super().__init__([MYNAH, "speak", "-", "--output-dir", self.folder.name, *self.flags], env=bench.environment)

    def say(self, text, path):
        begin = time.perf_counter()
        answer = self.ask(text)
        seconds = time.perf_counter() - begin
        shutil.move(answer["file"], path)
        return seconds

    def first_sound(self, text, path):
        """A process of its own, in which a text that comes as it is spoken begins with a short clause."""
        said = self.bench.mynah("speak", text, "--stream", "--out", path, *self.flags)
        return json.loads(said.splitlines()[-1])["first_sound_ms"] / 1000


def seconds_of(path):
    with wave.open(path) as f:
        samples = np.frombuffer(f.readframes(f.getnframes()), "<i2")
        if not samples.any():
            sys.exit(f"{path}: nothing but silence was spoken")
        return len(samples) / f.getframerate()


class Bench:
    def __init__(self, options):
        self.threads = options.threads
        self.rounds = options.rounds
        self.book_seconds = options.book_seconds
        self.folder = f"{ROOT}/.cache/bench/speak"
        self.environment = {**os.environ, "MYNAH_HOME": f"{self.folder}/home"}
        self.sentences = english()[:options.sentences]
        if not self.sentences:
            sys.exit(f"{SHARED}/speech: wanted English sentences to say, found none")
        os.makedirs(f"{ROOT}/build/bench", exist_ok=True)
        os.makedirs(self.folder, exist_ok=True)
        print("... models", file=sys.stderr)
        self.bring("english-phonemes", "pull", "english-phonemes")
        self.bring("tiny.en", "import", f"{WEIGHTS}/tiny.en", "--name", "tiny.en")
        self.bring("silero", "import", f"{WEIGHTS}/silero/silero_vad.onnx", "--name", "silero")

    def mynah(self, *arguments):
        done = subprocess.run([MYNAH, *arguments], env=self.environment, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"mynah {' '.join(arguments)[:100]} failed:\n{done.stderr.decode()[-2000:]}")
        return done.stdout.decode()

    def bring(self, name, *command):
        """A model, by the command that a user would give."""
        if not os.path.exists(f"{self.environment['MYNAH_HOME']}/models/{name}"):
            self.mynah(*command)

    def heard(self, files):
        print("... hearing it", file=sys.stderr)
        hearer = Peer("hear", model=f"{WEIGHTS}/tiny.en", threads=self.threads)
        other = hearer.ask(json.dumps({"files": files}))["texts"]
        hearer.end()
        own = self.mynah("transcribe", "--model", "tiny.en", "--threads", str(self.threads), "--json", *files)
        own = [json.loads(line)["text"] for line in own.splitlines()]
        (errors, words), (errors_by_mynah, _) = errors_of(self.sentences, other), errors_of(self.sentences, own)
        if errors > MOST_WRONG * words:
            sys.exit(f"{files[0]} and the others: {errors} of {words} words were heard wrong, which is no speech to be timed")
        return {"errors": errors, "errors_by_mynah": errors_by_mynah, "words": words}

    def pair(self, name, start_mynah, start_peer, rounds):
        """Both engines' rows; {engine: {...}}."""
        engines = {"mynah": start_mynah(), "peer": start_peer()}
        paths, seconds, firsts, rows = {}, {}, {}, {}
        for engine, process in engines.items():
            folder = f"{self.folder}/{name}-{engine}"
            os.makedirs(folder, exist_ok=True)
            paths[engine] = [f"{folder}/{i:02}.wav" for i in range(len(self.sentences))]
            seconds[engine] = [[] for _ in self.sentences]
            firsts[engine] = []
            process.say(LONG, f"{folder}/long.wav")  # weights are packed, memory is had
            process.first_sound(LONG, f"{folder}/long.wav")
        for i in range(self.rounds or rounds):
            print(f"... {name}, round {i + 1}", file=sys.stderr)
            for k, sentence in enumerate(self.sentences):
                for engine, process in engines.items():
                    time.sleep(SETTLE_S)
                    seconds[engine][k].append(process.say(sentence, paths[engine][k]))
        for _ in range(FIRST_SOUNDS):
            for engine, process in engines.items():
                time.sleep(SETTLE_S)
                firsts[engine].append(process.first_sound(LONG, f"{self.folder}/{name}-{engine}/long.wav"))
        for engine, process in engines.items():
            peak = process.end()
            sound = [seconds_of(path) for path in paths[engine]]
            each = [statistics.median(own) / length for own, length in zip(seconds[engine], sound)]
            rows[engine] = {"real_time_factor": sum(map(statistics.median, seconds[engine])) / sum(sound), "sentences": each,
                            "first_s": statistics.median(firsts[engine]), "peak_mb": peak, "sound_s": sum(sound),
                            **self.heard(paths[engine])}
        rows["times_faster"] = statistics.median(
            b / a for a, b in zip(rows["mynah"]["sentences"], rows["peer"]["sentences"]))
        return rows

    def kokoro(self):
        self.bring("kokoro", "import", f"{WEIGHTS}/kokoro/kokoro.onnx", "--name", "kokoro")
        self.bring("kokoro-voices", "import", VOICES)
        reader = Peer("phonemes")
        phonemes = {text: reader.ask(json.dumps({"text": text}))["phonemes"] for text in [*self.sentences, LONG]}
        reader.end()
        return self.pair("kokoro", lambda: Mynah(self, "--model", "kokoro", "--voice", "af_heart"),
                         lambda: Peer("kokoro", threads=self.threads, model=f"{WEIGHTS}/kokoro/kokoro.onnx",
                                      vocabulary=f"{WEIGHTS}/kokoro/vocab.json", voice=f"{VOICES}/af_heart.pt",
                                      phonemes=phonemes), rounds=1)

    def piper(self):
        joe = f"{WEIGHTS}/piper/en_US-joe-medium.onnx"
        return self.pair("piper", lambda: Mynah(self, "--model", joe), lambda: Peer("piper", threads=self.threads, model=joe),
                         rounds=3)

    def hibari(self):
        self.bring("hibari", "pull", "hibari")
        return self.pair("hibari", lambda: Mynah(self, "--model", "hibari"), lambda: Peer("hibari", threads=self.threads),
                         rounds=3)

    def book(self):
        """Kokoro's memory while it reads a book, a while from its beginning; to its end where no seconds are given."""
        self.bring("kokoro", "import", f"{WEIGHTS}/kokoro/kokoro.onnx", "--name", "kokoro")
        self.bring("kokoro-voices", "import", VOICES)
        print("... a book", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            words = " ".join(text if text.endswith((".", "?", "!")) else f"{text}." for text in english()).split()
            with open(f"{folder}/book.md", "w") as f:
                for begin in range(0, BOOK_WORDS, CHAPTER_WORDS):
                    chapter = [words[i % len(words)] for i in range(begin, begin + CHAPTER_WORDS)]
                    f.write(f"# Chapter {begin // CHAPTER_WORDS + 1}\n\n" + " ".join(chapter) + "\n\n")
            child = subprocess.Popen([MYNAH, "speak", "--file", f"{folder}/book.md", "--out", f"{folder}/spoken", "--format",
                                      "flac", "--model", "kokoro", "--voice", "af_heart", "--threads", str(self.threads)],
                                     env=self.environment, stderr=subprocess.DEVNULL)
            begin, peaks = time.monotonic(), []
            while child.poll() is None and (not self.book_seconds or time.monotonic() - begin < self.book_seconds):
                time.sleep(0.2)
                try:
                    peaks.append(peak_mb(child))
                except (StopIteration, FileNotFoundError):
                    break
            timer = threading.Timer(30, child.kill)
            child.terminate()
            timer.start()
            child.wait()
            timer.cancel()
        return {"words": BOOK_WORDS, "seconds": time.monotonic() - begin, "peak_mb_at_a_third": peaks[len(peaks) // 3],
                "peak_mb": peaks[-1]}


NAMES = {"kokoro": "Kokoro-82M int8, af_heart", "piper": "Piper en_US-joe-medium", "hibari": "hibari 0.2.1"}
PEERS = {"kokoro": "ONNX Runtime", "piper": "piper-tts", "hibari": "its package"}


def table(results):
    print("| Voice | Engine | Seconds for a second of speech | First sound of 50 words | Peak memory | "
          "Words heard wrong by faster-whisper, by mynah |")
    print("|---|---|---|---|---|---|")
    for part, rows in results.items():
        for engine, name in (("peer", PEERS.get(part)), ("mynah", "mynah")):
            if part not in NAMES:
                continue
            row = rows[engine]
            faster = f" ({rows['times_faster']:.1f}x)" if engine == "mynah" else ""
            print(f"| {NAMES[part]} | {name} | {row['real_time_factor']:.4f}{faster} | {row['first_s']:.3f} s | "
                  f"{row['peak_mb']:.0f} MB | {row['errors']} ({100 * row['errors'] / row['words']:.2f} %), "
                  f"{row['errors_by_mynah']} ({100 * row['errors_by_mynah'] / row['words']:.2f} %) of {row['words']} |")
    if book := results.get("book"):
        print(f"\nA book of {book['words']} words: at most {book['peak_mb_at_a_third']:.0f} MB in the first third of "
              f"{book['seconds']:.0f} s, {book['peak_mb']:.0f} MB in all.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["kokoro", "piper", "hibari", "book"]
    parser.add_argument("--only", nargs="*", choices=parts, default=parts)
    parser.add_argument("--sentences", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=0, help="how often each says every sentence; 0: Kokoro once, others thrice")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--book-seconds", type=float, default=30, help="0: to the end of the book, some hours")
    options = parser.parse_args()
    bench = Bench(options)
    results = {part: getattr(bench, part)() for part in options.only}
    table(results)
    with open(f"{ROOT}/build/bench/speak.json", "w") as f:
        json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
