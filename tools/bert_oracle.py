#!/usr/bin/env python3
"""What BERT's encoders (sentence-transformers' folders) compute, written again in NumPy and as an ONNX graph.

usage: bert_oracle.py tiny FOLDER                     tests/models/bert/golden: a tiny random checkpoint as sentence-transformers lays
                                                      one out, and what each layer of it computes in double precision, tiny.npz
       bert_oracle.py tiny-gguf SOURCE BUILD FOLDER   the same checkpoint as llama.cpp's converter writes it, for each pooling, and
                                                      llama.cpp's vectors of it in f32, NAME.gguf and NAME.npz
       bert_oracle.py real MODEL OUT.npz              of a real model (all-MiniLM-L6-v2): tokens and vectors of texts
       bert_oracle.py onnx MODEL OUT.onnx             the graph of a model, for ONNX Runtime: ids and mask (batch, tokens) in,
                                                      vectors out, pooled and normalised inside

The equations are Devlin et al. 2018 (arXiv:1810.04805) with absolute positions, the post-norm of transformers' BertModel and GELU by erf;
pooling and normalising are sentence-transformers'. `real` computes each vector twice, here and by ONNX Runtime, and wants both alike;
tokens are those of Hugging Face's own library, tokenizers. SOURCE and BUILD are those of tools/llama_oracle.py. Needs numpy, onnx,
onnxruntime and tokenizers.
"""
import json
import math
import pathlib
import shutil
import struct
import sys

import numpy as np

# Of many lengths and alphabets: words that the vocabulary lacks, accents, Chinese, signs, nothing at all, and one that is too long. None
# has a mark such as [SEP], which Hugging Face's tokenizers read as the mark and mynah as text.
TEXTS = [
    "The cat sits outside", "A man is playing guitar", "The new movie is awesome", "", "a", "Zürich — naïve café, ÅNGSTRÖM!",
    "How do I reset my router's password?", "東京は日本の首都です。", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 is \u200b odd\u00ad\t\nisn't it?",     "Antidisestablishmentarianism, pneumonoultramicroscopicsilicovolcanoconiosis.", "3.14159 + 2.71828 = 5.85987", "💡 Ideas: #1, @home & \"so on\"...",
    "SELECT name FROM users WHERE id = 42;", "x" * 200, " ".join(f"word{i}" for i in range(90)),
    "Wake me at seven tomorrow, and turn the heating on an hour before that.", "Der schnelle braune Fuchs springt über den faulen Hund.",
    "In the beginning the Universe was created. This has made a lot of people very angry and been widely regarded as a bad move.",
    " ".join("The quick brown fox jumps over the lazy dog." for _ in range(40)),
]


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    table = json.loads(data[8:8 + size])
    types = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    return {name: np.frombuffer(data, types[one["dtype"]], math.prod(one["shape"]), 8 + size + one["data_offsets"][0]).reshape(one["shape"])
            for name, one in table.items() if name != "__metadata__"}


