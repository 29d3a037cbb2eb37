"""The corpus of bench/turns.py: turns made of recordings, by a seed, with every pause in them and whether the turn goes on after it.

Whoever reads aloud pauses for 0.7 s and more where a sentence ends: there each recording of SPEECH/clips is cut into turns of at least a
second of speech (two at most of a recording, taken by chance; the last of a recording ends where it does, and is left out where its text
has marks and none of a sentence's end: LJSpeech is cut at commas, too). Into each turn up to four disfluent
pauses are put, 0.3 to 1.5 s of the recording's own silence where the voice is lowest for a moment within a phrase, and behind its
last word 4 s of it; to a third of the turns a noise of SPEECH/noise is added at 5 to 20 dB. Pauses are what Silero (ONNX Runtime) finds no
voice in for 0.1 s and more, and what was put in. A turn's last pause is its end, all before are held through.
"""
import dataclasses
import pathlib
import random
import re
import subprocess

import numpy as np

RATE, FRAME, CONTEXT = 16000, 512, 64
SEED = 33
TAIL_S = 4.0
LEAST_PAUSE_S = 0.1
SENTENCE_PAUSE_S = .7
MOST_TURNS = 2
MOST_DISFLUENT = 4
PHRASE_S = 1.2


@dataclasses.dataclass
class Pause:
    start: float
    end: float
    is_end: bool


@dataclasses.dataclass
class Turn:
    name: str
    speaker: str
    language: str
    sound: np.ndarray
    begin: float
    pauses: list
    made: str  # "quiet" or "noise"


def read_sound(path):
    decoded = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", path, "-ac", "1", "-ar", str(RATE), "-f", "f32le", "-"], capture_output=True, check=True)
    return np.frombuffer(decoded.stdout, np.float32)


def voice_probabilities(session, sound):
    state, context, found = np.zeros((2, 1, 128), np.float32), np.zeros(CONTEXT, np.float32), []
    for at in range(0, len(sound) - FRAME + 1, FRAME):
        piece = np.concatenate([context, sound[at:at + FRAME]])
        probability, state = session.run(None, {"input": piece[None], "state": state, "sr": np.array(RATE, np.int64)})
        found.append(float(probability[0, 0]))
        context = piece[-CONTEXT:]
    return np.array(found)


def voiced_spans(probabilities):
    """Samples from where to where somebody speaks; a voice begins at 0.5 and ends below 0.35 for the least pause."""
    spans, begin, quiet = [], None, 0
    for i, p in enumerate(probabilities):
        if begin is None and p >= .5:
            begin, quiet = i, 0
        elif begin is not None:
            quiet = quiet + 1 if p < .35 else 0
            if quiet * FRAME >= LEAST_PAUSE_S * RATE:
                spans.append((begin * FRAME, (i + 1 - quiet) * FRAME))
                begin = None
    if begin is not None:
        spans.append((begin * FRAME, (len(probabilities) - quiet) * FRAME))
    return spans


