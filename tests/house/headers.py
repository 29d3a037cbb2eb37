"""Every header of src/ compiles alone, so that no include depends on what came before it: the build reads common headers before a
source (cmake/common_headers.cmake), and compiles sources in groups (cmake/groups.cmake).

headers.py ROOT COMPILER [--changed]: with it, those that the last commit or the working tree touch, or what they include."""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import read_before
from includes import included_by


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def changed(root):
    """The files that differ from the base, as `./dev lint` has it."""
    git = ["git", "-C", str(root)]
    base = os.environ.get("MYNAH_LINT_BASE", "HEAD~1")
    if run(*git, "rev-parse", "-q", "--verify", f"{base}^{{commit}}").returncode != 0:
        print(f"skipped: there is no {base} to compare with; ./dev test --all compiles every header")
        sys.exit(77)
    names = run(*git, "diff", "--name-only", base).stdout + run(*git, "ls-files", "--others", "--exclude-standard").stdout
    return {str(root / name) for name in names.splitlines()}


def precompile(command, folder, number, names):
    """(the names, the options that have them read) of a set of headers of libraries; None where it does not compile."""
    header = folder / f"before_{number}.h"
    header.write_text("".join(f"#include <{name}>\n" for name in names))
    made = run(*command, "-x", "c++-header", str(header), "-o", f"{header}.gch")
    return (frozenset(names), ["-include", str(header)]) if made.returncode == 0 else None


def compile_alone(command, before, header, libraries):
    """`before`: what of the libraries is read already, the most first."""
    options = next((options for names, options in before if names <= libraries), [])
    return header, run(*command, "-fsyntax-only", *options, "-include", str(header), "-x", "c++", os.devnull)


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    # A file that is included once for each instruction set says so in its name; and two are for cards, which every
    # kernel's program compiles.
    headers = [path for path in sorted((root / "src").rglob("*.h"))
               if not path.name.endswith("-inl.h") and not path.as_posix().endswith(("cuda/simt/device.h", "cuda/simt/device_matrix.h"))]
    if not headers:
        sys.exit("no headers were found")
    included = {path: included_by(str(path), (str(root / "src"),)) for path in headers}
    if "--changed" in sys.argv[3:]:
        touched = changed(root)
        headers = [path for path in headers if str(path) in touched or not touched.isdisjoint(included[path][0])]
        if not headers:
            print("no header is touched")
            return
    libraries = {path: included[path][1] for path in headers}
    command = [compiler, "-std=c++23", "-march=x86-64-v2", "-DMYNAH_LEVEL=80", "-Wall", "-Wextra", "-Werror", f"-I{root / 'src'}"]
    faults = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, tempfile.TemporaryDirectory() as folder:
        files = read_before.files_of(sorted(set().union(*libraries.values())), command)
        sets = read_before.choose(libraries.values(), files)
        before = list(filter(None, pool.map(lambda numbered: precompile(command, pathlib.Path(folder), *numbered), enumerate(sets))))
        for header, result in pool.map(lambda header: compile_alone(command, before, header, libraries[header]), headers):
            if result.returncode != 0:
                faults += 1
                print(f"{header.relative_to(root)} does not compile alone:\n{result.stderr[:2000]}")
    print(f"{len(headers)} headers: {faults} do not compile alone")
    sys.exit(1 if faults else 0)


main()
