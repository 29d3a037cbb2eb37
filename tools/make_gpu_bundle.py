#!/usr/bin/env python3
"""Makes the folder that ./dev gpu runs and that travels to a machine with a card and nothing else.

Usage: make_gpu_bundle.py PROGRAM MODEL OUT [SPEECH]

PROGRAM is mynah-gpu-check, MODEL tiny.en as a GGUF of mynah's, SPEECH the folder of recordings with transcripts (shared/speech);
without it the clips are the five that Debian's pocketsphinx package has. Fails where the program needs more of the machine than
the C and C++ libraries, or the folder is larger than it may be.
"""

import csv
import glob
import os
import re
import shutil
import subprocess
import sys
import wave

import soundfile

MOST_BYTES = 60 << 20
# What every machine that runs C++ programs has.
ALLOWED = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so")
LIBRIVOX = "/usr/share/pocketsphinx/test/data/librivox"
# English, read, 16 kHz, five to sixteen seconds.
CLIPS = ["librispeech_test-other_3080-5032-0000", "librispeech_test-other_2033-164914-0003",
         "librispeech_misc_1995-1837-0001", "librispeech_test-other_2609-156975-0002",
         "librispeech_test-other_367-130732-0005"]
RATE = 16000

README = """mynah on this machine's NVIDIA card: checked and measured in under ten minutes, unattended.

    ./mynah-gpu-check --out FOLDER

writes gpu-check.json and gpu-check.md to FOLDER. It needs NVIDIA's driver and nothing else; ./mynah-gpu-check --help says more.
"""


def check_needs(program):
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"Shared library: \[(.*?)\]", dynamic)
    foreign = [name for name in needed if not ALLOWED.match(name)]
    if foreign or not needed:
        sys.exit(f"make_gpu_bundle: {program} must need the C and C++ libraries alone, found {', '.join(foreign) or 'none'}")


def librivox_clips():
    with open(f"{LIBRIVOX}/transcription", encoding="utf-8") as f:
        said = {m.group(2): m.group(1) for m in re.finditer(r"<s> (.*) </s> \((.*)\)", f.read())}
    for path in sorted(glob.glob(f"{LIBRIVOX}/*.wav")):
        yield path, said[os.path.basename(path).removesuffix(".wav")]


def shared_clips(speech):
    with open(f"{speech}/transcripts.tsv", encoding="utf-8") as f:
        rows = {row["clip"]: row for row in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)}
    for name in CLIPS:
        clip = f"clips/{name}.flac"
        yield f"{speech}/{clip}", rows[clip]["text"]


def write_wav(path, out):
    samples, rate = soundfile.read(path, dtype="int16")
    if rate != RATE or samples.ndim != 1:
        sys.exit(f"make_gpu_bundle: {path}: wanted mono at {RATE} Hz, found {samples.ndim} dimensions at {rate} Hz")
    with wave.open(out, "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(RATE)
        f.writeframes(samples.tobytes())


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    program, model, out = sys.argv[1:4]
    check_needs(program)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(f"{out}/clips")
    subprocess.run(["strip", "-o", f"{out}/mynah-gpu-check", program], check=True)
    shutil.copy(model, f"{out}/tiny.en.gguf")
    with open(f"{out}/README.txt", "w", encoding="utf-8") as f:
        f.write(README)
    clips = list(librivox_clips())
    if len(sys.argv) == 5:
        clips += shared_clips(sys.argv[4])
    with open(f"{out}/clips.tsv", "w", encoding="utf-8") as f:
        for path, text in clips:
            name = os.path.splitext(os.path.basename(path))[0] + ".wav"
            write_wav(path, f"{out}/clips/{name}")
            f.write(f"{name}\t{text}\n")
    size = sum(os.path.getsize(path) for path in glob.glob(f"{out}/**", recursive=True) if os.path.isfile(path))
    if size > MOST_BYTES:
        sys.exit(f"make_gpu_bundle: {out} has {size / 2**20:.1f} MiB, more than {MOST_BYTES >> 20}")
    print(f"{out}: {size / 2**20:.1f} MiB, {len(clips)} clips")


if __name__ == "__main__":
    main()
