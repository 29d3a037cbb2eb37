"""Names that stand in few places: what a row of names.tsv looks for is found in its own folders, and in no more files than it says.

A row: what it is, a regular expression over the lines of src/, the paths that own the name (with blanks between, - where none does), and
how many files outside may have it. A row that finds nothing anywhere is stale, and one that allows more than there are is too.
"""
import pathlib
import re
import sys


def rows(text):
    for line in text.splitlines():
        if line and not line.startswith("#"):
            title, pattern, owners, limit = line.split("\t")
            yield title, re.compile(pattern), tuple(owners.split()) if owners != "-" else (), int(limit)


def faults(title, pattern, owners, limit, sources):
    files = {name for name, text in sources.items() if pattern.search(text)}
    outside = sorted(name for name in files if not name.startswith(owners))
    if not files:
        return [f"{title}: nothing in src/ has it: is the row stale?"]
    if len(outside) > limit:
        return [f"{title}: {len(outside)} files outside {' '.join(owners) or 'of nothing'} have it, {limit} may: {' '.join(outside)}"]
    if len(outside) < limit:
        return [f"{title}: {len(outside)} files have it, the row allows {limit}: lower it"]
    return []


def main():
    sample = {"a/x.cpp": "kind::Vad", "b/y.cpp": "kind::Vad", "b/z.cpp": "none"}
    row = ("a kind", re.compile("kind::[A-Z]"), ("a/",))
    assert not faults(*row, 1, sample) and faults(*row, 0, sample) and faults(*row, 2, sample)
    assert faults("stale", re.compile("gone"), (), 0, sample)
    root = pathlib.Path(sys.argv[1])
    sources = {path.relative_to(root / "src").as_posix(): path.read_text() for path in (root / "src").rglob("*")
               if path.suffix in (".h", ".cpp", ".cu", ".inl")}
    found = [fault for row in rows((root / "tests/house/names.tsv").read_text()) for fault in faults(*row, sources)]
    print("\n".join(found) or "every name stands where it belongs")
    sys.exit(1 if found else 0)


main()
