#!/usr/bin/env python3
"""Fits the built-in voice detector (src/models/builtin/voice_features.h) and measures it.

  builtin_vad_fit.py fit SPEECH_FOLDER ORACLE_FOLDER       prints the coefficients' table, then leave-out errors
  builtin_vad_fit.py golden SPEECH_FOLDER ORACLE_FOLDER > tests/models/builtin/golden/probabilities.txt

ORACLE_FOLDER is silero_oracle.py's .../onnx/16000: in the clips, speech is where Silero's probability reaches 0.5; in
the noise, nowhere. The model is a logistic regression over features that are the same here and there. Needs numpy,
soundfile.
"""
import pathlib
import sys

import numpy as np
import soundfile

FRAME = 512
WINDOW = 1024
BAND_EDGES_HZ = [100, 250, 500, 1000, 2000, 3000, 4500, 7500]
MEMORY = 48  # frames
GOLDEN = ["clips/jfk_jfk", "noise/hens"]
NOISE_WEIGHT = 1.5  # of a noise recording against 1000 frames of speech


def smooth(values, rate):
    out = np.zeros_like(values)
    state = 0.0
    for i, value in enumerate(values):
        state += rate * (value - state)
        out[i] = state
    return out


def frame_features(samples):
    """What one frame and the noise floor behind it say."""
    frames = -(-len(samples) // FRAME)
    padded = np.zeros(FRAME * (frames + 1))
    padded[FRAME:FRAME + len(samples)] = samples
    window = np.hanning(WINDOW + 1)[:-1]
    hz = np.fft.rfftfreq(WINDOW, 1 / 16000)
    bands = [(hz >= low) & (hz < high) for low, high in zip(BAND_EDGES_HZ, BAND_EDGES_HZ[1:])]
    pitch_band = (hz >= 80) & (hz <= 2000)
    tonal_band = (hz >= 300) & (hz < 4000)
    rows = []
    floor = None
    for i in range(frames):
        power = np.abs(np.fft.rfft(padded[i * FRAME:i * FRAME + WINDOW] * window)) ** 2 / WINDOW
        energy = np.array([power[band].sum() for band in bands])
        level = 10 * np.log10(energy + 1e-9)
        floor = level if floor is None else np.where(level < floor, floor + 0.3 * (level - floor),
                                                     np.minimum(level, floor + 0.08))
        above = np.clip(level - floor, 0, 30) / 10
        correlation = np.fft.irfft(np.where(pitch_band, power, 0))
        periodicity = correlation[40:240].max() / (correlation[0] + 1e-9)
        tonal = power[tonal_band] + 1e-12
        flatness = np.log(tonal).mean() - np.log(tonal.mean())
        centre = (hz * power).sum() / (power.sum() + 1e-12) / 1000
        rows.append((above, level, periodicity, flatness, centre, 10 * np.log10(energy.sum() + 1e-9)))
    return [np.array(column) for column in zip(*rows)]


def features(samples):
    above, level, periodicity, flatness, centre, total = frame_features(samples)
    shape = level - level.mean(1, keepdims=True)
    flux = np.abs(np.diff(shape, axis=0, prepend=shape[:1])).mean(1)
    loud = above[:, 1:5].mean(1)
    past = np.zeros((len(loud), 7))
    for i in range(len(loud)):
        w = slice(max(0, i - MEMORY + 1), i + 1)
        past[i] = [shape[w].std(0).mean() / 10, total[w].std() / 10, flux[w].mean() / 3, periodicity[w].std(),
                   periodicity[w].mean(), centre[w].std(), loud[w].std()]
    return np.column_stack([loud, above[:, 0], above[:, 6], loud * periodicity, periodicity, smooth(periodicity, 0.3),
                            smooth(loud, 0.3), flatness, past, loud * past[:, 0], loud * past[:, 2],
                            loud * past[:, 3], np.ones(len(loud))])


def fit(x, wanted, weight):
    """Logistic regression by Newton's method, with a slight pull of the scaled coefficients to 0."""
    scale = np.append(x[:, :-1].std(0), 1)
    x = x / scale
    beta = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (weight * (wanted - p)) - 10 * beta
        hessian = (x.T * (weight * p * (1 - p))) @ x + 10 * np.eye(len(beta))
        beta += np.linalg.solve(hessian, gradient)
    return beta / scale


def load(speech, oracle):
    data = {}
    for part in ("clips", "noise"):
        for path in sorted((speech / part).glob("*.flac")):
            samples, _ = soundfile.read(path)
            truth = np.fromfile(oracle / part / f"{path.stem}.f32", "<f4") >= 0.5
            data[f"{part}/{path.stem}"] = (features(samples), truth if part == "clips" else np.zeros(len(truth), bool))
    return data


def fit_all(data, names):
    x = np.concatenate([data[name][0] for name in names])
    wanted = np.concatenate([data[name][1] for name in names]).astype(float)
    weight = np.concatenate([np.full(len(data[name][1]), 1.0 if name.startswith("clips") else
                                     NOISE_WEIGHT * 1000 / len(data[name][1])) for name in names])
    return fit(x, wanted, weight)


def report(title, data, betas):
    count = {"misses": [0, 0], "false alarms in clips": [0, 0], "false alarms in noise": [0, 0]}
    for name, beta in betas.items():
        x, truth = data[name]
        found = x @ beta >= 0
        quiet = "false alarms in clips" if name.startswith("clips") else "false alarms in noise"
        for key, wrong, of in (("misses", truth & ~found, truth), (quiet, ~truth & found, ~truth)):
            count[key][0] += wrong.sum()
            count[key][1] += of.sum()
    print(title, ", ".join(f"{key} {a} of {b} ({100 * a / b:.1f} %)" for key, (a, b) in count.items()))


def main():
    data = load(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    beta = fit_all(data, list(data))
    beta = np.array([float(f"{value:.4f}") for value in beta])
    if sys.argv[1] == "golden":
        print("# recording frames, then the frames' probabilities; made by tools/builtin_vad_fit.py golden")
        for name in GOLDEN:
            p = 1 / (1 + np.exp(-data[name][0] @ beta))
            print(name, len(p))
            print(*(f"{value:.4f}" for value in p))
        return
    print(", ".join(f"{value:.4f}" for value in beta))
    report("all seen:", data, {name: beta for name in data})
    unseen = {}
    for part in range(9):  # each ninth of the clips and one noise are left out in turn
        out = [name for i, name in enumerate(data) if i % 9 == part]
        without = fit_all(data, [name for name in data if name not in out])
        unseen.update({name: without for name in out})
    report("unseen:", data, unseen)


if __name__ == "__main__":
    main()
