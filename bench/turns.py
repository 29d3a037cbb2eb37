#!/usr/bin/env python3
"""How often pauses are taken for ends, and how soon ends are: silence alone, Smart Turn asked once, streamed, and mynah's rule.

  turns.py [BUILD] [WEIGHTS] [SPEECH] [--choose] [--minutes N] [--mixes N] [--work FOLDER]

The corpus is bench/turn_corpus.py's (a stated seed), policies and their sweeps bench/turn_policies.py's, scored as LiveKit's eot-bench scores:
pauses of 0.1 s and more, false cut-offs at a mean latency of 300 and 600 ms, latency at 5 % false cut-offs. Settings are chosen on the first
half of the speakers (--choose tells those, and nothing of the others) and told on the other half, with the interval that 95 % of 1,000 draws of
the turns lie in. Scores are mynah's, words those of `mynah transcribe` with tiny.en of what was said up to 0.1 s behind each pause's begin. At
last N mixes of a turn with another voice at -10 dB behind it, until six seconds after its end, are heard by Silero and the whole of EndOfTurn:
how many end within 2 s. What was computed is kept in the work folder, turn by turn, by the hashes of the models and the corpus, and read again,
so that policies are tried in seconds. With --minutes what is not computed by then is left out, by chance, and the figures say so. BUILD has
bench/turns/mynah_bench_turns and mynah. Needs numpy, onnxruntime and ffmpeg.
"""
import argparse
import hashlib
import json
import os
import pathlib
import pickle
import random
import re
import subprocess
import time
import wave

import numpy as np

import turn_corpus
import turn_policies
from turn_corpus import RATE, SEED

BUDGETS_S = (.3, .6)
MOST_CUT = .05
TOGETHER = 8
SOURCE = pathlib.Path(__file__).parent.parent / "src/speech"
OPEN_WORDS = SOURCE / "open_words"
TURN_LEVEL = SOURCE / "turn_level.cpp"


def hash_of(*paths):
    found = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            found.update(file.read_bytes() if file.is_file() else b"")
    return found.hexdigest()[:12]


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".part").write_bytes(pickle.dumps(value))
    path.with_suffix(".part").rename(path)


def kept(path, make):
    if not path.exists():
        write(path, make())
    return pickle.loads(path.read_bytes())


def kept_of_each(path, turns, make, deadline):
    """What `make` finds of each turn, by its number; at the deadline what there is."""
    found = kept(path, dict)
    left = [i for i in range(len(turns)) if i not in found]
    random.Random(SEED).shuffle(left)
    for at in range(0, len(left), TOGETHER):
        if time.monotonic() > deadline:
            break
        some = left[at:at + TOGETHER]
        found.update(zip(some, make([turns[i] for i in some])))
        write(path, found)
    return found


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


def scores_of(turns, build, model, work):
    """Of each turn the logits of each pause at each look, and the milliseconds of a score."""
    items = []
    for turn in turns:
        looks = [int((pause.start + look) * RATE) for pause in turn.pauses for look in turn_policies.LOOKS if pause.start + look <= pause.end]
        items.append((turn.sound, {"begin": max(0, int((turn.begin - .5) * RATE)), "looks": looks}))
    *answers, took = run_program(build, ["--model", str(model)], items, work)
    found = []
    for turn, answer in zip(turns, answers):
        left = iter(answer["scores"])
        rows = [[next(left) if pause.start + look <= pause.end else np.nan for look in turn_policies.LOOKS] for pause in turn.pauses]
        scores = np.clip(np.array(rows), 1e-6, 1 - 1e-6)
        found.append((np.log(scores / (1 - scores)), took["ms"]))
    return found


def falls_of(turns, build, work):
    """Of each turn how far the voice had fallen at each pause; nan where that is not known."""
    items = []
    for turn in turns:
        pauses = [[int(pause.start * RATE), int(pause.end * RATE)] for pause in turn.pauses]
        items.append((turn.sound, {"begin": int(turn.begin * RATE), "pauses": pauses}))
    return [np.array(answer["falls"], float) for answer in run_program(build, ["--falls", "1"], items, work)]


def write_wav(path, sound):
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((np.clip(sound, -1, 1) * 32767).astype(np.int16).tobytes())


def words_of(turns, build, weights, work):
    """Of each turn what was said up to each pause of it, if it is English; none of others."""
    paths = {}
    for i, turn in enumerate(turns):
        for j, pause in enumerate(turn.pauses if turn.language == "en" else []):
            path = work / f"{i}-{j}.wav"
            write_wav(path, turn.sound[max(0, int((pause.start - 20) * RATE)):int((pause.start + .1) * RATE)])
            paths[i, j] = path
    if not paths:
        return [[None] * len(turn.pauses) for turn in turns]
    command = [pathlib.Path(build, "mynah"), "transcribe", "--offline", "--beam", "1", "--json", "-m", weights / "tiny.en", "--vad-model",
               weights / "silero/silero_vad.onnx", *paths.values()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "XDG_DATA_HOME": str(work), "XDG_CACHE_HOME": str(work)})
    texts = {pathlib.Path(heard["file"]).name: heard["text"] for heard in map(json.loads, done.stdout.splitlines())}
    return [[texts.get(paths[i, j].name) if (i, j) in paths else None for j in range(len(turn.pauses))] for i, turn in enumerate(turns)]


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


def halves_of(all_turns, turns):
    """Of each pause of turns whether its speaker is of the first half."""
    speakers = sorted({turn.speaker for turn in all_turns})
    random.Random(SEED).shuffle(speakers)
    first = set(speakers[::2])
    return np.array([turn.speaker in first for turn in turns for _ in turn.pauses])


