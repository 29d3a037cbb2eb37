#!/usr/bin/env python3
"""./dev bench services: what HTTP adds to a turn where an organ of `mynah talk` is a service on the same machine, beside the same in its process.

Questions (English clips, silence behind each) are played to `mynah talk`, in turns: with all organs in process (SmolLM2, tiny.en, hibari), with
each of them at a `mynah serve` of the same models and threads, and with all of them there. Checked first: every way hears and says the same of
at least half of the turns, to the letter, and these alone count. The server stays warm from round to round, what is in process is new in each: less
than nothing may be added. Hearing is not told: a turn that was heard in its pause takes no time any more. Told are `first_text_ms` and `first_speech_ms`: the median over all turns in process, and
the median over the rounds of what it takes more elsewhere (each turn beside the same turn of the same round), and their ratio.

usage: services.py [--clips N] [--rounds N] [--threads N] [--json]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import soundfile

import serving
from talk import RATE, SILERO, SMOL, TINY, clips, samples_of, silence

BEHIND_S = 8
LOCAL = {"llm": ["--model", SMOL], "stt": ["--asr-model", TINY], "tts": ["--voice-model", "hibari"]}
# The organ's own time, and what it is called.
TIMES = {"llm": ("first_text_ms", "first text of a reply"), "tts": ("first_speech_ms", "first sound of a clause")}


def talk(home, wav, threads, address, elsewhere):
    """Times of the replies, by what was heard and said."""
    organs = [word for organ, local in LOCAL.items() for word in ([f"--{organ}", address] if organ in elsewhere else local)]
    command = [serving.MYNAH, "talk", "--wav", wav, "--json", "--lang", "en", "--vad-model", SILERO, "--pause", "1.5", "--device", "cpu", "--threads",
               str(threads), "--max-tokens", "16", "--temperature", "0", *organs]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MYNAH_HOME": home})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.returncode}: {done.stderr}")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    turns, text = {}, ""
    for event in events:
        if event["event"] == "heard":
            text, times = event["text"], None
        elif event["event"] == "replies":
            times = event["times"]
        elif event["event"] == "said" and times and event["text"]:
            turns[text, event["text"]] = times
    return turns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    home = serving.home_with("hibari", "english-phonemes")
    server, address = serving.start(options.threads, home, "--chat-model", SMOL, "--voice-model", "hibari")
    ways = {"stt": ["stt"], "llm": ["llm"], "tts": ["tts"], "all": list(LOCAL)}
    more = {way: {organ: [] for organ in organs if organ in TIMES} for way, organs in ways.items()}
    inside = {organ: [] for organ in TIMES}
    with tempfile.TemporaryDirectory() as folder:
        wav = f"{folder}/questions.wav"
        work = clips(options.clips)
        soundfile.write(wav, np.concatenate([np.concatenate([samples_of(clip), silence(BEHIND_S)]) for clip, _ in work]), RATE)
        for _ in range(options.rounds):
            here = talk(home, wav, options.threads, address, [])
            for organ, times in inside.items():
                times.extend(turn[TIMES[organ][0]] for turn in here.values())
            for way, organs in ways.items():
                there = talk(home, wav, options.threads, address, organs)
                same = here.keys() & there.keys()
                if 2 * len(same) < len(work):
                    sys.exit(f"wrong: {way} elsewhere: {list(there)}, in process: {list(here)}")
                for organ in more[way]:
                    more[way][organ].append(statistics.median(there[turn][TIMES[organ][0]] - here[turn][TIMES[organ][0]] for turn in same))
    serving.end(server)
    report = {}
    for way, organs in more.items():
        for organ, medians in organs.items():
            own = statistics.median(inside[organ])
            report[f"{TIMES[organ][1]}, {'all' if way == 'all' else 'it alone'} elsewhere"] = {
                "in process, ms": round(own, 1),
                "more by HTTP, ms": round(statistics.median(medians), 1),
                "lowest and highest round": [round(min(medians), 1), round(max(medians), 1)],
                "ratio": round(1 + statistics.median(medians) / own, 2),
            }
    if options.json:
        print(json.dumps(report))
        return
    for title, rows in report.items():
        print(f"{title}: " + ", ".join(f"{name} {value}" for name, value in rows.items()))


if __name__ == "__main__":
    main()
