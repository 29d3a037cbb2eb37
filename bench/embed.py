#!/usr/bin/env python3
"""./dev bench embed: vectors of 1,000 sentences on the processor beside ONNX Runtime, of the same weights, in one run.

ONNX Runtime gets the graph that tools/bert_oracle.py writes of the model's safetensors, all its optimisations, texts sorted by length in
batches of 32 padded to the longest, and tokens that are there already; mynah (mynah_bench_embed) gets the texts. Rounds alternate, figures
are medians. First every vector is checked: its cosine to ONNX Runtime's is within 1e-4.

usage: embed.py [--rounds N] [--threads N] [--texts N] [MODEL]     MODEL: a folder of sentence-transformers; else all-MiniLM-L6-v2
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import bert_oracle  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / "build/release"))
WEIGHTS = pathlib.Path(os.environ.get("MYNAH_WEIGHTS", ROOT / ".cache/weights"))
BATCH = 32  # of sentence-transformers' encode()
WORDS = ("the of and to in is you that it he was for on are as with his they at be this from have or by one had not but what all were when we "
         "there can an your which their said if do will each about how up out them then she many some so these would other into has more her "
         "two like him see time could no make than first been its who now people my made over did down only way find use may water long little "
         "very after words called just where most know government electricity neighbourhood responsibility transformation kitchen lamp").split()


def sentences(count):
    """Words by chance, the same each time: 3 to 60 in a sentence, most often a dozen."""
    dice = random.Random(20)
    return [" ".join(dice.choices(WORDS, k=max(3, min(60, round(dice.lognormvariate(2.5, 0.5)))))).capitalize() + "." for _ in range(count)]


def run_mynah(model, texts, threads, cache, vectors=None):
    command = [BUILD / "bench/embed/mynah_bench_embed", model, texts, "--threads", str(threads), "--cache", cache, "--rounds", "2"]
    out = subprocess.run(command + (["--vectors", vectors] if vectors else []), check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])  # the second: the first one touches the memory that all others find


class Peer:
    def __init__(self, bert, tokens, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(bert_oracle.onnx_graph(bert).SerializeToString(), options, providers=["CPUExecutionProvider"])
        self.order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))
        self.batches = [[tokens[i] for i in self.order[at:at + BATCH]] for at in range(0, len(tokens), BATCH)]

    def vectors(self):
        made = np.concatenate([bert_oracle.run_onnx(self.session, batch) for batch in self.batches])
        return made[np.argsort(self.order)]

    def seconds(self):
        begun = time.perf_counter()
        self.vectors()
        return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?", default=str(WEIGHTS / "minilm"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--texts", type=int, default=1000)
    options = parser.parse_args()
    if not pathlib.Path(options.model, "config.json").exists():
        sys.exit(f"wanted a folder of sentence-transformers, found none at {options.model}: tools/fetch_weights.py brings all-MiniLM-L6-v2")
    texts = sentences(options.texts)
    bert = bert_oracle.Bert(options.model)
    tokens = [bert.tokens(text) for text in texts]
    cache = ROOT / ".cache/bench/embed"
    cache.mkdir(parents=True, exist_ok=True)
    peer = Peer(bert, tokens, options.threads)
    with tempfile.TemporaryDirectory() as folder:
        file, made = f"{folder}/texts", f"{folder}/vectors"
        pathlib.Path(file).write_text("\n".join(texts) + "\n")
        first = run_mynah(options.model, file, options.threads, cache, made)
        wanted = peer.vectors()
        found = np.fromfile(made, np.float32).reshape(wanted.shape)
        far = 1 - np.sum(wanted * found, axis=1) / np.linalg.norm(wanted, axis=1) / np.linalg.norm(found, axis=1)
        assert first["tokens"] == sum(map(len, tokens)), (first["tokens"], sum(map(len, tokens)))
        assert far.max() < 1e-4, f"a cosine is {far.max()} off"
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(run_mynah(options.model, file, options.threads, cache))
            theirs.append(peer.seconds())
    a, b = statistics.median(one["seconds"] for one in ours), statistics.median(theirs)
    row = {"texts": len(texts), "tokens": first["tokens"], "mynah_s": a, "onnxruntime_s": b, "times": b / a, "largest_cosine_error": float(far.max()),
           "load_ms": statistics.median(one["load_ms"] for one in ours), "peak_mb": statistics.median(one["peak_mb"] for one in ours)}
    print(f"{len(texts)} texts of {first['tokens']} tokens, {options.threads} threads, {first['processor']}, medians of {options.rounds}")
    print(f"  mynah {a:.3f} s ({first['tokens'] / a:.0f} tokens a second), ONNX Runtime {onnxruntime.__version__} {b:.3f} s: {b / a:.2f}x")
    print(f"  cosines within {far.max():.1e}; loaded in {row['load_ms']:.0f} ms, peak {row['peak_mb']:.0f} MB")
    out = ROOT / "build/bench/embed.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(row, indent=1))


main()
