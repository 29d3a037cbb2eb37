"""No source file is longer than its budget: 500 lines, CMake lists 40, the top one 150.

budget.txt lists the exceptions: a path, its own budget and the reason, separated by blanks.
"""
import pathlib
import subprocess
import sys

SOURCES = {".cpp": 500, ".h": 500, ".cu": 500, ".py": 500, ".sh": 500, ".cmake": 100}


def budget_of(path, exceptions):
    if path.as_posix() in exceptions:
        return exceptions[path.as_posix()]
    if path.name == "CMakeLists.txt":
        return 150 if path.parent == pathlib.Path(".") else 40
    return SOURCES.get(path.suffix)


def main():
    root = pathlib.Path(sys.argv[1])
    exceptions, faults = {}, []
    for line in (root / "tests/house/budget.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, lines, reason = line.split(maxsplit=2)
            exceptions[name] = int(lines)
            if not (root / name).is_file():
                faults.append(f"budget.txt names {name}, which does not exist ({reason})")
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else [
        path.relative_to(root).as_posix() for top in ("src", "tests", "tools", "bench", "cmake") for path in (root / top).rglob("*")]
    for path in map(pathlib.Path, names):
        budget = budget_of(path, exceptions)
        if budget is None or not (root / path).is_file():
            continue
        lines = (root / path).read_text(errors="replace").count("\n")
        if lines > budget:
            faults.append(f"{path}: {lines} lines, its budget is {budget}")
    print("\n".join(faults) or "every file is within its budget")
    sys.exit(1 if faults else 0)


main()
