"""What the tests of the program itself share: run a command, say what held, count it as GoogleTest does."""
import json
import mmap
import os
import pathlib
import re
import struct
import subprocess
import sys

SKIPPED = 77  # SKIP_RETURN_CODE of the tests in CMakeLists.txt
ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIGHTS = pathlib.Path(os.environ.get("MYNAH_WEIGHTS", ROOT / ".cache/weights"))  # tools/fetch_weights.py
SHARED = pathlib.Path(os.environ.get("MYNAH_SHARED", ROOT.parent / "shared"))
LIBRIVOX = pathlib.Path("/usr/share/pocketsphinx/test/data/librivox")  # package pocketsphinx-testdata
SENTENCE, ANOTHER = (LIBRIVOX / f"sense_and_sensibility_01_austen_64kb-{number}.wav" for number in ("0870", "0880"))


class Checks:
    """Named checks of one script; close() writes them where tools/count_tests.py looks, and ends the script."""

    def __init__(self):
        self.results = []

    def add(self, name, fault=None):
        print(f"FAILED: {name}: {fault}" if fault else f"ok: {name}", flush=True)
        self.results.append({"name": name, "result": "COMPLETED", **({"failures": [{"failure": fault}]} if fault else {})})

    def skip(self, name, reason):
        print(f"skipped: {name}: {reason}", flush=True)
        self.results.append({"name": name, "result": "SKIPPED"})

    def ended(self, name, result, code, pattern=None, lines=None):
        """The exit code, a pattern in what it said on stderr, and how many lines of "mynah: ..." that may be."""
        said = result.stderr.splitlines()
        fault = None
        if result.returncode != code:
            fault = f"wanted exit code {code}, found {result.returncode}"
        elif pattern and not re.search(pattern, result.stderr):
            fault = f"wanted '{pattern}' on stderr"
        elif lines is not None and (len(said) > lines or not all(line.startswith("mynah: ") for line in said)):
            fault = f"wanted at most {lines} lines that begin with 'mynah: '"
        self.add(name, fault and f"{fault}: {result.stderr[-600:]!r}")
        return fault is None

    def memory(self, name, program, peak_mb, most_mb):
        """What a process held at most. A sanitizer's shadows and quarantine are no business of the program's."""
        if is_sanitized(program):
            self.skip(name, f"{peak_mb:.0f} MB under a sanitizer")
        else:
            self.add(name, None if peak_mb < most_mb else f"{peak_mb:.0f} MB")

    def close(self):
        target = os.environ.get("GTEST_OUTPUT", "").removeprefix("json:")
        if target:
            pathlib.Path(target).write_text(json.dumps({"testsuites": [{"testsuite": self.results}]}))
        sys.exit(1 if any("failures" in result for result in self.results) else 0)


def is_sanitized(program):
    with open(program, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as bytes_of_it:
        return any(bytes_of_it.find(name) >= 0 for name in (b"__asan_init", b"__tsan_init"))


def needs(*paths):
    """Ends the script as skipped where one of these files is missing."""
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        print(f"skipped: no {', '.join(missing)}")
        sys.exit(SKIPPED)


def environment(home, **more):
    """A user without configuration, models or network, whose folders are below `home`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MYNAH_", "XDG_"))}
    return {**kept, "HOME": str(home), "MYNAH_HOME": str(home / "models"), "XDG_CACHE_HOME": str(home / "cache"),
            "NO_COLOR": "1", **more}


def run(env, *command, **options):
    """The program's end; of one that is not over after five minutes exit code -9, and what it had said."""
    words = [str(word) for word in command]
    try:
        return subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=False,
                              **{"stdin": subprocess.DEVNULL, **options})
    except subprocess.TimeoutExpired as late:
        out, err = (text.decode(errors="replace") if isinstance(text, bytes) else text or "" for text in (late.stdout, late.stderr))
        return subprocess.CompletedProcess(words, -9, out, f"{err}\nnot over after {late.timeout} s")


def wav(samples=b"", channels=1, rate=16000, bits=16, promised=None):
    """A WAV file's bytes; `promised` is how many bytes of samples its header claims."""
    count = len(samples) if promised is None else promised
    frame = channels * bits // 8
    return (b"RIFF" + struct.pack("<I", 36 + count) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, 1, channels, rate, rate * frame, frame, bits) + b"data" +
            struct.pack("<I", count) + samples)
