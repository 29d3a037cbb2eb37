"""How runs end whose device dies: what is kept, what is told, with which exit code.

usage: device_endings.py MYNAH PLACE_TOOL DRIVER. Skipped without real weights.
"""
import json
import os
import pathlib
import signal
import subprocess
import tempfile

from checks import SENTENCE, Checks, needs
from fault_runs import HIBARI, LONGEST_S, SILERO, Rig, main_arguments

# A sentence is spoken when the next one begins. That has phonemes which the first has not: to count them nobody needs the worker.
FIRST, REST = "A bird sings.\n\nM", "uch joy.\n"


def workers_of(pid):
    """The workers that a mynah started."""
    found = []
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"--worker-process" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
            found.append(int(child))
    return found


def speak_with_a_death(rig, device):
    """Speaks the first sentence, kills the worker, speaks the second: exit code, objects, standard error, the sounds that lie there."""
    home = rig.home()
    command = [rig.program, "speak", "--device", device, "--model", "hibari", "--storage", "f32", "--threads", "1", "--json",
               "--out", home / "out.wav"]
    process = subprocess.Popen([str(word) for word in command], env=rig.environment(home), text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(FIRST)
    process.stdin.flush()
    first = process.stdout.readline()  # the clause, once it was spoken
    for worker in workers_of(process.pid):
        os.kill(worker, signal.SIGKILL)
    out, err = process.communicate(REST, timeout=LONGEST_S)
    objects = [json.loads(line) for line in (first + out).splitlines()]
    return process.returncode, objects, err, sorted(path.name for path in home.glob("out.wav*"))


def refused_fault(code, objects, err, files):
    if code != 3:
        return f"wanted exit code 3, found {code}: {err[-400:]}"
    last = objects[-1] if objects else {}
    if "error" not in last or "crashed" not in last["error"]["message"]:
        return f"the reason is not told: {last}, {err[-400:]}"
    if files != ["out.wav.partial"] or last.get("resume_at") != len("A bird sings."):
        return f"what was said is not kept, or where the rest begins is not told: {files}, {last}"
    return None


def moved_fault(code, objects, err, files):
    if code != 0:
        return f"wanted exit code 0, found {code}: {err[-400:]}"
    moves = objects[-1]["placement"]["moves"]
    if len(moves) != 1 or moves[0]["to"] != "cpu" or "crashed" not in moves[0]["reason"]:
        return f"wanted one move, to the processor: {moves}"
    if files != ["out.wav"] or sum("text" in found for found in objects) != 2:
        return f"a sentence is missing: {files}, {objects}"
    return None


def main():
    (program, tool, driver), _ = main_arguments()
    needs(SENTENCE, SILERO, HIBARI)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(program, tool, driver, pathlib.Path(folder))
        rig.must_run(rig.environment(rig.warm), "devices", "--prove", "simt:0")
        checks.add("a worker dies between two sentences", refused_fault(*speak_with_a_death(rig, "simt:0")))
        checks.add("and the processor goes on", moved_fault(*speak_with_a_death(rig, "simt:0,cpu")))
    checks.close()


main()
