"""`mynah talk` with tools, timers and a memory: over a recording, and at a terminal whose keys let a tool change something.

usage: talk_tools.py MYNAH. Skipped without real weights; what needs a terminal is skipped without pulseaudio.
"""
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from chat_terminal import LONGEST_S, Terminal, write_taught
from checks import SENTENCE, WEIGHTS, Checks, environment, needs, run
from talk_desk import SoundServer
from taught_model import calling

THINKER, TINY = WEIGHTS / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", WEIGHTS / "tiny.en"
SILERO = WEIGHTS / "silero/silero_vad_16k.safetensors"
NOTHING = {"type": "object", "properties": {}}


def described(name, command, **more):
    return {"name": name, "parameters": NOTHING, "command": command, **more}


def options(model, tools):
    return ["--model", model, "--asr-model", TINY, "--vad-model", "silero", "--voice-model", "builtin", "--max-tokens", "8", "--temperature", "0",
            "--pause", "3", "--tools", tools]


def talk(env, program, model, tools, *more):
    """The end of a conversation over a recording, and its events."""
    ended = run(env, program, "talk", "--json", "--wav", SENTENCE, *options(model, tools), *more)
    return ended, [json.loads(line) for line in ended.stdout.splitlines()]


def over_a_recording(program, env, folder, model, tools, checks):
    ended, events = talk(env, program, model, tools, "--memory")
    checks.ended("a call that only looks", ended, 0)
    names = [event["event"] for event in events]
    told = [(event["state"], event.get("answer", "").strip()) for event in events if event["event"] == "tool"]
    checks.add("is run and told", None if told == [("called", ""), ("answered", "noon")] else str(told))
    order = [name for name in names if name in ("heard", "tool", "said")]
    checks.add("once the turn is over", None if order == ["heard", "tool", "tool", "said"] else str(names))
    heard, said = (next((event["text"] for event in events if event["event"] == name), None) for name in ("heard", "said"))
    listed = run(env, program, "memory", "list", "--json")
    kept = sorted((item["origin"], item["text"].strip()) for item in map(json.loads, listed.stdout.splitlines()))
    wanted = sorted((origin, text) for origin, text in (("user", heard), ("tool", "noon"), ("assistant", said.strip())) if text)
    checks.add("--memory keeps what was heard, said and answered", None if kept == wanted else f"{kept}, wanted {wanted}")

    # There is no embedding model here: by its words.
    ended, events = talk(env, program, model, tools, "--memory")
    told = [event["text"] for event in events if event["event"] == "recalled"]
    checks.add("the next conversation tells what it recalled", None if told == [heard] else f"{told}, wanted {heard!r}")
    asked = run(env, program, "chat", "--model", THINKER, "--memory", "--max-tokens", "2", heard)
    line = next((line for line in asked.stderr.splitlines() if "[recalled, said on 20" in line), "")
    checks.add("and so does chat", None if heard.strip()[:40] in line else asked.stderr[-300:])
    asked = run(env, program, "chat", "--json", "--model", THINKER, "--memory", "--max-tokens", "2", heard)
    told = {item["text"] for item in json.loads(asked.stdout)["recalled"]}
    checks.add("and its JSON", None if told == {heard} else f"{told}, wanted {heard!r}")

    listed = run(env, program, "memory", "list", "--json")
    mark = folder / "mark"
    tools.write_text(json.dumps([described("clock", f"touch {mark}")]))
    ended, events = talk(env, program, model, tools)
    checks.ended("a call that changes something", ended, 0)
    states = [event["state"] for event in events if event["event"] == "tool"]
    why = next((event["why"] for event in events if event.get("state") == "not_run"), "")
    checks.add("is not run without a terminal, and it is said", None if "nobody is here" in why else f"{states} {why}")
    checks.add("nothing was changed", None if not mark.exists() else "its mark is there")
    again = run(env, program, "memory", "list", "--json")
    checks.add("without --memory nothing is kept", None if again.stdout == listed.stdout else again.stdout)


