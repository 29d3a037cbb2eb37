#!/usr/bin/env python3
"""Coefficients of backend/cpu's gelu: erf(x / sqrt 2) = x P(x^2) / Q(x^2), of least largest error.

usage: fit_erf.py [P's degree] [Q's degree] [end, where erf counts as 1]

Linear least squares of y Q - P, reweighted until the largest errors are level (Sanathanan and Koerner 1963, Lawson 1961).
Prints the coefficients in rising order, and the error of gelu in f32 arithmetic relative to x, in units of 2^-23.
"""
import math
import sys

import numpy as np

erf = np.vectorize(math.erf)
ROUNDS = 200
NODES = 4000


def fit(p_degree, q_degree, end):
    """The largest error, and the coefficients of P and Q."""
    z = np.maximum((1 - np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)) / 2 * end, 1e-6)  # Chebyshev's nodes
    scale = z.max() ** 2
    t, wanted = z * z / scale, erf(z) / z
    level, below = np.ones(NODES), np.ones(NODES)
    best = None
    for _ in range(ROUNDS):
        weight = z * level / below
        columns = [t**i for i in range(p_degree + 1)] + [-wanted * t**i for i in range(1, q_degree + 1)]
        c = np.linalg.lstsq(np.stack(columns, 1) * weight[:, None], wanted * weight, rcond=None)[0]
        p, q = c[: p_degree + 1], np.concatenate([[1], c[p_degree + 1 :]])
        below = np.polyval(q[::-1], t)
        error = np.abs(z * np.polyval(p[::-1], t) / below - erf(z))
        if best is None or error.max() < best[0]:
            best = error.max(), p, q
        level *= (error / error.max() + 0.02) ** 0.25
        level /= level.max()
    largest, p, q = best
    # From z = x / sqrt 2, t = z^2 / scale to x and x^2.
    return (largest, p / (2 * scale) ** np.arange(p_degree + 1) / np.sqrt(2), q / (2 * scale) ** np.arange(q_degree + 1))


def horner(coefficients, t):
    """In f32, multiplying and adding with one rounding."""
    value = np.full_like(t, np.float32(coefficients[-1]))
    for c in coefficients[-2::-1]:
        value = (value.astype(np.float64) * t + np.float64(np.float32(c))).astype(np.float32)
    return value


def gelu_error(p, q, end):
    x = np.linspace(-12, 12, 400001).astype(np.float32)
    t = x * x
    near = (x * horner(p, t) / horner(q, t)).astype(np.float32)
    e = np.where(np.abs(x) > np.float32(end * np.sqrt(2)), np.sign(x), near)
    half = x * np.float32(0.5)
    found = (half.astype(np.float64) * e + half).astype(np.float32)
    exact = x.astype(np.float64)
    return np.max(np.abs(found - exact / 2 * (1 + erf(exact / np.sqrt(2)))) / np.maximum(np.abs(exact), 1e-3)) * 2**23


def main():
    p_degree, q_degree = (int(a) for a in (sys.argv[1:3] or ("4", "5")))
    end = float(sys.argv[3]) if len(sys.argv) > 3 else 3.8
    largest, p, q = fit(p_degree, q_degree, end)
    print("P", " ".join(f"{c:.8g}" for c in p))
    print("Q", " ".join(f"{c:.8g}" for c in q))
    print(f"up to {np.float32(end * np.sqrt(2)):.8g}; error of erf {largest:.2g}, of gelu {gelu_error(p, q, end):.2g} eps |x|")


if __name__ == "__main__":
    main()
