#!/usr/bin/env python3
"""Writes tests/ops/log_mel_vectors.bin: what faster-whisper's feature extractor makes of a second of sound.

Little-endian: samples (u32), frames (u32), mels (u32), bins (u32), then f32: samples, filters (mels, bins),
log-mel (frames, mels). 30 s of zeros follow the samples, as before a Whisper window.

usage: make_log_mel_vectors.py OUT    (faster-whisper 1.2.1, numpy; the seed is fixed)
"""

import struct
import sys

import numpy as np
from faster_whisper.feature_extractor import FeatureExtractor

SEED = 20261121
SAMPLES = 2000
FRAMES = 20  # the last ones see the end of the samples and zeros


def main() -> None:
    rng = np.random.default_rng(SEED)
    t = np.arange(SAMPLES) / 16000
    wave = (0.2 * np.sin(2 * np.pi * (300 + 4000 * t) * t) + 0.01 * rng.standard_normal(SAMPLES)).astype(np.float32)
    extractor = FeatureExtractor(feature_size=80)
    mel = extractor(np.concatenate([wave, np.zeros(480000, np.float32)]))[:, :FRAMES].T.astype(np.float32)
    filters = extractor.mel_filters.astype(np.float32)
    with open(sys.argv[1], "wb") as out:
        out.write(struct.pack("<4I", SAMPLES, FRAMES, *filters.shape))
        for x in (wave, filters, np.ascontiguousarray(mel)):
            out.write(x.tobytes())


if __name__ == "__main__":
    main()