WISHES = tuple({"most_latency": budget} for budget in BUDGETS_S) + ({"most_cut": MOST_CUT},)


def chosen_settings(pauses):
    """Of each policy the settings for each wish."""
    return {name: [tuple(map(float, turn_policies.choose(policy, pauses, **wish))) for wish in WISHES] for name, policy in turn_policies.POLICIES.items()}


def cut_off(ended, pauses):
    return (ended < pauses.lengths)[~pauses.ends].mean()


def tell(pauses, settings, groups):
    """Of pauses that no setting was chosen on: figures, their share of silence's, and what they are in groups of the pauses."""
    ended = {name: [turn_policies.ended_by(policy, pauses, setting) for setting in settings[name]] for name, policy in turn_policies.POLICIES.items()}
    for name in turn_policies.POLICIES:
        cells = []
        for at, _ in enumerate(BUDGETS_S):
            mine, silent = ended[name][at], ended["silence"][at]
            latency, cut = turn_policies.measure(pauses, mine)
            low, high = turn_policies.interval(pauses, lambda rows: cut_off(mine[rows], pauses.only(rows)))
            shares = turn_policies.interval(pauses, lambda rows: cut_off(mine[rows], pauses.only(rows)) / cut_off(silent[rows], pauses.only(rows)))
            cells.append(f"{100 * cut:.1f} % ({100 * low:.0f} to {100 * high:.0f}) at {1000 * latency:.0f} ms, {cut / cut_off(silent, pauses):.2f} "
                         f"({shares[0]:.2f} to {shares[1]:.2f}) of silence's")
        latency, cut = turn_policies.measure(pauses, ended[name][-1])
        print(f"| {name} | " + " | ".join([*cells, f"{1000 * latency:.0f} ms at {100 * cut:.1f} %"]) + " |", flush=True)
    for group, rows in groups.items():
        if (rows & ~pauses.ends).any():
            some = pauses.only(rows | pauses.ends)
            told = [" / ".join(f"{100 * cut_off(one[rows | pauses.ends], some):.0f}" for one in ended[name][:-1]) for name in turn_policies.POLICIES]
            print(f"    {group}: {(rows & ~pauses.ends).sum()} pauses, % cut off ({', '.join(turn_policies.POLICIES)}): {', '.join(told)}")


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
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--mixes", type=int, default=100)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/turns"))
    options = parser.parse_args()
    for folder in ("scores", "words", "mixes"):
        (options.work / folder).mkdir(parents=True, exist_ok=True)
    deadlines = [time.monotonic() + 60 * options.minutes * part for part in (.5, 1)]
    model = options.weights / "smart_turn/smart-turn-v3.2-cpu.onnx"
    corpus = hash_of(pathlib.Path(turn_corpus.__file__), pathlib.Path(options.speech, "transcripts.tsv"))
    all_turns = kept(options.work / f"turns-{corpus}.pickle", lambda: turn_corpus.make_turns(options.speech, options.weights))
    scores = kept_of_each(options.work / f"scores-{corpus}-{hash_of(model)}.pickle", all_turns,
                          lambda some: scores_of(some, options.build, model, options.work / "scores"), deadlines[0])
    texts = kept_of_each(options.work / f"words-{corpus}-{hash_of(options.weights / 'tiny.en')}.pickle", all_turns,
                         lambda some: words_of(some, options.build, options.weights, options.work / "words"), deadlines[1])
    falls = kept_of_each(options.work / f"falls-{corpus}-{hash_of(TURN_LEVEL)}.pickle", all_turns, lambda some: falls_of(some, options.build, options.work / "scores"), np.inf)
    known = sorted(scores.keys() & texts.keys())
    turns = [all_turns[i] for i in known]
    if not known:
        parser.error(f"in {options.minutes} minutes no turn was computed")
    if len(known) < len(all_turns):
        print(f"PARTIAL: {len(known)} of {len(all_turns)} turns are computed; no figure below is the corpus's")
    words = {line for line in (OPEN_WORDS / "en.txt").read_text().splitlines() if line and not line.startswith("#")}
    lengths = np.array([pause.end - pause.start for turn in turns for pause in turn.pauses])
    ends = np.array([pause.is_end for turn in turns for pause in turn.pauses])
    pauses = turn_policies.Pauses(np.concatenate([scores[i][0] for i in known]), lengths, ends,
                                  np.array([clause_of(text, words) for i in known for text in texts[i]]),
                                  np.nan_to_num(np.concatenate([falls[i] for i in known]), nan=turn_policies.USUAL_FALL_DB),
                                  np.array([i for i, turn in enumerate(turns) for _ in turn.pauses]))
    print(f"{len(turns)} turns of {len({turn.speaker for turn in turns})} speakers, {(~ends).sum()} pauses before their ends; "
          f"a score took {np.median([scores[i][1] for i in known]):.1f} ms")
    first = halves_of(all_turns, turns)
    settings = chosen_settings(pauses.only(first))
    for name, chosen in settings.items():
        print(f"    {name}: chosen {chosen}")
    if options.choose:
        return
    # A pause that a recording has itself is as long as whole frames of the detector.
    own = np.round(lengths * RATE) % turn_corpus.FRAME == 0
    languages = np.array([turn.language for turn in turns for _ in turn.pauses])
    groups = {"pauses of the recordings": own, "pauses put in": ~own, **{name: languages == name for name in sorted(set(languages))}}
    tell(pauses.only(~first), settings, {name: rows[~first] for name, rows in groups.items()})
    if options.mixes:
        tell_mixes(all_turns, options.mixes, options.build, options.weights, options.work / "mixes")


if __name__ == "__main__":
    main()
