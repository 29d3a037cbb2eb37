"""The engines that bench/speak.py sets beside mynah, each in a process of its own so that its memory can be read. Each says
the sentences of a list, writes a WAV for each, and counts the seconds of its synthesis alone.

usage: speak_peers.py ENGINE REQUEST.json  -> one JSON object on stdout
"""
import json
import os
import resource
import sys
import time
import wave

import numpy as np

THREADS = 2
RATE = 24000


def write_wav(path, samples, rate):
    with wave.open(path, "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(rate)
        f.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def session(path):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def timed(request, say, rate):
    """Says one sentence uncounted, then all of them."""
    say(request["sentences"][0])
    seconds, sound = [], 0
    for i, sentence in enumerate(request["sentences"]):
        begin = time.perf_counter()
        samples = say(sentence)
        seconds.append(time.perf_counter() - begin)
        sound += len(samples) / rate
        write_wav(f"{request['out']}/{i:02}.wav", samples, rate)
    return {"seconds": sum(seconds), "sound": sound, "first_s": say_first(request, say),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def say_first(request, say):
    """Seconds until there is something of a long sentence: all of it, as these engines begin with the whole."""
    begin = time.perf_counter()
    say(request["long"])
    return time.perf_counter() - begin


def kokoro(request):
    """What kokoro-onnx runs: ONNX Runtime over the exported graph; phonemes by hibari, outside of the counted time."""
    from hibari.g2p import G2P
    g2p = G2P()
    phonemes = {s: g2p(s) for s in request["sentences"] + [request["long"]]}
    with open(request["vocab"]) as f:
        vocab = json.load(f)["vocab"]
    style = np.fromfile(request["voice"], np.float32).reshape(-1, 256)
    model = session(request["model"])
    names = [i.name for i in model.get_inputs()]

    def say(sentence):
        ids = [vocab[p] for p in phonemes[sentence] if p in vocab][:510]
        return model.run(None, dict(zip(names, [np.array([[0, *ids, 0]], np.int64), style[len(ids) - 1][None],
                                                 np.ones(1, np.float32)])))[0].reshape(-1)

    return timed(request, say, RATE)


def piper(request):
    from piper import PiperVoice
    from piper.config import SynthesisConfig
    voice = PiperVoice.load(request["model"])
    voice.session = session(request["model"])
    settings = SynthesisConfig(normalize_audio=False)

    def say(sentence):
        return np.concatenate([c.audio_float_array for c in voice.synthesize(sentence, settings)])

    return timed(request, say, voice.config.sample_rate)


def hibari(request):
    from hibari import Hibari
    voice = Hibari(threads=THREADS)
    return timed(request, lambda sentence: voice(sentence, seed=0), RATE)


def hear(request):
    """tiny.en's text of each file, as shared/baselines has it: float32, one beam."""
    from faster_whisper import WhisperModel
    model = WhisperModel(request["model"], device="cpu", compute_type="float32", cpu_threads=THREADS)
    texts = []
    for path in request["files"]:
        segments, _ = model.transcribe(path, beam_size=1, language="en", condition_on_previous_text=False)
        texts.append(" ".join(s.text for s in segments))
    return {"texts": texts}


if __name__ == "__main__":
    out = os.dup(1)
    os.dup2(2, 1)  # engines print to stdout as they like
    with open(sys.argv[2]) as f:
        wanted = json.load(f)
    answer = {"kokoro": kokoro, "piper": piper, "hibari": hibari, "hear": hear}[sys.argv[1]](wanted)
    os.write(out, json.dumps(answer).encode())
