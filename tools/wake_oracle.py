#!/usr/bin/env python3
"""What pymicro-features and pymicro-wakeword (TensorFlow Lite's own kernels) hear: tests/models/wake_word compares with it.

  wake_oracle.py golden tests/models/wake_word/golden           a network with random weights, and sound made by a formula
  wake_oracle.py recordings WEIGHTS SPEECH_FOLDER OUT_FOLDER    every clip, and every word of WEIGHTS/wake

A golden is tiny.tflite and golden.npz: samples (n), features (frames, 40) of their floats / 0.0390625, and codes
(steps) of the probability * 256; all int32. OUT_FOLDER gets NAME.npz for each recording: features, and codes_WORD for each word.
Needs flatbuffers, numpy, pymicro-features, pymicro-wakeword and, for recordings, soundfile.
"""
import pathlib
import sys
import zipfile

import numpy as np
from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, microwakeword

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from tiny_tflite import tiny_network

SEED = 20261130
NETWORK_SEED = 3  # one whose probabilities are of many kinds
SCALE = 0.0390625
RATE = 16000


def features_of(samples):
    found = list(MicroWakeWordFeatures().process_streaming(samples.astype("<i2").tobytes()))
    frames = np.array(found).reshape(len(found), 40) / SCALE
    whole = np.rint(frames)
    assert np.abs(frames - whole).max(initial=0) == 0
    return whole.astype(np.uint16)


def codes_of(path, features):
    word = MicroWakeWord(id="word", wake_word="", tflite_model=path, probability_cutoff=1, sliding_window_size=1,
                         trained_languages=[],
                         libtensorflowlite_c_path=next(microwakeword._MODULE_LIB_DIR.glob("*tensorflowlite_c.*")))
    codes = []
    for i, frame in enumerate(features):
        likely = word.process_streaming_prob((frame * SCALE).reshape(1, 1, 40))
        if i % word.stride == word.stride - 1:
            codes.append(round(likely * 256))
    word.close()
    return np.array(codes, np.int16)


def made_up_sound():
    """Nothing, a tone that rises, noise as loud as it gets, a quiet tone, clipped noise, nothing."""
    rng = np.random.default_rng(SEED)
    time = np.arange(RATE // 4) / RATE
    parts = [np.zeros(1000), 9000 * np.sin(2 * np.pi * (200 + 6000 * time) * time), rng.uniform(-32768, 32767, 3000),
             3 * np.sin(2 * np.pi * 700 * time), np.clip(rng.normal(0, 40000, 2000), -32768, 32767), np.zeros(900)]
    return np.concatenate(parts).round().astype(np.int16)


def write_npz(path, **arrays):
    """An archive whose bytes are those of the values alone, and of no date."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(name + ".npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w") as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array, np.int32))


def write_golden(folder):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tiny.tflite"
    path.write_bytes(tiny_network(NETWORK_SEED).file())
    samples = made_up_sound()
    features = features_of(samples)
    random = np.random.default_rng(SEED + 1).integers(0, 660, (240, 40)).astype(np.uint16)
    random[::7] //= 9
    codes, random_codes = codes_of(path, features), codes_of(path, random)
    assert len(np.unique(random_codes)) > 40, "a network that says too little"
    write_npz(folder / "golden.npz", samples=samples, features=features, codes=codes, random_features=random,
              random_codes=random_codes)


def write_recordings(weights, speech, out):
    import soundfile
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(speech.glob("*/*.flac")):
        samples, rate = soundfile.read(path, dtype="int16")
        assert rate == RATE and samples.ndim == 1, path
        features = features_of(samples)
        codes = {f"codes_{word.stem}": codes_of(word, features) for word in sorted((weights / "wake").glob("*.tflite"))}
        write_npz(out / f"{path.stem}.npz", features=features, **codes)


def main():
    if sys.argv[1] == "golden":
        write_golden(pathlib.Path(sys.argv[2]))
    else:
        write_recordings(*map(pathlib.Path, sys.argv[2:5]))


if __name__ == "__main__":
    main()
