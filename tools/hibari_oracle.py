#!/usr/bin/env python3
"""What the hibari voice says, by ONNX Runtime in f32 and the wheel's own dsp.py, for tests of src/models/hibari.

  hibari_oracle.py MODEL.onnx VOCAB.json OUT.npz

Of ten of Kokoro's test sentences (tools/kokoro_oracle.py) the ids, and the samples without noise; of the first what the
networks draw, too. The int8 file becomes a float graph as Kokoro's does. Needs onnx, onnxruntime and hibari-tts 0.2.1.
"""
import json
import sys
import tempfile

import numpy as np
from hibari import dsp
from kokoro_oracle import SENTENCES, float_graph


class Silence:
    """A generator whose noise is zero."""

    def standard_normal(self, shape, dtype):
        return np.zeros(shape, dtype)


def main():
    import onnxruntime

    model, vocabulary, target = sys.argv[1:]
    ids_of = json.load(open(vocabulary, encoding="utf-8"))
    with tempfile.NamedTemporaryFile(suffix=".onnx") as floats:
        float_graph(model, floats.name)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        run = onnxruntime.InferenceSession(floats.name, options, providers=["CPUExecutionProvider"])
    arrays = {}
    for i, sentence in enumerate(SENTENCES[:10]):
        ids = [ids_of[c] for c in sentence if c in ids_of]
        parts = run.run(None, {"ids": np.array([[0, *ids, 0]], np.int64), "speed": np.ones(1, np.float32)})
        *spectra, pitch = (part[0] for part in parts)
        if i == 0:
            arrays["spectra"] = np.ascontiguousarray(np.concatenate(spectra).T, np.float32)
            arrays["pitch"] = np.ascontiguousarray(pitch, np.float32)
        arrays[f"ids{i}"] = np.array(ids, np.int32)
        arrays[f"speech{i}"] = np.ascontiguousarray(dsp.synth(*spectra, pitch, Silence()), np.float32)
    np.savez(target, **arrays)


if __name__ == "__main__":
    main()
