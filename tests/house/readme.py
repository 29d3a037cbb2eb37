"""What the README and docs tell to type exists: verbs of ./dev, verbs and flags of mynah, linked files."""
import pathlib
import re
import shlex
import subprocess
import sys

PROGRAMS = ("mynah", "build/release/mynah")


def commands(text):
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.split(" #")[0].strip()
            for command in re.split(r"\s(?:\||&&)\s", line):
                if command and not command.startswith("#"):
                    yield shlex.split(command)


def fault_of(words, root, program, helps):
    if words[0] == "./dev":
        usage = subprocess.run([root / "dev"], capture_output=True, text=True, check=True).stdout
        return None if re.search(rf"^  {re.escape(words[1])}\b", usage, re.MULTILINE) else f"./dev has no verb {words[1]}"
    if words[0] not in PROGRAMS or len(words) == 1:
        return None
    verb = words[1]
    if verb not in helps:
        helps[verb] = subprocess.run([program, verb, "--help"], capture_output=True, text=True)
    if helps[verb].returncode != 0:
        return f"mynah has no verb {verb}"
    for flag in (word.split("=")[0] for word in words[2:] if re.match(r"--?[a-zA-Z]", word)):
        if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", helps[verb].stdout):
            return f"mynah {verb} has no flag {flag}"
    return None


def main():
    root, program = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    faults, helps, count = [], {}, 0
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        text = path.read_text()
        for words in commands(text):
            count += 1
            fault = fault_of(words, root, program, helps)
            if fault:
                faults.append(f"{path.relative_to(root)}: {' '.join(words)}: {fault}")
        # What stands in code is shown, not linked.
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)):
            if not (path.parent / link).exists():
                faults.append(f"{path.relative_to(root)} links to {link}, which does not exist")
    print("\n".join(faults) or f"{count} commands and all links hold")
    sys.exit(1 if faults else 0)


main()
