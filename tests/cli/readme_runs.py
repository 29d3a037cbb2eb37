"""The README's commands as a reader types them, on recordings and texts of the names it uses. What needs the network or
builds is left to house_readme, which looks whether verbs and flags exist.

usage: readme_runs.py MYNAH. Skipped without ffmpeg or real weights; what speaks, without the shared folder's voices.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from checks import ROOT, SENTENCE, SHARED, WEIGHTS, SKIPPED, Checks, environment, needs, run

# What the doctor finds is this machine's.
NOT_HERE = ("./dev", "mynah pull", "mynah import", "mynah doctor .venv", "mynah doctor try")
FINDS = ("mynah doctor",)
VOICES = SHARED / "weights/kokoro-voices"
# What a pipe of the README begins or ends with: this machine may lack it, or a loudspeaker.
STAND_INS = {"fortune": "echo 'You will hear from a bird.'", "aplay": "exec wc -c"}
MADE = ("texts/*", "*.vtt", "reply.wav", "*.svg", "notes.*", "book.*", "sounds/*")
SPEAKS = re.compile(r"\bmynah (speak|voices|phonemes|talk)\b")
THINKER = WEIGHTS / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
EMBEDDER = WEIGHTS / "minilm"
TURNS = WEIGHTS / "smart_turn/smart-turn-v3.2-cpu.onnx"
WAKE = WEIGHTS / "wake/okay_nabu.tflite"
# Says nothing where nothing is found.
MAY_BE_SILENT = ("mynah wake",)


def wants_somebody(line):
    """At a terminal, or at a microphone."""
    return line == "mynah chat" or (line.startswith("mynah talk") and "--wav" not in line)


def lines_of(text):
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.split(" #")[0].strip()
            if line and not line.startswith("#"):
                yield line


def write_book(path):
    """Two chapters, with as little as an EPUB can have."""
    pages = {f"{name}.xhtml": f"<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{name}</h1><p>{text}</p></body></html>"
             for name, text in (("Morning", "The bird wakes."), ("Evening", "The bird sleeps."))}
    items = "".join(f"<item id='p{at}' href='{name}' media-type='application/xhtml+xml'/>" for at, name in enumerate(pages))
    order = "".join(f"<itemref idref='p{at}'/>" for at in range(len(pages)))
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>"
                      "<rootfile full-path='b.opf' media-type='application/oebps-package+xml'/></rootfiles></container>")
        book.writestr("b.opf", "<package xmlns='http://www.idpf.org/2007/opf' version='3.0'><metadata "
                      "xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>A Bird's Day</dc:title></metadata>"
                      f"<manifest>{items}</manifest><spine>{order}</spine></package>")
        for name, page in pages.items():
            book.writestr(name, page)


def lay_out(folder):
    """The recordings that the README speaks of, all of the same sentence, and the texts that it speaks."""
    (folder / "recordings").mkdir()
    for name in ("talk.m4a", "talk.flac", "film.mkv", "recordings/one.wav", "recordings/two.mp3", "question.wav", "kitchen.wav"):
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", SENTENCE, folder / name], check=True, stdin=subprocess.DEVNULL)
    (folder / "transcripts.tsv").write_text("clip\tlang\ttext\ntalk.flac\ten\thello\n")
    (folder / "notes.md").write_text("# Notes\n\nA bird *sings*.\n")
    (folder / "lines.txt").write_text("The bird wakes.\nThe bird sings.\n")
    write_book(folder / "book.epub")
    (folder / "person.json").write_text(json.dumps({"type": "object", "properties": {"name": {"type": "string", "maxLength": 20},
                                                                                     "age": {"type": "integer", "minimum": 0, "maximum": 120}},
                                                    "required": ["name", "age"], "additionalProperties": False}))
    for words in (("init", "-q"), ("add", "notes.md")):
        subprocess.run(["git", "-C", folder, *words], check=True)
    (folder / "notes.md").write_text("# Notes\n\nA bird *sings* twice.\n")
    (folder / "stand-ins").mkdir()
    for name, does in STAND_INS.items():
        (folder / "stand-ins" / name).write_text(f"#!/bin/sh\n{does}\n")
        (folder / "stand-ins" / name).chmod(0o755)


def main():
    program = pathlib.Path(sys.argv[1])
    needs(WEIGHTS / "tiny.en", SENTENCE)
    if not shutil.which("ffmpeg"):
        print("skipped: ffmpeg is not installed")
        sys.exit(SKIPPED)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        lay_out(folder)
        env["PATH"] = f"{program.resolve().parent}:{folder / 'stand-ins'}:{env['PATH']}"
        for model, name in (("tiny.en", "tiny.en"), ("silero/silero_vad.onnx", "silero"), ("kokoro/kokoro.onnx", "kokoro")):
            checks.ended(f"import {name}", run(env, program, "import", WEIGHTS / model, "--name", name), 0)
        for set_of_files in ("phonemes", "hibari"):
            checks.ended(f"import {set_of_files}", run(env, program, "import", WEIGHTS / set_of_files), 0)
        if THINKER.exists():
            checks.ended("import smollm2", run(env, program, "import", THINKER, "--name", "smollm2"), 0)
            env["MYNAH_MAX_TOKENS"] = "80"  # a small model may never end; what has a form ends within these
        for path, name in ((TURNS, "smart-turn"), (WAKE, "okay-nabu")):
            if path.exists():
                checks.ended(f"import {name}", run(env, program, "import", path, "--name", name), 0)
        if EMBEDDER.is_dir():
            checks.ended("import minilm", run(env, program, "import", EMBEDDER, "--name", "minilm"), 0)
        if VOICES.is_dir():
            checks.ended("import the voices", run(env, program, "import", VOICES), 0)
        for line in lines_of((ROOT / "README.md").read_text()):
            if line.startswith(NOT_HERE) or wants_somebody(line):
                continue
            lacks = [model for verb, model in (("mynah chat", THINKER), ("mynah talk", THINKER), ("mynah embed", EMBEDDER), ("mynah wake", WAKE)) if verb in line and not model.exists()]
            if lacks:
                checks.skip(line, f"no {lacks[0]}")
                continue
            if " jq " in line and not shutil.which("jq"):
                checks.skip(line, "jq is not installed")
                continue
            if SPEAKS.search(line) and not VOICES.is_dir():
                checks.skip(line, f"no {VOICES}")
                continue
            result = run(env, "bash", "-o", "pipefail", "-c", line, cwd=folder, errors="replace")  # a WAV is no text
            checks.ended(line, result, result.returncode if line in FINDS and result.returncode == 3 else 0)
            if not result.stdout and not set(line.split()) & {"-o", "--output-beside"} and not line.startswith(MAY_BE_SILENT):
                checks.add(f"{line}: says something", "nothing on standard output")
        made = {str(path.relative_to(folder)) for pattern in MADE for path in folder.glob(pattern)}
        wanted = {"texts/one.srt", "texts/one.json", "texts/two.srt", "texts/two.json", "film.mkv.vtt", "talk.svg"}
        if VOICES.is_dir():
            wanted |= {"notes.mp3", "notes.srt", "book.m4b", "sounds/0002.wav"}
            wanted |= {"reply.wav"} if THINKER.exists() else set()
        checks.add("the files it says are made", None if wanted <= made else f"wanted {wanted}, found {made}")
    checks.close()


main()
