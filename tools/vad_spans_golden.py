#!/usr/bin/env python3
"""Writes tests/speech/golden/spans.txt: what silero-vad's own segmentation says of made-up probabilities.

Needs the folder of the silero_vad package (the unpacked wheel, 6.2.3) and `packaging`; PyTorch, which the module
imports but its segmentation does not use, is replaced by an empty stand-in.

  vad_spans_golden.py PACKAGE_FOLDER > tests/speech/golden/spans.txt

A case is a line of options, a line of spans in samples at 16 kHz. Probabilities come from the generator below, which
tests/speech/speech_segmenter_test.cpp repeats.
"""
import importlib.util
import math
import pathlib
import sys
import types

FRAME = 512
RATE = 16000


def stub_torch():
    """A module with the names that utils_vad.py mentions while it is imported."""
    torch = types.ModuleType("torch")
    torch.device = lambda name: name
    torch.no_grad = lambda: (lambda function: function)
    torch.Tensor = object
    sys.modules["torch"] = torch


def load_reference(folder):
    stub_torch()
    spec = importlib.util.spec_from_file_location("utils_vad", pathlib.Path(folder) / "utils_vad.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Generator:
    """Numerical Recipes' 32-bit linear congruential generator, its high 16 bits."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
        return self.state >> 16


def probabilities(seed, frames, mean_run):
    """Runs of loud, middling and quiet frames; multiples of 1/1024, so that every float is exact."""
    generator = Generator(seed)
    values = []
    while len(values) < frames:
        base = (950, 460, 40)[generator.next() % 3]
        for _ in range(1 + generator.next() % (2 * mean_run)):
            values.append(min(1023, max(0, base + generator.next() % 129 - 64)) / 1024)
    return values[:frames]


def main():
    reference = load_reference(sys.argv[1])
    print("# seed frames mean_run tail_samples | threshold negative min_speech_ms max_speech_s min_silence_ms pad_ms"
          " min_silence_at_max_ms | begin end ... in samples at 16 kHz; made by tools/vad_spans_golden.py")
    options = [
        (0.5, -1, 250, math.inf, 100, 30, 98),
        (0.5, 0.25, 0, math.inf, 0, 30, 98),
        (0.25, -1, 250, 3.0, 100, 30, 98),
        (0.5, -1, 250, 2.0, 1000, 200, 98),
        (0.75, 0.5, 100, 1.5, 2000, 400, 30),
        (0.5, 0.375, 64, 0.7, 160, 10, 98),
        (0.5, -1, 500, 5.0, 32, 0, 0),
        (0.125, -1, 1000, 8.0, 2000, 1000, 500),
    ]
    seed = 0
    for mean_run in (1, 4, 16, 40):
        for option in options:
            for tail in (1, 200, 512):
                seed += 1
                frames = 40 + 61 * (seed % 9)
                threshold, negative, min_speech, max_speech, min_silence, pad, at_max = option
                spans = reference.get_speech_timestamps_from_probs(
                    probabilities(seed, frames, mean_run), sampling_rate=RATE, threshold=threshold,
                    neg_threshold=None if negative < 0 else negative, min_speech_duration_ms=min_speech,
                    max_speech_duration_s=max_speech, min_silence_duration_ms=min_silence, speech_pad_ms=pad,
                    min_silence_at_max_speech=at_max, audio_length_samples=(frames - 1) * FRAME + tail)
                print(seed, frames, mean_run, tail, "|", *option, "|",
                      *(number for span in spans for number in (span["start"], span["end"])))


if __name__ == "__main__":
    main()
