"""`mynah chat` at a terminal: lines are edited, answers stopped, tools asked about, and Ctrl-D leaves.

usage: chat_terminal.py MYNAH. Skipped without SmolLM2's weights.
"""
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

from checks import WEIGHTS, Checks, environment, needs, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
from taught_model import write_taught

THINKER = WEIGHTS / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
LONGEST_S = 240  # until something is shown, on a machine that does much else


class Terminal:
    def __init__(self, env, *words):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env={**env, "TERM": "xterm"}, start_new_session=True,
                                        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(slave)
        self.shown = ""

    def wait_for(self, text, at=0):
        """Whether that is shown behind a place, and where what follows it begins."""
        end = time.monotonic() + LONGEST_S
        while (found := self.shown.find(text, at)) < 0:
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                try:
                    self.shown += os.read(self.master, 65536).decode(errors="replace")
                except OSError:
                    return -1
            elif time.monotonic() > end or self.process.poll() is not None:
                return -1
        return found + len(text)

    def look(self, seconds):
        """Takes what is shown meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.shown += os.read(self.master, 65536).decode(errors="replace")

    def type(self, text):
        os.write(self.master, text.encode())


def asks_about_tools(program, env, folder, tools, checks):
    """A model that calls a tool in each answer: it is let, it is not, and Ctrl-C leaves the answer."""
    grammar = folder / "call.gbnf"
    grammar.write_text(r'root ::= "<tool_call>\n{\"name\": \"clock\", \"arguments\": {}}\n</tool_call>"')
    model = write_taught(THINKER, folder / "taught.gguf")
    terminal = Terminal(env, program, "chat", "--model", model, "--tools", tools, "--grammar", grammar)
    at = terminal.wait_for("> ", max(terminal.wait_for("on cpu"), 0))
    terminal.type("What time is it?\n")
    for key in ("n", "y", "\x03"):
        at = terminal.wait_for("[y/N]", max(at, 0))
        checks.add(f"a tool is asked about before {key!r}", None if at >= 0 else repr(terminal.shown[-600:]))
        terminal.type(key)
    at = terminal.wait_for("stopped;", max(at, 0))
    checks.add("Ctrl-C there stops the answer", None if at >= 0 else repr(terminal.shown[-600:]))
    terminal.wait_for("> ", max(at, 0))
    terminal.type("\x04")
    try:
        code = terminal.process.wait(300)
    except subprocess.TimeoutExpired:
        code = "none: it went on"
    terminal.process.kill()
    checks.add("and Ctrl-D leaves", None if code == 0 else f"exit code {code}: {terminal.shown[-300:]!r}")


def ends_what_repeats_itself(program, env, folder, checks):
    """A form that nothing but a repetition keeps to: where no terminal shows it it ends there, but where --max-tokens bounds it."""
    endless = folder / "endless.gbnf"
    endless.write_text('root ::= "I am here. " root')
    ask = ["chat", "--json", "--model", THINKER, "--temperature", "0", "--grammar", endless]
    for more, end in ((), "repeats"), (("--max-tokens", "500"), "length"):
        ended = run(env, program, *ask, *more, "hello")
        answer = json.loads(ended.stdout) if ended.stdout else {}
        codes = [note["code"] for note in answer.get("notes", [])]
        checks.add(f"an endless answer ends as {end}", None if answer.get("end") == end and ("repeats" in codes) == (end == "repeats") else ended.stdout[-300:])
        checks.add("and its form is not whole", None if ended.returncode == 1 else f"exit code {ended.returncode}")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    needs(THINKER)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        tools = folder / "tools.json"
        tools.write_text(json.dumps([{"name": "clock", "parameters": {"type": "object", "properties": {}}, "command": "echo noon"}]))
        terminal = Terminal(env, program, "chat", "--model", THINKER, "--seed", "1", "--temperature", "0", "--max-tokens", "400", "--tools", tools)

        def check(name, at):
            checks.add(name, None if at >= 0 else f"shown was {terminal.shown[-600:]!r}")
            return max(at, 0)

        at = check("it says which model, and where", terminal.wait_for("on cpu"))
        at = check("a prompt", terminal.wait_for("> ", at))
        terminal.type("/help\n")
        at = check("/help lists words", terminal.wait_for("/retry", at))
        at = check("and asks again", terminal.wait_for("> ", at))
        terminal.type("/hepl\n")
        at = check("a slip is known", terminal.wait_for("/help", terminal.wait_for("there is no /hepl", at)))
        # Of the answer behind the next prompt, not of this one.
        at = max(terminal.wait_for("> ", at), 0)
        terminal.type("Sai\x7fy hello\x01\x05.\n")  # backspace, to the beginning, to the end
        at = check("an answer ends, and the next prompt comes", terminal.wait_for("> ", terminal.wait_for("\n", at)))
        terminal.type("Count to a thousand, one number a line.\n")
        at = check("an answer begins", terminal.wait_for("\n", terminal.wait_for("a line.", at)))
        terminal.look(0.3)
        at = len(terminal.shown)
        terminal.type("\x03")
        at = check("Ctrl-C stops it, or it had ended", terminal.wait_for("> ", at))
        # What is typed in the moment of an interrupt goes with the line.
        terminal.look(0.3)
        prompts = terminal.shown[at - len("> "):].count("> ")
        checks.add("and asks once", None if prompts == 1 else repr(terminal.shown[at - 2:]))
        terminal.type("/undo\n/save " + str(folder / "saved.json") + "\n")
        at = check("what is taken back is said", terminal.wait_for("are taken back", at))
        at = check("the conversation is written", terminal.wait_for("written to", at))
        said = [("/save " + str(folder / "saved.json"), "is there already"), ("/save /none/at.json", "No such file"),
                ("/load " + str(tools), "tools.json: messages[0]"), ("/load " + str(folder / "saved.json"), "goes on with the 2 messages"),
                ("/thoughts maybe", "wanted on or off"), ("/timings", "timings are shown"), ("/tim\t off", "timings are not shown"),
                ("/system Be brief.", "is told that"), ("/think low", "does not think"), ("/think off", "thinks: off"), ("/t\thoughts on", "/think  /thoughts"), ("\x1b[201~/clear", "a new conversation")]
        for line, answer in said:
            terminal.type(line + "\n")
            at = check(f"{line!r} is answered", terminal.wait_for(answer, at))
        terminal.type("\x1b[200~Count to a thousand.\rOne number\ta line.\x1b[201~\n")
        terminal.look(1)
        terminal.type("\x03")
        terminal.look(0.3)
        terminal.type("//etc/hosts: what is it?\n")
        terminal.look(1)
        terminal.type("\x03")
        terminal.look(0.3)
        terminal.type("Say one\\\nword.\n")
        terminal.look(1)
        terminal.type("\x03")
        terminal.look(0.3)
        terminal.type("\x1b[A\n")  # the question before, by the arrow key
        terminal.look(1)
        terminal.type("\x03")
        terminal.look(0.3)
        terminal.type("/save! " + str(folder / "pasted.json") + "\n")
        at = check("a second conversation is written", terminal.wait_for("written to", at))
        check("and it asks again", terminal.wait_for("> ", at))
        terminal.type("\x04")
        try:
            code = terminal.process.wait(300)
        except subprocess.TimeoutExpired:
            code = "none: it went on"
        checks.add("Ctrl-D leaves", None if code == 0 else f"exit code {code}: {terminal.shown[-300:]!r}")
        terminal.process.kill()
        asked = [message["content"] for message in json.loads((folder / "pasted.json").read_text()) if message["role"] == "user"]
        checks.add("lines that are pasted are one question, and two slashes one of a question",
                   None if asked[:2] == ["Count to a thousand.\nOne number\ta line.", "/etc/hosts: what is it?"] else repr(asked))
        checks.add("a question that went on in a second line comes back whole", None if asked[2:] == 2 * ["Say one\nword."] else repr(asked))
        asks_about_tools(program, env, folder, tools, checks)
        ends_what_repeats_itself(program, env, folder, checks)
        for number, name, typed in ((signal.SIGTERM, "SIGTERM", ""), (signal.SIGHUP, "SIGHUP", "Count to a thousand.\n")):
            ended = Terminal(env, program, "chat", "--model", THINKER, "--seed", "1")
            ended.wait_for("> ", max(ended.wait_for("on cpu"), 0))
            ended.type(typed)
            ended.look(0.5)
            ended.process.send_signal(number)
            try:
                code = ended.process.wait(300)
            except subprocess.TimeoutExpired:
                code = "none: it went on"
            ended.process.kill()
            checks.add(f"{name} ends {'an answer' if typed else 'a conversation'}", None if code == 128 + number else f"exit code {code}: {ended.shown[-300:]!r}")
        saved = json.loads((folder / "saved.json").read_text())
        said = [(message["role"], bool(message["content"])) for message in saved]
        checks.add("a line is taken as it was edited", None if saved and saved[0]["content"] == "Say hello." else repr(saved))
        checks.add("what was said before is kept, and what was taken back is not",
                   None if said == [("user", True), ("assistant", True)] else repr(saved))
        history = next(folder.rglob("chat_history"), None)
        checks.add("lines are remembered, for their user alone",
                   None if history and "Say hello." in history.read_text().replace("\\040", " ") and history.stat().st_mode & 0o77 == 0 else f"{history}")
    checks.close()


if __name__ == "__main__":
    main()
