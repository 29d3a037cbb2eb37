#!/usr/bin/env python3
"""./dev bench speak: mynah's voices beside the engines people run today, in one run.

Each engine says the same 40 sentences. What it said is heard again by tiny.en first (faster-whisper float32, one beam, as
shared/baselines has it; Whisper's normaliser, total errors over total words); then come the times: seconds of synthesis for
a second of sound, time to the first sound of 50 words, memory. Prints a table and writes build/bench/speak.json.

usage: speak.py [--runs N] [--only kokoro|piper|tiny|builtin ...]
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import wave

import jiwer
import numpy as np
from whisper_normalizer.english import EnglishTextNormalizer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("MYNAH_SHARED", f"{ROOT}/../shared")
WEIGHTS = os.environ.get("MYNAH_WEIGHTS", f"{ROOT}/.cache/weights")
MYNAH = os.environ.get("MYNAH", f"{ROOT}/build/release/mynah")
THREADS = 2
SENTENCES = 40
LONG = ("When the sun had gone down behind the hills, the travellers gathered around the fire to hear the old man tell of the "
        "years when he had sailed across the northern sea, looking for an island that nobody but his grandfather had ever "
        "seen, or so the story went.")


def sentences():
    with open(f"{SHARED}/speech/transcripts.tsv") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [" ".join(r["text"].split()) for r in rows if r["lang"] == "en"][:SENTENCES]


def run(program, **options):
    """A child's standard output."""
    child = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    out, err = child.communicate()
    if child.returncode:
        sys.exit(f"{' '.join(program[:3])} failed:\n{err.decode()[-2000:]}")
    return out.decode()


def read_voice(path):
    """A voice pack as bare floats, which NumPy reads: mynah's file has one tensor."""
    import zipfile
    with zipfile.ZipFile(path) as f:
        name = next(n for n in f.namelist() if n.endswith("/data/0"))
        return f.read(name)


