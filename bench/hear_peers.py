"""The engines that bench/hear.py sets beside mynah, each in a process of its own so that its memory can be read.

usage: hear_peers.py ENGINE JOB PATHS.json  -> one JSON object on stdout
"""
import json
import os
import statistics
import sys
import threading
import time

THREADS = 2


def memory_kb(field="Rss"):
    """This process's resident memory (Rss) or its share of it (Pss)."""
    with open("/proc/self/smaps_rollup") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(f"{field}:"))


def median_ms(work, runs=7):
    """Median milliseconds, after one call that is not counted."""
    work()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


class PeakMemory:
    """Watches what this process holds beyond what the interpreter and the engine's code held before."""

    def __init__(self):
        self.before, self.peak, self.done = memory_kb(), 0, False
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while not self.done:
            self.peak = max(self.peak, memory_kb())
            time.sleep(0.01)

    def stop(self):
        self.done = True
        self.thread.join()
        return (self.peak - self.before) / 1024


def faster_whisper(job, paths):
    from faster_whisper import BatchedInferencePipeline, WhisperModel
    if job["kind"] == "encoder":
        import ctranslate2
        import numpy as np
        model = ctranslate2.models.Whisper(paths[f"{job['model']}_ct2"], device="cpu", compute_type="int8",
                                           intra_threads=THREADS)
        mel = ctranslate2.StorageView.from_array(np.random.default_rng(1).standard_normal((1, 80, 3000), np.float32))
        return {"encoder_30s_ms": median_ms(lambda: model.encode(mel))}
    model = WhisperModel(paths["tiny_ct2"], device="cpu", compute_type=job["type"], cpu_threads=THREADS)
    pipeline = BatchedInferencePipeline(model) if job["kind"] == "long" else None
    texts = []
    begin = time.perf_counter()
    for clip in job["clips"]:
        if pipeline:
            segments, _ = pipeline.transcribe(clip, batch_size=8, language="en", beam_size=job["beam"])
        else:
            segments, _ = model.transcribe(clip, beam_size=1, language="en", condition_on_previous_text=False)
        texts.append(" ".join(s.text for s in segments))
    return {"seconds": time.perf_counter() - begin, "texts": texts}


def whisper_cpp(job, paths):
    if job["kind"] == "stages":
        return whisper_cpp_stages(paths[f"{job['model']}_ggml"])
    from pywhispercpp.model import Model
    import soundfile
    watch = PeakMemory()
    model = Model(paths["tiny_ggml"], n_threads=THREADS, print_progress=False, print_realtime=False)
    texts = []
    begin = time.perf_counter()
    for clip in job["clips"]:
        samples, _ = soundfile.read(clip, dtype="float32")
        texts.append(" ".join(s.text for s in model.transcribe(samples)))
    return {"seconds": time.perf_counter() - begin, "texts": texts, "peak_mb": watch.stop()}


def whisper_cpp_stages(path):
    import _pywhispercpp as cpp
    import numpy as np
    context = cpp.whisper_init_from_file_with_params(path, cpp.whisper_context_default_params())
    tone = np.sin(np.arange(30 * 16000) * 0.05).astype(np.float32) * 0.2
    cpp.whisper_pcm_to_mel(context, tone, len(tone), THREADS)
    encoder = median_ms(lambda: cpp.whisper_encode(context, 0, THREADS))
    for i in range(32):  # the binding takes one token at a time
        cpp.whisper_decode(context, 50, 1, i, THREADS)

    def tokens():
        for i in range(64):
            cpp.whisper_decode(context, 100 + i, 1, 32 + i, THREADS)

    return {"encoder_30s_ms": encoder, "decoder_token_ms": median_ms(tokens) / 64}


def onnxruntime(_, paths):
    import numpy as np
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(paths["silero_onnx"], options, providers=["CPUExecutionProvider"])
    state, rate = np.zeros((2, 1, 128), np.float32), np.array(16000, np.int64)
    frame = np.random.default_rng(1).standard_normal((1, 576), np.float32) * 0.1

    def frames():
        for _ in range(500):
            session.run(None, {"input": frame, "state": state, "sr": rate})

    return {"frame_us": median_ms(frames) * 1000 / 500}


if __name__ == "__main__":
    engines = {"faster-whisper": faster_whisper, "whisper.cpp": whisper_cpp, "onnxruntime": onnxruntime}
    out = os.dup(1)
    os.dup2(2, 1)  # engines print to stdout as they like
    with open(sys.argv[3]) as f:
        request = json.load(f)
    answer = engines[sys.argv[1]](request["job"], request["paths"])
    os.write(out, json.dumps(answer).encode())
