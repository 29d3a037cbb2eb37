"""The same binaries on a processor of 2008 (x86-64-v2: no AVX), emulated: the table of operation cases, and a transcript.

usage: old_processor.py ROOT TABLE MYNAH. Exits with 77 (skipped) where qemu, the weights or the recording are missing.
"""
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
CLIP, TEXT = "speech/clips/azure_whatstheweatherlike.flac", "what's the weather like"


def emulated(*command, **options):
    return subprocess.run(["qemu-x86_64", "-cpu", "Nehalem", *command], capture_output=True, text=True, check=False, **options)


def main():
    root, table, mynah = sys.argv[1:4]
    if not shutil.which("qemu-x86_64"):
        print("skipped: qemu-x86_64 is not installed (package qemu-user)")
        sys.exit(SKIPPED)
    cases = emulated(table, "--gtest_filter=*AgreesWithRef*-*simt*", env={**os.environ, "GTEST_OUTPUT": ""})
    print(cases.stdout[-300:])
    if cases.returncode:
        sys.exit(f"the table of operations ended with {cases.returncode}: {cases.stdout[-3000:]}{cases.stderr[-500:]}")
    model = os.path.join(os.environ.get("MYNAH_WEIGHTS", f"{root}/.cache/weights"), "tiny.en")
    clip = os.path.join(os.environ.get("MYNAH_SHARED", f"{root}/../shared"), CLIP)
    if not os.path.exists(model) or not os.path.exists(clip):
        print(f"skipped: no {model} or no {clip}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as home:
        heard = emulated(mynah, "transcribe", "--model", model, "--no-vad", "--explain", clip,
                         env={**os.environ, "MYNAH_HOME": home, "XDG_CACHE_HOME": home})
    print(heard.stdout, heard.stderr)
    if heard.returncode or TEXT not in heard.stdout.lower() or "sse4" not in heard.stderr:
        sys.exit(f"wanted '{TEXT}' heard with sse4, found exit code {heard.returncode} and: {heard.stdout}")


main()
