#!/usr/bin/env python3
"""Writes tests/tensor/quant_vectors.bin: what the `gguf` Python package makes of each storage type.

For each type a record of little-endian fields:
  name (8 bytes, zero padded), elements (u32), stored bytes (u32), has_source (u32),
  source floats (elements * f32, only where has_source), stored bytes, dequantised floats (elements * f32).
has_source: the package quantises this type, so that writing can be compared byte for byte. For the
types that it does not, and MXFP4, the stored bytes are random (scales kept finite and small).

usage: make_quant_vectors.py OUT    (gguf 0.19.0, numpy; the seed is fixed)
"""

import struct
import sys

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf import quants

SEED = 20261121
# Byte offsets of the half-precision scales in a block (ggml-common.h).
HALVES = {T.Q2_K: (80, 82), T.Q3_K: (108,), T.Q4_K: (0, 2), T.Q5_K: (0, 2), T.Q6_K: (208,),
          T.IQ4_NL: (0,), T.IQ4_XS: (0,), T.MXFP4: ()}


def source(rng: np.random.Generator, n: int) -> np.ndarray:
    """Normal numbers of several magnitudes, with a block of zeros, one of equal values, one with a tie of peaks."""
    x = rng.standard_normal(n).astype(np.float32) * np.repeat(10.0 ** rng.integers(-3, 3, n // 32), 32).astype(np.float32)
    x[0:32] = 0
    x[32:64] = 0.75
    x[64:96] = np.linspace(-1, 1, 32)
    return x


def main() -> None:
    rng = np.random.default_rng(SEED)
    with open(sys.argv[1], "wb") as out:
        for t in (T.F16, T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0, *HALVES):
            if t in HALVES:
                block = quants.GGML_QUANT_SIZES[t][1]
                stored = rng.integers(0, 256, (4, block), dtype=np.uint8)
                for offset in HALVES[t]:
                    stored[:, offset : offset + 2] = rng.uniform(-0.1, 0.1, (4, 1)).astype(np.float16).view(np.uint8)
                if t == T.MXFP4:
                    stored[:, 0] = (0, 1, 118, 130)  # exponents
                stored, x = stored.reshape(1, -1), None
            else:
                x = source(rng, 512).reshape(1, -1)
                stored = quants.quantize(x, t).view(np.uint8)
            values = quants.dequantize(stored if t != T.F16 else stored.view(np.float16), t).astype(np.float32)
            out.write(struct.pack("<8sIII", t.name.lower().encode(), values.size, stored.size, x is not None))
            if x is not None:
                out.write(x.tobytes())
            out.write(stored.tobytes())
            out.write(values.tobytes())


if __name__ == "__main__":
    main()
