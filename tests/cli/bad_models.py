"""Model files that are cut, damaged or another model's, through the program: one line that names the file, and exit code 1.

usage: bad_models.py MYNAH. Without real weights the corpus of the fuzzers alone is tried.
"""
import json
import pathlib
import struct
import sys
import tempfile

from checks import ROOT, WEIGHTS, Checks, environment, run, wav

FORMATS = ["ctranslate2", "ggml_bin", "gguf", "npz", "onnx", "pytorch", "safetensors"]
N_CUTS = 24


def refused(result, path):
    """None where the last line on stderr is about this file and the exit code 1."""
    said = result.stderr.splitlines()
    if result.returncode != 1 or result.stdout or not said:
        return f"exit code {result.returncode}, said {result.stderr[-400:]!r}"
    if not said[-1].startswith("mynah: ") or str(path.parent) not in said[-1]:
        return f"wanted a line about {path}, found {said[-1]!r}"
    return None


def header_of(data):
    (count,) = struct.unpack_from("<Q", data)
    return json.loads(data[8:8 + count]), data[8 + count:]


def with_header(header, values):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + values


def damaged(data):
    """Name, bytes and what the message says of them."""
    header, values = header_of(data)
    first = header["conv1.weight"]
    begin = first["data_offsets"][0]
    not_a_number = values[:begin] + struct.pack("<f", float("nan")) + values[begin + 4:]
    rows, columns, taps = first["shape"]
    other_shape = {**header, "conv1.weight": {**first, "shape": [columns, rows, taps]}}
    renamed = {name.replace("conv1.weight", "conv9.weight"): entry for name, entry in header.items()}
    yield "a value that is no number", with_header(header, not_a_number), "conv1.weight: holds values that are not finite"
    yield "another shape", with_header(other_shape, values), r"conv1.weight: wanted shape \(128, 129, 3\), found \(129, 128, 3\)"
    yield "a tensor missing", with_header(renamed, values), "conv1.weight"
    for cut in sorted({0, 1, 7, 8, 9, *(len(data) * n // N_CUTS for n in range(N_CUTS)), len(data) - 1}):
        yield f"cut after {cut} bytes", data[:cut], "bytes"


def main():
    program, corpus = sys.argv[1], ROOT / "tests/fuzz/corpus"
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        sound = folder / "quiet.wav"
        sound.write_bytes(wav(b"\0" * 32000))
        for form in FORMATS:
            faults = []
            for path in sorted((corpus / form).iterdir()):
                for verb in ("transcribe", "vad"):
                    fault = refused(run(env, program, verb, "--model", path, sound), path)
                    faults += [f"{verb} {path.name}: {fault}"] if fault else []
            checks.add(f"every file of the corpus of {form}", "; ".join(faults) or None)
        real = WEIGHTS / "silero/silero_vad_16k.safetensors"
        if real.exists():
            for name, data, pattern in damaged(real.read_bytes()):
                path = folder / "model.safetensors"
                path.write_bytes(data)
                result = run(env, program, "vad", "--model", path, sound)
                checks.ended(name, result, 1, pattern, 1)
            result = run(env, program, "transcribe", "--model", real, sound)
            checks.ended("a model that does something else", result, 1, "mynah: transcribe: ", 2)
        else:
            checks.skip("a real model, cut and damaged", f"no {real}")
    checks.close()


main()
