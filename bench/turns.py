#!/usr/bin/env python3
"""How often pauses are taken for ends, and how soon ends are: silence alone, Smart Turn asked once, streamed, and mynah's rule.

  turns.py [BUILD] [WEIGHTS] [SPEECH] [--mixes N] [--work FOLDER]

The corpus is bench/turn_corpus.py's (a stated seed), policies and their sweeps bench/turn_policies.py's, scored as LiveKit's eot-bench scores:
pauses of 0.1 s and more, false cut-offs at a mean latency of 300 and 600 ms, latency at 5 % false cut-offs. Settings are chosen on half of the
speakers and told on the other half, both ways, with the interval that 95 % of 1,000 draws of the turns lie in. Scores are mynah's, words those of
`mynah transcribe` with tiny.en of what was said up to 0.1 s behind each pause's begin. At last N mixes of a turn with another voice at -10 dB
behind it, until six seconds after its end, are heard by Silero and the whole of EndOfTurn: how many end within 2 s. What was computed is kept
in the work folder and read again. BUILD has bench/turns/mynah_bench_turns and mynah. Needs numpy, onnxruntime and ffmpeg.
"""
import argparse
import json
import os
import pathlib
import pickle
import random
import re
import subprocess
import wave

import numpy as np

import turn_corpus
import turn_policies
from turn_corpus import RATE, SEED

BUDGETS_S = (.3, .6)
MOST_CUT = .05
OPEN_WORDS = pathlib.Path(__file__).parent.parent / "src/speech/open_words"


def kept(path, make):
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = pickle.dumps(make())
        path.with_suffix(".part").write_bytes(made)
        path.with_suffix(".part").rename(path)
    return pickle.loads(path.read_bytes())


def run_program(build, arguments, items, work):
    """Lines in, objects out; sounds go by way of files."""
    lines = []
    for i, (sound, more) in enumerate(items):
        path = work / f"{i}.f32"
        sound.astype(np.float32).tofile(path)
        lines.append(json.dumps({"sound": str(path), **more}))
    program = pathlib.Path(build, "bench/turns/mynah_bench_turns")
    done = subprocess.run([program, *arguments], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def scores_of(turns, build, weights, work):
    """Logits of each pause at each look, and the milliseconds of a score."""
    items = []
    for turn in turns:
        looks = [int((pause.start + look) * RATE) for pause in turn.pauses for look in turn_policies.LOOKS if pause.start + look <= pause.end]
        items.append((turn.sound, {"begin": max(0, int((turn.begin - .5) * RATE)), "looks": looks}))
    *answers, time = run_program(build, ["--model", str(weights / "smart_turn/smart-turn-v3.2-cpu.onnx")], items, work)
    rows = []
    for turn, answer in zip(turns, answers):
        left = iter(answer["scores"])
        for pause in turn.pauses:
            rows.append([next(left) if pause.start + look <= pause.end else np.nan for look in turn_policies.LOOKS])
    scores = np.clip(np.array(rows), 1e-6, 1 - 1e-6)
    return np.log(scores / (1 - scores)), time["ms"]


def write_wav(path, sound):
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((np.clip(sound, -1, 1) * 32767).astype(np.int16).tobytes())


def words_of(turns, build, weights, work):
    """What was said up to each pause of an English turn; none of others."""
    paths = {}
    for i, turn in enumerate(turns):
        for j, pause in enumerate(turn.pauses if turn.language == "en" else []):
            path = work / f"{i}-{j}.wav"
            write_wav(path, turn.sound[max(0, int((pause.start - 20) * RATE)):int((pause.start + .1) * RATE)])
            paths[i, j] = path
    command = [pathlib.Path(build, "mynah"), "transcribe", "--offline", "--beam", "1", "--json", "-m", weights / "tiny.en", "--vad-model",
               weights / "silero/silero_vad.onnx", *paths.values()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "XDG_DATA_HOME": str(work), "XDG_CACHE_HOME": str(work)})
    texts = {pathlib.Path(heard["file"]).name: heard["text"] for heard in map(json.loads, done.stdout.splitlines())}
    return [texts.get(paths[i, j].name) if (i, j) in paths else None for i, turn in enumerate(turns) for j in range(len(turn.pauses))]


def clause_of(text, words):
    """ClauseState of src/speech/open_clause.cpp, of English."""
    said = (text or "").lower().strip().rstrip("\"')]}")
    if not said:
        return 0
    if said.endswith("...") or said[-1] in ",;:-–—…":
        return -1
    if said[-1] in "?!":
        return 1
    last = re.sub(r"[. ]+$", "", said).split()
    if last and (last[-1] in words or " ".join(last[-2:]) in words):
        return -1
    return 1 if last and said[-1] == "." else 0


def halves_of(turns):
    speakers = sorted({turn.speaker for turn in turns})
    random.Random(SEED).shuffle(speakers)
    first = set(speakers[::2])
    return np.array([turn.speaker in first for turn in turns for _ in turn.pauses])