def rings(program, env, folder, checks):
    """A timer that was over while nobody was here is told once."""
    tools = folder / "own.json"
    tools.write_text(json.dumps({"own": True}))
    ended, events = talk(env, program, THINKER, tools)
    checks.ended("tools of mynah's own", ended, 0)
    told = [event["text"] for event in events if event["event"] == "rings"]
    checks.add("nothing rings that was not set", None if not told else str(told))
    database = sqlite3.connect(folder / "models/timers.sqlite")
    database.execute("INSERT INTO timers VALUES(3, ?, 'tea', '')", (int(time.time()) - 600,))
    database.commit()
    for wanted in (1, 0):
        ended, events = talk(env, program, THINKER, tools)
        told = [event["text"] for event in events if event["event"] == "rings"]
        checks.add(f"a timer that was missed rings {'once' if wanted else 'no second time'}",
                   None if len(told) == wanted and all("timer 3 (tea) was missed" in text for text in told) else f"{told} {ended.stderr[-300:]}")
        if wanted:
            said = [event["text"] for event in events if event["event"] == "said"]
            checks.add("and is spoken", None if told and told[0] in said else str(said))
    left = database.execute("SELECT count(*) FROM timers").fetchone()[0]
    database.close()
    checks.add("it is gone then", None if left == 0 else f"{left} are left")


def at_terminal(program, env, server, folder, model, checks):
    mark, tools = folder / "opened", folder / "changes.json"
    tools.write_text(json.dumps([described("clock", f"touch {mark}; echo opened")]))
    terminal = Terminal(env, program, "talk", *options(model, tools), "--memory")

    def shows(name, text, at=0):
        found = terminal.wait_for(text, at)
        checks.add(name, None if found >= 0 else f"shown was {terminal.shown[-600:]!r}")
        return max(found, 0)

    shows("the screen says that it is kept", "what is said is kept", shows("it listens", "listening"))
    at = 0
    for key, comes in (("n", "was not run"), ("y", "answered: opened")):
        subprocess.run(["paplay", "--device=room", str(SENTENCE)], env=server.env, check=True)
        at = shows(f"a key is asked for before {key}", "any other key: do not", at)
        checks.add(f"nothing is changed before {key}", None if not mark.exists() else "its mark is there")
        # What is typed before the question was painted is no answer, and a script types at once.
        end = time.monotonic() + LONGEST_S
        while comes not in terminal.shown[at:] and time.monotonic() < end:
            terminal.type(key)
            terminal.look(0.5)
        at = shows(f"{key}: {comes}", comes, at)
        at = shows("the reply goes on", "mynah: ", at)
    checks.add("y lets it", None if mark.exists() else "no mark")
    terminal.type("q")
    try:
        code = terminal.process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        terminal.process.kill()
        code = "none: it went on"
    checks.add("q leaves", None if code == 0 else f"exit code {code}: {terminal.shown[-300:]!r}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    needs(THINKER, TINY, SILERO, SENTENCE)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        run(env, program, "import", SILERO, "--name", "silero")
        model = write_taught(THINKER, folder / "taught.gguf", calling("clock"))
        tools = folder / "tools.json"
        tools.write_text(json.dumps([described("clock", "echo noon", changes=False)]))
        over_a_recording(program, env, folder, model, tools, checks)
        rings(program, env, folder, checks)
        if all(map(shutil.which, ("pulseaudio", "pactl", "paplay", "parec"))):
            server = SoundServer(folder)
            try:
                sound = {"PULSE_SERVER": server.env["PULSE_SERVER"], "XDG_RUNTIME_DIR": str(folder)}
                at_terminal(program, {**env, **sound}, server, folder, model, checks)
            finally:
                server.end()
        else:
            checks.skip("at a terminal", "no pulseaudio")
    checks.close()


if __name__ == "__main__":
    main()
