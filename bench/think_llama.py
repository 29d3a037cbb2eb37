#!/usr/bin/env python3
"""llama.cpp's side of what bench/think/turns.cpp measures, by its library (libllama.so of tools/build_llama.sh) in a process of its own:
the same tokens, its keys and values kept from turn to turn as its server keeps them (cache_prompt), the likeliest token each time.

usage: think_llama.py FOLDER MODEL.gguf turns|memory THREADS ROUNDS      (FOLDER: .cache/llama)
"""
import json
import pathlib
import resource
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import llama_oracle  # noqa: E402

FIRST_TURN, REPLY, SECOND_QUESTION, KEPT, NEW, CLAUSE, CONTEXT = 2000, 64, 30, 1500, 40, 16, 4096


class Text:
    def __init__(self, lib, path, threads):
        self.lib = lib
        self.log = lib.llama_log_callback(lambda *_: None)
        lib.llama_log_set(self.log, None)
        lib.llama_backend_init()
        self.model = lib.llama_model_load_from_file(path.encode(), lib.llama_model_default_params())
        params = lib.llama_context_default_params()
        params.n_ctx = CONTEXT
        params.n_batch = params.n_ubatch = 512
        params.n_threads = params.n_threads_batch = threads
        self.context = lib.llama_init_from_model(self.model, params)
        self.vocabulary = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.model))
        self.sampler = lib.llama_sampler_init_greedy()
        self.batch = lib.llama_batch_init(512, 0, 1)
        self.length = 0

    def clear(self):
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.context), True)
        self.length = 0

    def read(self, tokens):
        """What follows them; they stand behind what was read."""
        for begin in range(0, len(tokens), 512):
            part = tokens[begin:begin + 512]
            self.batch.n_tokens = len(part)
            for i, token in enumerate(part):
                self.batch.token[i], self.batch.pos[i] = token, self.length + i
                self.batch.n_seq_id[i], self.batch.seq_id[i][0] = 1, 0
                self.batch.logits[i] = i + 1 == len(part) and begin + 512 >= len(tokens)
            assert self.lib.llama_decode(self.context, self.batch) == 0
            self.length += len(part)
        return self.lib.llama_sampler_sample(self.sampler, self.context, -1)

    def write(self, token, count):
        for _ in range(count):
            token = self.read([token])
        return token

    def tokens(self, count, salt):
        return [(i * 7919 + 17 * salt + 5) % self.vocabulary for i in range(count)]


def turns(text, rounds):
    first, second, clause = [], [], []
    for number in range(rounds):
        text.clear()
        begun = time.monotonic()
        token = text.read(text.tokens(FIRST_TURN, 2 * number))
        first.append(time.monotonic() - begun)
        token = text.write(token, REPLY - 1)
        # The reply's last token was not read yet; then the question.
        begun = time.monotonic()
        text.read([token] + text.tokens(SECOND_QUESTION, 2 * number + 1))
        second.append(time.monotonic() - begun)
        text.clear()
        token = text.read(text.tokens(KEPT, 1000 + number))
        begun = time.monotonic()
        token = text.read([token] + text.tokens(NEW, 2000 + number))
        text.write(token, CLAUSE - 1)
        clause.append(time.monotonic() - begun)
    return {key: 1e3 * statistics.median(times)
            for key, times in (("first_turn_ms", first), ("second_turn_ms", second), ("clause_ms", clause))}


def memory(text):
    token = 0
    for _ in range((CONTEXT - 1) // 512):
        token = text.read(text.tokens(512, 0))
    text.write(token, 8)
    return {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}


def main():
    folder, model, what, threads, rounds = sys.argv[1:]
    lib = llama_oracle.bindings(pathlib.Path(folder) / "src", pathlib.Path(folder) / "build")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    text = Text(lib, model, int(threads))
    found = turns(text, int(rounds)) if what == "turns" else {**memory(text), "python_mb": before}
    print(json.dumps(found))


main()
