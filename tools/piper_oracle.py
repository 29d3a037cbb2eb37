#!/usr/bin/env python3
"""What a Piper voice says, by ONNX Runtime, for tests of src/models/piper.

  piper_oracle.py ids MODEL.onnx OUT.json         phonemes and their ids of 20 sentences, by piper-tts 1.3.0
  piper_oracle.py speech MODEL.onnx IDS.json OUT.npz
                                                  what the voice says of them, both noises zero, and what
                                                  each stage makes of the first one

The first needs piper-tts, the second onnx and onnxruntime. The sentences are our own.
"""
import argparse
import json
import sys

SENTENCES = [
    "Hello there.",
    "The quick brown fox jumps over the lazy dog.",
    "What time is it?",
    "I'll be back before the shop closes, and I'll bring the bread.",
    "No.",
    "She asked him twice: he never answered!",
    "In the morning the river was still, and the fog lay low over the fields.",
    "Thanks.",
    "The train from platform seven is delayed by twenty minutes.",
    "Cold, dark, and very, very long.",
    "He said go home; they stayed.",
    "Mynah birds repeat everything they hear.",
    "One, two, three, four, five, six, seven, eight, nine, ten.",
    "If you can read this, you are too close.",
    "The engine has no memory of what it said.",
    "Are you sure? Quite sure?",
    "Between you and me, the plan was never going to work, and everyone knew it.",
    "Ah!",
    "Please speak after the tone.",
    "The last item on the list is the hardest: say nothing at all.",
]

# Of each stage the tensor of the graph. Time is its last dimension.
STAGES = {
    "encoded": "/enc_p/encoder/Mul_2_output_0",
    "prior": "/enc_p/proj/Conv_output_0",
    "durations": "/dp/Split_output_0",
    "latent": "/flow/flows.0/Concat_output_0",
    "samples": "output",
}


def ids(model, target):
    from piper import PiperVoice

    voice = PiperVoice.load(model)
    rows = []
    for sentence in SENTENCES:
        phonemes = [p for part in voice.phonemize(sentence) for p in part]
        rows.append({"text": sentence, "phonemes": "".join(phonemes), "ids": voice.phonemes_to_ids(phonemes)})
    with open(target, "w", encoding="utf-8") as out:
        out.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows) + "\n]\n")


def session(path, outputs):
    import onnx
    import onnxruntime

    model = onnx.load(path)
    known = {name for node in model.graph.node for name in node.output}
    missing = [name for name in outputs if name not in known]
    if missing:
        raise SystemExit(f"{path}: no such tensors: {missing}")
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def speech(model, sentences, target):
    import numpy as np

    rows = json.load(open(sentences, encoding="utf-8"))
    run = session(model, list(STAGES.values()))
    arrays = {}
    for i, row in enumerate(rows):
        feed = {
            "input": np.array([row["ids"]], np.int64),
            "input_lengths": np.array([len(row["ids"])], np.int64),
            "scales": np.array([0, 1, 0], np.float32),
        }
        found = dict(zip(STAGES, run.run(None, feed)))
        arrays[f"speech{i}"] = found["samples"].reshape(-1)
        if i == 0:
            for stage, values in found.items():
                arrays[stage] = np.ascontiguousarray(values.reshape(values.shape[-2], values.shape[-1]).T, np.float32)
    np.savez(target, **arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, arguments in (("ids", ["model", "out"]), ("speech", ["model", "sentences", "out"])):
        command = commands.add_parser(name)
        for argument in arguments:
            command.add_argument(argument)
    options = parser.parse_args()
    if options.command == "ids":
        ids(options.model, options.out)
    else:
        speech(options.model, options.sentences, options.out)


if __name__ == "__main__":
    sys.exit(main())
