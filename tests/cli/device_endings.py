"""How runs end whose device dies or computes wrongly: what is kept, what is told, with which exit code.

usage: device_endings.py MYNAH PLACE_TOOL DRIVER [--jobs N]. Skipped without real weights.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from checks import SENTENCE, Checks, needs, run
from fault_runs import HIBARI, LONGEST_S, SILERO, Rig, main_arguments, segments, side_by_side

# A sentence is spoken when the next one begins. That has phonemes which the first has not: to count them nobody needs the worker.
FIRST, REST = "A bird sings.\n\nM", "uch joy.\n"


def workers_of(pid):
    """The workers that a mynah started."""
    found = []
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"--worker-process" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
            found.append(int(child))
    return found


SPEAK = ["speak", "--loudness", "none", "--model", "hibari", "--storage", "f32", "--threads", "1", "--json"]


def wait_for_still_worker(pid):
    """Until the workers of a mynah have used no processor for a while: they hang, or have nothing to do."""
    def used():
        stats = [pathlib.Path(f"/proc/{worker}/stat").read_text() for worker in workers_of(pid)]
        return [stat.rpartition(")")[2].split()[11:13] for stat in stats]

    until = time.monotonic() + LONGEST_S
    before = None
    while (now := used()) != before and time.monotonic() < until:
        before = now
        time.sleep(0.3)


def speak_from_a_pipe(rig, device, begin, clauses, then, rest="", flags=(), program=None, home=None, **variables):
    """Speaks the beginning and, once so many clauses were spoken, does something to the process, and speaks the rest.

    Gives the exit code, the objects, standard error, the sounds that lie there.
    """
    home = home or rig.home()
    command = [program or rig.program, *SPEAK, *flags, "--device", device, "--out", home / "out.wav"]
    process = subprocess.Popen([str(word) for word in command], env=rig.environment(home, **variables), text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(begin)
    process.stdin.flush()
    spoken = "".join(process.stdout.readline() for _ in range(clauses))
    then(process)
    out, err = process.communicate(rest, timeout=LONGEST_S)
    objects = [json.loads(line) for line in (spoken + out).splitlines()]
    return process.returncode, objects, err, sorted(path.name for path in home.glob("out.wav*"))


def speak_with_a_death(rig, device):
    """The worker is killed behind the first sentence."""
    kill = lambda process: [os.kill(worker, signal.SIGKILL) for worker in workers_of(process.pid)]
    return speak_from_a_pipe(rig, device, FIRST, 1, kill, REST)


def removed_fault(rig):
    """The program is removed, as an upgrade does, while it runs: a model that was let go is loaded in a new worker of the same program."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(shutil.copy(rig.program, folder))

        def remove(process):
            program.unlink()
            until = time.monotonic() + LONGEST_S
            while workers_of(process.pid) and time.monotonic() < until:
                time.sleep(0.1)

        code, objects, err, files = speak_from_a_pipe(rig, "simt:0", FIRST, 1, remove, REST, ["--keep-alive", "0"], program)
    if code != 0 or files != ["out.wav"]:
        return f"wanted exit code 0 and a sound, found {code} and {files}: {err[-400:]}"
    moves = objects[-1]["placement"]["moves"]
    return f"wanted no move, found {moves}" if moves else None


def refused_fault(code, objects, err, files):
    if code != 3:
        return f"wanted exit code 3, found {code}: {err[-400:]}"
    last = objects[-1] if objects else {}
    if "error" not in last or "was killed" not in last["error"]["message"]:
        return f"the reason is not told: {last}, {err[-400:]}"
    if files != ["out.wav.partial"] or last.get("resume_at") != len("A bird sings."):
        return f"what was said is not kept, or where the rest begins is not told: {files}, {last}"
    return None


def moved_fault(code, objects, err, files):
    if code != 0:
        return f"wanted exit code 0, found {code}: {err[-400:]}"
    moves = objects[-1]["placement"]["moves"]
    if len(moves) != 1 or moves[0]["to"] != "cpu" or "was killed" not in moves[0]["reason"]:
        return f"wanted one move, to the processor: {moves}"
    if files != ["out.wav"] or sum("text" in found for found in objects) != 2:
        return f"a sentence is missing: {files}, {objects}"
    return None


