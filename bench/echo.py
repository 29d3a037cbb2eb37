#!/usr/bin/env python3
"""./dev bench echo: conversations in simulated rooms through the echo canceller, by each filter: what is left of the echo, who
interrupts, and what is heard of them.

The corpus is tools/echo_corpus.py's (two hours, 40 rooms, 320 barge-ins; seed 33); what the assistant says is spoken once into
.cache/echo. A false barge-in is a decision that somebody speaks while something is played and nobody does. Word errors are tiny.en's of
each barge-in, cut out of what the canceller gives to a recogniser, the echo going on beside it to its end; "no echo" is the same with
the loudspeaker silent. Musts (issue "Talk", point 3), of the filter that the product has: no false one in two hours, 90 % of barge-ins
noticed, 98 % where the voice is not below the echo, word errors at most 1.3 times of those without echo.

usage: echo.py [--conversations N] [--filters speex webrtc] [--no-words] [--stops] [--jobs N] [--json]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import echo_corpus  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / "build/release"))
SILERO = echo_corpus.WEIGHTS / "silero/silero_vad_16k_op15.onnx"
MODEL = echo_corpus.WEIGHTS / "tiny.en"
PRODUCT = "speex"


def played(lines, name, options, folder=None, echo=True):
    """Each conversation's report."""
    command = [BUILD / "bench/echo/mynah_bench_echo", "--filter", name, "--silero", SILERO, "--stops", "1" if options.stops else "0",
               "--echo", "1" if echo else "0"]
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        command += ["--folder", folder]

    def one(line):
        done = subprocess.run(command, input=json.dumps(line) + "\n", stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, lines))


def word_errors(reports, folder):
    """Errors, words."""
    table = folder / "table.tsv"
    rows = [f"{near['file']}\ten\t{near['text']}\n" for report in reports for near in report["near"]]
    table.write_text("clip\tlang\ttext\n" + "".join(rows))
    done = subprocess.run([BUILD / "mynah", "wer", table, "--json", "--model", MODEL, "--device", "cpu", "--vad-model", SILERO],
                          stdout=subprocess.PIPE, check=True)
    words = json.loads(done.stdout.splitlines()[-1])["total"]["words"]
    return words["errors"], words["length"]


def share(noticed):
    return f"{sum(noticed)} of {len(noticed)} ({100 * statistics.mean(noticed):.1f} %)" if noticed else "none"


def summary(reports):
    false = [decision for report in reports for decision in report["decisions"] if decision["far"] and not decision["person"]]
    hours = sum(report["seconds"] for report in reports) / 3600
    every = [(near["noticed"] >= 0, report["echo_db"]) for report in reports for near in report["near"]]
    waits = [near["noticed"] - near["begin"] for report in reports for near in report["near"] if near["noticed"] >= 0]
    found = [report for report in reports if report["delay_ms"] is not None]
    return {
        "ERLE, dB": round(statistics.mean(report["erle_db"] for report in reports), 1),
        "for the detector, dB": round(statistics.mean(report["quieted_db"] for report in reports), 1),
        "false": len(false), "false an hour": round(len(false) / hours, 2), "hours": round(hours, 2),
        "noticed": share([noticed for noticed, _ in every]),
        "noticed, echo not above": share([noticed for noticed, echo in every if echo <= 0]),
        "noticed share": statistics.mean(noticed for noticed, _ in every),
        "noticed share, echo not above": statistics.mean([noticed for noticed, echo in every if echo <= 0] or [True]),
        "noticed after, s": round(statistics.median(waits), 2),
        "delay wrong by at most, ms": round(max((abs(r["delay_ms"] - r["true_delay_ms"]) for r in found), default=0), 2),
        "drift wrong by at most, ppm": round(max((abs(r["drift_ppm"] - r["true_drift_ppm"]) for r in found), default=0), 1),
        "paths not found": len(reports) - len(found),
        "ms a second": round(1000 * sum(r["taken_s"] for r in reports) / sum(r["seconds"] for r in reports), 2),
    }


def missed(result):
    """What the product's filter misses of the musts."""
    wanted = {"false barge-ins": result["false"] == 0, "barge-ins noticed": result["noticed share"] >= 0.9,
              "barge-ins not below the echo noticed": result["noticed share, echo not above"] >= 0.98,
              "paths found": result["paths not found"] == 0, "word errors": result.get("word errors, times", 0) <= 1.3}
    return [name for name, good in wanted.items() if not good]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=40, help="so many of them, the first")
    parser.add_argument("--filters", nargs="*", default=["speex", "webrtc"])
    parser.add_argument("--no-words", action="store_true")
    parser.add_argument("--stops", action="store_true", help="the loudspeaker stops when somebody is noticed, as in a conversation")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    spoken = echo_corpus.voices(BUILD / "mynah", ROOT / ".cache/echo")
    lines = echo_corpus.conversations(spoken)[: options.conversations]
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        alone = played(lines, PRODUCT, options, folder / "alone", echo=False)
        results["no echo"] = summary(alone)
        if not options.no_words:
            errors, words = word_errors(alone, folder)
            results["no echo"]["word errors"] = f"{errors} of {words}"
        for candidate in options.filters:
            reports = played(lines, candidate, options, folder / candidate)
            results[candidate] = summary(reports)
            if not options.no_words:
                own, words = word_errors(reports, folder)
                results[candidate]["word errors"] = f"{own} of {words}"
                results[candidate]["word errors, times"] = round(own / max(1, errors), 2)
    if options.json:
        print(json.dumps(results))
    else:
        names = list(dict.fromkeys(key for result in results.values() for key in result if "share" not in key))
        for key in names:
            print(key.ljust(30), *(str(result.get(key, "")).ljust(24) for result in results.values()))
        print(" " * 30, *(name.ljust(24) for name in results))
    wrong = missed(results[PRODUCT]) if PRODUCT in results else []
    if wrong:
        sys.exit("missed: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
