#!/usr/bin/env python3
"""What llama.cpp's samplers leave of given logits: the golden distributions of tests/nn/decode/sampling_test.cpp.

usage: sampling_oracle.py LIBLLAMA > tests/nn/decode/sampling_llama.tsv
LIBLLAMA: libllama.so of the source package llama-cpp-python 0.3.36. Needs numpy.

The samplers run one after the other in the order of the package's common/common.h: logit_bias, penalties, top_k, typ_p,
top_p, min_p, temperature, dist; those that a case does not set are left out.

Lines: "logits NAME VALUE..." and, of the logits last named, "case SETTINGS ID:P...", tab-separated; SETTINGS is NAME=VALUE
with spaces between, said=ID,... are the tokens that penalties are of, bias=ID:VALUE,... the biases. Tokens of the same value
are the same to llama.cpp, whose sorting leaves open which of them is left: here it is those of the lowest ids.

A case whose borders are so near that numbers of 32 bits may decide is left out: the set that is left must be the same of
logits that are moved by up to 1e-4. The cases "at the border" are those in which sums are exact.
"""
import argparse
import ctypes

import numpy as np

NEAR = 1e-4


class TokenData(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float)]


class TokenDataArray(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(TokenData)), ("size", ctypes.c_size_t), ("selected", ctypes.c_int64),
                ("sorted", ctypes.c_bool)]


class LogitBias(ctypes.Structure):
    _fields_ = [("token", ctypes.c_int32), ("bias", ctypes.c_float)]


