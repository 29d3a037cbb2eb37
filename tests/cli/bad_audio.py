"""Recordings that are none, damaged or unusual, through the program: one clear line, the right exit code, the others go on.

usage: bad_audio.py MYNAH. Needs no weights and no network: the built-in recogniser answers.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

from checks import SENTENCE, Checks, environment, run, wav

NOBODY = 65534
QUIET = b"\0" * 32000  # a second at 16 kHz


def unreadable(checks, env, transcribe, folder):
    path = folder / "secret.wav"
    path.write_bytes(wav(QUIET))
    path.chmod(0)
    folder.chmod(0o755)
    # Root may read every file, so it runs the program as nobody.
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        checks.ended("unreadable", run(env, *transcribe, path, **who), 1, "may not be read by this user", 2)
    except PermissionError as error:
        checks.skip("unreadable", f"nobody may not run the program: {error}")


def vanishing(checks, env, transcribe, folder):
    """A file that is there when the folder is listed and gone when its turn comes: a pipe before it decides when."""
    first, second = folder / "first.wav", folder / "second.wav"
    os.mkfifo(first)
    second.write_bytes(wav(QUIET))

    def feed():
        with open(first, "wb") as pipe:  # returns once mynah reads: what it was told to do is listed
            second.unlink()
            pipe.write(wav(QUIET))

    feeder = threading.Thread(target=feed)
    feeder.start()
    result = run(env, *transcribe, first, second)
    feeder.join()
    checks.ended("vanishing", result, 1, r"1 of 2 recordings failed: .*second\.wav")
    checks.add("vanishing says why", None if "second.wav does not exist" in result.stderr else result.stderr)


def tracks(checks, env, program, folder):
    """A screen recorder's file: nothing on the first track, somebody speaks on the second."""
    if shutil.which("ffmpeg") is None or not SENTENCE.exists():
        checks.skip("tracks", "no ffmpeg or no recording of pocketsphinx-testdata")
        return
    path = folder / "screen.mkv"
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono:d=8", "-i", SENTENCE, "-map", "0:a", "-map",
                    "1:a", "-c:a", "flac", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=ger", path], check=True,
                   stdin=subprocess.DEVNULL)
    vad = [program, "vad", "--vad-model", "builtin"]
    result = run(env, *vad, path)
    checks.ended("the track with speech is taken", result, 0, "no speech was heard on audio track 1: track 2 of 2 is taken")
    checks.add("its speech is found", None if result.stdout.strip() else result.stderr)
    for track in ("2", "de", "German"):
        asked = run(env, *vad, "--track", track, path)
        checks.add(f"--track {track}", None if asked.stdout == result.stdout else asked.stderr + asked.stdout)
    silent = run(env, *vad, "--track", "eng", path)
    checks.add("--track eng is silent", None if silent.returncode == 0 and not silent.stdout else silent.stderr + silent.stdout)
    checks.ended("a track that is not there", run(env, *vad, "--track", "7", path), 1, "has no audio track 7: wanted one of 1: eng flac, 2: ger", 1)


def main():
    program = sys.argv[1]
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        transcribe = [program, "transcribe", "--model", "builtin"]
        bad = {
            "empty": (b"", "is empty"),
            "not a recording": (b"this is no recording\n" * 40, "wanted a recording|is not a recording|cannot be read"),
            "random bytes": (bytes((i * i + 7 * i) % 251 for i in range(5000)), "mynah: "),
            "no samples": (wav(), "holds no sound"),
            "cut in its header": (wav(QUIET)[:20], "mynah: "),
            "cut in its samples": (wav(QUIET[:9000], promised=32000), "is cut off after 0.281 s"),
        }
        for name, (data, pattern) in bad.items():
            path = folder / f"{name.replace(' ', '-')}.wav"
            path.write_bytes(data)
            checks.ended(name, run(env, *transcribe, path), 1, pattern)
            both = folder / "both.wav"
            both.write_bytes(wav(QUIET))
            result = run(env, *transcribe, "--json", path, both)
            checks.add(f"{name}: the next recording is read",
                       None if result.stdout.splitlines()[-1:] and "both.wav" in result.stdout.splitlines()[-1] and
                       '"text"' in result.stdout.splitlines()[-1] else result.stdout + result.stderr)
        unusual = {
            "silent": wav(QUIET),
            "8 bits": wav(b"\x80" * 16000, bits=8),
            "192 kHz": wav(QUIET * 12, rate=192000),
            "12 channels": wav(QUIET * 12, channels=12),
            "one sample": wav(b"\0\0"),
        }
        for name, data in unusual.items():
            path = folder / f"{name.replace(' ', '-')}.wav"
            path.write_bytes(data)
            checks.ended(name, run(env, *transcribe, path), 0, "no speech found", 2)
        checks.ended("missing", run(env, *transcribe, folder / "none.wav"), 1, "does not exist", 2)
        (folder / "nothing").mkdir()
        checks.ended("folder without recordings", run(env, *transcribe, folder / "nothing"), 1, "folder without recordings", 1)
        unreadable(checks, env, transcribe, folder)
        vanishing(checks, env, transcribe, folder)
        tracks(checks, env, program, folder)
    checks.close()


main()
