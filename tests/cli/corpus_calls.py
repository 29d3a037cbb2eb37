"""The calls of the corpus: what corpus/calls.tsv lists, and what is made for each before it runs.

A row of calls.tsv has seven columns with tabs between:
  name      VERB/WHAT-IT-SHOWS
  holds     any: the output is the same on every machine, and is kept in corpus/expected; here: it is this processor's
  models    what stands in MYNAH_HOME, with blanks between: keys of MODELS
  made      what lies in the folder: a set of corpus/files.txt, a key of RECORDINGS, or shared:PATH, a file of the shared folder
  env       variables, as a shell has them
  input     standard input: a text with \\n in it, or <FILE
  commands  arguments of mynah as a shell has them, several with " ;; " between; "sh: ..." is a line for sh, which has $MYNAH
"-" stands for an empty column. {weights}, {shared} and {here} are folders.
"""
import dataclasses
import math
import pathlib
import shutil
import struct
import sys
import wave
import zipfile

from checks import ANOTHER, SENTENCE, SHARED, WEIGHTS, wav

DATA = pathlib.Path(__file__).resolve().parent / "corpus"

# What is imported into the home that calls are given: a name, and the file or folder that it is made of.
MODELS = {
    "cmudict": WEIGHTS / "cmudict/cmudict.dict",
    "english-phonemes": WEIGHTS / "phonemes",
    "hibari": WEIGHTS / "hibari",
    "joe": WEIGHTS / "piper/en_US-joe-medium.onnx",
    "kokoro": WEIGHTS / "kokoro",
    "kokoro-voices": SHARED / "weights/kokoro-voices",
    "silero": WEIGHTS / "silero/silero_vad_16k.safetensors",
    "tiny.en": WEIGHTS / "tiny.en",
}


@dataclasses.dataclass
class Call:
    name: str
    everywhere: bool
    models: list
    made: list
    env: str
    input: str
    commands: list

    def group(self):
        return self.name.split("/")[0]

    def missing(self):
        """The first thing outside the repository that this call needs and that is not here."""
        needed = [MODELS[model] for model in self.models]
        needed += [RECORDINGS[name][0] for name in self.made if name in RECORDINGS and RECORDINGS[name][0]]
        needed += [SHARED / name.removeprefix("shared:") for name in self.made if name.startswith("shared:")]
        text = " ".join((self.env, self.input, *self.commands))
        needed += [WEIGHTS] if "{weights}" in text else []
        needed += [SHARED] if "{shared}" in text else []
        return next((path for path in needed if not path.exists()), None)


def read_calls():
    calls, names = [], set()
    for number, line in enumerate((DATA / "calls.tsv").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 7 or columns[0] in names or columns[1] not in ("any", "here"):
            sys.exit(f"calls.tsv:{number}: not a row of seven columns with a name of its own: {line[:80]}")
        name, holds, models, made, env, given, commands = ("" if column == "-" else column for column in columns)
        names.add(name)
        calls.append(Call(name, holds == "any", models.split(), made.split(), env, given, commands.split(" ;; ")))
    return calls


def read_files():
    """Sets of corpus/files.txt: {set: {path: text}}. A line ">>> SET PATH" begins a file."""
    sets, text = {}, None
    for line in (DATA / "files.txt").read_text().splitlines(keepends=True):
        if line.startswith(">>> "):
            _, name, path = line.split()
            text = sets.setdefault(name, {}).setdefault(path, [])
        elif text is not None:
            text.append(line)
    return {name: {path: "".join(lines) for path, lines in files.items()} for name, files in sets.items()}


def samples_of(path):
    with wave.open(str(path)) as sound:
        return sound.readframes(sound.getnframes())


def tone(seconds, hertz=440, level=0.3, rate=16000):
    return b"".join(struct.pack("<h", int(32767 * level * math.sin(2 * math.pi * hertz * at / rate)))
                    for at in range(int(seconds * rate)))


def stereo():
    """One speaker on the left, then another on the right."""
    left, right = samples_of(SENTENCE), samples_of(ANOTHER)
    both = [left + b"\0" * len(right), b"\0" * len(left) + right]
    return wav(b"".join(both[0][at:at + 2] + both[1][at:at + 2] for at in range(0, len(both[0]), 2)), channels=2)


def book():
    """Two chapters, with as little as an EPUB can have, and the same bytes each time."""
    pages = {f"{name}.xhtml": f"<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{name}</h1><p>{text}</p></body></html>"
             for name, text in (("Morning", "The bird wakes."), ("Evening", "The bird sleeps."))}
    items = "".join(f"<item id='p{at}' href='{name}' media-type='application/xhtml+xml'/>" for at, name in enumerate(pages))
    order = "".join(f"<itemref idref='p{at}'/>" for at in range(len(pages)))
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>"
                                  "<rootfile full-path='b.opf' media-type='application/oebps-package+xml'/></rootfiles></container>",
        "b.opf": "<package xmlns='http://www.idpf.org/2007/opf' version='3.0'><metadata "
                 "xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>A Bird's Day</dc:title><dc:language>en</dc:language>"
                 f"</metadata><manifest>{items}</manifest><spine>{order}</spine></package>",
        **pages,
    }


def zipped(files):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(zipfile.ZipInfo(name), text)
    return write


def written(make):
    return lambda path: path.write_bytes(make())


# Files that are computed: what they are made from, or None, and what writes them. The key is the file's name.
RECORDINGS = {
    "speech.wav": (SENTENCE, lambda path: shutil.copy(SENTENCE, path)),
    "another.wav": (ANOTHER, lambda path: shutil.copy(ANOTHER, path)),
    "both.wav": (SENTENCE, written(lambda: wav(samples_of(SENTENCE) + b"\0" * 64000 + samples_of(ANOTHER)))),
    "stereo.wav": (SENTENCE, written(stereo)),
    "speech.raw": (SENTENCE, written(lambda: samples_of(SENTENCE))),
    "short.wav": (SENTENCE, written(lambda: wav(samples_of(SENTENCE)[:64000]))),
    "silence.wav": (None, written(lambda: wav(b"\0" * 64000))),
    "tone.wav": (None, written(lambda: wav(tone(2)))),
    "empty.wav": (None, written(wav)),
    "cut.wav": (None, written(lambda: wav(tone(1), promised=64000))),
    "rubbish.wav": (None, written(lambda: b"this is no recording\n" * 20)),
    "latin.txt": (None, written(lambda: "Café au lait.\n".encode("latin-1"))),
    "nothing.wav": (None, written(lambda: b"")),
    "book.epub": (None, zipped(book())),
}


def make_files(call, folder, sets):
    """Lays out in `folder` what the call finds there."""
    for name in call.made:
        if name in RECORDINGS:
            RECORDINGS[name][1](folder / name)
        elif name.startswith("shared:"):
            shutil.copy(SHARED / name.removeprefix("shared:"), folder)
        elif name in sets:
            for path, text in sets[name].items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
        else:
            sys.exit(f"calls.tsv: {call.name}: nothing is called '{name}'")
