#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" of a ctest run, counting the single tests inside each program, and a line for each that failed.

The folder holds ctest.xml (ctest --output-junit) and NAME.json of each GoogleTest program
(cmake/mynah.cmake sets GTEST_OUTPUT). A ctest entry without such a file counts as one test; one
that failed although its file names no failure (a crash, a leak, a timeout) counts as one failure.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree


def inside(report):
    """[passed, failed, skipped] of a program, and the names of those that failed."""
    counts, names = [0, 0, 0], []
    for suite in report.get("testsuites", []):
        for test in suite.get("testsuite", []):
            if test.get("failures"):
                counts[1] += 1
                names.append(".".join(filter(None, (test.get("classname"), test.get("name")))))
            elif test.get("result") == "SKIPPED" or test.get("status") == "NOTRUN":
                counts[2] += 1
            else:
                counts[0] += 1
    return counts, names


def main():
    folder = pathlib.Path(sys.argv[1])
    total, faults = [0, 0, 0], []
    listing = folder / "ctest.xml"
    if not listing.is_file():
        print("0 1 0\nctest itself did not run")
        return
    for test in xml.etree.ElementTree.parse(listing).getroot().iter("testcase"):
        failed = test.get("status") == "fail"
        skipped = test.get("status") in ("notrun", "disabled")
        report = folder / f"{test.get('name')}.json"
        counts, names = [0, 0, 0], []
        if report.is_file():
            try:
                counts, names = inside(json.loads(report.read_text()))
            except json.JSONDecodeError:
                failed = True
        if failed and counts[1] == 0:
            counts[1] += 1
        elif sum(counts) == 0:
            counts[2 if skipped else 0] += 1
        total = [a + b for a, b in zip(total, counts)]
        if counts[1]:
            faults.append(f"{test.get('name')}: {', '.join(names) or 'the program failed'}")
    print(*total)
    print(*faults, sep="\n", end="\n" if faults else "")


if __name__ == "__main__":
    main()
