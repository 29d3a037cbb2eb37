#!/usr/bin/env python3
"""./dev bench place: what Placement costs, against the aims of docs/placement.md.

- `mynah devices`, cached, the whole process;
- what planning adds to a request: the first plan of a process, and later ones;
- the boundary of a worker: an empty call, and the same stage in this process and in a worker by turns (bench/place). Both must
  answer the same bytes, or nothing is timed; what is lost is the median of the turns' own ratios, with the interval that holds
  it with 95 percent;
- a worker that is stopped or killed in the middle: from the signal to the line on standard error that says where the work goes
  on, and the answer must be the processor's.

The card is a simulated one where its driver was built (docs/testing.md). Prints a table, or with --json what it is made of, and
writes that to build/bench/place.json.

usage: place.py [--only devices|plan|boundary|signals ...] [--device DEVICE ...] [--turns X] [--threads N] [--json]
"""
import argparse
import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("MYNAH_SHARED", f"{ROOT}/../shared")
WEIGHTS = os.environ.get("MYNAH_WEIGHTS", f"{ROOT}/.cache/weights")
BUILD = os.environ.get("BENCH_BUILD", f"{ROOT}/build/release")
MYNAH = f"{BUILD}/mynah"
PROGRAM = f"{BUILD}/bench/place/mynah_bench_place"
DRIVER = f"{BUILD}/tests/cuda/simulated_driver/libmynah_simulated_cuda.so"
SILERO = f"{WEIGHTS}/silero/silero_vad.onnx"
WHISPER = f"{WEIGHTS}/tiny.en"
HIBARI = f"{WEIGHTS}/hibari/hibari.onnx"
# Their processes are started so often; the first of them finds and proves what the others find kept.
RUNS = 31
SIGNALS = 5
# What finds speech computes on the simulated card, in a worker; what is said is heard here.
SIMULATED = "vad=simt:0,cpu,stt=cpu"
# A worker is given up a second after its last sign of life (place/workers/watchdog.cpp), and that is noticed in a few looks.
DEADLINE_S = {"SIGSTOP": 1.2, "SIGKILL": 1.0}
AIMS = {"devices": 50, "plan": 1, "call": 1, "lost": 0.03}


def clips(language, count):
    """English recordings of some ten seconds, all of one kind."""
    with open(f"{SHARED}/speech/transcripts.tsv") as f:
        rows = [line.rstrip("\n").split("\t") for line in f][1:]
    fitting = [row for row in rows if row[1] == language and 5 <= float(row[3]) <= 15]
    return [f"{SHARED}/speech/{row[0]}" for row in fitting[:count]]


