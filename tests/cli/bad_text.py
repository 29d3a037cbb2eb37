"""What must not be spoken, or not as it came: bad text, documents, options and ends, through the program itself. With the
built-in voice, so that nothing is needed.

usage: bad_text.py MYNAH
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import wave
import zipfile

from checks import Checks, environment, run

CONTAINER = ("<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>"
             "<rootfile full-path='b.opf' media-type='application/oebps-package+xml'/></rootfiles></container>")


def write_epub(path, pages, package=None):
    """An EPUB of these (name, bytes); of `package` where that is given, which may be anything."""
    items = "".join(f"<item id='p{at}' href='{name}' media-type='application/xhtml+xml'/>" for at, (name, _) in enumerate(pages))
    order = "".join(f"<itemref idref='p{at}'/>" for at in range(len(pages)))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("b.opf", package or "<package xmlns='http://www.idpf.org/2007/opf' version='3.0'><metadata/>"
                      f"<manifest>{items}</manifest><spine>{order}</spine></package>")
        for name, page in pages:
            book.writestr(name, page)


def seconds(path):
    with wave.open(str(path)) as sound:
        return sound.getnframes() / sound.getframerate()


class Speaker:
    def __init__(self, program, folder, checks):
        self.program, self.folder, self.checks = program, folder, checks
        self.env = environment(folder)
        self.number = 0

    def __call__(self, *arguments, **options):
        return run(self.env, self.program, "speak", "--model", "builtin", *arguments, **options)

    def text(self, name, text, code, pattern=None, seconds_at_least=None):
        """Speaks bytes from a file and from standard input, which must end alike."""
        self.number += 1
        source = self.folder / f"text-{self.number}"
        source.write_bytes(text)
        out = self.folder / f"sound-{self.number}.wav"
        ended = self.checks.ended(f"{name}: a file", self("--file", source, "--out", out), code, pattern)
        with source.open("rb") as piped:
            self.checks.ended(f"{name}: standard input", self("-", "--out", self.folder / "other.wav", stdin=piped), code, pattern)
        if ended and code != 0:
            self.checks.add(f"{name}: makes no file", "it is there" if out.exists() else None)
        if ended and seconds_at_least:
            found = seconds(out)
            self.checks.add(f"{name}: is heard", None if found >= seconds_at_least else f"{found:.2f} s")


def texts(speak):
    nothing = "nothing in it can be spoken"
    speak.text("empty", b"", 1, "is empty .0 bytes., wanted a text")
    speak.text("white space", b" \n\t\n", 1, nothing)
    speak.text("marks", b"... !? ;\n", 1, nothing)
    speak.text("zero bytes", b"\0\0\0", 1, "wanted a text, found bytes that are none")
    speak.text("a program", b"\x7f\x01\x02ELF\x05\x06" * 100, 1, "wanted a text, found control characters")
    speak.text("an emoji", "\N{GRINNING FACE}".encode(), 0)
    speak.text("control characters", b"One\x01\x02 \x1b[31mtwo\x7f three.", 0, None, 0.5)
    speak.text("invalid UTF-8", b"One \xff\xfe\xc3 two \xe2\x82 three.", 0, None, 0.5)
    speak.text("mixed scripts", "Hello \u05e9\u05dc\u05d5\u05dd \u043c\u0438\u0440 \u4f60\u597d world.".encode(), 0, None, 0.5)
    speak.text("right-to-left marks", "One \u202etwo\u202c three \u200f four.".encode(), 0, None, 0.5)
    speak.text("SSML cut off", b"<speak>One <break time=", 1, "SSML|<speak>|line 1")
    speak.text("SSML that is none", b"<speak>One</p></speak>", 1, "line 1")
    bomb = "<!DOCTYPE speak [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
        f"<!ENTITY {chr(98 + n)} '{('&' + chr(97 + n) + ';') * 10}'>" for n in range(9)) + "]><speak>&j;</speak>"
    speak.text("SSML whose entities explode", bomb.encode(), 1, "entit|DOCTYPE")
    speak.text("SSML of a million levels", b"<speak>" + b"<p>" * 1_000_000 + b"x", 1, "deep|levels|nested")


def long_word(speak):
    """Two megabytes without a space: hours of sound, so it is stopped, and what was said is there."""
    source = speak.folder / "word"
    source.write_bytes(b"donaudampfschiff" * 131072)
    out = speak.folder / "word.wav"
    process = subprocess.Popen([speak.program, "speak", "--model", "builtin", "--file", source, "--out", out], env=speak.env,
                               stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any(path.stat().st_size > 100_000 for path in speak.folder.glob("word.wav.*")):
        time.sleep(0.05)
    peak = int(next(line for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
                    if line.startswith("VmHWM")).split()[1])
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    speak.checks.add("a word of 2 MB: stops", None if process.returncode == 130 else f"{process.returncode}: {said}")
    speak.checks.add("a word of 2 MB: says what is kept", None if "word.wav.partial" in said else said)
    kept = speak.folder / "word.wav.partial"
    speak.checks.add("a word of 2 MB: is kept", None if kept.exists() and seconds(kept) > 1 else "no sound")
    speak.checks.memory("a word of 2 MB: takes little memory", speak.program, peak / 1000, 200)


def options(speak):
    out = speak.folder / "option.wav"
    for name, arguments, code, pattern in (
            ("unknown voice", ("--voice", "slr"), 2, "did you mean slt"),
            ("voice of another model", ("--voice", "af_heart"), 2, "no voice 'af_heart'"),
            ("negative speed", ("--speed", "-1"), 2, "wanted 0.25 to 4, found -1"),
            ("speed that is no number", ("--speed", "fast"), 2, "fast"),
            ("silence without end", ("--sentence-silence", "1e9"), 2, "silence: wanted 0 to 60"),
            ("unknown format", ("--format", "wave"), 2, "did you mean wav"),
            ("unknown model", ("--model", "kokro"), 2, "did you mean kokoro|mynah pull kokoro"),
            ("lexicon that is not there", ("--model", "builtin", "--lexicon", "/nowhere/words"), 2, "reads letters"),
            ("a language it was not taught", ("--lang", "fi"), 1, "English"),
            ("a folder that cannot be made", ("--out", "/proc/nowhere/a.wav"), 1, "making the folder /proc/nowhere"),
            ("a folder for a file", ("--out", speak.folder), 1, "is a folder"),
            ("captions in a folder that cannot be made", ("--srt", "/proc/nowhere/a.srt"), 1, "making the folder /proc/nowhere"),
    ):
        arguments = arguments if "--out" in arguments else (*arguments, "--out", out)
        speak.checks.ended(name, speak("Hello there.", *arguments), code, pattern)
    closed = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" speak --model builtin "$1" | head -c 50 >/dev/null', speak.program,
                             "One sentence. " * 200], env=speak.env, capture_output=True, text=True, timeout=300, check=False)
    speak.checks.ended("a pipe that is closed", closed, 128 + signal.SIGPIPE, lines=0)


def documents(speak):
    page = b"<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>One</h1><p>The bird sings.</p></body></html>"
    whole = speak.folder / "whole.epub"
    write_epub(whole, [("one.xhtml", page)])
    cut = speak.folder / "cut.epub"
    cut.write_bytes(whole.read_bytes()[:-200])
    none = speak.folder / "none.epub"
    none.write_bytes(b"this is no archive")
    empty = speak.folder / "empty.epub"
    write_epub(empty, [("one.xhtml", b"<html><body></body></html>")])
    bomb = speak.folder / "bomb.epub"
    write_epub(bomb, [("one.xhtml", b"<html><body><p>" + b"a " * 200_000_000 + b"</p></body></html>")])
    entities = speak.folder / "entities.epub"
    write_epub(entities, [("one.xhtml", page)], "<!DOCTYPE p [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><package>&b;</package>")
    for name, path, code, pattern in (("whole", whole, 0, None), ("cut off", cut, 1, "cut.epub: "), ("no archive", none, 1, "none.epub: "),
                                      ("without text", empty, 1, "has no text"), ("that explodes", bomb, 1, "bomb.epub: "),
                                      ("of entities", entities, 1, "entities.epub: "),
                                      ("that is not there", speak.folder / "nowhere.epub", 1, "there is no document|No such file")):
        speak.checks.ended(f"a book {name}", speak(path, "--out", speak.folder / f"{path.stem}.wav"), code, pattern)


def killed_book(speak):
    """A book that is killed again and again ends as one that was not, to the byte."""
    text = speak.folder / "long.txt"
    text.write_text("".join(f"Chapter {chapter}\n\n" + "".join(f"Sentence {at} of chapter {chapter} goes on for a while. "
                                                                for at in range(60)) + "\n\n" for chapter in range(1, 5)))
    speak.checks.ended("a book at once", speak(text, "--out", speak.folder / "once.wav"), 0)
    out = speak.folder / "killed.wav"
    kills = 0
    for attempt in range(200):
        process = subprocess.Popen([speak.program, "speak", "--model", "builtin", text, "--out", out], env=speak.env,
                                   stderr=subprocess.DEVNULL)
        try:
            process.wait(0.05 + 0.02 * attempt)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
            continue
        break
    speak.checks.add("a book that was killed: it was", None if kills >= 2 else f"{kills} times")
    same = out.exists() and out.read_bytes() == (speak.folder / "once.wav").read_bytes()
    speak.checks.add("a book that was killed: has the samples of one that was not", None if same else "other bytes")
    speak.checks.add("a book that was killed: leaves nothing behind",
                     "its parts are there" if pathlib.Path(f"{out}.parts").exists() else None)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        speak = Speaker(pathlib.Path(sys.argv[1]), pathlib.Path(home), checks)
        texts(speak)
        long_word(speak)
        options(speak)
        documents(speak)
        killed_book(speak)
    checks.close()


main()
