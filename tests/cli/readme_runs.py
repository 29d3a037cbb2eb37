"""The README's commands as a reader types them, on recordings of the names it uses. What needs the network or builds is
left to house_readme, which looks whether verbs and flags exist.

usage: readme_runs.py MYNAH. Skipped without ffmpeg or real weights.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from checks import ROOT, SENTENCE, WEIGHTS, SKIPPED, Checks, environment, needs, run

NOT_HERE = ("./dev", "mynah pull", "mynah import")


def lines_of(text):
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.split(" #")[0].strip()
            if line and not line.startswith("#"):
                yield line


def lay_out(folder):
    """The recordings that the README speaks of, all of the same sentence."""
    (folder / "recordings").mkdir()
    for name in ("talk.m4a", "talk.flac", "film.mkv", "recordings/one.wav", "recordings/two.mp3"):
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", SENTENCE, folder / name], check=True, stdin=subprocess.DEVNULL)
    (folder / "transcripts.tsv").write_text("clip\tlang\ttext\ntalk.flac\ten\thello\n")


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
        env["PATH"] = f"{program.resolve().parent}:{env['PATH']}"
        lay_out(folder)
        for model, name in (("tiny.en", "tiny.en"), ("silero/silero_vad.onnx", "silero")):
            checks.ended(f"import {name}", run(env, program, "import", WEIGHTS / model, "--name", name), 0)
        for line in lines_of((ROOT / "README.md").read_text()):
            if line.startswith(NOT_HERE):
                continue
            if " jq " in line and not shutil.which("jq"):
                checks.skip(line, "jq is not installed")
                continue
            result = run(env, "bash", "-o", "pipefail", "-c", line, cwd=folder)
            checks.ended(line, result, 0)
            if not result.stdout and not set(line.split()) & {"-o", "--output-beside"}:
                checks.add(f"{line}: says something", "nothing on standard output")
        made = {str(path.relative_to(folder)) for pattern in ("texts/*", "*.vtt", "*.svg") for path in folder.glob(pattern)}
        wanted = {"texts/one.srt", "texts/one.json", "texts/two.srt", "texts/two.json", "film.mkv.vtt", "talk.svg"}
        checks.add("the files it says are made", None if wanted <= made else f"wanted {wanted}, found {made}")
    checks.close()


main()