def run(arguments, environment):
    done = subprocess.run(arguments, env=environment, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)[:200]} failed ({done.returncode}):\n{done.stderr.decode()[-2000:]}")
    return done.stdout.decode()


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = f"{ROOT}/.cache/bench/place"
        os.makedirs(self.folder, exist_ok=True)
        self.environment = {**os.environ, "MYNAH_HOME": f"{self.folder}/home", "XDG_CACHE_HOME": f"{self.folder}/cache"}
        self.cards = {"no card": {}}
        if os.path.exists(DRIVER):
            self.cards["a simulated card"] = {"MYNAH_CUDA_DRIVER": DRIVER}

    def devices(self):
        results = {}
        for name, more in self.cards.items():
            environment = {**self.environment, **more}
            times = []
            for _ in range(RUNS):
                begin = time.perf_counter()
                said = run([MYNAH, "devices", "--json"], environment)
                times.append(1000 * (time.perf_counter() - begin))
                if '"cpu"' not in said:
                    sys.exit(f"mynah devices told of no processor:\n{said}")
            results[name] = statistics.median(times[1:])
        return results

    def plan(self):
        results = {}
        for name, more in self.cards.items():
            request = "auto" if more else "simt:0,cpu"
            command = [PROGRAM, "plan", "--device", request, "--hibari", HIBARI, "--cache",
                       f"{self.folder}/cache/plan"]
            if more:
                command += ["--driver", DRIVER]
            rows = [json.loads(run(command, {**self.environment, **more})) for _ in range(RUNS)][1:]
            if len({row["device"] for row in rows}) != 1:
                sys.exit(f"plans differ: {sorted({row['device'] for row in rows})}")
            results[f"--device {request}, {name}"] = {
                "device": rows[0]["device"], "first_ms": statistics.median(row["first_ms"] for row in rows),
                "later_ms": statistics.median(row["later_ms"] for row in rows)}
        return results

    def boundary(self):
        results = {}
        for device in self.options.device:
            # The simulated card computes some hundred times as slowly: little work, few turns.
            simulated = device.startswith("simt")
            turns = self.options.turns * (0.05 if simulated else 1)
            command = [PROGRAM, "boundary", "--device", device, "--threads", str(self.options.threads),
                       "--turns", str(turns), "--cache", f"{self.folder}/cache/packed", "--silero", SILERO, "--hibari", HIBARI]
            if not simulated:
                command += ["--whisper", WHISPER]
            for clip in clips("en", 1 if simulated else 8):
                command += ["--recording", clip]
            done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, check=False)
            if done.returncode:
                sys.exit(f"{PROGRAM} failed on {device}")
            results[device] = json.loads(done.stdout)
        return results

    def signals(self):
        clip = max(glob.glob(f"{SHARED}/speech/clips/*en-*.flac"), key=os.path.getsize)
        command = [MYNAH, "transcribe", "--model", WHISPER, "--vad-model", SILERO, "--threads", str(self.options.threads), clip,
                   "--device"]
        expected = run([*command, "cpu"], self.environment)
        shutil.rmtree(f"{self.folder}/proven", ignore_errors=True)
        if run([*command, SIMULATED], {**self.environment, "XDG_CACHE_HOME": f"{self.folder}/proven"}) != expected:
            sys.exit("the simulated card hears other speech than the processor")
        return {name: [self.signal(command, name, expected) for _ in range(SIGNALS)] for name in DEADLINE_S}

    def signal(self, command, name, expected):
        """Milliseconds from a signal to a worker that computes until mynah says that it goes on elsewhere."""
        # A device that failed is proven anew: each run has a cache of its own, in which it has not.
        cache = f"{self.folder}/signal"
        shutil.rmtree(cache, ignore_errors=True)
        shutil.copytree(f"{self.folder}/proven", cache)
        child = subprocess.Popen([*command, SIMULATED], env={**self.environment, "XDG_CACHE_HOME": cache},
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        answer = []
        reader = threading.Thread(target=lambda: answer.append(child.stdout.read()))
        reader.start()
        worker = wait_for_worker(child)
        os.kill(worker, getattr(signal, name))
        begin = time.perf_counter()
        for line in child.stderr:
            if "goes on on" in line:
                break
        else:
            sys.exit(f"{name}: mynah told of no move")
        took = 1000 * (time.perf_counter() - begin)
        child.stderr.read()
        reader.join()
        if child.wait() or answer[0] != expected:
            sys.exit(f"{name}: the answer is another than the processor's ({child.returncode}):\n{answer[0][:500]}")
        return took


def wait_for_worker(child):
    """The process id of the worker that computes for it: one that has used a third of a second of the processor's time."""
    ticks = os.sysconf("SC_CLK_TCK")
    while child.poll() is None:
        for task in glob.glob(f"/proc/{child.pid}/task/*/children"):
            try:
                with open(task) as f:
                    pids = [int(word) for word in f.read().split()]
                for pid in pids:
                    with open(f"/proc/{pid}/stat") as f:
                        fields = f.read().rsplit(")", 1)[1].split()
                    if int(fields[11]) + int(fields[12]) > 0.3 * ticks:
                        return pid
            except (FileNotFoundError, ProcessLookupError):
                continue
        time.sleep(0.005)
    sys.exit(f"mynah ended before a worker computed:\n{child.stderr.read()}")


def rows_of(results):
    """(what, figure, aim, met)"""
    for name, ms in results.get("devices", {}).items():
        yield f"`mynah devices`, {name}, cached", f"{ms:.1f} ms", f"{AIMS['devices']} ms", ms <= AIMS["devices"]
    for name, row in results.get("plan", {}).items():
        for what, ms in (("first plan of a process", row["first_ms"]), ("later plan", row["later_ms"])):
            yield f"{what}, {name}", f"{ms:.2f} ms", f"{AIMS['plan']} ms", ms <= AIMS["plan"]
    for device, row in results.get("boundary", {}).items():
        call = row["empty_call_ms"]
        yield (f"an empty call to a worker ({device})", f"{call['median']:.3f} ms, 99 % under {call['p99']:.3f}",
               f"{AIMS['call']} ms", call["p99"] <= AIMS["call"])
        for pair in row["pairs"]:
            more = pair["worker_ms"] - pair["here_ms"]
            if "live" in pair["name"]:
                yield (f"{pair['name']} ({device})", f"{pair['here_ms']:.3f} ms, in a worker {pair['worker_ms']:.3f}",
                       f"{AIMS['call']} ms more", more <= AIMS["call"])
            else:
                lost, processor = ("{:+.1f} % ({:+.1f} to {:+.1f})".format(*(100 * pair[kind][of] for of in ("median", "from", "to")))
                                   for kind in ("lost", "lost_processor"))
                yield (f"{pair['name']} ({device})", f"{pair['here_ms']:.1f} ms, in a worker {lost}; processor's time {processor}",
                       f"{100 * AIMS['lost']:.0f} %", pair["lost"]["median"] <= AIMS["lost"])
    for name, times in results.get("signals", {}).items():
        worst = max(times)
        yield (f"{name} is noticed (median of {len(times)})", f"{statistics.median(times):.0f} ms, at most {worst:.0f}",
               f"{1000 * DEADLINE_S[name]:.0f} ms", worst <= 1000 * DEADLINE_S[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["devices", "plan", "boundary", "signals"]
    parser.add_argument("--only", nargs="*", choices=parts, default=parts)
    parser.add_argument("--device", nargs="*", default=["cpu", "simt:0"], help="where the boundary's stages compute")
    parser.add_argument("--turns", type=float, default=1, help="times as many as usual")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = Bench(options)
    results = {part: getattr(bench, part)() for part in options.only}
    os.makedirs(f"{ROOT}/build/bench", exist_ok=True)
    with open(f"{ROOT}/build/bench/place.json", "w") as f:
        json.dump(results, f, indent=1)
    if options.json:
        print(json.dumps(results, indent=1))
        return
    print("| What | Measured | Aim | |\n|---|---|---|---|")
    for what, figure, aim, met in rows_of(results):
        print(f"| {what} | {figure} | {aim} | {'met' if met else '**not met**'} |")


if __name__ == "__main__":
    main()
