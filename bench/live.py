#!/usr/bin/env python3
"""./dev bench live: recordings played in their own time to a live session: what it says for good, when, and how rightly.

A word that was said for good must never change, nothing is written of noise, and a push never takes longer than a piece of sound
lasts (nothing is decoded in it). Aims (issue "Side by side", point 5): the first word is said for good within a second of the
first word, more at least every 1.5 s while somebody speaks, and word errors of all that was said at most 1.1 times of the same
recordings heard as files. When a word was spoken is taken from the file's word times.

usage: live.py [--clips N] [--threads N] [--at-once N] [--no-drafts] [--pace X] [--vad silero|builtin] [--keep FILE] [--json]
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("MYNAH_SHARED", f"{ROOT}/../shared")
WEIGHTS = os.environ.get("MYNAH_WEIGHTS", f"{ROOT}/.cache/weights")
BUILD = os.environ.get("BENCH_BUILD", f"{ROOT}/build/release")
SILERO = f"{WEIGHTS}/silero/silero_vad_16k_op15.onnx"
MODEL = f"{WEIGHTS}/tiny.en"
LONGEST_PUSH_MS = 100


def references(count):
    """The English recordings, every so many of them where not all are wanted."""
    with open(f"{SHARED}/speech/transcripts.tsv") as f:
        header, *rows = [line.rstrip("\n").split("\t") for line in f]
    english = [row for row in rows if row[1] == "en"]
    step = max(1, len(english) // count) if count else 1
    return header, english[::step][: count or None]


def errors(table, hypotheses, options):
    """Word errors of the table, by the texts of a table or, without one, heard as files."""
    command = [f"{BUILD}/mynah", "wer", table, "--json"]
    command += ["--hypotheses", hypotheses] if hypotheses else ["--model", MODEL, "--device", "cpu", "-t", str(options.threads)] + vad(options)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def vad(options):
    return ["--vad-model", SILERO if options.vad == "silero" else "builtin"]


def spoken(files, options):
    """When each word of each file is said: [[begin, end], ...]."""
    command = [f"{BUILD}/mynah", "transcribe", *files, "--model", MODEL, "--device", "cpu", "--words", "--json"] + vad(options)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    times = {}
    for line in done.stdout.splitlines():
        heard = json.loads(line)
        if "segments" in heard:
            times[heard["file"]] = [[word["start"], word["end"]] for segment in heard["segments"] for word in segment.get("words", [])]
    return times


def played(files, options):
    command = [f"{BUILD}/bench/live/mynah_bench_live", "--threads", str(options.threads), "--whisper", MODEL, "--drafts",
               "0" if options.no_drafts else "1", "--pace", str(options.pace)]
    command += ["--silero", SILERO] if options.vad == "silero" else []
    shares = [files[i :: options.at_once] for i in range(options.at_once)]
    programs = [subprocess.Popen(command + share, stdout=subprocess.PIPE) for share in shares if share]
    for program in programs:
        for line in program.stdout:
            yield json.loads(line)
        if program.wait():
            sys.exit(f"{command[0]} failed with exit code {program.returncode}")


def waits(steps, words):
    """How long from the begin and end of the first word until a word was said for good; and how long nothing more was, while words
    were spoken."""
    if not words or not steps:
        return None, []
    first = steps[0][0]
    times = [step[0] for step in steps]
    silent = []
    for before, after in zip(times, times[1:]):
        # Of the time between two steps only what somebody spoke in.
        silent.append(sum(max(0, min(after, end) - max(before, begin)) for begin, end in words))
    return (first - words[0][0], first - words[0][1]), silent


def row(values):
    values = sorted(values)
    if not values:
        return {}
    return {"median": round(statistics.median(values), 2), "95 %": round(values[int(0.95 * (len(values) - 1))], 2), "most": round(values[-1], 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=1, help="so many played beside each other, each with all threads")
    parser.add_argument("--no-drafts", action="store_true")
    parser.add_argument("--vad", choices=("silero", "builtin"), default="silero")
    parser.add_argument("--pace", type=float, default=1, help="times as fast as they were spoken; 0: as fast as they are heard")
    parser.add_argument("--keep", metavar="FILE", help="what each session said, one JSON object a line")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    header, rows = references(options.clips)
    files = [f"{SHARED}/speech/{one[0]}" for one in rows]
    words = spoken(files, options)
    with tempfile.TemporaryDirectory() as folder:
        table, said = f"{folder}/references.tsv", f"{folder}/said.tsv"
        with open(table, "w") as f:
            f.write("\n".join("\t".join(one) for one in [header, *([f"{SHARED}/speech/{one[0]}", *one[1:]] for one in rows)]) + "\n")
        texts, from_begin, from_end, gaps, last, push, taken_back = [], [], [], [], [], [], 0
        for done, heard in enumerate(played(files, options)):
            if options.keep:
                with open(options.keep, "a") as f:
                    f.write(json.dumps(heard) + "\n")
            if sys.stderr.isatty():
                print(f"\r{done + 1} of {len(files)}", end="", file=sys.stderr)
            texts.append((heard["file"], heard["text"]))
            taken_back += heard["taken_back"]
            push.append(heard["longest_push_ms"])
            last.append(heard["last_ms"])
            first, silent = waits(heard["steps"], words.get(heard["file"], []))
            if first:
                from_begin.append(first[0])
                from_end.append(first[1])
                gaps += silent
        with open(said, "w") as f:
            f.write("clip\tlang\ttext\n" + "".join(f"{name}\ten\t{text.strip()}\n" for name, text in texts))
        noise = sorted(glob.glob(f"{SHARED}/speech/noise/*"))
        of_noise = [heard["text"] for heard in played(noise, options) if heard["text"] or heard["steps"]]
        live, file = errors(table, said, options), errors(table, None, options)
    live, file = live["total"]["words"], file["total"]["words"]
    report = {"clips": len(files), "live word errors": live["errors"], "file's": file["errors"], "words": file["length"],
              "taken back": taken_back, "written of noise": of_noise,
              "first after the first word's begin, s": row(from_begin), "after its end, s": row(from_end),
              "spoken without more, s": row(gaps), "over 1.5 s": sum(gap > 1.5 for gap in gaps), "steps": len(gaps),
              "text after the end, ms": row(last), "longest push, ms": row(push)}
    print(json.dumps(report, indent=None if options.json else 1))
    if taken_back or of_noise or max(push) > LONGEST_PUSH_MS:
        sys.exit(1)


main()
