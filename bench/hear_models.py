"""Models for bench/hear.py: tiny.en in every engine's format, and a base model of random weights (its speed is that of the
real one, which no package ships)."""
import importlib.util
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

RATE = 16000
CT2_TYPES = {np.dtype(np.float32): 0, np.dtype(np.int8): 1, np.dtype(np.int16): 2, np.dtype(np.int32): 3,
             np.dtype(np.float16): 4}
# Sizes of openai/whisper's base.en: width, heads, layers.
BASE = {"width": 512, "heads": 8, "layers": 6}
TINY_WIDTH, TINY_LAYERS = 384, 4


def converter(shared):
    """The shared tool that turns a CTranslate2 folder into whisper.cpp's file."""
    spec = importlib.util.spec_from_file_location("whisper_ct2_to_ggml", f"{shared}/baselines/whisper_ct2_to_ggml.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_ct2(path, variables):
    """CTranslate2 model.bin, binary version 6: name, rank, dimensions, type, bytes, data; one alias."""
    def text(value):
        encoded = value.encode() + b"\0"
        return struct.pack("<H", len(encoded)) + encoded

    with open(path, "wb") as f:
        f.write(struct.pack("<I", 6) + text("WhisperSpec") + struct.pack("<II", 3, len(variables)))
        for name, array in variables.items():
            f.write(text(name) + struct.pack("<B", array.ndim) + struct.pack(f"<{array.ndim}I", *array.shape))
            f.write(struct.pack("<BI", CT2_TYPES[array.dtype], array.nbytes) + np.ascontiguousarray(array).tobytes())
        f.write(struct.pack("<I", 1) + text("decoder/projection/weight") + text("decoder/embeddings/weight"))


def random_base(tiny_folder, out, shared):
    """Writes a CTranslate2 folder of base.en's shapes: tiny.en's tensors, widened, with small random numbers."""
    os.makedirs(out, exist_ok=True)
    tiny = converter(shared).read_ct2(f"{tiny_folder}/model.bin")
    seeded = np.random.default_rng(1)
    widths = {TINY_WIDTH * n: BASE["width"] * n for n in (1, 2, 3, 4)}

    def widened(name, array):
        if array.dtype.kind != "f" or array.size == 1:
            value = np.array([BASE["heads"]], array.dtype) if name.endswith("num_heads") else array
            return value.reshape(()) if array.size == 1 else value  # the reader gives scalars one dimension
        shape = [widths.get(size, size) for size in array.shape]
        if name.endswith("gamma"):
            return np.ones(shape, array.dtype)
        return (seeded.standard_normal(shape, np.float32) * 0.02).astype(array.dtype)

    variables = {}
    for name, array in tiny.items():
        variables[name] = widened(name, array)
        if f"layer_{TINY_LAYERS - 1}/" in name:
            for layer in range(TINY_LAYERS, BASE["layers"]):
                variables[name.replace(f"layer_{TINY_LAYERS - 1}/", f"layer_{layer}/")] = widened(name, array)
    write_ct2(f"{out}/model.bin", variables)
    for name in os.listdir(tiny_folder):
        if name != "model.bin":
            shutil.copy(f"{tiny_folder}/{name}", out)


def ggml_file(folder, out, shared, base=False):
    """Writes whisper.cpp's f16 file of a CTranslate2 folder."""
    header = f"{shared}/formats/for-tests-ggml-tiny.en.bin"
    if base:
        # magic, then 11 numbers: vocabulary; audio context, width, heads, layers; text likewise; mels, type.
        data = bytearray(open(header, "rb").read())
        for first in (2, 6):
            struct.pack_into("<3i", data, 4 * (first + 1), BASE["width"], BASE["heads"], BASE["layers"])
        header = f"{out}.header"
        open(header, "wb").write(data)
    subprocess.run([sys.executable, f"{shared}/baselines/whisper_ct2_to_ggml.py", folder, header, out], check=True)
    if base:
        os.remove(header)


def prepare(place, weights, shared, mynah):
    """Makes what is missing under `place`; returns the paths by name."""
    os.makedirs(place, exist_ok=True)
    paths = {"tiny_ct2": f"{weights}/tiny.en", "base_ct2": f"{place}/base.en", "tiny_ggml": f"{place}/ggml-tiny.en.bin",
             "base_ggml": f"{place}/ggml-base.en.bin", "home": f"{place}/home", "silero_onnx": f"{weights}/silero/silero_vad.onnx"}
    if not os.path.exists(f"{paths['base_ct2']}/model.bin"):
        random_base(paths["tiny_ct2"], paths["base_ct2"], shared)
    for name in ("tiny", "base"):
        if not os.path.exists(paths[f"{name}_ggml"]):
            ggml_file(paths[f"{name}_ct2"], paths[f"{name}_ggml"], shared, base=name == "base")
    environment = {**os.environ, "MYNAH_HOME": paths["home"]}
    for name, source in (("tiny.en", paths["tiny_ct2"]), ("base.en", paths["base_ct2"]), ("silero", f"{weights}/silero/silero_vad.onnx")):
        if not os.path.exists(f"{paths['home']}/models/{name}/model.gguf"):
            subprocess.run([mynah, "import", source, "--name", name], env=environment, check=True)
        paths[f"mynah_{name}"] = f"{paths['home']}/models/{name}/model.gguf"
    return paths
