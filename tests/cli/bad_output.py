"""Outputs that cannot be written, and runs that are stopped: what was done before is kept, and said.

usage: bad_output.py MYNAH. Needs no weights and no network: the built-in recogniser reads two sentences of LibriVox.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import wave

from checks import ANOTHER, SENTENCE, Checks, environment, needs, run

NOBODY = 65534


def listing(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def full_disk(checks, env, transcribe, folder):
    """A disk without room for a byte, in a name space of this run's own."""
    disk = folder / "disk"
    disk.mkdir()
    script = ('mount -t tmpfs -o size=64k mynah-test "$1" && head -c 65536 /dev/zero >"$1/filler" || exit 99; '
              'disk=$1; shift; "$@"; code=$?; ls "$disk" >"$disk.listing"; exit $code')
    alone = ["unshare", "--mount", "--user", "--map-root-user", "sh", "-c", script, "sh", disk]
    if run(env, *alone, "true").returncode:
        checks.skip("full disk", "no file system can be mounted here")
        return
    result = run(env, *alone, *transcribe, SENTENCE, ANOTHER, "-o", disk)
    checks.ended("full disk", result, 1, "No space left on device")
    left = (folder / "disk.listing").read_text().split()
    checks.add("full disk: nothing half written", None if left == ["filler"] else f"found {left}")


def locked_folder(checks, env, transcribe, folder):
    """A folder that others own: said before anything is heard. Root may write anywhere, so it runs the program as nobody."""
    out = folder / "locked"
    out.mkdir()
    out.chmod(0o555)
    folder.chmod(0o755)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        result = run(env, *transcribe, SENTENCE, "-o", out, **who)
        checks.ended("locked folder", result, 1, f"the folder {out} may not be written to", 2)
        drawing = run(env, transcribe[0], "vad", "--model", "builtin", SENTENCE, "--plot", out / "a.svg", **who)
        checks.ended("locked folder of a drawing", drawing, 1, f"the folder {out} may not be written to", 2)
        # As /dev/stdout, whose folder is another's.
        leads = folder / "open"
        leads.mkdir()
        leads.chmod(0o777)
        link = folder / "linked"
        link.mkdir()
        (link / "a.wav").symlink_to(leads / "a.wav")
        link.chmod(0o555)
        spoken = run(env, transcribe[0], "speak", "--model", "builtin", "-q", "One.", "--out", link / "a.wav", **who)
        if checks.ended("a link in a locked folder", spoken, 0):
            checks.add("a link in a locked folder: where it leads", None if (leads / "a.wav").stat().st_size > 44 else "no sound")
    except PermissionError as error:
        checks.skip("locked folder", f"nobody may not run the program: {error}")


def full_stdout(checks, env, transcribe):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([*transcribe, SENTENCE], env=env, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    checks.ended("full standard output", result, 1, "No space left on device")


def closed_stdout(checks, env, transcribe):
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run([*transcribe, SENTENCE, ANOTHER], env=env, stdout=writing, stderr=subprocess.PIPE, text=True,
                            check=False)
    os.close(writing)
    quiet = "cannot write" not in result.stderr and "roken pipe" not in result.stderr
    fault = None if result.returncode in (0, 128 + signal.SIGPIPE, -signal.SIGPIPE) and quiet else result
    checks.add("closed standard output", fault and f"exit code {fault.returncode}, said {fault.stderr!r}")


def no_stdin(checks, env, transcribe):
    """Closed before the program starts: no file or pipe of its own may take the number."""
    process = subprocess.Popen(["sh", "-c", 'exec "$@" <&-', "sh", *transcribe, "-"], env=env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, said = process.communicate()
    checks.ended("standard input that is closed", subprocess.CompletedProcess([], process.returncode, out, said), 1,
                 "standard input")


def wait_for(process, path):
    """Until the file is there. False: the process ended without it."""
    while not path.exists():
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    return True


def stopped(checks, env, transcribe, folder, number):
    """Stopped while it hears the second of two recordings, which is half an hour long."""
    name = signal.Signals(number).name
    out, long = folder / f"out-{name}", folder / f"{name}.wav"
    with wave.open(str(SENTENCE)) as clip, wave.open(str(long), "wb") as copy:
        copy.setparams(clip.getparams())
        frames = clip.readframes(clip.getnframes())
        for _ in range(1800 * clip.getframerate() // clip.getnframes()):
            copy.writeframesraw(frames)
    process = subprocess.Popen([*transcribe, SENTENCE, long, "-o", out, "--format", "srt"], env=env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done = wait_for(process, out / f"{SENTENCE.stem}.srt")
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    checks.ended(f"{name} in the middle", subprocess.CompletedProcess([], process.returncode, "", said), 128 + number)
    kept = listing(out)
    checks.add(f"{name}: what was done is kept, nothing passes for whole",
               None if done and f"{SENTENCE.stem}.srt" in kept and f"{name}.srt" not in kept else f"found {kept}, said {said}")


def has_open(process, path):
    """Whether the program opened it within a minute."""
    for _ in range(3000):
        for link in pathlib.Path(f"/proc/{process.pid}/fd").glob("*"):
            try:
                if os.readlink(link) == str(path):
                    return True
            except FileNotFoundError:
                pass
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    return False


def stopped_waiting(checks, env, transcribe, folder, before):
    """Stopped while it waits for a named pipe that nobody writes to: one signal is enough, and what came before is told."""
    name = f"stopped before anybody writes to a named pipe, with {len(before)} recordings before it"
    pipe = folder.resolve() / f"silent-{len(before)}.wav"
    os.mkfifo(pipe)
    process = subprocess.Popen([*transcribe, *before, pipe], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    waiting = has_open(process, pipe)
    process.send_signal(signal.SIGINT if waiting else signal.SIGKILL)
    try:
        out, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, said = process.communicate()
    checks.ended(name, subprocess.CompletedProcess([], process.returncode, "", said), 128 + signal.SIGINT,
                 "stopped: 1 of 2 recordings are not finished" if before else "stopped before the end", 2)
    checks.add(f"{name}: their text", None if len(out.splitlines()) > len(before) or not before else f"found {out!r}")


def main():
    transcribe = [sys.argv[1], "transcribe", "--model", "builtin"]
    needs(SENTENCE, ANOTHER)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup's children would ignore it, as they should
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        full_disk(checks, env, transcribe, folder)
        locked_folder(checks, env, transcribe, folder)
        full_stdout(checks, env, transcribe)
        closed_stdout(checks, env, transcribe)
        no_stdin(checks, env, transcribe)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            stopped(checks, env, transcribe, folder, number)
        for before in ([], [SENTENCE]):
            stopped_waiting(checks, env, transcribe, folder, before)
        (folder / "file").write_text("")
        checks.ended("output folder that is a file", run(env, *transcribe, SENTENCE, "-o", folder / "file"), 1, "file", 2)
    checks.close()


main()