def placement_fault(found):
    """An answer says where it was computed, though what computed it is gone."""
    placement = found.get("placement")
    if not placement or not placement["stages"]:
        return f"no stage is told: {found}"
    for stage in placement["stages"]:
        if not stage["device"] or not stage["architecture"] or not stage["milliseconds"] > 0 or not stage["operations"] > 0:
            return f"what {stage['stage']} did is not told: {stage}"
    return None


def several_fault(rig, verb, fault, flags=()):
    """Of several recordings none can be heard any more: exit code 3, and each answer says where."""
    home = rig.home()
    recordings = [home / f"{name}.wav" for name in ("a", "b")]
    for recording in recordings:
        os.link(rig.recording, recording)
    result = run(rig.environment(home, MYNAH_FAULT=fault), rig.program, verb, "--device", "simt:0", "--threads", "1", "--json",
                 *flags, *recordings)
    if result.returncode != 3:
        return f"wanted exit code 3, found {result.returncode}: {result.stderr[-400:]}"
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    if [found["error"]["code"] for found in objects] != ["device", "device"]:
        return f"wanted an error for each recording: {objects}"
    return next((fault for fault in map(placement_fault, objects) if fault), None)


def last_look_fault(rig, flags):
    """A device is wrong in its last window, and a recording that is not there comes behind."""
    home = rig.home()
    result = run(rig.environment(home, MYNAH_FAULT="stt.decoder:wrong@3"), rig.program, "transcribe", "--device", "simt:0",
                 "--threads", "1", "--json", *flags, rig.recording, home / "none.wav")
    if result.returncode != 3 or "computes wrongly" not in result.stderr:
        return f"wanted exit code 3 and what is wrong, found {result.returncode}: {result.stderr[-400:]}"
    moves = json.loads(result.stdout.splitlines()[-1])["placement"]["moves"]
    return None if moves and "computes wrongly" in moves[-1]["reason"] else f"the last answer has no move: {moves}"


def stopped_fault(rig):
    """A device is wrong in the second clause, behind which the user stops: what he has may be wrong, and he is told."""
    def stop(process):
        process.send_signal(signal.SIGINT)
        process.wait(LONGEST_S)

    code, _, err, _ = speak_from_a_pipe(rig, "simt:0", "A bird sings.\n\nTwo go.\n\nM", 2, stop, MYNAH_FAULT="tts.vocoder:wrong@2")
    return None if code == 130 and "computes wrongly" in err else f"wanted 130 and what is wrong, found {code}: {err[-400:]}"


def left_fault(rig, number):
    """A device hangs in the second clause, and the user does not wait for it: what was said stays, and nobody failed."""
    def stop(process):
        wait_for_still_worker(process.pid)
        process.send_signal(number)
        process.wait(LONGEST_S)

    shared, home = segments(), rig.home()
    code, _, err, files = speak_from_a_pipe(rig, "simt:0,cpu", "A bird sings.\n\nTwo go.\n\nM", 1, stop, home=home,
                                            MYNAH_FAULT="tts.vocoder:hang@2")
    if code != 128 + number:
        return f"wanted {128 + number}, found {code}: {err[-400:]}"
    if "hung" in err or "goes on" in err:
        return f"the device is said to have failed: {err[-400:]}"
    if files != ["out.wav.partial"]:
        return f"wanted what was said, found {files}"
    left = [*rig.leftovers(home, shared), *home.rglob("*.distrust")]
    return f"left behind: {left}" if left else None


def spoken_fault(rig, *flags):
    """The device is lost in the second clause of a book, or of a text by lines."""
    home = rig.home()
    text = home / "text.txt"
    text.write_text("A bird sings.\nTwo go.\n")
    flags = [str(flag).replace("HOME", str(home)) for flag in flags]
    result = run(rig.environment(home, MYNAH_FAULT="tts.vocoder:lost@2"), rig.program, *SPEAK, "--device", "simt:0", "--file", text,
                 *flags)
    last = json.loads(result.stdout.splitlines()[-1])
    if result.returncode != 3 or last.get("error", {}).get("code") != "device":
        return f"wanted exit code 3 and an error, found {result.returncode}: {last}, {result.stderr[-400:]}"
    return placement_fault(last)


