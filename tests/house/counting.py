"""tools/count_tests.py counts single tests, skips and crashes: a green line never hides one."""
import json
import pathlib
import subprocess
import sys
import tempfile


def program(*results):
    return {"testsuites": [{"testsuite": list(results)}]}


def count(folder, cases):
    entries = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status, _ in cases)
    (folder / "ctest.xml").write_text(f"<testsuite>{entries}</testsuite>")
    for name, _, report in cases:
        if report is not None:
            (folder / f"{name}.json").write_text(report if isinstance(report, str) else json.dumps(report))
    script = pathlib.Path(sys.argv[1]) / "tools/count_tests.py"
    return subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    good, skip = {"status": "RUN", "result": "COMPLETED"}, {"status": "RUN", "result": "SKIPPED"}
    bad = {"status": "RUN", "result": "COMPLETED", "failures": [{}], "classname": "Suite", "name": "Bad"}
    cases = [
        ([("a", "run", program(good, good, skip))], ["2 0 1"]),
        ([("a", "fail", program(good, bad))], ["1 1 0", "a: Suite.Bad"]),
        ([("a", "fail", program(good, good))], ["2 1 0", "a: the program failed"]),  # a leak after the last test
        ([("a", "fail", None)], ["0 1 0", "a: the program failed"]),                 # a crash
        ([("a", "fail", '{"cut')], ["0 1 0", "a: the program failed"]),
        ([("script", "run", None), ("other", "notrun", None)], ["1 0 1"]),
    ]
    for tests, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            found = count(pathlib.Path(folder), tests)
            assert found == expected, (tests, found, expected)
    print("counts are right")


main()
