#!/usr/bin/env python3
"""./dev bench beside: two models at work beside each other in one process, and what each loses by the other.

An urgent window (3.3 s, tiny.en) is heard alone and beside long work, by turns: beside 30 s of clauses of a voice, and beside
batches of the same model; every answer must be the one that it is alone. Aims (issue "Side by side"): the urgent window takes at
most 1.6 times as long as alone, the long work loses no more than that window's own time, and a thread is free within 50 ms of a
stop (median; 95 percent within 100). With --svg who computed when, of one turn of each: operations by the millisecond.

usage: beside.py [--device REQUEST] [--threads N] [--turns X] [--voice piper|hibari] [--svg FILE] [--json]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("MYNAH_SHARED", f"{ROOT}/../shared")
WEIGHTS = os.environ.get("MYNAH_WEIGHTS", f"{ROOT}/.cache/weights")
PROGRAM = f"{os.environ.get('BENCH_BUILD', f'{ROOT}/build/release')}/bench/place/mynah_bench_place"
VOICES = {"piper": f"{WEIGHTS}/piper/en_US-joe-medium.onnx", "hibari": f"{WEIGHTS}/hibari/hibari.onnx"}
WIDTH, ROW, LEFT, GAP = 900, 34, 150, 46  # of the drawing, in pixels
COLOURS = ("#1b6e9c", "#c8641e")


def clips(shortest, longest, count):
    """English recordings of some seconds."""
    with open(f"{SHARED}/speech/transcripts.tsv") as f:
        rows = [line.rstrip("\n").split("\t") for line in f][1:]
    fitting = [row for row in rows if row[1] == "en" and shortest <= float(row[3]) <= longest]
    return [f"{SHARED}/speech/{row[0]}" for row in fitting[:count]]


def measure(options):
    with tempfile.TemporaryDirectory() as cache:
        command = [PROGRAM, "beside", "--device", options.device, "--threads", str(options.threads), "--turns", str(options.turns),
                   "--whisper", f"{WEIGHTS}/tiny.en", f"--{options.voice}", VOICES[options.voice], "--cache", cache]
        for clip in clips(2.7, 3.4, 1) + clips(10, 28, 8):
            command += ["--recording", clip]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{PROGRAM} failed with exit code {done.returncode}")
    return json.loads(done.stdout)


def strip(counts, column, x_of, y, colour):
    """A bar for each millisecond in which the model's operations grew, darker where they grew more."""
    steps = [later[column] - earlier[column] for earlier, later in zip(counts, counts[1:])]
    most = max(steps) or 1
    return "".join(f'<rect x="{x_of(at[0]):.1f}" y="{y}" width="{max(0.6, x_of(after[0]) - x_of(at[0])):.1f}" height="{ROW - 8}" '
                   f'fill="{colour}" fill-opacity="{0.25 + 0.75 * step / most:.2f}"/>'
                   for at, after, step in zip(counts, counts[1:], steps) if step)


def draw(rows, path):
    """Who computed when: a strip a model and turn."""
    shown = [row for row in rows if row.get("timeline")]
    height = len(shown) * (2 * ROW + GAP) + 10
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for i, row in enumerate(shown):
        counts, urgent = row["timeline"]["operations"], row["timeline"]["urgent_ms"]
        # Around the urgent window: as much of the long work on each side as the window lasts, three times.
        spare = 3 * (urgent[1] - urgent[0])
        begin, end = max(0, urgent[0] - spare), urgent[1] + spare
        counts = [count for count in counts if begin <= count[0] <= end]
        top = 10 + i * (2 * ROW + GAP)

        def x_of(ms):
            return LEFT + (WIDTH - LEFT - 20) * (ms - begin) / (end - begin)

        parts.append(f'<text x="10" y="{top + 14}">an urgent window (tiny.en) beside {row["beside"]}, {end - begin:.0f} ms</text>')
        same = "same model" in row["beside"]
        for line, (name, column) in enumerate((("tiny.en", 1),) if same else (("tiny.en", 1), ("voice", 2))):
            y = top + 22 + line * ROW
            parts.append(f'<text x="10" y="{y + 18}">{name}</text>')
            parts.append(strip(counts, column, x_of, y, COLOURS[line]))
        x, width = x_of(urgent[0]), x_of(urgent[1]) - x_of(urgent[0])
        parts.append(f'<rect x="{x:.1f}" y="{top + 19}" width="{width:.1f}" height="{(1 if same else 2) * ROW}" fill="none" '
                     'stroke="black" stroke-dasharray="4 3"/>')
    with open(path, "w") as f:
        f.write("\n".join(parts) + "\n</svg>\n")


def table(rows):
    print(f"{'':<34}{'alone':>9}{'beside':>9}{'ratio':>8}{'95 %':>8}   lost by the long work, of the window's time")
    for row in rows:
        if "beside" in row:
            print(f"{row['beside']:<34}{row['alone_ms']:>6.1f} ms{row['beside_ms']:>6.1f} ms{row['ratio']:>8.2f}{row['ratio_95']:>8.2f}"
                  f"   {row['lost_of_urgent']:.2f}")
    for name, stops in rows[-1]["stopped"].items():
        print(f"stopped: {name:<25} free after {stops['median_ms']:.1f} ms (median), {stops['p95_ms']:.1f} (95 %), "
              f"{stops['most_ms']:.1f} (most) of {stops['whole_ms']:.0f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip().rsplit("usage: ", 1)[1])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=float, default=1)
    parser.add_argument("--voice", choices=VOICES, default="piper")
    parser.add_argument("--svg")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options)
    if options.svg:
        draw(rows, options.svg)
    if options.json:
        print(json.dumps(rows))
    else:
        table(rows)


if __name__ == "__main__":
    main()