def doubted_fault(rig, *flags):
    """The device computes wrongly in the last clause, which only the last look finds: no line of success stands before the error."""
    home = rig.home()
    flags = [str(flag).replace("HOME", str(home)) for flag in flags]
    result = run(rig.environment(home, MYNAH_FAULT="tts.vocoder:wrong@2"), rig.program, *SPEAK[:-1], "--device", "simt:0", *flags,
                 "A bird sings. Two go.")
    lines = [line for line in result.stderr.splitlines() if not line.startswith("mynah: proving ")]
    if result.returncode != 3 or len(lines) != 1 or "computes wrongly" not in lines[0] or "s of speech went to" not in lines[0]:
        return f"wanted exit code 3 and one line of the doubt and the file, found {result.returncode}: {result.stderr[-600:]}"
    return None


def lexicons_fault(rig):
    """What a text cannot be read without is looked for before a device is proven."""
    home = rig.home()
    shutil.rmtree(home / "cache/mynah/proofs")
    env = rig.environment(home)
    removed = run(env, rig.program, "models", "remove", "english-phonemes")
    if removed.returncode != 0:
        return f"the lexicons cannot be removed: {removed.stderr}"
    result = run(env, rig.program, *SPEAK, "--device", "simt:0", "--out", home / "out.wav", "A bird sings.")
    if result.returncode != 3 or "english-phonemes" not in result.stderr or "proving" in result.stderr:
        return f"wanted exit code 3 and what is missing, and no proof, found {result.returncode}: {result.stderr[-400:]}"
    return None


def last_line_fault(rig):
    """The device computes wrongly in the last of two lines, which only the last look finds: it is said in one more line of JSON."""
    home = rig.home()
    text = home / "text.txt"
    text.write_text("A bird sings.\nTwo go.\n")
    result = run(rig.environment(home, MYNAH_FAULT="tts.vocoder:wrong@2"), rig.program, *SPEAK, "--device", "simt:0,cpu", "--file", text,
                 "--output-dir", home / "lines")
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    if result.returncode != 0 or len(objects) != 3 or objects[-1].get("lines") != 2:
        return f"wanted exit code 0, two lines and a last one, found {result.returncode}: {objects}, {result.stderr[-400:]}"
    moves = [len(one["placement"]["moves"]) for one in objects]
    if moves != [0, 0, 1]:
        return f"wanted the move in the last line alone, found {moves}"
    doubted = objects[-1]["placement"]["moves"][0]["doubted"]
    wanted = f"clause 1 of {home / 'lines/0002.wav'}"
    return None if doubted and wanted in doubted else f"wanted '{wanted}' to be what may be wrong, found '{doubted}'"


def warned_fault(rig):
    """The device computes wrongly in the last clause, which only the last look finds: the answer warns of it by name."""
    home = rig.home()
    result = run(rig.environment(home, MYNAH_FAULT="tts.vocoder:wrong@2"), rig.program, *SPEAK, "--device", "simt:0,cpu",
                 "--out", home / "out.wav", "A bird sings. Two go.")
    if result.returncode != 0 or "goes on on" in result.stderr or "tts is asked next goes to cpu" not in result.stderr:
        return f"wanted exit code 0 and what is true, found {result.returncode}: {result.stderr[-400:]}"
    last = json.loads(result.stdout.splitlines()[-1])
    if [move["doubted"] for move in last["placement"]["moves"]] != ["clause 2"]:
        return f"the clause that is doubted has no place of its own: {last['placement']['moves']}"
    return None if len(last["warnings"]) == 1 and last["warnings"][0].startswith("clause 2 may be wrong: ") else f"no warning: {last}"


def scored_fault(rig, flags):
    """Recordings that are scored, and the device is lost."""
    home = rig.home()
    table = home / "table.tsv"
    table.write_text("clip\tlang\ttext\n" + f"{rig.recording}\ten\thello\n" * 2)
    result = run(rig.environment(home, MYNAH_FAULT="stt.encoder:lost@1"), rig.program, "wer", "--device", "simt:0", "--threads", "1",
                 "--json", *flags, table)
    if result.returncode != 3:
        return f"wanted exit code 3, found {result.returncode}: {result.stderr[-400:]}"
    return placement_fault(json.loads(result.stdout.splitlines()[-1])["total"])


