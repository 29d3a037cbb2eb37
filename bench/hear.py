#!/usr/bin/env python3
"""./dev bench hear: mynah beside the engines people run today, on real recordings, in one run.

Each engine's text is scored first (Whisper's normalisers, total errors over total words) and its count of errors set
against the one recorded in shared/baselines; then come the times. Rows are medians where something is run more than once.
Prints a table and writes build/bench/hear.json.

usage: hear.py [--runs N] [--only clips|stages|long|vad|memory|start ...]
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import jiwer
import numpy as np
import soundfile
from whisper_normalizer.english import EnglishTextNormalizer

import hear_models

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("MYNAH_SHARED", f"{ROOT}/../shared")
WEIGHTS = os.environ.get("MYNAH_WEIGHTS", f"{ROOT}/.cache/weights")
MYNAH = os.environ.get("MYNAH", f"{ROOT}/build/release/mynah")
STAGES = f"{ROOT}/build/release/bench/stages/mynah_bench_stages"
THREADS = 2
# shared/baselines/README.md; an engine's int8 rounding differs a little between processors.
RECORDED_ERRORS = {"faster-whisper int8": 220, "faster-whisper float32": 229, "whisper.cpp f16": 209}
ALLOWED_DRIFT = 12


def english_clips():
    with open(f"{SHARED}/speech/transcripts.tsv") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(f"{SHARED}/speech/{r['clip']}", r["text"]) for r in rows if r["lang"] == "en"]


def count_errors(references, texts):
    normal = EnglishTextNormalizer()
    errors = words = 0
    for reference, text in zip(references, texts):
        o = jiwer.process_words(normal(reference), normal(text) or " ")
        errors += o.substitutions + o.deletions + o.insertions
        words += o.hits + o.substitutions + o.deletions
    return errors, words


def children_of(pid):
    children = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as f:
                children += f.read().split()
    except OSError:
        pass  # it has ended
    return children


def sparse_hours(clip, hours):
    """A recording in which the clip is said once an hour."""
    path = f"{ROOT}/.cache/bench/{hours}_hours.flac"
    if not os.path.exists(path):
        samples, rate = soundfile.read(clip, dtype="float32")
        with soundfile.SoundFile(f"{path}.part", "w", rate, 1, format="FLAC") as out:
            for _ in range(hours):
                out.write(np.concatenate([samples, np.zeros(3600 * rate - len(samples), np.float32)]))
        os.rename(f"{path}.part", path)
    return path


class Bench:
    def __init__(self, runs):
        self.runs = runs
        self.paths = hear_models.prepare(f"{ROOT}/.cache/bench", WEIGHTS, SHARED, MYNAH)
        self.environment = {**os.environ, "MYNAH_HOME": self.paths["home"]}
        self.results = {}

    def peer(self, engine, **job):
        print(f"... {engine} {job.get('kind', '')} {job.get('type', '')}", file=sys.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump({"job": job, "paths": self.paths}, f)
            f.flush()
            done = subprocess.run([sys.executable, f"{ROOT}/bench/hear_peers.py", engine, "-", f.name],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(f"{engine} failed:\n{done.stderr.decode()[-2000:]}")
        return json.loads(done.stdout)

    def mynah(self, clips, *flags):
        """Seconds of a whole process, and the texts."""
        print(f"... mynah {' '.join(flags)}", file=sys.stderr)
        begin = time.perf_counter()
        done = subprocess.run([MYNAH, "transcribe", "--model", "tiny.en", "--json", "--threads", str(THREADS), *flags, *clips],
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        seconds = time.perf_counter() - begin
        if done.returncode:
            sys.exit(f"mynah failed:\n{done.stderr.decode()[-2000:]}")
        return seconds, [json.loads(line)["text"] for line in done.stdout.decode().splitlines()]

    def stages(self, *flags):
        done = subprocess.run([STAGES, "--threads", str(THREADS), *flags], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def clips(self):
        files, references = zip(*english_clips())
        rows = {}
        for label, run in {
            "faster-whisper int8": lambda: self.peer("faster-whisper", kind="clips", type="int8", clips=files),
            "faster-whisper float32": lambda: self.peer("faster-whisper", kind="clips", type="float32", clips=files),
            "whisper.cpp f16": lambda: self.peer("whisper.cpp", kind="clips", clips=files),
        }.items():
            answer = run()
            errors, words = count_errors(references, answer["texts"])
            if abs(errors - RECORDED_ERRORS[label]) > ALLOWED_DRIFT:
                print(f"warning: {label} made {errors} errors here, {RECORDED_ERRORS[label]} are recorded", file=sys.stderr)
            rows[label] = {"seconds": answer["seconds"], "errors": errors, "words": words}
        for label, flags in {"mynah (defaults)": [], "mynah f32, full context": ["--storage", "f32", "--precision", "exact",
                                                                                  "--context", "full"]}.items():
            times, texts = [], []
            for _ in range(self.runs if not flags else 1):
                seconds, texts = self.mynah(files, *flags)
                times.append(seconds)
            errors, words = count_errors(references, texts)
            rows[label] = {"seconds": statistics.median(times), "errors": errors, "words": words}
        self.results["clips"] = rows

    def stage_times(self):
        rows = {}
        for model in ("tiny", "base"):
            ours = self.stages("--whisper", self.paths[f"mynah_{model}.en"])
            cpp = self.peer("whisper.cpp", kind="stages", model=model)
            ct2 = self.peer("faster-whisper", kind="encoder", model=model)
            again = self.stages("--whisper", self.paths[f"mynah_{model}.en"])
            for key in ("encoder_30s_ms", "encoder_brief_ms", "decoder_token_ms"):
                ours[key] = statistics.median([ours[key], again[key]])
            rows[model] = {"mynah": ours, "whisper.cpp f16": cpp, "CTranslate2 int8": ct2}
        self.results["stages"] = rows

    def twenty_minutes(self):
        """English clips joined, half a second between them, and the file of what is said."""
        joined = f"{ROOT}/.cache/bench/twenty_minutes.wav"
        transcript = f"{ROOT}/.cache/bench/twenty_minutes.txt"
        files, references = zip(*english_clips())
        if not os.path.exists(transcript):
            parts, said, total = [], [], 0
            while total < 20 * 60 * 16000:
                for clip, reference in zip(files, references):
                    samples, rate = soundfile.read(clip, dtype="float32")
                    parts += [samples, np.zeros(rate // 2, np.float32)]
                    said.append(reference)
                    total += len(samples) + rate // 2
                    if total >= 20 * 60 * 16000:
                        break
            soundfile.write(joined, np.concatenate(parts), 16000)
            with open(transcript, "w") as f:
                f.write(" ".join(said))
        return joined, transcript

    def long(self):
        joined, transcript = self.twenty_minutes()
        with open(transcript) as f:
            said = f.read()
        # Both engines as they come (faster-whisper searches with five beams, mynah with three) and both greedy, turn by
        # turn: the machine's speed drifts within minutes.
        taken = {}
        for _ in range(self.runs):
            for policy, beam, flags in (("defaults", 5, ()), ("greedy", 1, ("--beam-size", "1"))):
                peer = self.peer("faster-whisper", kind="long", type="int8", beam=beam, clips=[joined])
                taken.setdefault((policy, "faster-whisper int8 batched"), []).append((peer["seconds"], peer["texts"]))
                taken.setdefault((policy, "mynah"), []).append(self.mynah([joined], *flags))
        self.results["long"] = {}
        for (policy, engine), runs in taken.items():
            self.results["long"].setdefault(policy, {})[engine] = {
                "seconds": statistics.median(seconds for seconds, _ in runs), "errors": count_errors([said], runs[0][1])[0]}

    def vad(self):
        peer = self.peer("onnxruntime")
        ours = self.stages("--silero", self.paths["mynah_silero"], "--threads", "1")
        self.results["vad"] = {"onnxruntime": peer, "mynah": ours}

    def memory(self):
        clip = max(english_clips(), key=lambda c: soundfile.info(c[0]).duration if soundfile.info(c[0]).duration < 30 else 0)[0]
        cpp = self.peer("whisper.cpp", kind="clips", clips=[clip])

        def run(count, recording=clip):
            """Megabytes of all processes together, those that they start (mynah-media) too."""
            command = [MYNAH, "transcribe", "--model", "tiny.en", "--threads", str(THREADS), recording]
            runs = [subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    for _ in range(count)]
            peak = {"Rss": 0, "Pss": 0}
            while any(r.poll() is None for r in runs):
                now = {"Rss": 0, "Pss": 0}
                for process in [p for r in runs for p in (r.pid, *children_of(r.pid))]:
                    try:
                        with open(f"/proc/{process}/smaps_rollup") as f:
                            for line in f:
                                field = line.split(":")[0]
                                if field in now:
                                    now[field] += int(line.split()[1]) / 1024
                    except (OSError, ProcessLookupError):
                        pass
                peak = {field: max(peak[field], now[field]) for field in peak}
                time.sleep(0.002)
            if any(r.returncode for r in runs):
                sys.exit(f"mynah failed on {recording}")
            return peak

        run(1)
        self.results["memory"] = {"whisper.cpp f16": {"rss_mb": cpp["peak_mb"]},
                                  "mynah": {"rss_mb": run(1)["Rss"], "pss_mb_of_two": run(2)["Pss"],
                                            "rss_mb_of_20_minutes": run(1, self.twenty_minutes()[0])["Rss"],
                                            "rss_mb_of_six_hours": run(1, sparse_hours(clip, 6))["Rss"]}}

    def start(self):
        clip = min(english_clips(), key=lambda c: abs(soundfile.info(c[0]).duration - 5))[0]
        self.mynah([clip])
        self.results["start"] = {"mynah": {"seconds": statistics.median(self.mynah([clip])[0] for _ in range(9))}}


def table(results):
    """The measures of the goal, one line each: what, best peer, mynah, ratio."""
    lines = []

    def row(what, peer, ours, unit):
        lines.append((what, f"{peer:.1f} {unit}" if peer else "", f"{ours:.2f} {unit}", f"{peer / ours:.1f}x" if peer else ""))

    if "clips" in results:
        rows = results["clips"]
        for label, r in rows.items():
            ratio = rows["faster-whisper int8"]["seconds"] / r["seconds"]
            lines.append((f"96 clips, {label}", f"{r['errors']} errors of {r['words']}", f"{r['seconds']:.1f} s", f"{ratio:.1f}x"))
    for model, r in results.get("stages", {}).items():
        row(f"encoder 30 s, {model}, against CTranslate2 int8", r["CTranslate2 int8"]["encoder_30s_ms"], r["mynah"]["encoder_30s_ms"], "ms")
        row(f"encoder 30 s, {model}, against whisper.cpp f16", r["whisper.cpp f16"]["encoder_30s_ms"], r["mynah"]["encoder_30s_ms"], "ms")
        row(f"encoder 5 s, {model}, cached silence, against whisper.cpp", r["whisper.cpp f16"]["encoder_30s_ms"],
            r["mynah"]["encoder_brief_ms"], "ms")
        row(f"decoder, one token, {model}, against whisper.cpp f16", r["whisper.cpp f16"]["decoder_token_ms"], r["mynah"]["decoder_token_ms"], "ms")
    for policy, engines in results.get("long", {}).items():
        peer, ours = engines["faster-whisper int8 batched"], engines["mynah"]
        row(f"20 minutes, {policy}, against faster-whisper batched ({peer['errors']} errors; mynah {ours['errors']})",
            peer["seconds"], ours["seconds"], "s")
    if "vad" in results:
        row("Silero frame, frame by frame", results["vad"]["onnxruntime"]["frame_us"], results["vad"]["mynah"]["frame_by_frame_us"], "us")
        row("Silero frame, many at once", results["vad"]["onnxruntime"]["frame_us"], results["vad"]["mynah"]["at_once_us"], "us")
    if "memory" in results:
        row("peak memory, tiny.en, 30 s", results["memory"]["whisper.cpp f16"]["rss_mb"], results["memory"]["mynah"]["rss_mb"], "MB")
        row("peak memory, tiny.en, 20 minutes of speech", None, results["memory"]["mynah"]["rss_mb_of_20_minutes"], "MB")
        row("peak memory, tiny.en, six hours with a sentence an hour", None, results["memory"]["mynah"]["rss_mb_of_six_hours"], "MB")
        row("share of two at once (PSS)", None, results["memory"]["mynah"]["pss_mb_of_two"], "MB")
    if "start" in results:
        row("start to text, 5 s clip", None, results["start"]["mynah"]["seconds"], "s")
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)) for line in lines)


def main():
    parts = {"clips": Bench.clips, "stages": Bench.stage_times, "long": Bench.long, "vad": Bench.vad, "memory": Bench.memory,
             "start": Bench.start}
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", nargs="*", choices=list(parts), default=list(parts))
    arguments = options.parse_args()
    bench = Bench(arguments.runs)
    for name in arguments.only:
        parts[name](bench)
    os.makedirs(f"{ROOT}/build/bench", exist_ok=True)
    with open(f"{ROOT}/build/bench/hear.json", "w") as f:
        json.dump(bench.results, f, indent=1)
    print(table(bench.results))


if __name__ == "__main__":
    main()
