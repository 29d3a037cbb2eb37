#!/usr/bin/env python3
"""./dev bench two_cards: one model on two simulated cards beside each other (--device stt=cuda:0+cuda:1).

Short recordings are heard by one card and by both; the texts must be the same. What is measured is how evenly the windows were
shared: a window's encoder is as many operations as any other's, so that of cards that are as quick as each other both together
are as many times as quick as one as the busier one's share goes into all (aim of the issue "Side by side": 1.8). On two cores two
simulated cards and mynah itself compete for them: the clock's ratio is told beside it.

usage: two_cards.py [--recordings N] [--runs N] [--json]
"""
import argparse
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import wave

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / "build/release"))
CARDS = "name=A,cc=8.9,uuid=0xa1,memory=8192;name=B,cc=8.9,uuid=0xb1,memory=8192"
AIM = 1.8


def write_tone(path):
    """Half a second of a saw."""
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16000)
        sound.writeframes(b"".join(struct.pack("<h", (n * 700) % 16000 - 8000) for n in range(8000)))


def hear(folder, devices, recordings):
    """Texts, what each card's encoder did, and seconds."""
    variables = os.environ | {"MYNAH_HOME": f"{folder}/home", "MYNAH_CUDA_DRIVER": str(next(BUILD.glob("**/libmynah_simulated_cuda.so"))),
                              "MYNAH_FAKE_CARDS": CARDS}
    command = [f"{BUILD}/mynah", "transcribe", "--device", devices, "--model", f"{folder}/model.gguf", "--no-vad", "--max-new-tokens", "8",
               "--temperature-increment", "0", "--json", "--batch", "1", *recordings]
    begin = time.monotonic()
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    took = time.monotonic() - begin
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    operations = {}
    for stage in answers[-1]["placement"]["stages"]:
        if stage["stage"] == "stt.encoder":
            operations[stage["device"]] = stage["operations"]
    return [answer["text"] for answer in answers], operations, took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=int, default=48)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    ratios, clocks = [], []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{BUILD}/tests/cli/mynah_place_tool", "whisper", f"{folder}/model.gguf"], check=True)
        recordings = [f"{folder}/tone{i}.wav" for i in range(options.recordings)]
        for recording in recordings:
            write_tone(recording)
        hear(folder, "stt=cuda:0+cuda:1", recordings[:1])  # proofs are made
        for _ in range(options.runs):
            one, _, alone_s = hear(folder, "stt=cuda:0", recordings)
            both, operations, both_s = hear(folder, "stt=cuda:0+cuda:1", recordings)
            if both != one:
                sys.exit("two_cards.py: both cards together hear something else than one")
            ratios.append(sum(operations.values()) / max(operations.values()))
            clocks.append(alone_s / both_s)
    found = {"ratio_by_operations": statistics.median(ratios), "aim": AIM, "ratio_by_the_clock": statistics.median(clocks)}
    if options.json:
        print(json.dumps(found))
    else:
        print(f"windows of two cards to those of one: {found['ratio_by_operations']:.2f} by operations (aim {AIM}), "
              f"{found['ratio_by_the_clock']:.2f} by the clock; {options.recordings} recordings, every text the same")
    return 0 if found["ratio_by_operations"] >= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