def told_otherwise(policy, pauses, first, **wanted):
    """When each pause ends by the setting that was chosen on the other half of the speakers, and the two settings."""
    ended, settings = np.zeros(len(pauses.ends)), []
    for half in (first, ~first):
        settings.append(tuple(map(float, turn_policies.choose(policy, pauses.only(half), **wanted))))
        ended[~half] = turn_policies.ended_by(policy, pauses.only(~half), settings[-1])
    return ended, settings


def tell(pauses, first):
    for name, policy in turn_policies.POLICIES.items():
        cells, settings = [], []
        for budget in BUDGETS_S:
            ended, chosen = told_otherwise(policy, pauses, first, most_latency=budget)
            latency, cut = turn_policies.measure(pauses, ended)
            low, high = turn_policies.interval(pauses, lambda rows: (ended < pauses.lengths)[rows][~pauses.ends[rows]].mean())
            cells.append(f"{100 * cut:.1f} % ({100 * low:.0f} to {100 * high:.0f}) at {1000 * latency:.0f} ms")
            settings += chosen
        ended, chosen = told_otherwise(policy, pauses, first, most_cut=MOST_CUT)
        latency, cut = turn_policies.measure(pauses, ended)
        cells.append(f"{1000 * latency:.0f} ms at {100 * cut:.1f} %")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        print(f"    settings {settings + chosen}; of all speakers "
              f"{[tuple(map(float, turn_policies.choose(policy, pauses, most_latency=budget))) for budget in BUDGETS_S]}")


def mixes_of(turns, count):
    """Turns with another speaker 10 dB below them, who goes on for six seconds behind their end; and where that is."""
    chance = random.Random(SEED)
    quiet = [turn for turn in turns if turn.made == "quiet" and turn.pauses[-1].start > 1]
    mixes = []
    for _ in range(count):
        turn = chance.choice(quiet)
        end = turn.pauses[-1].start
        length = int((end + 6) * RATE)
        own = np.resize(turn.sound, length) * (np.arange(length) < end * RATE)
        other = np.zeros(0, np.float32)
        while len(other) < length:
            one = chance.choice([other for other in quiet if other.speaker != turn.speaker])
            other = np.concatenate([other, one.sound[int(one.begin * RATE):int(one.pauses[-1].start * RATE)]])
        other = other[:length]
        level = np.sqrt(np.mean(own[:int(end * RATE)] ** 2) / np.mean(other ** 2)) * 10 ** (-10 / 20)
        mixes.append((own + level * other, end))
    return mixes


def tell_mixes(turns, count, build, weights, work):
    mixes = mixes_of(turns, count)
    for eagerness in ("low", "auto", "high"):
        arguments = ["--listen", eagerness, "--silero", str(weights / "silero/silero_vad.onnx"), "--model", str(weights / "smart_turn/smart-turn-v3.2-cpu.onnx")]
        answers = run_program(build, arguments, [(sound, {}) for sound, _ in mixes], work)
        waits = [min([one["at"] - end for one in answer["ends"] if one["at"] > end - .3], default=np.inf) for answer, (_, end) in zip(answers, mixes)]
        why = [next((one["why"] for one in answer["ends"] if one["at"] > end - .3), "none") for answer, (_, end) in zip(answers, mixes)]
        early = sum(one["at"] <= end - .3 for answer, (_, end) in zip(answers, mixes) for one in answer["ends"])
        counted = ", ".join(f"{word} {why.count(word)}" for word in sorted(set(why)))
        print(f"another voice, {eagerness}: {sum(wait <= 2 for wait in waits)} of {len(mixes)} end within 2 s, median {np.median(waits):.2f} s; "
              f"{counted}; {early} ends before", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build/release")
    parser.add_argument("weights", nargs="?", type=pathlib.Path, default=".cache/weights")
    parser.add_argument("speech", nargs="?", default="../shared/speech")
    parser.add_argument("--mixes", type=int, default=100)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/turns"))
    options = parser.parse_args()
    for folder in ("scores", "words", "mixes"):
        (options.work / folder).mkdir(parents=True, exist_ok=True)
    turns = kept(options.work / "turns.pickle", lambda: turn_corpus.make_turns(options.speech, options.weights))
    logits, ms = kept(options.work / "scores.pickle", lambda: scores_of(turns, options.build, options.weights, options.work / "scores"))
    texts = kept(options.work / "words.pickle", lambda: words_of(turns, options.build, options.weights, options.work / "words"))
    words = {line for line in (OPEN_WORDS / "en.txt").read_text().splitlines() if line and not line.startswith("#")}
    pauses = turn_policies.Pauses(logits, np.array([pause.end - pause.start for turn in turns for pause in turn.pauses]),
                                  np.array([pause.is_end for turn in turns for pause in turn.pauses]),
                                  np.array([clause_of(text, words) for text in texts]),
                                  np.array([i for i, turn in enumerate(turns) for _ in turn.pauses]))
    print(f"{len(turns)} turns of {len({turn.speaker for turn in turns})} speakers, {(~pauses.ends).sum()} pauses before their ends; a score took {ms:.1f} ms")
    tell(pauses, halves_of(turns))
    if options.mixes:
        tell_mixes(turns, options.mixes, options.build, options.weights, options.work / "mixes")


if __name__ == "__main__":
    main()