def write_safetensors(path, tensors):
    table, at = {}, 0
    for name, values in tensors.items():
        table[name] = {"dtype": {"float32": "F32", "int64": "I64"}[str(values.dtype)], "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    head = json.dumps(table).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(head)) + head)
        for values in tensors.values():
            out.write(np.ascontiguousarray(values).tobytes())


class Bert:
    """A model's folder."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {name: values for name, values in read_safetensors(folder / "model.safetensors").items() if values.dtype != np.int64}
        self.longest = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
        self.modules = [module["type"].rsplit(".", 1)[1] for module in json.loads((folder / "modules.json").read_text())]
        pooling = json.loads((folder / "1_Pooling/config.json").read_text())
        self.pooling = next(name for name in ("cls_token", "mean_tokens") if pooling[f"pooling_mode_{name}"])
        self.tokenizer = None
        if (folder / "tokenizer.json").exists():
            from tokenizers import Tokenizer
            self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self.tokenizer.no_padding()
            self.tokenizer.no_truncation()

    def tokens(self, text):
        """[CLS] ... [SEP], cut as sentence-transformers does: to the longest, [SEP] at the end all the same."""
        self.tokenizer.enable_truncation(self.longest)
        return self.tokenizer.encode(text).ids

    def w(self, name):
        return self.weights[name].astype(np.float64)

    def linear(self, x, name):
        return x @ self.w(f"{name}.weight").T + self.w(f"{name}.bias")

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return x * self.w(f"{name}.weight") + self.w(f"{name}.bias")

    def hidden(self, ids):
        """The states after the embeddings and after each layer: (layers + 1, tokens, width)."""
        heads = self.config["num_attention_heads"]
        n, width = len(ids), self.config["hidden_size"]
        x = self.w("embeddings.word_embeddings.weight")[ids] + self.w("embeddings.position_embeddings.weight")[:n]
        x = self.norm(x + self.w("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
        states = [x]
        for i in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{i}"
            q, k, v = (self.linear(x, f"{layer}.attention.self.{name}").reshape(n, heads, -1).transpose(1, 0, 2) for name in ("query", "key", "value"))
            scores = q @ k.transpose(0, 2, 1) / math.sqrt(width // heads)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, width)
            x = self.norm(x + self.linear(mixed, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
            inner = self.linear(x, f"{layer}.intermediate.dense")
            inner = 0.5 * inner * (1 + np.frompyfunc(math.erf, 1, 1)(inner / math.sqrt(2)).astype(np.float64))
            x = self.norm(x + self.linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
            states.append(x)
        return np.stack(states)

    def pooled(self, hidden):
        vector = hidden[0] if self.pooling == "cls_token" else hidden.mean(0)
        return vector / np.linalg.norm(vector) if "Normalize" in self.modules else vector

    def vector(self, ids):
        return self.pooled(self.hidden(ids)[-1])


def onnx_graph(bert):
    """The same as a graph of ONNX's operations, in f32; GELU as ONNX Runtime's own operation, which is what its optimiser makes of it."""
    from onnx import TensorProto, helper, numpy_helper
    nodes, constants = [], {}
    heads, width = bert.config["num_attention_heads"], bert.config["hidden_size"]

    def constant(name, values, dtype=np.float32):
        constants[name] = numpy_helper.from_array(np.ascontiguousarray(values, dtype), name)
        return name

    def add(op, inputs, domain="", **attributes):
        name = f"{op}_{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def linear(x, name):
        weight = constant(f"{name}.weight", bert.weights[f"{name}.weight"].T)
        return add("Add", [add("MatMul", [x, weight]), constant(f"{name}.bias", bert.weights[f"{name}.bias"])])

    def norm(x, name):
        weights = [constant(f"{name}.{part}", bert.weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        return add("LayerNormalization", [x, *weights], axis=-1, epsilon=bert.config["layer_norm_eps"])

    def split(x, order):
        return add("Transpose", [add("Reshape", [x, constant("heads", [0, 0, heads, width // heads], np.int64)])], perm=order)

    tables = {part: constant(part, bert.weights[f"embeddings.{part}_embeddings.weight"]) for part in ("word", "position")}
    length = add("Slice", [add("Shape", ["ids"]), constant("one", [1], np.int64), constant("two", [2], np.int64)])
    positions = add("Slice", [tables["position"], constant("zero", [0], np.int64), length, constant("axis0", [0], np.int64)])
    x = add("Add", [add("Add", [add("Gather", [tables["word"], "ids"]), constant("type", bert.weights["embeddings.token_type_embeddings.weight"][0])]), positions])
    x = norm(x, "embeddings.LayerNorm")
    # (batch, 1, 1, tokens): 0 where a token is, far below where there is none.
    mask = add("Unsqueeze", [add("Cast", ["mask"], to=TensorProto.FLOAT), constant("axes", [1, 2], np.int64)])
    bias = add("Mul", [add("Sub", [mask, constant("unit", 1)]), constant("far", 1e9)])
    for i in range(bert.config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        q, k, v = (split(linear(x, f"{layer}.attention.self.{name}"), order)
                   for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])))
        scores = add("Div", [add("MatMul", [q, k]), constant("scale", math.sqrt(width // heads))])
        mixed = add("MatMul", [add("Softmax", [add("Add", [scores, bias])], axis=-1), v])
        mixed = add("Reshape", [add("Transpose", [mixed], perm=[0, 2, 1, 3]), constant("joined", [0, 0, width], np.int64)])
        x = norm(add("Add", [linear(mixed, f"{layer}.attention.output.dense"), x]), f"{layer}.attention.output.LayerNorm")
        inner = add("Gelu", [linear(x, f"{layer}.intermediate.dense")], domain="com.microsoft")
        x = norm(add("Add", [linear(inner, f"{layer}.output.dense"), x]), f"{layer}.output.LayerNorm")
    if bert.pooling == "cls_token":
        vector = add("Gather", [x, constant("first", 0, np.int64)], axis=1)
    else:
        counted = add("Unsqueeze", [add("Cast", ["mask"], to=TensorProto.FLOAT), constant("axis2", [2], np.int64)])
        along = constant("axis1", [1], np.int64)
        vector = add("Div", [add("ReduceSum", [add("Mul", [x, counted]), along], keepdims=0), add("ReduceSum", [counted, along], keepdims=0)])
    if "Normalize" in bert.modules:
        vector = add("LpNormalization", [vector], axis=-1, p=2)
    nodes.append(helper.make_node("Identity", [vector], ["vectors"]))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("ids", "mask")]
    outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", width])]
    graph = helper.make_graph(nodes, "bert", inputs, outputs, list(constants.values()))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=9)


def run_onnx(session, all_ids):
    """Vectors of one padded batch."""
    longest = max(map(len, all_ids))
    ids = np.zeros((len(all_ids), longest), np.int64)
    mask = np.zeros_like(ids)
    for row, one in enumerate(all_ids):
        ids[row, :len(one)], mask[row, :len(one)] = one, 1
    return session.run(["vectors"], {"ids": ids, "mask": mask})[0]


def real(model, out):
    import onnxruntime
    bert = Bert(model)
    session = onnxruntime.InferenceSession(onnx_graph(bert).SerializeToString(), providers=["CPUExecutionProvider"])
    kept = {}
    for i, text in enumerate(TEXTS):
        ids = bert.tokens(text)
        vector = bert.vector(ids)
        beside = run_onnx(session, [ids, bert.tokens(TEXTS[-1])])[0]
        assert np.abs(beside - vector).max() < 1e-5, (text, np.abs(beside - vector).max())
        kept[f"text.{i}"] = np.frombuffer(text.encode(), np.uint8)
        kept[f"tokens.{i}"] = np.array(ids, np.int32)
        kept[f"vector.{i}"] = vector.astype(np.float32)
    np.savez_compressed(out, **kept)


VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] a b c d e ##a ##b ##c ##d ##e the ##ing cat sat mat on . , ! é 日".split()
# In every file: two layers, heads of 8 columns, texts of 12 tokens at most.
TINY = {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": 16, "intermediate_size": 24, "layer_norm_eps": 1e-12,
        "max_position_embeddings": 20, "num_attention_heads": 2, "num_hidden_layers": 2, "position_embedding_type": "absolute", "type_vocab_size": 2,
        "vocab_size": len(VOCABULARY)}
TINY_LONGEST = 12


def tiny_weights():
    random = np.random.default_rng(20)
    width, inner = TINY["hidden_size"], TINY["intermediate_size"]
    shapes = {"embeddings.word_embeddings.weight": (len(VOCABULARY), width), "embeddings.position_embeddings.weight": (TINY["max_position_embeddings"], width),
              "embeddings.token_type_embeddings.weight": (2, width), "embeddings.LayerNorm": width}
    for i in range(TINY["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        shapes |= {f"{layer}.attention.self.{name}": (width, width) for name in ("query", "key", "value")}
        shapes |= {f"{layer}.attention.output.dense": (width, width), f"{layer}.attention.output.LayerNorm": width,
                   f"{layer}.intermediate.dense": (inner, width), f"{layer}.output.dense": (width, inner), f"{layer}.output.LayerNorm": width}
    weights = {}
    for name, shape in shapes.items():
        if name.endswith("LayerNorm"):
            weights[f"{name}.weight"] = 1 + random.uniform(-.25, .25, shape)
            weights[f"{name}.bias"] = random.uniform(-.25, .25, shape)
        elif name.endswith(".weight"):
            weights[name] = random.uniform(-1, 1, shape)
        else:
            weights[f"{name}.weight"] = random.uniform(-1, 1, shape) * 1.5 / shape[1] ** 0.5
            weights[f"{name}.bias"] = random.uniform(-.25, .25, shape[0])
    weights["pooler.dense.weight"] = random.uniform(-1, 1, (width, width))  # of a head, which nobody reads
    return {name: values.astype(np.float32) for name, values in weights.items()}


def tiny(folder):
    """A folder of sentence-transformers with its vocabulary as tokenizer.json, and vocab.txt beside it; tiny.npz beside the folder."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    folder = pathlib.Path(folder) / "tiny"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(TINY))
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [{"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"} for i, kind in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 16, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": TINY_LONGEST, "do_lower_case": False}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "strip_accents": None, "tokenizer_class": "BertTokenizer"}))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.add_special_tokens(VOCABULARY[:5])
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    write_safetensors(folder / "model.safetensors", tiny_weights())
    bert = Bert(folder)
    kept = {}
    for i, text in enumerate(["the cat sat on the mat.", "abc", "", "Éa, 日! Zzz", "bed dad cab face each deed abba"]):
        ids = bert.tokens(text)
        hidden = bert.hidden(ids)
        kept |= {f"text.{i}": np.frombuffer(text.encode(), np.uint8), f"tokens.{i}": np.array(ids, np.int32),
                 f"hidden.{i}": hidden.astype(np.float32), f"vector.{i}": bert.vector(ids).astype(np.float32)}
    np.savez_compressed(folder.parent / "tiny.npz", **kept)


def tiny_gguf(source, build, folder):
    """As convert_hf_to_gguf.py writes BertModel, with the mean and with the first token."""
    import llama_oracle
    lib = llama_oracle.bindings(source, build)
    sys.path.insert(0, str(pathlib.Path(source) / "vendor/llama.cpp/gguf-py"))
    import gguf
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, TINY["num_hidden_layers"])
    weights = tiny_weights()
    tokens = [token if token.startswith("[") else token[2:] if token.startswith("##") else "\u2581" + token for token in VOCABULARY]
    types = [gguf.TokenType.CONTROL if token.startswith("[") else gguf.TokenType.NORMAL for token in VOCABULARY]
    for name, pooling in (("mean", gguf.PoolingType.MEAN), ("first", gguf.PoolingType.CLS)):
        path = pathlib.Path(folder) / f"{name}.gguf"
        writer = gguf.GGUFWriter(path, "bert")
        writer.add_block_count(TINY["num_hidden_layers"])
        writer.add_context_length(TINY["max_position_embeddings"])
        writer.add_embedding_length(TINY["hidden_size"])
        writer.add_feed_forward_length(TINY["intermediate_size"])
        writer.add_head_count(TINY["num_attention_heads"])
        writer.add_layer_norm_eps(TINY["layer_norm_eps"])
        writer.add_causal_attention(False)
        writer.add_pooling_type(pooling)
        writer.add_tokenizer_model("bert")
        writer.add_tokenizer_pre("bert")
        writer.add_token_list(tokens)
        writer.add_token_types(types)
        writer.add_token_type_count(2)
        for key, token in (("unk", "[UNK]"), ("sep", "[SEP]"), ("pad", "[PAD]"), ("bos", "[CLS]"), ("mask", "[MASK]")):
            getattr(writer, f"add_{key}_token_id")(VOCABULARY.index(token))
        for one, values in weights.items():
            if not one.startswith("pooler."):
                writer.add_tensor(names.get_name(one, try_suffixes=(".weight", ".bias")), values)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        kept = {}
        for i, text in enumerate(["the cat sat on the mat.", "abc", "a"]):
            kept |= {f"text.{i}": np.frombuffer(text.encode(), np.uint8)}
            kept[f"tokens.{i}"], kept[f"vector.{i}"] = llama_vector(lib, llama_oracle, path, text)
        np.savez_compressed(path.with_suffix(".npz"), **kept)


def llama_vector(lib, llama_oracle, path, text):
    """A text's tokens, and the vector that llama.cpp makes of them in f32, as long as one."""
    log = lib.llama_log_callback(lambda *_: None)
    lib.llama_log_set(log, None)
    lib.llama_backend_init()
    model = lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
    assert model, path
    params = lib.llama_context_default_params()
    params.embeddings = True
    params.n_ctx = params.n_batch = params.n_ubatch = TINY["max_position_embeddings"]
    params.flash_attn_type = 0
    context = lib.llama_init_from_model(model, params)
    vocab = lib.llama_model_get_vocab(model)
    room = (lib.llama_token * 64)()
    data = text.encode()
    ids = list(room[:lib.llama_tokenize(vocab, data, len(data), room, len(room), True, False)])
    batch = lib.llama_batch_init(len(ids), 0, 1)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = token, i, 1, 0, 1
    assert lib.llama_encode(context, batch) == 0 or lib.llama_decode(context, batch) == 0
    vector = np.ctypeslib.as_array(lib.llama_get_embeddings_seq(context, 0), (TINY["hidden_size"],)).copy()
    lib.llama_batch_free(batch)
    lib.llama_free(context)
    lib.llama_model_free(model)
    return np.array(ids, np.int32), vector / np.linalg.norm(vector)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "onnx":
        pathlib.Path(rest[1]).write_bytes(onnx_graph(Bert(rest[0])).SerializeToString())
    else:
        {"tiny": tiny, "tiny-gguf": tiny_gguf, "real": real}[command](*rest)
