#!/usr/bin/env python3
"""What llama.cpp makes of GGUF files, for mynah to be compared with.

usage: llama_oracle.py greedy  SOURCE BUILD MODEL.gguf OUT.npz      20 prompts, 256 greedy tokens each, with the distance
           of the best two logits: "prompt.0", "tokens.0", "margin.0" on; for tests/models/llama/real_weights_test.cpp
       llama_oracle.py tiny    SOURCE BUILD FOLDER                  tests/models/llama/golden: tiny random checkpoints,
           NAME.gguf, and what llama.cpp computes of them in f32, NAME.npz

SOURCE is the unpacked source package llama-cpp-python 0.3.36, BUILD/bin holds the libllama.so built of its vendor/llama.cpp
(cmake -DGGML_NATIVE=OFF, see docs). Needs numpy and typing_extensions.
"""
import ctypes
import importlib
import os
import pathlib
import sys
import types

import numpy as np

PROMPTS = [
    "The capital of France is", "Once upon a time, in a small village by the sea,", "def fibonacci(n):\n",
    "Write a haiku about the moon.", "What is 17 times 23?", "Der schnelle braune Fuchs", "1, 1, 2, 3, 5, 8,",
    "To make a good cup of tea, you first", "Explain photosynthesis to a child.", "SELECT name FROM users WHERE",
    "The three laws of thermodynamics are", "Dear Sir or Madam,\n\n", "Q: Who wrote Hamlet?\nA:",
    "<p>Hello, <b>world</b>!</p>\n<p>", "In 1969, Neil Armstrong", "My favourite colour is",
    "List five animals that live in Africa:\n1.", "The weather today will be", "x^2 - 5x + 6 = 0. Therefore x =",
    "Translate to Spanish: I am hungry.",
]


def bindings(source, build):
    """The package's ctypes declarations, without the rest of the package."""
    os.environ["LLAMA_CPP_LIB_PATH"] = str(pathlib.Path(build) / "bin")
    package = types.ModuleType("llama_cpp")
    package.__path__ = [str(pathlib.Path(source) / "llama_cpp")]
    sys.modules["llama_cpp"] = package
    return importlib.import_module("llama_cpp.llama_cpp")


class Oracle:
    """A model and one sequence. exact: keys, values and sums in f32."""

    def __init__(self, lib, path, exact, context=1024):
        self.lib = lib
        self.log = lib.llama_log_callback(lambda *_: None)
        lib.llama_log_set(self.log, None)
        lib.llama_backend_init()
        self.model = lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
        assert self.model, path
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = context
        params.n_threads = params.n_threads_batch = 2
        if exact:
            params.type_k = params.type_v = 0  # GGML_TYPE_F32
            params.flash_attn_type = 0  # LLAMA_FLASH_ATTN_TYPE_DISABLED
        self.context = lib.llama_init_from_model(self.model, params)
        assert self.context, path
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.n_vocab = lib.llama_vocab_n_tokens(self.vocab)

    def close(self):
        self.lib.llama_free(self.context)
        self.lib.llama_model_free(self.model)

    def tokenize(self, text):
        room = (self.lib.llama_token * 1024)()
        data = text.encode()
        count = self.lib.llama_tokenize(self.vocab, data, len(data), room, len(room), True, False)
        return list(room[:count])

    def clear(self):
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.context), True)

    def logits(self, tokens, position):
        """Logits after each of the tokens, which stand from `position` on: (tokens, vocabulary)."""
        batch = self.lib.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, position + i, 1, 0
            batch.logits[i] = 1
        assert self.lib.llama_decode(self.context, batch) == 0
        rows = [np.ctypeslib.as_array(self.lib.llama_get_logits_ith(self.context, i), (self.n_vocab,)).copy()
                for i in range(len(tokens))]
        self.lib.llama_batch_free(batch)
        return np.stack(rows)

    def greedy(self, prompt, count):
        """Tokens, and of each how far its logit is above the next best."""
        self.clear()
        row, position = self.logits(prompt, 0)[-1], len(prompt)
        tokens, margins = [], []
        for _ in range(count):
            best = int(row.argmax())
            tokens.append(best)
            margins.append(row[best] - np.partition(row, -2)[-2])
            row, position = self.logits([best], position)[-1], position + 1
        return tokens, margins


def greedy(lib, model, out):
    oracle = Oracle(lib, model, exact=True)
    kept = {}
    for i, text in enumerate(PROMPTS):
        prompt = oracle.tokenize(text)
        tokens, margins = oracle.greedy(prompt, 256)
        kept[f"prompt.{i}"] = np.array(prompt, np.int32)
        kept[f"tokens.{i}"] = np.array(tokens, np.int32)
        kept[f"margin.{i}"] = np.array(margins, np.float32)
    np.savez_compressed(out, **kept)


