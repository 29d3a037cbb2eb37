"""Minutes of conversations in simulated rooms through the echo canceller and the detector of voice.

usage: conversations.py MYNAH MYNAH_BENCH_ECHO SOURCE_FOLDER [--all]

Two conversations of two minutes, a barge-in each quarter of a minute; with --all ten minutes. (All two hours, with Kokoro's and Piper's
voices and word errors: ./dev bench echo.) Exit code 77 where Silero's weights or the shared recordings are missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

MYNAH, BENCH, SOURCES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
sys.path.insert(0, str(SOURCES / "tools"))
import echo_corpus  # noqa: E402

SILERO = echo_corpus.WEIGHTS / "silero/silero_vad_16k_op15.onnx"


def main():
    if not SILERO.is_file() or not (echo_corpus.SHARED / "speech/transcripts.tsv").is_file():
        print(f"skipped: no {SILERO} or no {echo_corpus.SHARED}/speech")
        return 77
    count, seconds, replies = (4, 150.0, 10) if "--all" in sys.argv else (2, 120.0, 5)
    with tempfile.TemporaryDirectory() as folder:
        spoken = echo_corpus.built_in_voices(MYNAH, pathlib.Path(folder), replies)
        lines = echo_corpus.conversations(spoken, count, seconds, barge_ins=int(seconds / 15))
        done = subprocess.run([BENCH, "--filter", "speex", "--silero", SILERO], input="".join(json.dumps(line) + "\n" for line in lines),
                              stdout=subprocess.PIPE, text=True, check=True)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    noticed, every, faults = 0, 0, []
    for report in reports:
        name = report["name"]
        for decision in report["decisions"]:
            if decision["far"] and not decision["person"]:
                faults.append(f"{name}: the machine interrupted itself at {decision['at']:.2f} s")
        if report["delay_ms"] is None or abs(report["delay_ms"] - report["true_delay_ms"]) > 0.5:
            faults.append(f"{name}: wanted a delay of {report['true_delay_ms']:.2f} ms, found {report['delay_ms']}")
        if abs(report["drift_ppm"] - report["true_drift_ppm"]) > 5:
            faults.append(f"{name}: wanted a drift of {report['true_drift_ppm']:.1f} ppm, found {report['drift_ppm']:.1f}")
        noticed += sum(near["noticed"] >= 0 for near in report["near"])
        every += len(report["near"])
    if len(reports) != count or every < count * 4:
        faults.append(f"wanted {count} conversations with barge-ins, found {len(reports)} with {every}")
    if noticed < 0.9 * every:
        faults.append(f"of {every} barge-ins {noticed} were noticed")
    print("\n".join(faults) or f"{count * seconds / 60:.0f} minutes: {noticed} of {every} barge-ins noticed, no false one")
    return 1 if faults else 0


sys.exit(main())