def room_tone(sound, spans, length, rng):
    """As much of what the recording sounds like where nobody speaks, from its own quiet samples where it has 0.1 s of them."""
    quiet = np.ones(len(sound), bool)
    for begin, end in spans:
        quiet[max(0, begin - FRAME):end + FRAME] = False
    pool = sound[quiet]
    if len(pool) < RATE // 10:
        level = np.quantile(np.abs(sound), .05) + 1e-5
        return rng.normal(0, level, length).astype(np.float32)
    parts, have, fade = [], 0, np.linspace(0, 1, 160, dtype=np.float32)
    while have < length:
        size = min(len(pool), RATE // 2)
        start = int(rng.integers(0, len(pool) - size + 1))
        part = pool[start:start + size].copy()
        part[:160] *= fade
        part[-160:] *= fade[::-1]
        parts.append(part)
        have += size
    return np.concatenate(parts)[:length]


def speaker_of(name):
    """LibriSpeech's files tell their speaker; of the others each source's name is one."""
    stem = pathlib.Path(name).stem
    if stem.startswith("librispeech"):
        return stem.rsplit("_", 1)[1].split("-")[0]
    if stem.startswith("ljspeech"):
        return "ljspeech"
    return "-".join(stem.split("_")[:2])


def lowest_between(sound, begin, end):
    """The sample about which 30 ms are the quietest."""
    size = RATE * 30 // 1000
    energy = np.convolve(sound[begin:end].astype(np.float64) ** 2, np.ones(size), "valid")
    return begin + int(np.argmin(energy)) + size // 2


def disfluent_cuts(sound, spans, chance):
    """Where disfluent pauses are put in: one in each 1.2 s of a phrase, 0.4 s from its ends at least."""
    margin, phrase = int(.4 * RATE), int(PHRASE_S * RATE)
    stretches = []
    for begin, end in spans:
        count = (end - begin - 2 * margin) // phrase + (end - begin > RATE)
        edges = np.linspace(begin + margin, end - margin, max(count, 0) + 1).astype(int)
        stretches += [(a, b) for a, b in zip(edges, edges[1:]) if b - a > RATE // 10]
    chosen = chance.sample(stretches, min(MOST_DISFLUENT, len(stretches)))
    return sorted(lowest_between(sound, begin, end) for begin, end in chosen)


def make_turn(name, language, number, sound, spans, all_spans, noises):
    """Of the spans of a recording that are one turn."""
    chance = random.Random(f"{SEED} {name} {number}")
    rng = np.random.default_rng(chance.getrandbits(32))
    first = max(0, spans[0][0] - RATE // 2)
    before = [end for _, end in all_spans if end <= spans[0][0]]
    first = max(first, before[-1] if before else 0)
    parts, pauses, at, taken = [], [], 0, first
    edges = [(spans[i][1], spans[i + 1][0]) for i in range(len(spans) - 1)] + [(cut, cut) for cut in disfluent_cuts(sound, spans, chance)]
    for begin, end in sorted(edges):
        gap = sound[begin:end] if end > begin else room_tone(sound, all_spans, int(chance.uniform(.3, 1.5) * RATE), rng)
        parts += [sound[taken:begin], gap]
        at += begin - taken + len(gap)
        taken = end
        pauses.append(Pause((at - len(gap)) / RATE, at / RATE, False))
    parts += [sound[taken:spans[-1][1]], room_tone(sound, all_spans, int(TAIL_S * RATE), rng)]
    at += spans[-1][1] - taken
    pauses.append(Pause(at / RATE, at / RATE + TAIL_S, True))
    whole = np.concatenate(parts)
    noisy = chance.random() < 1 / 3
    if noisy:
        noise = np.resize(chance.choice(noises), len(whole))
        level = np.sqrt(np.mean(sound ** 2) / max(np.mean(noise ** 2), 1e-12)) * 10 ** (-chance.uniform(5, 20) / 20)
        whole = whole + level * noise
    return Turn(name, speaker_of(name), language, whole.astype(np.float32), (spans[0][0] - first) / RATE, pauses, "noise" if noisy else "quiet")


def sentences_of(spans):
    groups = [[spans[0]]]
    for before, span in zip(spans, spans[1:]):
        if span[0] - before[1] >= SENTENCE_PAUSE_S * RATE:
            groups.append([])
        groups[-1].append(span)
    return [group for group in groups if sum(end - begin for begin, end in group) >= RATE]


def is_cut_off(text):
    """Whether a transcript that has marks ends without one that ends a sentence."""
    return bool(re.search(r"[.,;:?!。、]", text)) and not re.search(r"[.?!。？！][\"')\]]*$", text.strip())


def make_turns(speech, weights):
    import onnxruntime
    speech = pathlib.Path(speech)
    session = onnxruntime.InferenceSession(str(pathlib.Path(weights, "silero/silero_vad.onnx")), providers=["CPUExecutionProvider"])
    noises = [read_sound(path) for path in sorted((speech / "noise").glob("*.flac"))]
    turns = []
    for line in (speech / "transcripts.tsv").read_text().splitlines()[1:]:
        name, language, *_, text = line.split("\t")
        sound = read_sound(speech / name)
        spans = voiced_spans(voice_probabilities(session, sound))
        groups = sentences_of(spans) if spans else []
        if groups and groups[-1][-1] == spans[-1] and is_cut_off(text):
            groups.pop()
        for number in sorted(random.Random(f"{SEED} {name}").sample(range(len(groups)), min(MOST_TURNS, len(groups)))):
            turns.append(make_turn(name, language, number, sound, groups[number], spans, noises))
    return turns
