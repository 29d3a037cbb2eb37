"""A device that fails in the middle of a reply of `mynah talk`: the reply is the same, and it is told where it went on.

usage: talk_faults.py MYNAH PLACE_TOOL DRIVER. The language model is a small one whose device fails on purpose; who
hears and who speaks need no models.
"""
import json
import pathlib
import subprocess
import tempfile

from checks import SENTENCE, Checks, environment, needs
from fault_runs import LONGEST_S, main_arguments

FAULTS = ("llm:lost@3", "llm:lost@6")


def talk(program, env, writer, device):
    done = subprocess.run([program, "talk", "--json", "--wav", SENTENCE, "--model", writer, "--asr-model", "builtin", "--vad-model", "builtin",
                           "--voice-model", "builtin", "--device", device, "--threads", "1", "--max-tokens", "12", "--temperature", "0", "--pause", "1.5"],
                          env=env, capture_output=True, text=True, timeout=LONGEST_S)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    said = next((event["text"] for event in events if event["event"] == "said"), None)
    return done, events, said


def main():
    (program, tool, _), _ = main_arguments()
    needs(SENTENCE)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        writer = folder / "writer.gguf"
        subprocess.run([tool, "writing", writer], check=True)
        _, _, wanted = talk(program, environment(folder), writer, "cpu")
        checks.add("a reply is said where nothing fails", None if wanted else "none is")
        for number, fault in enumerate(FAULTS):
            (run := folder / str(number)).mkdir()
            done, events, said = talk(program, environment(run, MYNAH_FAULT=fault), writer, "simt:0,cpu")
            checks.add(f"{fault}: the reply is the same", None if said == wanted and done.returncode == 0 else f"{said!r}, {done.stderr[-300:]}")
            moved = [(event["organ"], event["device"]) for event in events if event["event"] == "moved"]
            checks.add(f"{fault}: it is told where it goes on", None if moved == [("reply", "cpu")] else str(events))
            checks.add(f"{fault}: and why", None if "llm goes on on cpu" in done.stderr else done.stderr[-300:])
    checks.close()


if __name__ == "__main__":
    main()
