#!/usr/bin/env python3
"""How fast Piper's and hibari's voices speak, beside ONNX Runtime with the same ids, in turns in one run.

  voices.py BUILD WEIGHTS [--threads N] [--rounds N] [--storage i8]

BUILD has bench/voices/mynah_bench_voices, WEIGHTS what tools/fetch_weights.py lays out. piper-tts is a session of ONNX Runtime
and so is hibari, whose dsp.py makes the samples; neither's phonemes are counted. Prints a line of JSON for each engine:
medians over the rounds of the seconds for all sentences, of the processor's time, and the real-time factor. Needs
onnxruntime; hibari-tts for hibari.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

import numpy as np

ROOT = pathlib.Path(__file__).parent.parent


def session(path, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def piper(path, threads):
    run = session(path, threads)

    def speak(ids):
        feed = {"input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)], np.int64),
                "scales": np.array([0.667, 1, 0.8], np.float32)}
        return run.run(None, feed)[0].size
    return speak


def hibari(path, threads):
    from hibari import dsp

    run = session(path, threads)
    noise = np.random.default_rng(0)

    def speak(ids):
        parts = run.run(None, {"ids": np.array([[0, *ids, 0]], np.int64), "speed": np.ones(1, np.float32)})
        return dsp.synth(*(part[0] for part in parts), noise).size
    return speak


FAMILIES = {
    "piper": (piper, "piper/en_US-joe-medium.onnx", "tests/models/piper/sentences.json", 22050),
    "hibari": (hibari, "hibari/hibari.onnx", "tests/models/kokoro/durations.json", 24000),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("weights", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--storage", default="i8")
    options = parser.parse_args()
    for family, (make, voice, sentences, rate) in FAMILIES.items():
        rows = json.load(open(ROOT / sentences, encoding="utf-8"))
        peer = make(options.weights / voice, options.threads)
        peer(rows[0]["ids"])
        found = {"onnxruntime": [], "mynah": []}
        for _ in range(options.rounds):
            begin, busy = time.perf_counter(), time.process_time()
            samples = sum(peer(row["ids"]) for row in rows)
            found["onnxruntime"].append((time.perf_counter() - begin, time.process_time() - busy, samples))
            # Three rounds, of which the median: the first one fills its memory.
            line = subprocess.run([options.build / "bench/voices/mynah_bench_voices", family, options.weights / voice,
                                   ROOT / sentences, options.storage, str(options.threads), "3"],
                                  check=True, capture_output=True, text=True).stdout
            own = json.loads(line)
            found["mynah"].append((own["seconds"], own["busy_seconds"], own["samples"]))
        for engine, runs in found.items():
            seconds, busy, samples = (statistics.median(column) for column in zip(*runs))
            print(json.dumps({"family": family, "engine": engine, "seconds": round(seconds, 3), "busy_seconds": round(busy, 3),
                              "audio_seconds": round(samples / rate, 1), "factor": round(seconds / (samples / rate), 5)}))


if __name__ == "__main__":
    main()