def proving_fault(rig):
    """The user stops while a device is proven that hangs: nobody failed, and nothing is said to have."""
    home = rig.home()
    process = subprocess.Popen([rig.program, "devices", "--prove", "simt:0"], env=rig.environment(home, MYNAH_FAULT="tts.vocoder:hang@1"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and not children.read_text():
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONGEST_S)
    if process.returncode != 130 or "failed" in out + err:
        return f"wanted 130 and no failure, found {process.returncode}: {out[-400:]}{err[-400:]}"
    return None if not list(home.rglob("*.distrust")) else "the device is distrusted"


def kept_times_fault(rig):
    """What the processor took is told with a proof that was made before, as it was with the proof itself."""
    result = run(rig.environment(rig.warm), rig.program, "devices", "simt:0", "--json")
    proofs = json.loads(result.stdout)["proofs"]
    return None if proofs and all(proof["cpu_ms_per_second"] > 0 for proof in proofs) else f"the processor's time is not told: {proofs}"


def endings(rig, languages):
    """(name, what finds its fault) of each; `languages`: a model that tells them."""
    flags = ["--vad-model", SILERO, "--chunk-length", "5", "--storage", "f32", "--batch", "1", "--max-new-tokens", "8",
             "--temperature-increment", "0"]
    whisper = [*flags, "--model", rig.whisper]
    return [
        ("a proof that was made before", lambda: kept_times_fault(rig)),
        ("a worker dies between two sentences", lambda: refused_fault(*speak_with_a_death(rig, "simt:0"))),
        ("and the processor goes on", lambda: moved_fault(*speak_with_a_death(rig, "simt:0,cpu"))),
        ("the program is removed while it runs", lambda: removed_fault(rig)),
        ("the last look, though the user stops", lambda: stopped_fault(rig)),
        ("Ctrl-C while a device hangs", lambda: left_fault(rig, signal.SIGINT)),
        ("SIGTERM while a device hangs", lambda: left_fault(rig, signal.SIGTERM)),
        ("Ctrl-C while a device is proven", lambda: proving_fault(rig)),
        ("a book", lambda: spoken_fault(rig, "--out", "HOME/book.wav")),
        ("a text by lines", lambda: spoken_fault(rig, "--output-dir", "HOME/lines")),
        ("a clause that only the last look doubts", lambda: warned_fault(rig)),
        ("a text by lines that only the last look doubts", lambda: last_line_fault(rig)),
        ("a sound that only the last look doubts", lambda: doubted_fault(rig, "--out", "HOME/out.wav")),
        ("lexicons that are not here", lambda: lexicons_fault(rig)),
        ("several recordings, transcribe", lambda: several_fault(rig, "transcribe", "stt.encoder:lost@1", whisper)),
        ("several recordings, wer", lambda: scored_fault(rig, whisper)),
        ("several recordings, vad", lambda: several_fault(rig, "vad", "vad:lost@1", ["--model", SILERO])),
        ("several recordings, --detect-language",
         lambda: several_fault(rig, "transcribe", "stt.encoder:lost@1", [*flags, "--model", languages, "--detect-language"])),
        ("the last look, though another recording fails", lambda: last_look_fault(rig, whisper))]


def main():
    (program, tool, driver), rest = main_arguments()
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1)
    jobs = parser.parse_args(rest).jobs
    needs(SENTENCE, SILERO, HIBARI)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(program, tool, driver, pathlib.Path(folder))
        languages = rig.folder / "languages.gguf"
        subprocess.run([tool, "languages", languages], check=True)
        proofs = [lambda: rig.must_run(rig.environment(rig.warm), "devices", "--prove", "simt:0"),
                  lambda: rig.run("transcribe", "simt:0", warm=True)]
        list(side_by_side(jobs, lambda prove: prove(), proofs))
        for (name, _), fault in side_by_side(jobs, lambda ending: ending[1](), endings(rig, languages)):
            checks.add(name, fault)
    checks.close()


main()
