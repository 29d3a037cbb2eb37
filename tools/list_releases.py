#!/usr/bin/env python3
"""Writes src/doctor/knowledge/releases.json: the releases that the Python index has of what the doctor plans with.

  python tools/list_releases.py > src/doctor/knowledge/releases.json

Asks pip, a look-up a package. Pre-releases are left out, and what is older than speech stacks still use.
"""
import datetime
import json
import re
import subprocess
import sys

# The oldest release that is kept of each.
PACKAGES = {
    "torch": "1.13.0", "torchaudio": "0.13.0", "torchvision": "0.14.0", "torchcodec": "0.1.0",
    "ctranslate2": "3.17.0", "faster-whisper": "0.8.0", "whisperx": "3.3.0", "openai-whisper": "20231117",
    "onnxruntime": "1.15.0", "onnxruntime-gpu": "1.15.0", "llama-cpp-python": "0.3.0",
    "numpy": "1.19.0", "pyannote-audio": "3.1.0", "silero-vad": "5.1", "kokoro": "0.2.1", "kokoro-onnx": "0.4.0", "coqui-tts": "0.24.0",
    "sentence-transformers": "3.0.0", "tts": "0.13.0", "piper-tts": "1.1.0", "chatterbox-tts": "0.1.0", "nemo-toolkit": "1.20.0",
    "nvidia-cudnn-cu11": "8.5.0", "nvidia-cudnn-cu12": "8.9.0", "nvidia-cudnn-cu13": "9.12.0", "nvidia-cublas-cu11": "11.10.0", "nvidia-cublas-cu12": "12.1.0", "nvidia-cublas": "13.0.0",
    "nvidia-cuda-runtime-cu12": "12.1.0",
}


def numbers(version):
    return [int(part) for part in version.split(".")]


def releases(package, oldest):
    command = [sys.executable, "-m", "pip", "index", "versions", "--ignore-requires-python", package]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^Available versions: (.*)$", listed, re.M)[1].split(", ")
    return [v for v in found if re.fullmatch(r"\d+(\.\d+)*", v) and numbers(v) >= numbers(oldest)]


def main():
    today = datetime.date.today()
    source = f"the Python index, {today:%B %Y}"
    lines = [
        f'    {json.dumps({"package": name, "releases": releases(name, oldest), "verified": True, "source": source})}'
        for name, oldest in sorted(PACKAGES.items())
    ]
    print(f'{{\n  "format": 1,\n  "date": "{today}",\n  "releases": [\n' + ",\n".join(lines) + "\n  ]\n}")


main()
