"""Our template engine against Python's jinja2 as transformers sets it up: same text, or both refuse.

    compare_templates.py RENDERER [--templates FOLDER] [--cases FILE] [--write GOLDEN]

RENDERER is the test program text_template_render. Every .jinja file of FOLDER is rendered with every conversation of
conversations.json beside this file. --cases compares a JSON object of "context" and "templates", by name, instead. --write stores
what jinja2 answers, null where it refuses, for the test that runs without Python. Wants jinja2 (pip install jinja2).
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox

HERE = pathlib.Path(__file__).parent
OWN = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
# What single templates want besides, as those who made them give it.
MORE = {"functions": "[]", "datetime": "2024-03-09", "date_string": "09 Mar 2024"}
NOW = datetime.datetime(2024, 3, 9, 17, 5, 42)


class Refusal(Exception):
    """What raise_exception raises."""


class Generation(jinja2.ext.Extension):
    """{% generation %} renders as its body, which is a caller's: its names are its own."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("body_of"), [], [], body).set_lineno(line)

    def body_of(self, caller):
        return caller()


def raise_exception(message):
    raise Refusal(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment(kind):
    made = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


STRICT = environment(jinja2.sandbox.ImmutableSandboxedEnvironment)
# The same, but that lists may be changed, as llama.cpp lets them: ours does too.
LOOSE = environment(jinja2.sandbox.SandboxedEnvironment)


def oracle(template, context, strict=True):
    """(text, None) or (None, why not)."""
    try:
        # A copy, as what a template changes is its own.
        return (STRICT if strict else LOOSE).from_string(template).render(**json.loads(json.dumps(context)), **OWN), None
    except Refusal as error:
        return None, f"refusal: {error}"
    except Exception as error:  # noqa: BLE001: whatever Python says of a template is its refusal
        return None, f"{type(error).__name__}: {error}"


def folder_cases(folder):
    conversations = json.loads((HERE / "conversations.json").read_text())
    for path in sorted(pathlib.Path(folder).glob("*.jinja")):
        for name, conversation in conversations.items():
            yield f"{path.stem}/{name}", path.read_bytes().decode(), MORE | conversation["context"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("renderer")
    parser.add_argument("--templates")
    parser.add_argument("--cases")
    parser.add_argument("--write")
    parser.add_argument("--verbose", action="store_true", help="also what both refuse, with both reasons")
    options = parser.parse_args()
    if options.cases:
        given = json.loads(pathlib.Path(options.cases).read_text())
        cases = [(name, template, given["context"]) for name, template in given["templates"].items()]
    else:
        cases = list(folder_cases(options.templates))
    ours = subprocess.run([options.renderer], text=True, capture_output=True, check=True,
                          input="".join(json.dumps({"template": template, "context": context, "own": OWN}) + "\n" for _, template, context in cases))
    answers = [json.loads(line) for line in ours.stdout.split("\n") if line]
    assert len(answers) == len(cases), ours.stderr
    counts = {"same text": 0, "both refuse": 0, "ours alone, as a list may be changed": 0, "different": 0}
    golden = {}
    for (name, template, context), answer in zip(cases, answers):
        text, why = oracle(template, context)
        golden[name] = text
        got = "".join(piece for piece, _ in answer["pieces"]) if "pieces" in answer else None
        if got is not None and got == text:
            counts["same text"] += 1
        elif got is None and text is None and (answer["kind"] == "refusal") == why.startswith("refusal: "):
            counts["both refuse"] += 1
            if options.verbose:
                print(f"{name}: {answer} | {why}")
        elif text is None and why.startswith("SecurityError") and got == oracle(template, context, strict=False)[0]:
            counts["ours alone, as a list may be changed"] += 1
        else:
            counts["different"] += 1
            print(f"--- {name}\nours:   {got if got is not None else answer!r}\njinja2: {text if text is not None else why}")
    if options.write:
        pathlib.Path(options.write).write_text(json.dumps(golden, indent=0, ensure_ascii=False) + "\n")
    print(f"{len(cases)} cases: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    sys.exit(1 if counts["different"] else 0)


main()
