#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" of a ctest run, counting the single tests inside each program.

The folder holds ctest.xml (ctest --output-junit) and NAME.json of each GoogleTest program
(cmake/mynah.cmake sets GTEST_OUTPUT). A ctest entry without such a file counts as one test; one
that failed although its file names no failure (a crash, a leak, a timeout) counts as one failure.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree


def inside(report):
    passed = failed = skipped = 0
    for suite in report.get("testsuites", []):
        for test in suite.get("testsuite", []):
            if test.get("failures"):
                failed += 1
            elif test.get("result") == "SKIPPED" or test.get("status") == "NOTRUN":
                skipped += 1
            else:
                passed += 1
    return [passed, failed, skipped]


def main():
    folder = pathlib.Path(sys.argv[1])
    total = [0, 0, 0]
    listing = folder / "ctest.xml"
    if not listing.is_file():
        print("0 1 0")
        return
    for test in xml.etree.ElementTree.parse(listing).getroot().iter("testcase"):
        failed = test.get("status") == "fail"
        skipped = test.get("status") in ("notrun", "disabled")
        report = folder / f"{test.get('name')}.json"
        counts = [0, 0, 0]
        if report.is_file():
            try:
                counts = inside(json.loads(report.read_text()))
            except json.JSONDecodeError:
                failed = True
        if failed and counts[1] == 0:
            counts[1] += 1
        elif sum(counts) == 0:
            counts[2 if skipped else 0] += 1
        total = [a + b for a, b in zip(total, counts)]
    print(*total)


if __name__ == "__main__":
    main()
