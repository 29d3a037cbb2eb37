#!/usr/bin/env python3
"""What mynah prints and writes for some 300 calls of every verb, compared byte by byte.

  corpus.py record PROGRAM FOLDER     runs every call and writes what came of them, a file for each verb
  corpus.py compare PROGRAM FOLDER    runs them again, and shows what is not as it was recorded
  corpus.py compare OLD NEW           runs both programs side by side, and shows where they differ
  corpus.py renew PROGRAM             writes what is kept in git (corpus/expected), of the calls that hold on every machine
  corpus.py check PROGRAM             the test: these calls, and that a change would be seen

Calls are listed in corpus/calls.tsv (corpus_calls.py says how), times and the like are masked by corpus_masks.py. --only
PATTERN takes the calls whose names match a regular expression, --jobs N runs several at once. Models are imported once from
MYNAH_WEIGHTS and MYNAH_SHARED, into --work; calls that need what is not here are skipped and counted. The exit code is 0 where
nothing differs.
"""
import argparse
import difflib
import os
import pathlib
import re
import signal
import stat
import sys
import tempfile

from checks import Checks
from corpus_calls import DATA, read_calls
from corpus_runs import WORK, Runner, run_all

EXPECTED = DATA / "expected"
HEAD = "==== "


def read_records(folder):
    """What was recorded: {name: text}."""
    records = {}
    for path in sorted(folder.glob("*.txt")):
        name = None
        for line in path.read_text().splitlines(keepends=True):
            if line.startswith(HEAD):
                name = line.removeprefix(HEAD).strip()
                records[name] = ""
            else:
                records[name] += line
    return records


def write_records(folder, calls, records):
    folder.mkdir(parents=True, exist_ok=True)
    for group in sorted({call.group() for call in calls}):
        text = "".join(f"{HEAD}{call.name}\n{records[call.name]}" for call in calls if call.group() == group)
        (folder / f"{group}.txt").write_text(text)


def difference(name, old, new):
    """What differs, as diff shows it; empty where nothing does. Long lines of JSON are broken at their keys."""
    if old == new:
        return ""
    old, new = (re.sub(r"^\|.{200,}$", lambda line: line[0].replace(',"', ',\n|  "'), text, flags=re.MULTILINE).splitlines(keepends=True)
                for text in (old, new))
    return "".join(difflib.unified_diff(old, new, f"old {name}", f"new {name}", n=2))


def chosen(options, calls):
    """Calls that --only takes and that can run here, and how many of them cannot."""
    calls = [call for call in calls if re.search(options.only, call.name)]
    if not calls:
        sys.exit(f"no call's name matches '{options.only}'")
    runnable = []
    for call in calls:
        if missing := call.missing():
            print(f"skipped: {call.name}: no {missing}")
        else:
            runnable.append(call)
    return runnable, len(calls) - len(runnable)


def compare(options, calls):
    """Shows what differs; how many calls did, and how many were the same."""
    second = pathlib.Path(options.second)
    counts = [0, 0]

    def told(call, texts):
        fault = difference(call.name, *texts)
        counts[bool(fault)] += 1
        print(fault, end="", flush=True)

    if second.is_dir():
        records = read_records(second)
        for call in [call for call in calls if call.name not in records]:
            print(f"{call.name}: is not in {second}")
            counts[1] += 1
        calls = [call for call in calls if call.name in records]
        with Runner(options.program, options.work) as runner:
            run_all([runner], calls, options.jobs, lambda call, texts: told(call, [records[call.name], *texts]))
    else:
        with Runner(options.program, options.work) as old, Runner(second, options.work) as new:
            run_all([old, new], calls, options.jobs, told)
    return counts


def record(options, calls, folder):
    records = {}
    with Runner(options.program, options.work) as runner:
        run_all([runner], calls, options.jobs, lambda call, texts: records.update({call.name: texts[0]}))
    write_records(folder, calls, records)


def changed_program(program, folder, line):
    """A program that does as `program` does, and then something else."""
    path = pathlib.Path(folder) / "mynah"
    path.write_text(f"#!/bin/sh\n{line.replace('PROGRAM', str(pathlib.Path(program).resolve()))}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


# What a change is, a line of a shell, and what the comparison shows of it.
CHANGES = [
    ("one altered sentence is seen", "PROGRAM \"$@\" | sed 's/ male/ a man/'", r"^\+\|rms .* a man "),
    ("one altered exit code is seen", "PROGRAM \"$@\"; exit 4", r"^\+exit code 4$"),
    ("one more file is seen", "PROGRAM \"$@\"; code=$?; echo more >more.txt; exit $code", r"^\+-- file more\.txt$"),
]


def check(options, calls, checks):
    records = read_records(EXPECTED)

    def told(call, texts):
        checks.add(call.name, difference(call.name, records.get(call.name, ""), texts[0]))

    with Runner(options.program, options.work) as runner:
        run_all([runner], calls, options.jobs, told)
    simple = [call for call in read_calls() if call.name == "voices/builtin"]
    with tempfile.TemporaryDirectory() as folder, Runner(options.program, options.work) as old:
        for name, line, shown in CHANGES:
            seen = []
            with Runner(changed_program(options.program, folder, line), options.work) as new:
                run_all([old, new], simple, 1, lambda call, texts, seen=seen: seen.append(difference(call.name, *texts)))
            checks.add(name, None if re.search(shown, seen[0], re.MULTILINE) else f"found {seen[0]!r}")
    for name in sorted(set(records) - {call.name for call in read_calls() if call.everywhere}):
        checks.add(f"{name} is a call", "is in corpus/expected and not in calls.tsv: renew")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("record", "compare", "renew", "check"))
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("second", nargs="?", help="a folder of records, or another program")
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=pathlib.Path, default=WORK, help=f"where imported models are kept [{WORK}]")
    options = parser.parse_args()
    if (options.second is None) != (options.verb in ("renew", "check")):
        parser.error(f"{options.verb} takes {'one more argument' if options.second is None else 'no more arguments'}")
    calls = read_calls()
    if options.verb in ("renew", "check"):
        calls = [call for call in calls if call.everywhere]
    calls, skipped = chosen(options, calls)
    if options.verb == "compare":
        same, differ = compare(options, calls)
        print(f"{same} the same, {differ} differ, {skipped} skipped")
        sys.exit(1 if differ else 0)
    if options.verb == "check":
        checks = Checks()
        check(options, calls, checks)
        for number in range(skipped):
            checks.skip(f"call {number + 1} of {skipped}", "what it needs is not here")
        checks.close()
    if options.verb == "renew" and (skipped or options.only):
        sys.exit("what is kept in git is renewed as a whole, where nothing is skipped")
    record(options, calls, pathlib.Path(options.second or EXPECTED))
    print(f"{len(calls)} recorded, {skipped} skipped")


if __name__ == "__main__":
    os.umask(0o022)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # folders are taken away then, too
    main()