class Bench:
    def __init__(self, runs):
        self.runs = runs
        self.folder = f"{ROOT}/.cache/bench/speak"
        self.home = f"{self.folder}/home"
        self.environment = {**os.environ, "MYNAH_HOME": self.home}
        self.sentences = sentences()
        os.makedirs(f"{ROOT}/build/bench", exist_ok=True)
        os.makedirs(self.folder, exist_ok=True)
        self.normal = EnglishTextNormalizer()
        self.prepare()

    def prepare(self):
        """The models, by the commands that a user would give."""
        if not os.path.exists(f"{self.home}/models/kokoro"):
            self.mynah("import", f"{WEIGHTS}/kokoro/kokoro.onnx")
        if not os.path.exists(f"{self.home}/models/kokoro-voices"):
            self.mynah("import", f"{SHARED}/weights/kokoro-voices")
        if not os.path.exists(f"{self.home}/models/english-phonemes"):
            self.mynah("pull", "english-phonemes")
        self.voice = f"{self.folder}/af_heart.f32"
        with open(self.voice, "wb") as f:
            f.write(read_voice(f"{SHARED}/weights/kokoro-voices/af_heart.pt"))

    def mynah(self, *arguments, **options):
        return run([MYNAH, *arguments], env=self.environment, **options)

    def peer(self, engine, **request):
        print(f"... {engine}", file=sys.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(request, f)
            f.flush()
            return json.loads(run([sys.executable, f"{ROOT}/bench/speak_peers.py", engine, f.name]))

    def peer_row(self, name, engine, **request):
        out = f"{self.folder}/{name}"
        os.makedirs(out, exist_ok=True)
        rows = [self.peer(engine, out=out, sentences=self.sentences, long=LONG, **request) for _ in range(self.runs)]
        row = {key: statistics.median(r[key] for r in rows) for key in rows[0]}
        return {**row, **self.heard([f"{out}/{i:02}.wav" for i in range(SENTENCES)])}

    def mynah_row(self, name, *flags):
        """One process says all sentences; its words' places tell which sound is of which sentence."""
        print(f"... mynah {name}", file=sys.stderr)
        out = f"{self.folder}/mynah-{name}"
        os.makedirs(out, exist_ok=True)
        text = "\n\n".join(self.sentences)
        common = ["--threads", str(THREADS), "--json", *flags]
        rows = []
        for _ in range(self.runs):
            program = [MYNAH, "speak", "-", "--out", f"{out}/all.wav", *common]
            child = subprocess.Popen(program, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            lines = [json.loads(line) for line in child.communicate(text.encode())[0].decode().splitlines()]
            if child.returncode:
                sys.exit("mynah failed")
            first = [json.loads(line) for line in
                     self.mynah("speak", LONG, "--stream", "--out", f"{out}/long.wav", *common).splitlines()]
            rows.append({"seconds": lines[-1]["milliseconds"] / 1000, "sound": lines[-1]["duration"],
                         "first_s": first[-1]["first_sound_ms"] / 1000, "peak_mb": lines[-1]["peak_mb"]})
        files = self.cut(out, lines[:-1])
        return {**{key: statistics.median(r[key] for r in rows) for key in rows[0]}, **self.heard(files)}

    def cut(self, out, clauses):
        with wave.open(f"{out}/all.wav") as f:
            rate, samples = f.getframerate(), np.frombuffer(f.readframes(f.getnframes()), "<i2")
        begins, at = [], 0
        for sentence in self.sentences:
            begins.append(at)
            at += len(sentence.encode()) + 2
        parts = [[] for _ in self.sentences]
        for clause in clauses:
            which = int(np.searchsorted(begins, clause["first_byte"], side="right")) - 1
            parts[which].append((clause["start"], clause["end"]))
        files = []
        for i, part in enumerate(parts):
            files.append(f"{out}/{i:02}.wav")
            piece = samples[int(part[0][0] * rate):int(part[-1][1] * rate)] if part else samples[:0]
            with wave.open(files[-1], "wb") as f:
                f.setnchannels(1)
                f.setsampwidth(2)
                f.setframerate(rate)
                f.writeframes(piece.tobytes())
        return files

    def heard(self, files):
        texts = self.peer("hear", model=f"{WEIGHTS}/tiny.en", files=files)["texts"]
        errors = words = 0
        for said, heard in zip(self.sentences, texts):
            o = jiwer.process_words(self.normal(said), self.normal(heard) or " ")
            errors += o.substitutions + o.deletions + o.insertions
            words += o.hits + o.substitutions + o.deletions
        return {"errors": errors, "words": words}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=["kokoro", "piper", "tiny", "builtin"])
    options = parser.parse_args()
    bench = Bench(options.runs)
    rows = {}
    if "kokoro" in options.only:
        rows["Kokoro int8, ONNX Runtime"] = bench.peer_row("kokoro-onnx", "kokoro", model=f"{WEIGHTS}/kokoro/kokoro.onnx",
                                                           vocab=f"{WEIGHTS}/kokoro/vocab.json", voice=bench.voice)
        rows["Kokoro, mynah"] = bench.mynah_row("kokoro", "--model", "kokoro", "--voice", "af_heart")
    if "piper" in options.only:
        joe = f"{WEIGHTS}/piper/en_US-joe-medium.onnx"
        rows["Piper joe, piper-tts"] = bench.peer_row("piper", "piper", model=joe)
        rows["Piper joe, mynah"] = bench.mynah_row("piper", "--model", joe)
    if "tiny" in options.only:
        rows["hibari, its package"] = bench.peer_row("hibari", "hibari")
        rows["hibari, mynah"] = bench.mynah_row("tiny", "--model", "tiny")
    if "builtin" in options.only:
        rows["flite, mynah builtin"] = bench.mynah_row("builtin", "--model", "builtin")
    print(f"{'':<28} {'errors':>12} {'real-time factor':>17} {'first sound':>12} {'memory':>9}")
    for name, row in rows.items():
        print(f"{name:<28} {row['errors']:>4} of {row['words']} {row['seconds'] / row['sound']:>17.4f} "
              f"{row['first_s']:>10.2f} s {row['peak_mb']:>6.0f} MB")
    with open(f"{ROOT}/build/bench/speak.json", "w") as f:
        json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
