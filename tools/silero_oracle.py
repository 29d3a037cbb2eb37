#!/usr/bin/env python3
"""Silero's probabilities by ONNX Runtime: what tests/models/silero compares with.

  silero_oracle.py WEIGHTS SPEECH_FOLDER OUT_FOLDER         every clip and noise
  silero_oracle.py WEIGHTS SPEECH_FOLDER --golden > tests/models/silero/golden/probabilities.txt

WEIGHTS holds silero/silero_vad.onnx, silero/silero_vad_16k.safetensors and pysilero/ggml-silero-v6.2.0.bin.
OUT_FOLDER gets SOURCE/RATE/NAME.f32 (little-endian floats, one a frame), SOURCE being

  onnx         the network as published, both rates
  safetensors  the same network with the values of silero_vad_16k.safetensors, which are another training's
  ggml         the same network with the values of the ggml file, partly rounded to f16

8 kHz is every second sample: the aliases do not matter where two programs hear the same. Frames are cut as
silero-vad's OnnxWrapper does: context and frame, the last one padded with zeros. Needs onnxruntime, numpy, soundfile.
"""
import json
import pathlib
import struct
import sys

import numpy as np
import onnxruntime
import soundfile

GEOMETRY = {16000: (512, 64), 8000: (256, 32)}
SOURCES = [("onnx", 16000), ("onnx", 8000), ("safetensors", 16000), ("ggml", 16000)]
GOLDEN = ["clips/jfk_jfk", "clips/librispeech_misc_84-121550-0000", "clips/azure_de-DE_testing_audio"]
ONNX_PREFIX = "If_0_then_branch__Inline_0__"  # the 16 kHz network
SAFETENSORS_NAMES = {
    "stft_conv.weight": "stft.forward_basis_buffer",
    **{f"conv{i + 1}.{part}": f"encoder.{i}.reparam_conv.{part}" for i in range(4) for part in ("weight", "bias")},
    **{f"lstm_cell.{part}": f"decoder.rnn.{part}" for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")},
    **{f"final_conv.{part}": f"decoder.decoder.2.{part}" for part in ("weight", "bias")},
}


def safetensors_values(path):
    data = path.read_bytes()
    (header_bytes,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + header_bytes])
    values = {}
    for name, entry in header.items():
        begin, end = (8 + header_bytes + offset for offset in entry["data_offsets"])
        values[SAFETENSORS_NAMES[name]] = data[begin:end]
    return values


def ggml_values(path):
    """Tensors of whisper.cpp's ggml file (convert-silero-vad-to-ggml.py), as f32 bytes."""
    data = path.read_bytes()
    (name_bytes,) = struct.unpack_from("<i", data, 4)
    offset = 8 + name_bytes + 4 * 5  # version of three numbers, window, context
    (layers,) = struct.unpack_from("<i", data, offset)
    offset += 4 * (1 + 3 * layers + 4)
    values = {}
    while offset < len(data):
        dims, name_bytes, kind = struct.unpack_from("<3i", data, offset)
        shape = struct.unpack_from(f"<{dims}i", data, offset + 12)
        offset += 12 + 4 * dims
        name = data[offset:offset + name_bytes].decode().removeprefix("_model.")
        offset += name_bytes
        stored = np.frombuffer(data, "<f2" if kind == 1 else "<f4", int(np.prod(shape, initial=1)), offset)
        offset += stored.nbytes
        values[name] = stored.astype("<f4").tobytes()
    return values


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def with_values(onnx, values):
    """The ONNX file's bytes with the 16 kHz network's constants replaced."""
    data = bytearray(onnx)
    for name, new in values.items():
        at = data.index((ONNX_PREFIX + name).encode())
        field = b"\x4a" + varint(len(new))  # TensorProto.raw_data
        begin = data.index(field, at, at + 400) + len(field)
        data[begin:begin + len(new)] = new
    return bytes(data)


def make_sessions(weights):
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = 1
    onnx = (weights / "silero/silero_vad.onnx").read_bytes()
    models = {
        "onnx": onnx,
        "safetensors": with_values(onnx, safetensors_values(weights / "silero/silero_vad_16k.safetensors")),
        "ggml": with_values(onnx, ggml_values(weights / "pysilero/ggml-silero-v6.2.0.bin")),
    }
    return {name: onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            for name, model in models.items()}


def probabilities(session, samples, rate):
    frame, context = GEOMETRY[rate]
    frames = -(-len(samples) // frame)
    padded = np.zeros(context + frames * frame, np.float32)
    padded[context:context + len(samples)] = samples
    state = np.zeros((2, 1, 128), np.float32)
    result = np.zeros(frames, np.float32)
    for i in range(frames):
        window = padded[None, i * frame:i * frame + context + frame]
        out, state = session.run(None, {"input": window, "state": state, "sr": np.array(rate, np.int64)})
        result[i] = out[0, 0]
    return result


def recordings(folder):
    return sorted(path for part in ("clips", "noise") for path in (folder / part).glob("*.flac"))


def read(path, rate):
    samples, found = soundfile.read(path, dtype="float32")
    assert found == 16000 and samples.ndim == 1, path
    return samples[::16000 // rate]


def write_golden(sessions, folder):
    print("# source rate recording frames, then the frames' probabilities; made by tools/silero_oracle.py with "
          f"onnxruntime {onnxruntime.__version__}")
    for source, rate in SOURCES:
        for name in GOLDEN:
            values = probabilities(sessions[source], read(folder / f"{name}.flac", rate), rate)
            print(source, rate, name, len(values))
            print(*(f"{value:.5f}" for value in values))


def main():
    sessions = make_sessions(pathlib.Path(sys.argv[1]))
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[3] == "--golden":
        write_golden(sessions, folder)
        return
    for source, rate in SOURCES:
        print(source, rate, file=sys.stderr)
        for path in recordings(folder):
            target = pathlib.Path(sys.argv[3]) / source / str(rate) / path.parent.name / f"{path.stem}.f32"
            target.parent.mkdir(parents=True, exist_ok=True)
            probabilities(sessions[source], read(path, rate), rate).astype("<f4").tofile(target)


if __name__ == "__main__":
    main()
