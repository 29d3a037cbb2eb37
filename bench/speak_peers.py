"""The engines that bench/speak.py sets beside mynah, each in a process of its own so that its memory can be read. A line of
JSON in, a line of JSON out: {"text", "path"} writes a WAV and tells the seconds of its synthesis alone.

usage: speak_peers.py kokoro|piper|hibari|phonemes|hear '{"threads": 2, "model": ...}'
"""
import json
import os
import sys
import time
import wave

import numpy as np

KOKORO_RATE = 24000
KOKORO_MOST = 510
KOKORO_STYLE = 256


def write_wav(path, samples, rate):
    with wave.open(path, "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(rate)
        f.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def session(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def speaker(say, rate):
    def answer(asked):
        begin = time.perf_counter()
        samples = say(asked["text"])
        seconds = time.perf_counter() - begin
        write_wav(asked["path"], samples, rate)
        return {"seconds": seconds}
    return answer


def voice_pack(path):
    """A voice's styles out of a PyTorch zip, whose one storage they are."""
    import zipfile
    with zipfile.ZipFile(path) as f:
        return np.frombuffer(f.read(next(n for n in f.namelist() if n.endswith("/data/0"))), np.float32).reshape(-1, KOKORO_STYLE)


def kokoro_voice(options):
    """What kokoro-onnx runs: ONNX Runtime over the exported graph. A function from a text to its samples."""
    with open(options["vocabulary"], encoding="utf-8") as f:
        vocabulary = json.load(f)["vocab"]
    styles = voice_pack(options["voice"])
    model = session(options["model"], options["threads"])
    names = [i.name for i in model.get_inputs()]

    def say(text):
        ids = [vocabulary[p] for p in options["phonemes"][text] if p in vocabulary][:KOKORO_MOST]
        return model.run(None, dict(zip(names, [np.array([[0, *ids, 0]], np.int64), styles[len(ids) - 1][None],
                                                np.ones(1, np.float32)])))[0].reshape(-1)

    return say


def kokoro(options):
    return speaker(kokoro_voice(options), KOKORO_RATE)


def piper(options):
    from piper import PiperVoice
    from piper.config import SynthesisConfig
    voice = PiperVoice.load(options["model"])
    voice.session = session(options["model"], options["threads"])
    settings = SynthesisConfig(normalize_audio=False)
    return speaker(lambda text: np.concatenate([c.audio_float_array for c in voice.synthesize(text, settings)]),
                   voice.config.sample_rate)


def hibari(options):
    from hibari import Hibari
    voice = Hibari(threads=options["threads"])
    return speaker(lambda text: voice(text, seed=0), KOKORO_RATE)


def phonemes(_):
    from hibari.g2p import G2P
    g2p = G2P()
    return lambda asked: {"phonemes": g2p(asked["text"])}


def hear(options):
    """tiny.en's text of each file, as shared/baselines has it: float32, one beam."""
    from faster_whisper import WhisperModel
    model = WhisperModel(options["model"], device="cpu", compute_type="float32", cpu_threads=options["threads"])

    def answer(asked):
        texts = []
        for path in asked["files"]:
            segments, _ = model.transcribe(path, beam_size=1, language="en", condition_on_previous_text=False)
            texts.append(" ".join(s.text for s in segments))
        return {"texts": texts}

    return answer


def main():
    out = os.dup(1)
    os.dup2(2, 1)  # engines print to stdout as they like
    engines = {"kokoro": kokoro, "piper": piper, "hibari": hibari, "phonemes": phonemes, "hear": hear}
    answer = engines[sys.argv[1]](json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})
    for line in sys.stdin:
        os.write(out, json.dumps(answer(json.loads(line))).encode() + b"\n")


if __name__ == "__main__":
    main()
