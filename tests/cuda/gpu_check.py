"""mynah-gpu-check tries itself: on the simulated card everything is well, on a driver that computes nothing it says what is
wrong, without a card it says why, and it needs nothing of a machine but the C library.

usage: gpu_check.py MYNAH-GPU-CHECK FOLDER-OF-FAKE-DRIVERS
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from checks import Checks, is_sanitized  # noqa: E402


def run(program, folder, *options, **variables):
    result = subprocess.run([program, "--quick", "--out", folder, *options], capture_output=True, text=True,
                            env={**os.environ, **variables}, timeout=300)
    path = pathlib.Path(folder) / "gpu-check.json"
    report = json.loads(path.read_text()) if path.exists() else None
    return result, report


def rows(report, section, kind):
    return [row for part in report["sections"] if part["name"] == section for row in part["rows"] if row["row"] == kind]


def simulated(checks, program, folder):
    sections = ["facts", "ceiling", "products", "models", "operations", "table", "faults"]
    result, report = run(program, folder, "--device", "simt:0", "--only", ",".join(sections))
    if not checks.ended("the simulated card passes", result, 0):
        return
    done = [part["name"] for part in report["sections"] if part["status"] == "done"]
    others = {part["status"] for part in report["sections"] if part["name"] not in sections}
    checks.add("every section that was asked for ends well", None if done == sections else f"found {done}")
    checks.add("the others are named as left out", None if others == {"not asked for"} else f"found {others}")
    table = rows(report, "table", "table")
    cases = sum(row["passed"] for row in table)
    failed = sum(row["failed"] for row in table)
    checks.add("cases are counted", None if len(table) > 10 and cases > 30 and failed == 0 else f"{cases} passed, {failed} failed")
    products = rows(report, "products", "product")
    good = [row for row in products if row.get("same_bits_alone") and row["seconds"] > 0 and row["operations_per_s"] > 0]
    checks.add("products are checked and timed", None if len(good) == len(products) > 5 else f"{len(good)} of {products}")
    stages = {row["stage"] for row in rows(report, "models", "model")}
    wanted = {"load", "difference", "encoder 30 s", "decoder, a token", "10 s to 40 tokens"}
    checks.add("a model's stages are timed", None if wanted <= stages else f"found {stages}")
    tokens = [row["tokens"] for row in rows(report, "models", "model") if row["stage"] == "10 s to 40 tokens"]
    checks.add("exactly as many tokens as asked for", None if tokens == [3] else f"found {tokens}")
    markdown = (pathlib.Path(folder) / "gpu-check.md").read_text()
    said = "7 sections, nothing was wrong." in markdown and "Not looked at: first use" in markdown
    checks.add("the table says so, and what was not looked at", None if said else markdown[:400])


def fake_driver(checks, program, folder, drivers):
    """Its kernels do nothing: what comes back cannot be right."""
    result, report = run(program, folder, "--only", "facts,table,hidden,first use",
                         MYNAH_CUDA_DRIVER=f"{drivers}/libfakecuda_13000.so")
    if not checks.ended("a driver that computes nothing does not pass", result, 1):
        return
    card = rows(report, "facts", "card")
    checks.add("the card is described", None if len(card) == 1 and card[0]["cuda"] == "13.0" else f"found {card}")
    failed = sum(row["failed"] for row in rows(report, "table", "table"))
    checks.add("wrong results are found", None if failed > 10 else f"only {failed} cases failed")
    wrong = "\n".join(report["wrong"])
    checks.add("and told", None if re.search(r"linear .*: ", wrong) else wrong[:400])
    # This driver does not read the variable.
    checks.add("a fault that is not told is found", None if "every device hidden" in wrong else wrong[-400:])


def no_card(checks, program, folder):
    result, _ = run(program, folder, MYNAH_CUDA_DRIVER="/nonexistent/libcuda.so.1")
    checks.ended("no driver: the reason in a line", result, 3, "mynah-gpu-check: .*/nonexistent/libcuda.so.1")


def usage(checks, program, folder):
    for options, named in ((["--only", "nothing"], "found 'nothing'"), (["--out"], "--out wants a value"),
                           (["--colour", "red"], "'--colour' is no option"), (["--device", "gpu"], "found 'gpu'")):
        result, _ = run(program, folder, *options)
        checks.ended(f"usage: {' '.join(options)}", result, 2, f"mynah-gpu-check: .*{named}")
    result, _ = run(program, folder, "--help")
    checks.add("--help", None if result.returncode == 0 and "first use, later use" in result.stdout else result.stdout)


def folders(checks, program, folder):
    result, _ = run(program, f"{folder}/new/one", "--device", "simt:0", "--only", "facts")
    made = (pathlib.Path(folder) / "new/one/gpu-check.md").exists()
    checks.add("the folder is made", None if result.returncode == 0 and made else result.stderr)
    result, _ = run(program, "/proc/nowhere", "--device", "simt:0", "--only", "facts")
    checks.ended("a folder that cannot be written is told before anything runs", result, 3, "--out /proc/nowhere: cannot write")
    checks.add("and nothing ran", None if "facts" not in result.stdout else result.stdout)


def needs(checks, program):
    if is_sanitized(program):  # whose own needs are more
        checks.skip("needs the C library alone", "a sanitizer is built in")
        return
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"Shared library: \[(.*?)\]", dynamic)
    foreign = [name for name in needed if not re.match(r"(libc|libm|ld-linux-x86-64)\.so", name)]
    checks.add("needs the C library alone", None if needed and not foreign else f"found {needed}")


def main():
    program, drivers = sys.argv[1:3]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for part, more in ((simulated, []), (fake_driver, [drivers]), (no_card, []), (usage, []),
                           (folders, [])):
            with tempfile.TemporaryDirectory(dir=folder) as own:
                part(checks, program, own, *more)
    needs(checks, program)
    checks.close()


if __name__ == "__main__":
    main()