class Llama:
    """The library's samplers, by name and arguments."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        integer, real, size = ctypes.c_int32, ctypes.c_float, ctypes.c_size_t
        for name, types in {"logit_bias": [integer, integer, ctypes.POINTER(LogitBias)],
                            "penalties": [integer, integer, real, real, real], "top_k": [integer], "typical": [real, size],
                            "top_p": [real, size], "min_p": [real, size], "temp_ext": [real, real, real],
                            "dist": [ctypes.c_uint32]}.items():
            function = getattr(self.library, f"llama_sampler_init_{name}")
            function.argtypes, function.restype = types, ctypes.c_void_p
        self.library.llama_sampler_apply.argtypes = [ctypes.c_void_p, ctypes.POINTER(TokenDataArray)]
        self.library.llama_sampler_accept.argtypes = [ctypes.c_void_p, integer]
        self.library.llama_sampler_free.argtypes = [ctypes.c_void_p]

    def apply(self, tokens, name, *arguments, said=()):
        sampler = getattr(self.library, f"llama_sampler_init_{name}")(*arguments)
        for token in said:
            self.library.llama_sampler_accept(sampler, token)
        self.library.llama_sampler_apply(sampler, ctypes.byref(tokens))
        self.library.llama_sampler_free(sampler)

    def left(self, logits, settings):
        """(value, p) of each token that is left, by id; values are those that the filters see."""
        values = self.penalised(logits, settings)
        # typ_p makes NaN of a token that never comes.
        ids = [i for i in range(len(values)) if values[i] > -np.inf]
        memory = (TokenData * len(ids))(*[TokenData(i, values[i], 0.0) for i in ids])
        tokens = TokenDataArray(memory, len(ids), -1, False)
        for setting, name, more in [("top_k", "top_k", ()), ("typical_p", "typical", (0,)), ("top_p", "top_p", (0,)),
                                    ("min_p", "min_p", (0,)), ("temperature", "temp_ext", (0.0, 1.0))]:
            if setting in settings:
                self.apply(tokens, name, settings[setting], *more)
        self.apply(tokens, "dist", 1)
        return values, {tokens.data[i].id: tokens.data[i].p for i in range(tokens.size)}

    def penalised(self, logits, settings):
        count = len(logits)
        memory = (TokenData * count)(*[TokenData(i, logit, 0.0) for i, logit in enumerate(logits)])
        tokens = TokenDataArray(memory, count, -1, False)
        if "bias" in settings:
            biases = (LogitBias * len(settings["bias"]))(*[LogitBias(*pair) for pair in settings["bias"]])
            self.apply(tokens, "logit_bias", count, len(biases), biases)
        if "said" in settings:
            said = settings["said"]
            self.apply(tokens, "penalties", count, len(said), settings.get("repetition_penalty", 1.0),
                       settings.get("frequency_penalty", 0.0), settings.get("presence_penalty", 0.0), said=said)
        values = np.zeros(count, np.float32)
        for i in range(tokens.size):
            values[tokens.data[i].id] = tokens.data[i].logit
        return values


def lowest_ids(values, left):
    """The same with the lowest ids of each value."""
    renamed = {}
    for value in {float(values[i]) for i in left}:
        shares = [left[i] for i in left if values[i] == value]
        renamed.update(zip(np.flatnonzero(values == value).tolist(), shares))
    return dict(sorted(renamed.items()))


def counts(values, left):
    return sorted(float(values[i]) for i in left)


def is_clear(llama, logits, settings, random):
    """Whether logits that are a little different leave as many tokens of each value."""
    values, left = llama.left(logits, settings)
    for _ in range(8):
        _, other = llama.left(logits + random.uniform(-NEAR, NEAR, len(logits)).astype(np.float32), settings)
        if counts(values, other) != counts(values, left):
            return False
    return True


def some_settings(random, count):
    """A temperature and, each or not, the filters and the penalties."""
    settings = {"temperature": random.choice([0.25, 0.7, 1.0, 1.6])}
    for name, value in [("top_k", int(random.integers(3, count + 3))), ("typical_p", round(random.uniform(0.4, 0.98), 2)),
                        ("top_p", round(random.uniform(0.6, 0.98), 2)), ("min_p", round(random.uniform(0.01, 0.3), 2))]:
        if random.random() < 0.5:
            settings[name] = value
    if random.random() < 0.35:
        settings["said"] = random.integers(0, count, random.integers(1, 9)).tolist()
        settings["repetition_penalty"] = random.choice([1.0, 1.1, 1.3, 0.8])
        settings["frequency_penalty"] = random.choice([0.0, 0.25, -0.5])
        settings["presence_penalty"] = random.choice([0.0, 0.5, 1.25])
    if random.random() < 0.25:
        biased = random.choice(count, min(count, 3), replace=False).tolist()
        settings["bias"] = [(token, random.choice([-np.inf, -2.0, 1.5, 3.0])) for token in biased[:2]]
        settings["bias"] += [(token, 0.75) for token in biased[2:]]
    return settings


def text_of(settings):
    words = []
    for name, value in settings.items():
        if name == "said":
            value = ",".join(map(str, value))
        elif name == "bias":
            value = ",".join(f"{token}:{bias:g}" for token, bias in value)
        else:
            value = f"{value:g}"
        words.append(f"{name}={value}")
    return " ".join(words)


def rows(random):
    """Name, logits and how many cases of them. Halves, quarters and sixteenths, which text says exactly."""
    for i in range(8):
        yield f"normal {i}", random.normal(0, 0.75 + i / 4, 12).round(4) * 16 // 1 / 16, 18
    yield "ties", random.normal(0, 1.5, 12).round(), 24
    yield "two values", random.integers(0, 2, 12) * 2.5, 12
    yield "equal", np.full(12, -2.5), 8
    yield "with -inf", np.where(np.arange(12) % 3 == 1, -np.inf, random.normal(0, 2, 12).round(1) * 16 // 1 / 16), 16
    yield "one token", np.array([3.25]), 6
    yield "all but one -inf", np.where(np.arange(12) == 7, -1.0, -np.inf), 6
    yield "huge range", np.array([-1e30, 60, 59.5, -4000, 0, 58.75, 1e-3, -88, 60.25, 57, -1e4, 60.25]), 16
    yield "far below zero", random.normal(-3000, 1.5, 12).round(1) * 16 // 1 / 16, 10
    yield "one stands out", np.append(random.normal(0, 0.5, 11).round(2) * 16 // 1 / 16, 3.0), 16


AT_THE_BORDER = [("eight equal", np.zeros(8), [{"top_p": 0.5}, {"top_p": 0.0}, {"typical_p": 0.5}, {"typical_p": 0.0},
                                               {"min_p": 1.0}, {"top_k": 3}, {"typical_p": 0.5, "top_p": 0.5},
                                               {"top_k": 4, "top_p": 0.25}]),
                 ("halves and a tie", np.array([1.0, 2.0, 2.0, 1.0]), [{"min_p": 1.0}, {"top_k": 1}, {"top_k": 3}])]


def print_case(llama, logits, settings):
    values, left = llama.left(logits, settings)
    print("case", text_of(settings), *[f"{i}:{p:.7g}" for i, p in lowest_ids(values, left).items()], sep="\t")


def print_logits(name, logits):
    print("logits", name, *[f"{value:.9g}" for value in logits], sep="\t")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libllama")
    llama = Llama(parser.parse_args().libllama)
    random = np.random.default_rng(32)
    print("# Made by tools/sampling_oracle.py, which says what this is. llama.cpp of llama-cpp-python 0.3.36.")
    for name, logits, wanted in rows(random):
        logits = np.asarray(logits, np.float32)
        print_logits(name, logits)
        for _ in range(wanted):
            settings = some_settings(random, len(logits))
            while np.all(llama.penalised(logits, settings) == -np.inf) or not is_clear(llama, logits, settings, random):
                settings = some_settings(random, len(logits))
            print_case(llama, logits, settings)
    for name, logits, cases in AT_THE_BORDER:
        print_logits(name, logits)
        for settings in cases:
            print_case(llama, logits.astype(np.float32), {"temperature": 1.0, **settings})


if __name__ == "__main__":
    main()
