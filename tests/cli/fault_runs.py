"""Runs of mynah on a device that fails on purpose: what fault_matrix.py and random_faults.py share.

The recording is three pieces of speech with silence between them, each a window of a small Whisper; the text is three
sentences, spoken by hibari. What one device makes of a piece differs from what another makes of it, in its last digits,
so that a result shows piece by piece who computed it. `mynah vad` hears the pieces as three recordings at once. `mynah chat` answers
with the likeliest letters of a small language model: a piece is a letter and how likely it was. `mynah embed` makes vectors of three
texts at once.
"""
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import wave

from checks import SENTENCE, WEIGHTS, environment

PIECES = 3
# Seconds of the recording: speech that fits into the window of the small Whisper (1 s), and silence around it, so that no two
# pieces share a chunk of five seconds, the shortest.
SPEECH_S, SILENCE_S = 0.7, 2.5
PIECE_S = SPEECH_S + 2 * SILENCE_S
TEXT = "A bird sings. Two go. Stop."
QUESTION, LETTERS = "Which letters?", 6
EMBEDDER, TEXTS = pathlib.Path(__file__).parent.parent / "models/bert/golden/tiny", ("the cat", "sat on the mat", "abc")
SILERO = WEIGHTS / "silero/silero_vad_16k.safetensors"
HIBARI = WEIGHTS / "hibari"
RATE_HZ = 16000
LONGEST_S = 400  # a device that hangs is given twenty times its longest step, which was measured on a busy machine


def write_recording(path, samples):
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        out.writeframes(samples)


def make_recordings(whole, parts):
    """Pieces of a real sentence, each long enough for the voice detector and short enough for one window; in one, and each alone."""
    with wave.open(str(SENTENCE)) as sentence:
        assert sentence.getframerate() == RATE_HZ and sentence.getsampwidth() == 2
        samples = sentence.readframes(sentence.getnframes())
    silence = b"\0\0" * int(SILENCE_S * RATE_HZ)
    pieces = []
    for number in range(PIECES):
        begin = 2 * int((0.5 + 1.2 * number) * RATE_HZ)
        pieces.append(silence + samples[begin:begin + 2 * int(SPEECH_S * RATE_HZ)] + silence)
    write_recording(whole, b"".join(pieces))
    for path, piece in zip(parts, pieces, strict=True):
        write_recording(path, piece)


@dataclasses.dataclass
class Outcome:
    """What one run gave. `pieces`: what stands for each piece, in order; none of a piece that was not given out."""
    code: int
    out: str
    err: str
    seconds: float
    pieces: list
    objects: list  # of standard output, which is JSON
    left: list  # what lies around afterwards

    def moves(self):
        for found in reversed(self.objects):
            found = found.get("total", found)
            if isinstance(found.get("placement"), dict):
                return found["placement"]["moves"]
        return []

    def error(self):
        return next((found["error"]["message"] for found in reversed(self.objects) if "error" in found), "")

    def resume_at(self):
        return next((found["resume_at"] for found in reversed(self.objects) if "resume_at" in found), None)

    def device(self):
        return next((found["device"] for found in reversed(self.objects) if "device" in found), None)

    def devices(self):
        """Those that its stages are on; an answer of a language model tells of them under "placement" alone."""
        if said := self.device():
            return said.split(",")
        stages = [stage for found in self.objects for stage in (found.get("placement") or {}).get("stages", [])]
        return sorted({stage["device"] for stage in stages})


def pieces_of_text(objects):
    """The segments of each piece, without what depends on the segments before."""
    pieces = [None] * PIECES
    for found in objects:
        for segment in found.get("segments", []):
            at = int(segment["start"] / PIECE_S)
            kept = {key: value for key, value in segment.items() if key != "id"}
            pieces[at] = (pieces[at] or []) + [kept]
    return pieces


def pieces_of_speech(objects, recordings):
    """What was found in each recording."""
    found = {answer["file"]: {key: value for key, value in answer.items() if key != "placement"}
             for answer in objects if "segments" in answer}
    return [found.get(str(path)) for path in recordings]


