"""Kokoro on mynah beside ONNX Runtime's int8, turn by turn, 20 sentences in af_heart on two threads.

usage: ./dev bench kokoro [--rounds N] [--storage TYPE] [--quality]

Seconds of the clock and of the processor for a second of sound, and peak memory without and with loading. --quality also says
how far each is from the float graph of the same file (tools/kokoro_oracle.py), its durations forced: mean distance of
logarithms of 80 mel bands, and of samples as a part of the RMS. The exported graph is 1.5 times as loud as mynah (docs/status.md).
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import kokoro_oracle  # noqa: E402

WEIGHTS = pathlib.Path(os.environ.get("MYNAH_WEIGHTS", ROOT / ".cache/weights")) / "kokoro/kokoro.onnx"
VOICE = pathlib.Path(os.environ.get("MYNAH_SHARED", ROOT / "../shared")) / "weights/kokoro-voices/af_heart.pt"
SENTENCES = ROOT / "tests/models/kokoro/durations.json"
PROGRAM = ROOT / "build/release/bench/speak/mynah_bench_speak"
RATE = 24000
EXPORT_IS_LOUDER = 1.5


def feeds():
    import numpy as np
    styles = kokoro_oracle.voice_pack(VOICE)
    for row in json.load(open(SENTENCES, encoding="utf-8")):
        ids = row["ids"]
        yield {"tokens": np.array([[0] + ids + [0]], np.int64), "style": styles[len(ids) - 1][None],
               "speed": np.ones(1, np.float32)}, np.array([row["frames"]["af_heart"]], np.float32)


def peer():
    """ONNX Runtime, in this process alone."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(WEIGHTS), options, providers=["CPUExecutionProvider"])
    every = [feed for feed, _ in feeds()]
    session.run(None, every[0])
    clock, processor = time.perf_counter(), time.process_time()
    samples = sum(session.run(None, feed)[0].size for feed in every)
    seconds = samples / RATE
    print(json.dumps({"real_time_factor": (time.perf_counter() - clock) / seconds,
                      "processor_factor": (time.process_time() - processor) / seconds,
                      "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def mynah(storage, samples=None):
    command = [PROGRAM, "--model", WEIGHTS, "--voice", VOICE, "--sentences", SENTENCES, "--rounds", "1", "--storage", storage]
    out = subprocess.run(command + (["--samples", samples] if samples else []), check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def mel(samples):
    """Logarithms of 80 mel bands (O'Shaughnessy's scale) of 1024 samples every 256."""
    import numpy as np
    points, bands = 1024, 80
    edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + RATE / 2 / 700), bands + 2) / 2595) - 1)
    hertz = np.arange(points // 2 + 1) * RATE / points
    rise = (hertz - edges[:-2, None]) / np.diff(edges)[:-1, None]
    fall = (edges[2:, None] - hertz) / np.diff(edges)[1:, None]
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(samples, points // 2, mode="reflect"), points)[::256]
    return np.log(np.maximum(np.abs(np.fft.rfft(frames * np.hanning(points + 1)[:-1])) @ np.maximum(0, np.minimum(rise, fall)).T, 1e-4))


def distances(found, wanted):
    import numpy as np
    return {"mel": float(np.mean([np.abs(mel(x) - mel(y)).mean() for x, y in zip(found, wanted)])),
            "samples": float(np.mean([np.sqrt(((x - y) ** 2).mean() / (y ** 2).mean()) for x, y in zip(found, wanted)]))}


def quality(storage):
    import numpy as np
    with tempfile.TemporaryDirectory() as folder:
        graph = str(pathlib.Path(folder) / "float.onnx")
        kokoro_oracle.float_graph(str(WEIGHTS), graph)
        wanted, peers = ([session.run(None, feed | {"forced_frames": frames})[0].reshape(-1) for feed, frames in feeds()]
                         for session in (kokoro_oracle.forced_session(graph), kokoro_oracle.forced_session(str(WEIGHTS))))
        own = str(pathlib.Path(folder) / "samples.f32")
        mynah(storage, own)
        ends = np.cumsum([len(samples) for samples in wanted])
        parts = np.split(np.fromfile(own, np.float32) * EXPORT_IS_LOUDER, ends[:-1])
    return {"onnxruntime": distances(peers, wanted), "mynah": distances(parts, wanted)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--storage", default="i8")
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return peer()
    runs = {"onnxruntime": [], "mynah": []}
    for _ in range(options.rounds):
        out = subprocess.run([sys.executable, __file__, "--peer"], check=True, capture_output=True, text=True)
        runs["onnxruntime"].append(json.loads(out.stdout))
        runs["mynah"].append(mynah(options.storage))
    report = {engine: {key: statistics.median(run[key] for run in own) for key in own[0] if isinstance(own[0][key], float)}
              for engine, own in runs.items()}
    report["times_faster"] = {key: statistics.median(a[key] / b[key] for a, b in zip(runs["onnxruntime"], runs["mynah"]))
                              for key in ("real_time_factor", "processor_factor")}
    if options.quality:
        report["distance_to_float"] = quality(options.storage)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    sys.exit(main())
