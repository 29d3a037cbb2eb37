#!/usr/bin/env python3
"""Coefficients of sin_squared in the backends cpu and cuda: sin r = r + r^3 P(r^2) for |r| <= END, and its error.

usage: fit_sin.py [P's degree]

Linear least squares of P, reweighted until the largest relative errors of sin are level (Lawson 1961). Prints the
coefficients in rising order, then the largest errors of sin_squared in f32 arithmetic, with one rounding and with two for
a product and a sum, in units of 2^-23: of sin^2 t itself up to pi / 2, of 1 up to 1e4, and of |t| up to 1e30.
"""
import sys

import numpy as np

f32 = np.float32
ROUNDS = 300
NODES = 4000
EPSILON = 2.0**-23
# pi in two numbers: the first has 12 bits, so that up to 4096 times it is exact.
HIGH = f32(float.fromhex("0x1.922p1"))
LOW = f32(np.longdouble("3.14159265358979323846") - np.longdouble(HIGH))
# Beyond pi / 2 by what t / pi to the nearest is off at 1e4.
END = f32(1.573)


def fit(degree):
    """The largest relative error of sin, and the coefficients of P."""
    r = (1 - np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)) / 2 * END  # Chebyshev's nodes
    r = np.maximum(r, 1e-3)
    t, wanted = r * r, np.sin(r) / r - 1
    columns = np.stack([t ** (i + 1) for i in range(degree + 1)], 1)
    level, best = np.ones(NODES), None
    for _ in range(ROUNDS):
        weight = level * r / np.sin(r)
        c = np.linalg.lstsq(columns * weight[:, None], wanted * weight, rcond=None)[0]
        error = np.abs(columns @ c - wanted) * r / np.sin(r)
        if best is None or error.max() < best[0]:
            best = error.max(), c
        level *= (error / error.max() + 0.02) ** 0.25
        level /= level.max()
    return best


def fused(a, b, c):
    return (np.float64(a) * np.float64(b) + np.float64(c)).astype(f32)


def plain(a, b, c):
    return a * b + c


def sin_squared(t, p, multiply_add):
    """As backend/cuda/kernels/math.h and backend/cpu/math-inl.h compute it."""
    n = np.rint(t * f32(1 / np.pi))
    r = multiply_add(n, -HIGH, t)
    r = multiply_add(n, -LOW, r)
    r = np.clip(r, -END, END)
    z = r * r
    q = np.full_like(z, f32(p[-1]))
    for c in p[-2::-1]:
        q = multiply_add(q, z, f32(c))
    s = multiply_add(q * z, r, r)
    return s * s


def arguments(low, high):
    """Numbers of f32, evenly among its values, and those about multiples of pi / 2."""
    bits = np.linspace(f32(low).view(np.int32), f32(high).view(np.int32), 4_000_001).astype(np.int32)
    turns = np.arange(1, 6367) * (np.pi / 2)
    near = np.concatenate([(turns.astype(f32).view(np.int32) + i).view(f32) for i in range(-3, 4)])
    return np.concatenate([bits.view(f32), near[(near >= low) & (near <= high)]])


def main():
    largest, p = fit(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    print("P", " ".join(f"{f32(c):.9g}" for c in p), f"sin within {largest:.2g} of its magnitude")
    print(f"pi = {HIGH:.9g} + {LOW:.9g}, 1 / pi = {f32(1 / np.pi):.9g}, end {END:.9g}")
    for name, multiply_add in (("one rounding", fused), ("two roundings", plain)):
        errors = []
        for low, high, unit in ((1e-15, np.pi / 2, "value"), (np.pi / 2, 1e4, "one"), (1e4, 1e30, "t")):
            t = arguments(low, high)
            exact = np.sin(t.astype(np.longdouble)) ** 2
            error = np.abs(sin_squared(t, p, multiply_add).astype(np.longdouble) - exact)
            errors.append(float(np.max(error / {"value": exact, "one": 1, "t": t.astype(np.longdouble)}[unit])) / EPSILON)
        print(name, "eps: of sin^2 up to pi / 2 {:.3g}, of 1 up to 1e4 {:.3g}, of |t| beyond {:.3g}".format(*errors))


if __name__ == "__main__":
    main()