def pieces_of_sound(objects, path):
    """The samples of each clause."""
    pieces = [None] * PIECES
    if not path.exists():
        return pieces
    with wave.open(str(path)) as sound:
        rate, samples = sound.getframerate(), sound.readframes(sound.getnframes())
    clauses = [found for found in objects if "text" in found and "start" in found]
    for number, clause in enumerate(clauses[:PIECES]):
        # Times are in milliseconds: a clause's edges are left out.
        begin, end = int((clause["start"] + 0.002) * rate), int((clause["end"] - 0.002) * rate)
        pieces[number] = samples[2 * begin:2 * end]
    return pieces


def pieces_of_answer(objects):
    """Each letter with the digits of its probability, and of those of others."""
    tokens = [token for found in objects for token in found.get("logprobs", [])]
    pieces = [(token["token"], [token["logprob"], *(other["logprob"] for other in token["top"])]) for token in tokens]
    return pieces + [None] * (LETTERS - len(pieces))


def pieces_of_vectors(objects):
    """The vector of each text."""
    vectors = [found["embedding"] for found in objects if "embedding" in found]
    return vectors + [None] * (PIECES - len(vectors))


def segments():
    """Shared memory with a name of mynah's: there is to be none, whatever other programs have meanwhile."""
    return {name for name in os.listdir("/dev/shm") if "mynah" in name}


