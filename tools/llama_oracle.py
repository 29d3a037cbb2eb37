#!/usr/bin/env python3
"""What llama.cpp makes of GGUF files, for mynah to be compared with.

usage: llama_oracle.py greedy  SOURCE BUILD MODEL.gguf OUT.npz      20 prompts, 256 greedy tokens each, with the distance
           of the best two logits: "prompt.0", "tokens.0", "margin.0" on; for tests/models/llama/real_weights_test.cpp
       llama_oracle.py tiny    SOURCE BUILD FOLDER [NAME...]        tests/models/llama/golden: tiny random checkpoints,
           NAME.gguf, and what llama.cpp computes of them in f32, NAME.npz; all, or those named

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
EXPERTS_AS_DENSE = {"expert_count": 6, "expert_used_count": 2}
EXPERTS = EXPERTS_AS_DENSE | {"expert_feed_forward_length": 12}
SIGMOIDS = {"expert_gating_func": 2, "leading_dense_block_count": 1}
LFM2 = {"block_count": 4, "attention.head_count_kv": [0, 2, 0, 2], "attention.key_length": 4, "attention.value_length": 4,
        "rope.dimension_count": 4, "shortconv.l_cache": 3}
HYBRID = {"block_count": 4, "full_attention_interval": 2, "rope.dimension_count": 4}
SECTIONS = {"rope.dimension_sections": [1, 1, 0, 0]}
DELTA_NET = {"ssm.conv_kernel": 4, "ssm.state_size": 8, "ssm.group_count": 2, "ssm.time_step_rank": 4, "ssm.inner_size": 32}
HALF_HEADS = {"attention.key_length": 4, "attention.value_length": 4, "rope.dimension_count": 4}
LAYER_NORMS = {"attention.layer_norm_epsilon": 1e-5}
COHERE = HALF_HEADS | LAYER_NORMS | {"logit_scale": 0.25}
GRANITE = {"logit_scale": 4.0, "residual_scale": 0.5, "embedding_scale": 3.0, "attention.scale": 0.25}
SHARED_GATED = EXPERTS | {"expert_shared_feed_forward_length": 20}
NORMED_AS_POST = {"post_attention_norm": "embedding_length"}  # the norm before the feed-forward block
GEMMA4 = {"block_count": 6, "attention.sliding_window": 5, "attention.sliding_window_pattern": [True, False] * 3,
          "attention.key_length": 16, "attention.value_length": 16, "attention.key_length_swa": 8, "attention.value_length_swa": 8,
          "rope.dimension_count": 16, "rope.dimension_count_swa": 8, "attention.head_count_kv": [2, 1] * 3,
          "rope.freq_base": 1000000.0, "rope.freq_base_swa": 10000.0, "final_logit_softcapping": 5.0,
          "attention.shared_kv_layers": 2, "feed_forward_length": [24] * 4 + [40] * 2}
GPT_OSS = {"block_count": 4, "attention.sliding_window": 5, "rope.scaling.type": "yarn", "rope.scaling.factor": 32.0,
           "rope.freq_base": 150.0, "rope.scaling.original_context_length": 16}
TINY = {
    "afmoe": ("afmoe", EXPERTS | SIGMOIDS | {"block_count": 4, "attention.sliding_window": 5, "expert_shared_count": 1,
                                             "expert_weights_scale": 1.5, "expert_weights_norm": True}, HEAD_NORMS | RESULT_NORMS,
              {"experts", "no_dense", "choice_bias", "shared", "attn_gate"}),
    "arcee": ("arcee", {}, {}, {"ungated"}),
    "bailingmoe": ("bailingmoe", EXPERTS | {"expert_shared_count": 2, "expert_weights_norm": True}, {},
                   {"experts", "no_dense", "shared", "untied"}),
    "bailingmoe2": ("bailingmoe2", HALF_HEADS | EXPERTS | SIGMOIDS |
                    {"expert_count": 12, "expert_used_count": 3, "expert_group_count": 4, "expert_group_used_count": 2,
                     "expert_shared_count": 1, "expert_weights_scale": 2.5, "expert_weights_norm": True}, HEAD_NORMS,
                    {"fused_qkv", "experts", "no_dense", "choice_bias", "shared", "untied"}),
    "cohere2": ("cohere2", COHERE | {"block_count": 4, "attention.sliding_window": 5}, {}, {"no_ffn_norm"}),
    "command-r": ("command-r", COHERE, {}, {"no_ffn_norm"}),
    "deepseek": ("deepseek", HALF_HEADS | EXPERTS | {"expert_shared_count": 2, "leading_dense_block_count": 1,
                                                     "expert_weights_scale": 1.5}, {}, {"experts", "no_dense", "shared", "untied"}),
    "dots1": ("dots1", EXPERTS | SIGMOIDS | {"attention.head_count_kv": 4, "expert_shared_count": 2, "expert_weights_scale": 1.5,
                                             "expert_weights_norm": False}, HEAD_NORMS,
              {"experts", "no_dense", "choice_bias", "shared", "untied"}),
    "ernie4_5": ("ernie4_5", {}, {}, set()),
    "ernie4_5-moe": ("ernie4_5-moe", SHARED_GATED | {"leading_dense_block_count": 1, "interleave_moe_layer_step": 1}, {},
                     {"experts", "no_dense", "choice_bias", "shared"}),
    "exaone": ("exaone", {}, {}, {"factors"}),
    "exaone4": ("exaone4", HALF_HEADS, HEAD_NORMS | RESULT_NORMS, {"no_input_norms"}),
    "gemma": ("gemma", {}, {}, set()),
    "glm4": ("glm4", {"rope.dimension_count": 4}, RESULT_NORMS, {"fused_gate", "qkv_biases", "untied"}),
    "glm4moe": ("glm4moe", EXPERTS | SIGMOIDS | {"block_count": 3, "nextn_predict_layers": 1, "expert_shared_count": 1,
                                                 "expert_weights_scale": 1.5, "expert_weights_norm": True,
                                                 "expert_group_count": 1, "rope.dimension_count": 4}, NORMED_AS_POST,
                {"experts", "no_dense", "no_ffn_norm", "choice_bias", "shared", "qkv_biases"}),
    "granite": ("granite", GRANITE, {}, set()),
    "granitemoe": ("granitemoe", GRANITE | EXPERTS_AS_DENSE | {"expert_shared_feed_forward_length": 20}, {},
                   {"experts", "no_dense", "shared"}),
    "hunyuan-dense": ("hunyuan-dense", {}, HEAD_NORMS, set()),
    "hunyuan-moe": ("hunyuan-moe", SHARED_GATED | {"expert_feed_forward_length": 24}, HEAD_NORMS,
                    {"experts", "no_dense", "shared"}),
    "minimax-m2": ("minimax-m2", EXPERTS | SIGMOIDS | {"leading_dense_block_count": 0, "expert_feed_forward_length": 24}, HEAD_NORMS,
                   {"experts", "no_dense", "choice_bias", "whole_norms", "untied"}),
    "nemotron": ("nemotron", HALF_HEADS | LAYER_NORMS | {"rope.dimension_count": 2}, {}, {"ungated", "norm_biases", "untied"}),
    "olmo2": ("olmo2", HALF_HEADS | {"block_count": 4, "attention.sliding_window": 5, "rope.scaling.type": "yarn",
                                     "rope.scaling.factor": 4.0, "rope.freq_base": 50.0,
                                     "rope.scaling.original_context_length": 16}, HEAD_NORMS | RESULT_NORMS,
              {"no_input_norms", "whole_norms", "untied"}),
    "olmoe": ("olmoe", HALF_HEADS | EXPERTS_AS_DENSE | {"attention.head_count_kv": 4}, HEAD_NORMS, {"experts", "no_dense", "whole_norms", "untied"}),
    "qwen2moe": ("qwen2moe", HALF_HEADS | SHARED_GATED, {}, {"experts", "no_dense", "shared", "door", "qkv_biases", "untied"}),
    "qwen2vl": ("qwen2vl", HALF_HEADS | SECTIONS, {}, {"qkv_biases"}),
    "qwen3vl": ("qwen3vl", {"rope.dimension_sections": [2, 1, 1, 0]}, HEAD_NORMS, set()),
    "qwen3vlmoe": ("qwen3vlmoe", EXPERTS | {"rope.dimension_sections": [2, 1, 1, 0]}, HEAD_NORMS, {"experts", "no_dense"}),
    "seed_oss": ("seed_oss", {}, NORMED_AS_POST, {"qkv_biases", "no_ffn_norm", "untied"}),
    "starcoder2": ("starcoder2", HALF_HEADS | LAYER_NORMS, {}, {"ungated", "norm_biases", "all_biases"}),
    "llama": ("llama", {}, {}, {"untied"}),
    "llama3": ("llama", {"attention.head_count_kv": 1}, {}, {"factors"}),
    "llama_experts": ("llama", EXPERTS_AS_DENSE, {}, {"experts", "no_dense"}),
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
    "gemma2": ("gemma2", {"block_count": 4, "attention.sliding_window": 5, "attn_logit_softcapping": 1.5,
                          "final_logit_softcapping": 4.0}, RESULT_NORMS, set()),
    "gemma4": ("gemma4", GEMMA4 | {"embedding_length_per_layer_input": 12}, HEAD_NORMS | RESULT_NORMS,
               {"gemma4", "layer_inputs", "rope_freqs"}),
    "gemma4_experts": ("gemma4", GEMMA4 | EXPERTS | {"embedding_length_per_layer_input": 0, "attention.shared_kv_layers": 0},
                       HEAD_NORMS | RESULT_NORMS | {norm: "embedding_length" for norm in
                                                    ("pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2")},
                       {"gemma4", "experts", "rope_freqs", "gate_up"}),
    "gpt-oss": ("gpt-oss", EXPERTS | GPT_OSS, {"post_attention_norm": "embedding_length"},
                {"experts", "no_dense", "no_ffn_norm", "biases", "sinks", "untied"}),
    "gpt-oss_mxfp4": ("gpt-oss", EXPERTS | GPT_OSS | {"embedding_length": 64, "expert_feed_forward_length": 32},
                      {"post_attention_norm": "embedding_length"},
                      {"experts", "no_dense", "no_ffn_norm", "biases", "sinks", "untied", "MXFP4"}),
    "internlm2": ("internlm2", HALF_HEADS, {}, {"untied"}),
    "jais2": ("jais2", LAYER_NORMS, {}, {"ungated", "norm_biases", "all_biases", "untied"}),
    "lfm2": ("lfm2", LFM2, HEAD_NORMS, {"conv"}),
    "lfm2moe": ("lfm2moe", LFM2 | EXPERTS | SIGMOIDS, HEAD_NORMS, {"conv", "experts", "no_dense", "choice_bias"}),
    "qwen35": ("qwen35", HYBRID | SECTIONS | DELTA_NET, HEAD_NORMS | NORMED_AS_POST, {"delta", "no_ffn_norm"}),
    "qwen35moe": ("qwen35moe", HYBRID | SECTIONS | DELTA_NET | SHARED_GATED, HEAD_NORMS | NORMED_AS_POST, {"delta", "no_ffn_norm", "experts", "no_dense", "shared", "door"}),
    "qwen3next": ("qwen3next", HYBRID | DELTA_NET | SHARED_GATED, HEAD_NORMS | NORMED_AS_POST,
                  {"delta", "delta_ba", "no_ffn_norm", "experts", "no_dense", "shared", "door"}),
    "qwen3next_in": ("qwen3next", HYBRID | DELTA_NET | SHARED_GATED | {"block_count": 2}, HEAD_NORMS | NORMED_AS_POST,
                     {"delta", "delta_ba", "delta_in", "no_ffn_norm", "experts", "no_dense", "shared", "door"}),
    "qwen3moe": ("qwen3moe", EXPERTS, HEAD_NORMS, {"experts", "no_dense"}),
    "qwen3moe_q8_0": ("qwen3moe", EXPERTS | {"embedding_length": 32, "expert_feed_forward_length": 64}, HEAD_NORMS,
                      {"experts", "no_dense", "Q8_0"}),
}


def recurrent_tensors(sizes, also, block):
    """Of a layer that keeps a state, name and shape; none of one that attends."""
    width = sizes["embedding_length"]
    if "conv" in also and sizes["attention.head_count_kv"][block] == 0:
        return {"shortconv.conv.weight": (width, sizes["shortconv.l_cache"]), "shortconv.in_proj.weight": (3 * width, width),
                "shortconv.out_proj.weight": (width, width)}
    if "delta" in also and (block + 1) % sizes["full_attention_interval"] != 0:
        heads, inner = sizes["ssm.time_step_rank"], sizes["ssm.inner_size"]
        mixed = inner + 2 * sizes["ssm.group_count"] * sizes["ssm.state_size"]
        halves = {"ssm_ba.weight": (2 * heads, width)} if "delta_ba" in also else {
            "ssm_alpha.weight": (heads, width), "ssm_beta.weight": (heads, width)}
        wide = {"ssm_in.weight": (mixed + inner, width)} if "delta_in" in also else {
            "attn_qkv.weight": (mixed, width), "attn_gate.weight": (inner, width)}
        return wide | halves | {"ssm_conv1d.weight": (mixed, sizes["ssm.conv_kernel"]), "ssm_a": (heads,),
                "ssm_dt.bias": (heads,), "ssm_norm.weight": (sizes["ssm.state_size"],), "ssm_out.weight": (width, inner)}
    return {}


def write_tiny(gguf, path, name, architecture, own, norms, also, plain):
    """plain: blocks as the f32 numbers that they stand for, for sums that round nothing else."""
    random = np.random.default_rng(list(name.encode()))
    sizes = SIZES | own
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in sizes.items():
        key = f"{architecture}.{key}"
        add = {str: writer.add_string, bool: writer.add_bool, float: writer.add_float32, int: writer.add_uint32, list: writer.add_array}[type(value)]
        add(key, value)
    writer.add_tokenizer_model("no_vocab")
    width, vocabulary, layers = (sizes[key] for key in ("embedding_length", "vocab_size", "block_count"))
    blocks = next((gguf.GGMLQuantizationType[kind] for kind in ("MXFP4", "Q8_0") if kind in also), None)

    def of_layer(key, i):
        return sizes[key][i] if isinstance(sizes[key], list) else sizes[key]

    def add(tensor, *shape):
        values = random.uniform(-1, 1, shape).astype(np.float32)
        if "norm" in tensor or "scale" in tensor:
            values = 1 + values / 4
        elif tensor.endswith("ssm_a"):
            values = -1 - values / 2
        elif len(shape) > 1 and "token_embd" not in tensor:
            values = values * np.float32(1.5 / shape[-1] ** 0.5)
        values = values.astype(np.float32)
        if blocks is not None and "_exps.weight" in tensor:
            stored = gguf.quants.quantize(values, blocks)
            if not plain:
                writer.add_tensor(tensor, stored, raw_dtype=blocks)
                return
            values = gguf.quants.dequantize(stored, blocks)
        writer.add_tensor(tensor, values)

    add("token_embd.weight", vocabulary, width)
    for i in range(layers - sizes.get("nextn_predict_layers", 0)):
        of_experts = "experts" in also and i >= sizes.get("leading_dense_block_count", 0)
        window = "gemma4" in also and of_layer("attention.sliding_window_pattern", i)
        head = sizes["attention.key_length_swa" if window else "attention.key_length"]
        queries = sizes["attention.head_count"] * head
        keys = of_layer("attention.head_count_kv", i) * head
        inner = of_layer("feed_forward_length", i)
        matrices = {"attn_q": (queries, width), "attn_k": (keys, width), "attn_v": (keys, width),
                    "attn_output": (width, queries), "ffn_gate": (inner, width), "ffn_up": (inner, width),
                    "ffn_down": (width, inner)}
        if "fused" in also:
            for matrix in ("attn_q", "attn_k", "attn_v", "ffn_gate"):
                del matrices[matrix]
            matrices |= {"attn_qkv": (queries + 2 * keys, width), "ffn_up": (2 * inner, width)}
        if "fused_qkv" in also:
            for matrix in ("attn_q", "attn_k", "attn_v"):
                del matrices[matrix]
            matrices["attn_qkv"] = (queries + 2 * keys, width)
        if "ungated" in also:
            del matrices["ffn_gate"]
        if "fused_gate" in also:
            del matrices["ffn_gate"]
            matrices["ffn_up"] = (2 * inner, width)
        if "attn_gate" in also:
            matrices["attn_gate"] = (queries, width)
        if "delta" in also:
            matrices["attn_q"] = (2 * queries, width)
        recurrent = recurrent_tensors(sizes, also, i)
        if recurrent:
            for tensor, shape in recurrent.items():
                add(f"blk.{i}.{tensor}", *shape)
            for matrix in ("attn_q", "attn_k", "attn_v", "attn_output"):
                del matrices[matrix]
        if "gemma4" in also:
            reads = i >= layers - sizes["attention.shared_kv_layers"]
            for matrix in ("attn_k", "attn_v") if reads else () if window else ("attn_v",):
                del matrices[matrix]
            add(f"blk.{i}.layer_output_scale.weight", 1)
        if "no_dense" in also and of_experts:
            for matrix in ("ffn_gate", "ffn_up", "ffn_down"):
                del matrices[matrix]
        biased = {"attn_q", "attn_k", "attn_v"}
        if of_experts:
            count = sizes["expert_count"]
            columns = sizes.get("expert_feed_forward_length", sizes["feed_forward_length"])
            matrices |= {"ffn_gate_inp": (count, width), "ffn_down_exps": (count, width, columns)}
            gates = {"ffn_gate_up_exps": 2 * columns} if "gate_up" in also else {"ffn_gate_exps": columns, "ffn_up_exps": columns}
            matrices |= {matrix: (count, rows, width) for matrix, rows in gates.items()}
            biased |= {"attn_output", "ffn_gate_inp", "ffn_down_exps", *gates}
        if "gemma4" in also and "experts" in also:
            add(f"blk.{i}.ffn_gate_inp.scale", width)
            add(f"blk.{i}.ffn_down_exps.scale", count)
        if of_experts and "choice_bias" in also:
            add(f"blk.{i}.exp_probs_b.bias", count)
        if of_experts and "shared" in also:
            shared = sizes.get("expert_shared_feed_forward_length", columns * sizes.get("expert_shared_count", 1))
            matrices |= {"ffn_gate_shexp": (shared, width), "ffn_up_shexp": (shared, width), "ffn_down_shexp": (width, shared)}
        if of_experts and "door" in also:
            add(f"blk.{i}.ffn_gate_inp_shexp.weight", width)
        if "layer_inputs" in also:
            columns = sizes["embedding_length_per_layer_input"]
            matrices |= {"inp_gate": (columns, width), "proj": (width, columns)}
            add(f"blk.{i}.post_norm.weight", width)
        for matrix, shape in matrices.items():
            add(f"blk.{i}.{matrix}.weight", *shape)
            if "all_biases" in also or "biases" in also and matrix in biased or "qkv_biases" in also and matrix in ("attn_q", "attn_k", "attn_v"):
                add(f"blk.{i}.{matrix}.bias", *shape[:-1])
        if "sinks" in also:
            add(f"blk.{i}.attn_sinks.weight", sizes["attention.head_count"])
        usual = {"attn_norm": "embedding_length"} | ({} if "no_ffn_norm" in also else {"ffn_norm": "embedding_length"})
        usual = {} if "no_input_norms" in also else usual
        for norm, size in (usual | norms).items():
            if norm in HEAD_NORMS:
                if "attn_qkv" in matrices:
                    add(f"blk.{i}.{norm}.weight", head)
                elif f"attn_{norm[5]}" in matrices:
                    whole = matrices[f"attn_{norm[5]}"][0]
                    add(f"blk.{i}.{norm}.weight", whole if "whole_norms" in also else head)
                continue
            add(f"blk.{i}.{norm}.weight", sizes[size])
            if "norm_biases" in also:
                add(f"blk.{i}.{norm}.bias", sizes[size])
    add("token_embd_norm.weight" if "conv" in also else "output_norm.weight", width)
    if "norm_biases" in also:
        add("output_norm.bias", width)
    if "untied" in also:
        add("output.weight", vocabulary, width)
    if "layer_inputs" in also:
        columns = sizes["embedding_length_per_layer_input"]
        add("per_layer_token_embd.weight", vocabulary, layers * columns)
        add("per_layer_model_proj.weight", layers * columns, width)
        add("per_layer_proj_norm.weight", columns)
    if "long" in also:
        for i, length in enumerate(("short", "long")):
            factors = np.linspace(1 + i, 3 + 4 * i, sizes["rope.dimension_count"] // 2)
            writer.add_tensor(f"rope_factors_{length}.weight", factors.astype(np.float32))
    if "factors" in also:
        writer.add_tensor("rope_freqs.weight", np.linspace(1, 8, sizes["rope.dimension_count"] // 2).astype(np.float32))
    if "rope_freqs" in also:
        pairs = sizes["rope.dimension_count"] // 2
        writer.add_tensor("rope_freqs.weight", np.array([1] * (pairs // 4) + [1e30] * (pairs - pairs // 4), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tiny(lib, source, folder, *names):
    sys.path.insert(0, str(pathlib.Path(source) / "vendor/llama.cpp/gguf-py"))
    import gguf
    for name, (architecture, own, norms, also) in TINY.items():
        if names and name not in names:
            continue
        path = pathlib.Path(folder) / f"{name}.gguf"
        plain = pathlib.Path(folder) / f"{name}.plain.gguf"
        write_tiny(gguf, path, name, architecture, own, norms, also, False)
        write_tiny(gguf, plain, name, architecture, own, norms, also, True)
        oracle = Oracle(lib, plain, exact=True, context=64)
        tokens = np.random.default_rng(1).integers(0, oracle.n_vocab, 24).astype(np.int32)
        np.savez_compressed(path.with_suffix(".npz"), tokens=tokens, logits=oracle.logits(tokens.tolist(), 0))
        oracle.close()
        plain.unlink()


if __name__ == "__main__":
    command, source, build = sys.argv[1:4]
    library = bindings(source, build)
    if command == "greedy":
        greedy(library, *sys.argv[4:])
    else:
        tiny(library, source, *sys.argv[4:])
