"""Whether systemd takes mynah's units, and how much of the machine they leave open to it; the doctor on what builds its container.

usage: units.py MYNAH. 77 where systemd-analyze is not installed.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"
MOST_EXPOSED = 2.5  # of 10; a unit without hardening has 9.6


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def main():
    if shutil.which("systemd-analyze") is None:
        print("wanted systemd-analyze: apt install systemd")
        return 77
    mynah = str(pathlib.Path(sys.argv[1]).resolve())
    failed = 0

    def check(what, good, told=""):
        nonlocal failed
        print(f"  {'good' if good else 'BAD '}  {what}")
        if not good:
            print(told)
            failed += 1

    with tempfile.TemporaryDirectory() as folder:
        units = []
        for source in sorted(PACKAGING.glob("mynah*.s*")):
            # The program is where it was built.
            text = source.read_text().replace("/usr/bin/mynah", mynah)
            units.append(f"{folder}/{source.name}")
            pathlib.Path(units[-1]).write_text(text)
        check("there are three units", len(units) == 3, units)
        done = run("systemd-analyze", "verify", "--man=no", *units)
        check("systemd takes the units", done.returncode == 0 and "mynah" not in done.stderr, done.stderr)
        done = run("systemd-analyze", "security", "--offline=yes", "--no-pager", f"{folder}/mynah.service")
        level = re.search(r"Overall exposure level for \S+ ([0-9.]+)", done.stdout.replace(":", ""))
        check(f"it is exposed by {level and level.group(1)} of 10, {MOST_EXPOSED} at most", level and float(level.group(1)) <= MOST_EXPOSED, done.stdout)
    service = (PACKAGING / "mynah.service").read_text()
    line = re.search(r"^ExecStart=/usr/bin/mynah (.*)$", service, re.MULTILINE).group(1).split()
    done = run(mynah, *line, "--port", "70000")
    check("mynah knows the options of the unit", "--port: wanted" in done.stderr, done.stderr)
    done = run(mynah, "doctor", str(PACKAGING / "compose.yaml"), str(PACKAGING / "Containerfile"), "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    check("the doctor finds nothing that keeps the container from working", done.returncode == 0 and told, done.stdout + done.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