# Tiny checkpoints: metadata under the architecture's name, and what its blocks have beside the usual.
SIZES = {"block_count": 2, "context_length": 64, "embedding_length": 16, "feed_forward_length": 24, "vocab_size": 40,
         "attention.head_count": 4, "attention.head_count_kv": 2, "attention.key_length": 8, "attention.value_length": 8,
         "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 10000.0, "rope.dimension_count": 8}
HEAD_NORMS = {"attn_q_norm": "attention.key_length", "attn_k_norm": "attention.key_length"}
RESULT_NORMS = {"post_attention_norm": "embedding_length", "post_ffw_norm": "embedding_length"}
TINY = {
    "llama": ("llama", {}, {}, {"untied"}),
    "llama3": ("llama", {"attention.head_count_kv": 1}, {}, {"factors"}),
    "llama_linear": ("llama", {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, {}, set()),
    "llama_yarn": ("llama", {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.freq_base": 50.0,
                             "rope.scaling.original_context_length": 512}, {}, set()),
    "mistral3": ("mistral3", {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.freq_base": 50.0,
                              "rope.scaling.original_context_length": 8, "rope.scaling.yarn_log_multiplier": 0.5,
                              "attention.temperature_scale": 0.25}, {}, {"untied"}),
    "phi3": ("phi3", {"attention.head_count": 2, "attention.head_count_kv": 1, "rope.dimension_count": 6,
                      "rope.scaling.original_context_length": 512}, {}, {"fused", "untied", "long"}),
    "phi3_long": ("phi3", {"attention.head_count": 2, "attention.head_count_kv": 1, "rope.scaling.attn_factor": 1.25,
                           "rope.scaling.original_context_length": 32}, {}, {"fused", "long"}),
    "qwen2": ("qwen2", {"attention.key_length": 4, "attention.value_length": 4, "rope.dimension_count": 4}, {},
              {"biases", "untied"}),
    "qwen3": ("qwen3", {}, HEAD_NORMS, set()),
    "smollm3": ("smollm3", {"block_count": 4}, {}, set()),
    "gemma3": ("gemma3", {"block_count": 4, "attention.sliding_window": 5, "attention.sliding_window_pattern": 2,
                          "rope.freq_base": 1000000.0, "rope.scaling.type": "linear", "rope.scaling.factor": 8.0},
               HEAD_NORMS | RESULT_NORMS, set()),
}


def write_tiny(gguf, path, name, architecture, own, norms, also):
    random = np.random.default_rng(list(name.encode()))
    sizes = SIZES | own
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in sizes.items():
        key = f"{architecture}.{key}"
        add = {str: writer.add_string, float: writer.add_float32, int: writer.add_uint32}[type(value)]
        add(key, value)
    writer.add_tokenizer_model("no_vocab")
    width, inner, vocabulary = (sizes[key] for key in ("embedding_length", "feed_forward_length", "vocab_size"))
    queries = sizes["attention.head_count"] * sizes["attention.key_length"]
    keys = sizes["attention.head_count_kv"] * sizes["attention.key_length"]

    def add(tensor, *shape):
        values = random.uniform(-1, 1, shape).astype(np.float32)
        if "norm" in tensor:
            values = 1 + values / 4
        elif len(shape) == 2 and tensor != "token_embd.weight":
            values = values * np.float32(1.5 / shape[1] ** 0.5)
        writer.add_tensor(tensor, values.astype(np.float32))

    add("token_embd.weight", vocabulary, width)
    for i in range(sizes["block_count"]):
        matrices = {"attn_q": (queries, width), "attn_k": (keys, width), "attn_v": (keys, width),
                    "attn_output": (width, queries), "ffn_gate": (inner, width), "ffn_up": (inner, width),
                    "ffn_down": (width, inner)}
        if "fused" in also:
            for matrix in ("attn_q", "attn_k", "attn_v", "ffn_gate"):
                del matrices[matrix]
            matrices |= {"attn_qkv": (queries + 2 * keys, width), "ffn_up": (2 * inner, width)}
        for matrix, shape in matrices.items():
            add(f"blk.{i}.{matrix}.weight", *shape)
            if "biases" in also and matrix in ("attn_q", "attn_k", "attn_v"):
                add(f"blk.{i}.{matrix}.bias", shape[0])
        for norm, size in ({"attn_norm": "embedding_length", "ffn_norm": "embedding_length"} | norms).items():
            add(f"blk.{i}.{norm}.weight", sizes[size])
    add("output_norm.weight", width)
    if "untied" in also:
        add("output.weight", vocabulary, width)
    if "long" in also:
        for i, length in enumerate(("short", "long")):
            factors = np.linspace(1 + i, 3 + 4 * i, sizes["rope.dimension_count"] // 2)
            writer.add_tensor(f"rope_factors_{length}.weight", factors.astype(np.float32))
    if "factors" in also:
        writer.add_tensor("rope_freqs.weight", np.linspace(1, 8, sizes["rope.dimension_count"] // 2).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tiny(lib, source, folder):
    sys.path.insert(0, str(pathlib.Path(source) / "vendor/llama.cpp/gguf-py"))
    import gguf
    for name, (architecture, own, norms, also) in TINY.items():
        path = pathlib.Path(folder) / f"{name}.gguf"
        write_tiny(gguf, path, name, architecture, own, norms, also)
        oracle = Oracle(lib, path, exact=True, context=64)
        tokens = np.random.default_rng(1).integers(0, oracle.n_vocab, 24).astype(np.int32)
        np.savez_compressed(path.with_suffix(".npz"), tokens=tokens, logits=oracle.logits(tokens.tolist(), 0))
        oracle.close()


if __name__ == "__main__":
    command, source, build = sys.argv[1:4]
    library = bindings(source, build)
    if command == "greedy":
        greedy(library, *sys.argv[4:])
    else:
        tiny(library, source, *sys.argv[4:])