class Rig:
    """A folder with models, a recording and the proofs that runs begin with; a simulated card as cuda:0."""

    def __init__(self, program, tool, driver, folder):
        self.program, self.tool, self.driver = program, tool, driver
        self.folder = pathlib.Path(folder)
        self.whisper = self.folder / "whisper.gguf"
        self.recording = self.folder / "pieces.wav"
        self.parts = [self.folder / f"piece{number + 1}.wav" for number in range(PIECES)]
        self.runs = itertools.count(1)
        subprocess.run([tool, "whisper", self.whisper], check=True)
        self.writer, self.grammar = self.folder / "writer.gguf", self.folder / "letters.gbnf"
        subprocess.run([tool, "writing", self.writer], check=True)
        self.grammar.write_text("root ::= [a-z]+\n")
        make_recordings(self.recording, self.parts)
        self.warm = self.folder / "warm"
        (self.warm / "cache").mkdir(parents=True)
        for folder in (HIBARI.parent / "phonemes", HIBARI):
            self.must_run(self.environment(self.warm), "import", folder)

    def environment(self, home, **more):
        (home / "tmp").mkdir(exist_ok=True)
        return environment(home, MYNAH_CUDA_DRIVER=str(self.driver), TMPDIR=str(home / "tmp"), **more)

    def must_run(self, env, *words):
        result = subprocess.run([self.program, *map(str, words)], env=env, capture_output=True, text=True, check=False,
                                stdin=subprocess.DEVNULL, timeout=LONGEST_S)
        if result.returncode:
            raise RuntimeError(f"{words}: {result.stderr}")

    def favour(self, device):
        """From now on the proofs say that this device is fast."""
        subprocess.run([self.tool, "favour", self.warm / "cache/mynah/proofs", device], check=True)

    def home(self):
        """A user whose proofs are those of the warm one, and who knows of no failure."""
        home = self.folder / f"run{next(self.runs)}"
        shutil.copytree(self.warm, home, ignore=shutil.ignore_patterns("*.distrust", "tmp"))
        return home

    def command(self, verb, device, home):
        device, *flags = device.split()
        storage = [] if "--storage" in flags else ["--storage", "f32"]
        # The plan would choose the types of weights that were measured to be fastest: other digits from run to run.
        if verb == "transcribe":
            return [self.program, "transcribe", "--device", device, "--model", self.whisper, "--vad-model", SILERO,
                    "--chunk-length", "5", *storage, "--batch", "1", "--threads", "1", "--max-new-tokens", "8",
                    "--temperature-increment", "0", "--json", *flags, self.recording]
        if verb == "vad":
            return [self.program, "vad", "--device", device, "--vad-model", SILERO, "--threads", "1", "--json", "--probabilities",
                    *self.parts]
        if verb == "chat":
            return [self.program, "chat", "--device", device, "--model", self.writer, "--grammar", self.grammar, "--temperature", "0",
                    "--frequency-penalty", "2", "--max-tokens", LETTERS, "--threads", "1", "--json", "--logprobs", "20", *flags, QUESTION]
        if verb == "embed":
            return [self.program, "embed", "--device", device, "--model", EMBEDDER, "--threads", "1", "--json", *flags, *TEXTS]
        return [self.program, "speak", "--loudness", "none", "--device", device, "--model", "hibari", *storage, "--threads", "1",
                "--json", *flags,
                "--out", home / "out.wav", TEXT]

    def run(self, verb, device, faults="", warm=False, **variables):
        """One run; `warm`: its proofs are kept for those that follow. Flags may follow the device."""
        home = self.warm if warm else self.home()
        env = self.environment(home, **({"MYNAH_FAULT": faults} if faults else {}), **variables)
        shared = segments()
        began = time.monotonic()
        process = subprocess.Popen([str(word) for word in self.command(verb, device, home)], env=env, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            _, err = process.communicate()
            out = ""  # its last line may be cut
            err += f"\nnot over after {LONGEST_S} s"
        seconds = time.monotonic() - began
        objects = [json.loads(line) for line in out.splitlines()]
        sound = home / ("out.wav" if (home / "out.wav").exists() else "out.wav.partial")
        pieces = {"transcribe": lambda: pieces_of_text(objects), "vad": lambda: pieces_of_speech(objects, self.parts),
                  "speak": lambda: pieces_of_sound(objects, sound), "chat": lambda: pieces_of_answer(objects),
                  "embed": lambda: pieces_of_vectors(objects)}[verb]()
        outcome = Outcome(process.returncode, out, err, seconds, pieces, objects, self.leftovers(home, shared))
        if not warm:
            shutil.rmtree(home)
        else:
            for name in ("out.wav", "out.wav.partial"):
                (home / name).unlink(missing_ok=True)
        return outcome

    def leftovers(self, home, shared):
        """Processes of this run, segments, temporary files, and files beside those that a run may leave."""
        left = [f"segment {name}" for name in sorted(segments() - shared)]
        left += [f"temporary file {path.name}" for path in (home / "tmp").iterdir()]
        known = {"cache", "models", "tmp", "out.wav", "out.wav.partial"}
        left += [f"file {path.name}" for path in home.iterdir() if path.name not in known]
        mark = f"HOME={home}".encode()
        for process in pathlib.Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    left.append(f"process {process.name} {(process / 'cmdline').read_bytes()!r}")
            except OSError:
                continue  # it has ended, or is somebody else's
        return left


class Rigs:
    """One for what hears, one for what speaks and one each for what reads texts, so that their proofs can be made side by side."""

    def __init__(self, program, tool, driver, folder, wanted=("transcribe", "vad", "speak", "chat", "embed")):
        self.sides = {}
        for verbs in (("transcribe", "vad"), ("speak",), ("chat",), ("embed",)):
            if not set(verbs) & set(wanted):
                continue
            (home := pathlib.Path(folder) / verbs[0]).mkdir()
            self.sides[verbs] = Rig(program, tool, driver, home)

    def run(self, verb, *of, **more):
        return next(rig for verbs, rig in self.sides.items() if verb in verbs).run(verb, *of, **more)


def side_by_side(jobs, call, items):
    """(item, call(item)) in the order of the items, so many computed at a time."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from zip(items, pool.map(call, items), strict=True)


def main_arguments():
    """The program, the tool, the driver: what CMake gives."""
    if len(sys.argv) < 4:
        sys.exit(f"usage: {sys.argv[0]} MYNAH PLACE_TOOL DRIVER [options]")
    return sys.argv[1:4], sys.argv[4:]
