"""clang-tidy on every source of src/, whole groups of them at once: what they include is read once a group and not once a source.

usage: tidy_groups.py BUILD JOBS COMMAND... [-- FILE...] With FILEs, on those alone, each as its group is compiled (of a source
that stands in no compile_commands.json clang-tidy guesses the definitions, wrongly). The groups are those that BUILD (with
compile_commands.json) compiles together (cmake/groups.cmake). Of a group that is not clean each source is looked at alone, as
`./dev lint` does, and that decides: what is wrong stands in a file that one knows, and a leak that the analyzer only suspects
where it follows one source into another (a shared_ptr that is handed on) is none. COMMAND is clang-tidy with its options but for
-p and the file.
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


def renamed(entry, file):
    return {**entry, "file": file, "command": entry["command"].replace(entry["file"], file)}


def joined(entry, sources, folder):
    """The entry of a file that holds what the group only includes: clang-tidy looks at a file of its own more closely."""
    group = pathlib.Path(entry["file"])
    whole = folder / f"{group.parent.parent.name}.{group.stem}.cpp"
    whole.write_text("".join(f"{pathlib.Path(source).read_text()}\n" for source in sources))
    return renamed(entry, str(whole))


def main():
    build, jobs, command = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]), sys.argv[3:]
    asked = []
    if "--" in command:
        at = command.index("--")
        command, asked = command[:at], [str(pathlib.Path(file).absolute()) for file in command[at + 1 :]]
    src = pathlib.Path.cwd() / "src"
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    groups, alone, entries = {}, set(), []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        entries.append(entry)
        if re.fullmatch(r"unity_.*\.cxx", file.name):
            sources = INCLUDED.findall(file.read_text())
            entries += [renamed(entry, source) for source in sources]
            if file.name.startswith("unity_src_") and not asked:
                entries.append(joined(entry, sources, folder))
                groups[entries[-1]["file"]] = sources
        elif file.is_relative_to(src) and file.suffix == ".cpp":
            alone.add(str(file))
    # A source of several programs is looked at once, with the first one's definitions.
    once = {entry["file"]: entry for entry in reversed(entries)}
    (folder / "compile_commands.json").write_text(json.dumps(list(once.values())))

    def faults(file):
        """What is said of a source or a group that is not clean; nothing of one that is."""
        if file not in groups:
            result = tidy(command, folder, file)
            return result.stdout if result.returncode else ""
        if tidy(command, folder, file).returncode == 0:
            return ""
        return "".join(map(faults, groups[file]))

    seen = {*alone, *(source for sources in groups.values() for source in sources)}
    looked_at = asked or [*groups, *sorted(alone)]
    failed, unseen = not looked_at, []
    if not asked:
        print(f"{len(groups)} groups of {sum(map(len, groups.values()))} sources, {len(alone)} sources alone")
        failed = not seen
        unseen = sorted({str(path) for path in src.rglob("*.cpp")} - seen)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for text in itertools.chain((f"no build compiles {path}" for path in unseen), pool.map(faults, looked_at)):
            if text:
                print(text, flush=True)
                failed = True
    sys.exit(failed)


main()
