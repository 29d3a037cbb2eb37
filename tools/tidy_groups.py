"""clang-tidy on every source of src/, whole groups of them at once: what they include is read once a group and not once a source.

usage: tidy_groups.py BUILD JOBS COMMAND... The groups are those that BUILD (with compile_commands.json) compiles together
(cmake/groups.cmake). Of a group that is not clean each source is looked at alone, as `./dev lint` does, and that decides: what is
wrong stands in a file that one knows, and a leak that the analyzer only suspects where it follows one source into another (a
shared_ptr that is handed on) is none. COMMAND is clang-tidy with its options but for -p and the file.
"""
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess
import sys

INCLUDED = re.compile(r'^#include "(.+\.cpp)"$', re.MULTILINE)


def tidy(command, database, file):
    return subprocess.run([*command, "-p", str(database), str(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def joined(entry, folder):
    """The entry of a file that holds what the group only includes: clang-tidy looks at a file of its own more closely."""
    group = pathlib.Path(entry["file"])
    sources = INCLUDED.findall(group.read_text())
    whole = folder / f"{group.parent.parent.name}.{group.stem}.cpp"
    whole.write_text("".join(f"{pathlib.Path(source).read_text()}\n" for source in sources))
    return {**entry, "file": str(whole), "command": entry["command"].replace(str(group), str(whole))}, sources


def main():
    build, jobs, command = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]), sys.argv[3:]
    src = pathlib.Path.cwd() / "src"
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    groups, alone, entries = {}, set(), []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if re.fullmatch(r"unity_src_.*\.cxx", file.name):
            entry, sources = joined(entry, folder)
            groups[entry["file"]] = sources
            entries.append(entry)
        elif file.is_relative_to(src) and file.suffix == ".cpp":
            alone.add(str(file))
    (folder / "compile_commands.json").write_text(json.dumps(entries))

    def faults(file):
        """What is said of a source or a group that is not clean; nothing of one that is."""
        if file not in groups:
            result = tidy(command, build, file)
            return result.stdout if result.returncode else ""
        if tidy(command, folder, file).returncode == 0:
            return ""
        return "".join(map(faults, groups[file]))

    seen = {*alone, *(source for sources in groups.values() for source in sources)}
    print(f"{len(groups)} groups of {sum(map(len, groups.values()))} sources, {len(alone)} sources alone")
    failed = not seen
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        unseen = sorted({str(path) for path in src.rglob("*.cpp")} - seen)
        for text in itertools.chain((f"no build compiles {path}" for path in unseen), pool.map(faults, [*groups, *sorted(alone)])):
            if text:
                print(text, flush=True)
                failed = True
    sys.exit(failed)


main()
