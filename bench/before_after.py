#!/usr/bin/env python3
"""./dev bench before_after OLD NEW: two builds of the program in turns, and what of them became slower.

For each row both are run on the same files and models and must print the same (what is measured masked, tests/cli/corpus.py);
then they run in pairs, the first of a pair by turns, each often enough that a turn takes some tenths of a second. A row has both
medians and the median of the pairs' own ratios, old by new: below 1 is slower. Rows below 0.98 are measured once more after the
others; one that is below again is worse, and the exit code is 1, as it is where something differs. Prints a table, or with
--json what it is made of.

Times are the clock's. On a machine whose cores others use, --processor takes the processor's seconds, those of all processes
that a run started, which others disturb less.

usage: before_after.py OLD NEW [--only ROW ...] [--pairs N] [--threads N] [--processor] [--json]
"""
import argparse
import json
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))

from checks import LIBRIVOX, SENTENCE, wav  # noqa: E402
from corpus import difference  # noqa: E402
from corpus_calls import RECORDINGS, Call, samples_of  # noqa: E402
from corpus_runs import Runner  # noqa: E402

PAIRS = 9
WORSE_BELOW = 0.98
TURN_S = 0.3  # what takes less is run several times in a turn
TEXT = ("It is a quarter past seven, and Dr. Smith has read the lead story of 4 May 2021 to the end. A bird sings in St. James's "
        "Park. Nobody listens to it, but for a child who has three apples, two pears and a red balloon.")


def write_long(path):
    """All recordings of Debian's package behind each other, three times: about a minute and a half."""
    pieces = [samples_of(clip) + b"\0" * 32000 for clip in sorted(LIBRIVOX.glob("*.wav"))]
    path.write_bytes(wav(b"".join(3 * pieces)))


RECORDINGS["long.wav"] = (SENTENCE, write_long)

ENGLISH = ["english-phonemes"]
# Name, models, what lies in the folder, arguments; {text} and {threads} are filled in.
ROWS = [
    ("start", [], [], "--help"),
    ("devices", [], [], "devices"),
    ("models", ["hibari", "silero", "tiny.en"], [], "models list"),
    ("doctor", [], ["requirements-bad", "dockerfile", "compose", "conda"], "doctor . --gpu 'RTX 4090' --driver 550.54"),
    ("phonemes", ENGLISH, [], "phonemes {text}"),
    ("vad", ["silero"], ["long.wav"], "vad long.wav --vad-model silero --threads {threads}"),
    ("transcribe short", ["tiny.en", "silero"], ["speech.wav"], "transcribe speech.wav --model tiny.en --threads {threads}"),
    ("transcribe long", ["tiny.en", "silero"], ["long.wav"], "transcribe long.wav --model tiny.en --threads {threads}"),
    ("speak kokoro", ["kokoro", "kokoro-voices", *ENGLISH], [],
     "speak {text} --model kokoro --voice af_bella --out a.wav --threads {threads}"),
    ("speak hibari", ["hibari", *ENGLISH], [], "speak {text} --model hibari --out a.wav --threads {threads}"),
    ("speak joe", ["joe", *ENGLISH], [], "speak {text} --model joe --out a.wav --threads {threads}"),
    ("speak builtin", [], [], "speak {text} --model builtin --out a.wav --threads {threads}"),
]


def calls_of(options):
    """The rows as calls of the corpus; those that cannot run here are told and left out."""
    calls = []
    for name, models, made, command in ROWS:
        if options.only and name not in options.only:
            continue
        command = command.replace("{text}", f'"{TEXT}"').replace("{threads}", str(options.threads))
        call = Call(name, False, models, made, "", "", [command])
        if missing := call.missing():
            print(f"{name}: left out, there is no {missing}", file=sys.stderr)
        else:
            calls.append(call)
    return calls


class Side:
    """One of the two programs, with a folder for each row."""

    def __init__(self, program, calls):
        self.runner = Runner(program)
        self.runner.prepare(calls)
        self.folders, self.codes = {}, {}
        for number, call in enumerate(calls, 5000):
            self.folders[call.name] = self.runner.root / f"{number:04}"
            self.folders[call.name].mkdir()
            self.runner.lay_out(call, self.folders[call.name])

    def seconds(self, call, times, processor):
        """What one run takes, of `times` runs."""
        here = self.folders[call.name]
        words = [self.runner.program, *shlex.split(call.commands[0])]
        env = self.runner.environment_of(call, here)
        begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(times):
            code = subprocess.run(words, cwd=here, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False).returncode
            if code != self.codes.setdefault(call.name, code):
                sys.exit(f"{call.name}: ended with exit code {code}, {self.codes[call.name]} before")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        clock = time.perf_counter() - begin
        return (after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime if processor else clock) / times


def measured(old, new, call, options):
    """Both medians, and the median of the pairs' ratios."""
    # The first run of each fills its caches; the second says how many make a turn.
    old.seconds(call, 1, False), new.seconds(call, 1, False)
    times = max(1, min(50, round(TURN_S / old.seconds(call, 1, False))))
    pairs = []
    for turn in range(options.pairs):
        order = (old, new) if turn % 2 == 0 else (new, old)
        took = {side: side.seconds(call, times, options.processor) for side in order}
        pairs.append((took[old], took[new]))
    return {"row": call.name, "runs_in_a_turn": times, "pairs": len(pairs), "old_s": statistics.median(a for a, _ in pairs),
            "new_s": statistics.median(b for _, b in pairs), "ratio": statistics.median(a / b for a, b in pairs)}


def shown(row, again=""):
    ratio = f"{row['ratio']:.3f}"
    return f"{row['row']:18} {1000 * row['old_s']:10.1f} {1000 * row['new_s']:10.1f} {ratio:>8}{again}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=[row[0] for row in ROWS], metavar="ROW")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.pairs < PAIRS:
        parser.error(f"--pairs: wanted {PAIRS} at least, so that a median holds")
    calls = calls_of(options)
    sides = []
    tell = (lambda *_: None) if options.json else (lambda line: print(line, flush=True))
    try:
        for program in (options.old, options.new):
            sides.append(Side(program, calls))
        differing = [fault for number, call in enumerate(calls)
                     if (fault := difference(call.name, *(side.runner.run(call, number) for side in sides)))]
        if differing:
            sys.exit("\n".join(["they do not print the same:", *differing]))
        tell(f"{'':18} {'old ms':>10} {'new ms':>10} {'old/new':>8}   {'processor' if options.processor else 'clock'}, {options.pairs} pairs")
        rows = []
        for call in calls:
            rows.append(measured(*sides, call, options))
            tell(shown(rows[-1]))
        for row, call in zip(rows, calls):
            if row["ratio"] < WORSE_BELOW:
                row["again"] = measured(*sides, call, options)
                row["worse"] = row["again"]["ratio"] < WORSE_BELOW
                tell(shown(row["again"], "   again: " + ("worse" if row["worse"] else "not worse")))
    finally:
        for side in sides:
            side.runner.close()
    worse = [row["row"] for row in rows if row.get("worse")]
    if options.json:
        print(json.dumps({"old": str(options.old), "new": str(options.new), "measure": "processor" if options.processor else "clock",
                          "threads": options.threads, "rows": rows, "worse": worse}, indent=1))
    else:
        print(f"worse: {', '.join(worse)}" if worse else f"none of {len(rows)} rows is worse")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
