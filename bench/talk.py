#!/usr/bin/env python3
"""./dev bench talk: conversations out loud with SmolLM2, tiny.en and Kokoro on this machine.

- Questions (English clips, 12 s of silence behind each) played to `mynah talk`, at the clock's pace only while something is computed,
  and some of them in real time; turns end by how they sound, with `--pause` by silence. Checked first: what was heard (word errors at most a third), and that every turn was replied to.
  Then from the end of the voice to the first sound: beyond the turn's decision, and beside the sum of the three organs' own times.
- `--what interruptions`: somebody speaks over a long reply: words, "stop" and what listeners say, in our own voices, and
  coughs and doors (noise that dies away; seeds 0 to 5). How soon after the onset there is silence, whether it stopped for good or went on, and
  after how long.

usage: talk.py [--what latency|interruptions] [--clips N] [--real-time N] [--threads N] [--pause S] [--voices NAME ...] [--json]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import jiwer
import numpy as np
import soundfile
from whisper_normalizer.english import EnglishTextNormalizer

import serving
from serving import MYNAH, SHARED, WEIGHTS

RATE = 16000
SILERO = f"{WEIGHTS}/silero/silero_vad_16k_op15.onnx"
TINY = f"{WEIGHTS}/tiny.en"
SMOL = f"{WEIGHTS}/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
PROGRAM = f"{os.environ.get('BENCH_BUILD', f'{serving.ROOT}/build/release')}/bench/talk/mynah_bench_talk"
BEHIND_S = 12
LONGEST_S = 6
MOST_TOKENS = 24
# Beyond the decision, ms; of the organs' sum.
MUST, AIM = (600, 1.3), (400, 0.8)
# The reply is spoken over so long after the question: it has begun by then.
OVER_S = 4
AFTER_S = 4
LISTENING = ["Mhm.", "Yeah.", "Okay.", "I see.", "Right."]
STOPS = ["Stop.", "Stop it.", "Be quiet."]
WORDS = ["Wait a moment.", "No, I meant the other one.", "What about the bridge?", "Tell me something else."]
VOICES = ["af_heart", "am_michael", "bf_emma", "bm_george"]


def clips(count):
    """Short English clips and their texts, every so many of them."""
    with open(f"{SHARED}/speech/transcripts.tsv") as f:
        rows = [line.rstrip("\n").split("\t") for line in f][1:]
    short = [(f"{SHARED}/speech/{row[0]}", row[-1]) for row in rows if row[1] == "en" and float(row[3]) <= LONGEST_S]
    return short[:: max(1, len(short) // count)][:count]


def samples_of(path):
    done = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", path, "-ar", str(RATE), "-ac", "1", "-f", "f32le", "-"], capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.float32)


def silence(seconds):
    return np.zeros(int(seconds * RATE), np.float32)


def talk(home, wav, options, *flags):
    command = [MYNAH, "talk", "--wav", wav, "--json", "--model", SMOL, "--asr-model", TINY, "--vad-model", SILERO, "--voice-model", "kokoro",
               "--device", "cpu", "--threads", str(options.threads), "--max-tokens", str(MOST_TOKENS), "--temperature", "0", "--seed", "1",
               *(["--pause", str(options.pause)] if options.pause else []), *flags]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MYNAH_HOME": home})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def latency(home, work, options, folder, *flags):
    """Of each turn, once what was heard and said is right."""
    path = f"{folder}/questions.wav"
    soundfile.write(path, np.concatenate([silence(0.5)] + [np.concatenate([samples_of(clip), silence(BEHIND_S)]) for clip, _ in work]), RATE)
    events = talk(home, path, options, *flags)
    normal = EnglishTextNormalizer()
    heard = " ".join(event["text"] for event in events if event["event"] == "heard")
    error = jiwer.wer(normal(" ".join(text for _, text in work)), normal(heard))
    replies = [event["times"] for event in events if event["event"] == "replies"]
    # A question that was taken for two interrupts its first reply.
    said = [event["text"] for event in events if event["event"] == "said" and not event["interrupted"]]
    if error > 1 / 3 or len(said) < len(work) or not all(said):
        sys.exit(f"wrong: word errors {error:.2f}, {len(work)} questions, {len(replies)} replies, said: {said}")
    beyond = [times["sound_ms"] - times["decided_ms"] for times in replies]
    organs = [times["hearing_ms"] + times["first_text_ms"] + times["first_speech_ms"] for times in replies]
    median = statistics.median(beyond)
    ratio = statistics.median(one / total for one, total in zip(beyond, organs, strict=True))
    return {
        "questions, replies": [len(work), len(replies)],
        "word errors": round(error, 3),
        "end of voice to decision, ms": serving.spread([times["decided_ms"] for times in replies]),
        "end of voice to first sound, ms": serving.spread([times["sound_ms"] for times in replies]),
        "beyond the decision, ms": serving.spread(beyond),
        "hearing, first text, first speech, ms": [round(statistics.median(times[key] for times in replies)) for key in
                                                  ("hearing_ms", "first_text_ms", "first_speech_ms")],
        "beyond the decision, of the organs' sum": round(ratio, 2),
        "must": "met" if median <= MUST[0] and ratio <= MUST[1] else "missed",
        "aim": "met" if median <= AIM[0] and ratio <= AIM[1] else "missed",
    }


def speak(home, texts, options, folder):
    """Each text in each voice: (text, samples from the first sound on)."""
    spoken = []
    lines = f"{folder}/lines.txt"
    with open(lines, "w") as f:
        f.write("".join(f"{text}\n" for text in texts))
    for voice in options.voices:
        subprocess.run([MYNAH, "speak", "--file", lines, "--model", "kokoro", "--voice", voice, "--output-dir", f"{folder}/{voice}"],
                       check=True, capture_output=True, env=os.environ | {"MYNAH_HOME": home})
        for number, text in enumerate(texts, 1):
            sound = samples_of(f"{folder}/{voice}/{number:04}.wav")
            spoken.append((text, sound[onset(sound):]))
    return spoken


def onset(sound):
    """The first sample that is louder than a thirtieth of the loudest."""
    return int(np.argmax(np.abs(sound) > np.max(np.abs(sound)) / 30))


def cough(seed):
    """A burst of noise that dies away, and another: what a cough is to a detector."""
    random = np.random.default_rng(seed)
    length = int(0.18 * RATE)
    burst = random.standard_normal(length) * np.exp(-np.arange(length) / (0.05 * RATE)) * 0.3
    return np.concatenate([burst, silence(0.08), burst * 0.6]).astype(np.float32)


def door(seed):
    random = np.random.default_rng(seed)
    length = int(0.25 * RATE)
    knock = np.sin(2 * np.pi * 90 * np.arange(length) / RATE) + 0.5 * random.standard_normal(length)
    return (knock * np.exp(-np.arange(length) / (0.03 * RATE)) * 0.4).astype(np.float32)


def interruptions(home, options, folder):
    kinds = {
        "words": (speak(home, WORDS, options, folder), True),
        "stop": (speak(home, STOPS, options, folder), True),
        "listening": (speak(home, LISTENING, options, folder), False),
        "coughs": ([("", cough(seed)) for seed in range(6)], False),
        "doors": ([("", door(seed)) for seed in range(6)], False),
    }
    question = samples_of(f"{SHARED}/speech/clips/azure_whatstheweatherlike.flac")
    at = len(question) / RATE + OVER_S
    report = {}
    for kind, (sounds, stops) in kinds.items():
        paths = []
        for number, (_, sound) in enumerate(sounds):
            paths.append(f"{folder}/{kind}-{number}.wav")
            soundfile.write(paths[-1], np.concatenate([question, silence(OVER_S), sound, silence(AFTER_S)]), RATE)
        command = [PROGRAM, "--threads", str(options.threads), "--asr", TINY, "--vad", SILERO, "--voice-model", "kokoro", *paths]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MYNAH_HOME": home})
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        report[kind] = judge([json.loads(line) for line in done.stdout.splitlines()], sounds, at, stops)
    return report


def judge(talks, sounds, at, stops):
    right, silent_ms, pauses_s, lost, wrong = 0, [], [], [], []
    for one, (text, _) in zip(talks, sounds, strict=True):
        events = one["events"]
        if not any(event["event"] == "replies" and event["at_s"] < at for event in events):
            sys.exit(f"{one['file']}: the reply had not begun when it was spoken over: {events}")
        said = next(event for event in events if event["event"] == "said")
        after = [event for event in events if event["at_s"] >= at]
        held = [event["at_s"] for event in after if event["event"] in ("held", "said")]
        if said["interrupted"] == stops:
            right += 1
        else:
            taken = [event["text"] for event in after if event["event"] in ("draft", "heard")]
            wrong.append(f"{text or one['file'].rsplit('/', 1)[1]} ({'; '.join(taken) or 'no words'})")
        if stops and held:
            silent_ms.append(1000 * (held[0] - at))
            words = " ".join(event["text"] for event in after if event["event"] == "heard")
            lost.append((text, words))
        begun = None
        for event in after:
            if event["event"] == "held":
                begun = event["at_s"]
            elif event["event"] == "went_on" and begun is not None:
                pauses_s.append(event["at_s"] - begun)
    report = {"of": len(talks), "right": right, "wrong": wrong}
    if stops:
        normal = EnglishTextNormalizer()
        report["onset to silence, ms"] = serving.spread(silent_ms)
        report["word errors of what was said over"] = round(jiwer.wer([normal(text) for text, _ in lost], [normal(words) or "-" for _, words in lost]), 3)
    elif pauses_s:
        report["silent for, s"] = serving.spread(pauses_s, 2)
    else:
        report["silent for, s"] = "never held"
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=["latency", "interruptions"], default="latency")
    parser.add_argument("--clips", type=int, default=12)
    parser.add_argument("--real-time", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pause", type=float)
    parser.add_argument("--voices", nargs="+", default=VOICES)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    home = serving.home_with("kokoro", "kokoro-voices", "english-phonemes", "smart-turn")
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "interruptions":
            report = interruptions(home, options, folder)
        else:
            report = {"as needed": latency(home, clips(options.clips), options, folder)}
            if options.real_time:
                report["in real time"] = latency(home, clips(options.real_time), options, folder, "--real-time")
    if options.json:
        print(json.dumps(report))
        return
    for title, rows in report.items():
        print(title)
        for name, value in rows.items():
            print(f"  {name}: {value}")


if __name__ == "__main__":
    main()
