"""Every verb of mynah explains itself with --help, and takes --json."""
import re
import subprocess
import sys


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def verbs_of(program):
    """The verbs that `mynah --help` lists: two blanks, a name, its summary."""
    listing = run(program, "--help")
    assert listing.returncode == 0, listing.stderr
    return re.findall(r"^  ([a-z][a-z-]*)\s{2,}\S", listing.stdout, re.MULTILINE)


def main():
    program = sys.argv[2]
    verbs = [verb for verb in verbs_of(program) if verb != "help"]
    assert verbs, "mynah --help lists no verbs"
    faults = []
    for verb in verbs:
        result = run(program, verb, "--help")
        if result.returncode != 0 or verb not in result.stdout or result.stderr:
            faults.append(f"mynah {verb} --help: exit code {result.returncode}, {result.stderr[:200]}")
        elif "--json" not in result.stdout:
            faults.append(f"mynah {verb} --help does not speak of --json")
        wrong = run(program, verb, "--no-such-flag")
        if wrong.returncode != 2 or not wrong.stderr:
            faults.append(f"mynah {verb} --no-such-flag: exit code {wrong.returncode}, wanted 2 and a message")
    print("\n".join(faults) or f"{len(verbs)} verbs: {', '.join(verbs)}")
    sys.exit(1 if faults else 0)


main()
