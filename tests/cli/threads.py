"""mynah starts the threads it was told to, one that waits for signals, one that looks after what is loaded and one
that hears what the model's queue has; no library adds any (OpenMP comes along with soxr).

usage: threads.py MYNAH. Skipped without real weights.
"""
import pathlib
import subprocess
import sys
import tempfile

from checks import SENTENCE, WEIGHTS, Checks, environment, needs

OTHER_THREADS = 3


def most_threads(command, env):
    """The most threads that the process was seen to have."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    most = 0
    while process.poll() is None:
        try:
            most = max(most, len(list(pathlib.Path(f"/proc/{process.pid}/task").iterdir())))
        except OSError:
            break  # it has just ended
    out, err = process.communicate()
    return most, process.returncode, out, err


def main():
    program, model = sys.argv[1], WEIGHTS / "tiny.en"
    needs(model, SENTENCE)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        # Without a limit of its own OpenMP would take a thread a core; two make it visible on one core, too.
        env = environment(pathlib.Path(home), OMP_NUM_THREADS="7")
        texts = set()
        for threads in (1, 2, 5):
            command = [program, "transcribe", "--model", str(model), "--threads", str(threads), str(SENTENCE)]
            most, code, out, err = most_threads(command, env)
            texts.add(out)
            fault = None
            if code or most != threads + OTHER_THREADS:
                fault = f"wanted {threads + OTHER_THREADS} threads, found {most}; exit code {code}, said {err[-300:]!r}"
            checks.add(f"--threads {threads}", fault)
        checks.add("the same text whatever the number of threads", None if len(texts) == 1 and texts != {""} else f"{texts}")
    checks.close()


main()
