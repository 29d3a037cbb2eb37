"""What mynah doctor says of environments made of real packages, on cards and drivers that are made up.

Usage: real_environments.py MYNAH [--wheels FOLDER...] [--cache FOLDER] [--work FOLDER] [--python PYTHON] [--offline] [--only NAME]

Wheels are taken from the folders of --wheels and MYNAH_WHEELS, else fetched by pip into --cache. They are unpacked, with their dist-info,
where an installation would put them: nothing of them is installed or run. mynah reads the tree (--facts), the machine's part of the
facts is replaced by that of another one, and mynah judges that (--as). The libraries of CUDA that this machine's loader knows would be
found, too: where there are some, mynah reads in a mount namespace with a loader cache that has none.

An environment whose wheels cannot be had is skipped and counted; the last line is the sum, and the exit code 77 where all were.
"""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

CACHE = pathlib.Path(".cache/wheels")
MOST_SECONDS, MOST_MIB, RUNS = 2.0, 200, 3
ROOM = 30 << 30  # bytes of wheels and of trees, with some to spare
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux1_x86_64",
             "manylinux2010_x86_64", "manylinux_2_24_x86_64")

# name, compute capability, memory in MiB, driver
CARDS = {
    "4090": ("NVIDIA GeForce RTX 4090", "8.9", 24564, "580.95.05"),
    "H100": ("NVIDIA H100 80GB HBM3", "9.0", 81559, "570.172.08"),
    "H100 later": ("NVIDIA H100 80GB HBM3", "9.0", 81559, "580.95.05"),
    "T4": ("Tesla T4", "7.5", 15360, "580.95.05"),
    "5090": ("NVIDIA GeForce RTX 5090", "12.0", 32607, "580.95.05"),
    "Xp": ("NVIDIA TITAN Xp", "6.1", 12288, "580.95.05"),
    "B200": ("NVIDIA B200", "10.0", 183359, "580.95.05"),
    "GB10": ("NVIDIA GB10", "12.1", 122502, "580.95.05"),
}

CUDA_11_8 = ["nvidia-cublas-cu11==11.11.3.6", "nvidia-cuda-runtime-cu11==11.8.89", "nvidia-cufft-cu11==10.9.0.58",
             "nvidia-curand-cu11==10.3.0.86"]
CUDNN_8_CUDA_11 = "nvidia-cudnn-cu11==8.9.6.50"
CUDNN_8 = "nvidia-cudnn-cu12==8.9.7.29"
CUDNN_9 = "nvidia-cudnn-cu12==9.10.2.21"
CUBLAS_12 = "nvidia-cublas-cu12==12.9.3.13"
CUDA_12 = [CUBLAS_12, "nvidia-cuda-runtime-cu12==12.9.79", "nvidia-cufft-cu12==11.4.1.4", "nvidia-curand-cu12==10.3.7.77",
           "nvidia-cuda-nvrtc-cu12==12.6.77", "nvidia-nvjitlink-cu12==12.9.86"]
CUDA_13 = ["nvidia-cublas==13.10.0.20", "nvidia-cuda-runtime==13.5.37", "nvidia-cufft==12.5.0.14", "nvidia-curand==10.4.5.25",
           "nvidia-cuda-nvrtc==13.5.37"]
CUDNN_9_CUDA_13 = "nvidia-cudnn-cu13==9.28.1.4"
CTRANSLATE2 = ["numpy==1.26.4", "pyyaml==6.0.4", "setuptools==84.2.1"]
ONNXRUNTIME = ["numpy==1.26.4", "coloredlogs==15.0.1", "humanfriendly==10.0", "flatbuffers==25.12.19", "packaging==26.3",
               "protobuf==7.36.2", "sympy==1.14.0", "mpmath==1.4.1"]
TORCH = ["filelock==4.2.12", "typing-extensions==4.16.0", "sympy==1.14.0", "mpmath==1.4.1", "networkx==3.6.1", "jinja2==3.1.6",
         "markupsafe==3.0.4", "fsspec==2026.9.0"]
TORCH_CUDA_12_6 = [
    "nvidia-cublas-cu12==12.6.4.1", "nvidia-cuda-cupti-cu12==12.6.80", "nvidia-cuda-nvrtc-cu12==12.6.77",
    "nvidia-cuda-runtime-cu12==12.6.77", "nvidia-cudnn-cu12==9.5.1.17", "nvidia-cufft-cu12==11.3.0.4", "nvidia-cufile-cu12==1.11.1.6",
    "nvidia-curand-cu12==10.3.7.77", "nvidia-cusolver-cu12==11.7.1.2", "nvidia-cusparse-cu12==12.5.4.2",
    "nvidia-cusparselt-cu12==0.6.3", "nvidia-nccl-cu12==2.26.2", "nvidia-nvjitlink-cu12==12.6.85", "nvidia-nvtx-cu12==12.6.77",
    "triton==3.3.1"]
TORCH_CUDA_12_8 = [
    "nvidia-cublas-cu12==12.8.4.1", "nvidia-cuda-cupti-cu12==12.8.90", "nvidia-cuda-nvrtc-cu12==12.8.93",
    "nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cudnn-cu12==9.10.2.21", "nvidia-cufft-cu12==11.3.3.83", "nvidia-cufile-cu12==1.13.1.3",
    "nvidia-curand-cu12==10.3.9.90", "nvidia-cusolver-cu12==11.7.3.90", "nvidia-cusparse-cu12==12.5.8.93",
    "nvidia-cusparselt-cu12==0.7.1", "nvidia-nccl-cu12==2.27.3", "nvidia-nvjitlink-cu12==12.8.93", "nvidia-nvtx-cu12==12.8.90",
    "triton==3.4.0"]

WORKS = "works"
SLOW = "works slowly"
LOAD = "fails at load"
KERNEL = "fails at the first kernel"


@dataclasses.dataclass
class Environment:
    name: str
    framework: str
    packages: list
    # Card: the verdict, and a pattern that its reason has; a card with a verdict alone that works has no FAIL at all.
    verdicts: dict
    paths: bool = False  # LD_LIBRARY_PATH names the folders of NVIDIA's wheels, as CTranslate2 and ONNX Runtime want
    measured: bool = False


def everywhere(verdict, *cards):
    return {card: (verdict, "") for card in cards}


# CTranslate2's wheels have machine code up to 8.9, and PTX that the driver compiles once.
COMPILED = {card: (WORKS, "the driver compiles its PTX") for card in ("H100", "5090")}

ENVIRONMENTS = [
    Environment("ctranslate2 4.4.0, cuDNN 8", "ctranslate2", ["ctranslate2==4.4.0", CUBLAS_12, CUDNN_8, *CTRANSLATE2],
                {**everywhere(WORKS, "4090", "Xp"), **COMPILED}, paths=True),
    Environment("ctranslate2 4.4.0, cuDNN 9", "ctranslate2", ["ctranslate2==4.4.0", CUBLAS_12, CUDNN_9, *CTRANSLATE2],
                {"4090": (LOAD, "libcudnn_ops_infer.so.8")}, paths=True),
    Environment("ctranslate2 4.5.0, cuDNN 9", "ctranslate2", ["ctranslate2==4.5.0", CUBLAS_12, CUDNN_9, *CTRANSLATE2],
                {**everywhere(WORKS, "4090", "Xp"), **COMPILED}, paths=True),
    Environment("ctranslate2 4.5.0, no path to cuDNN 9", "ctranslate2", ["ctranslate2==4.5.0", CUBLAS_12, CUDNN_9, *CTRANSLATE2],
                {"4090": (LOAD, "not on the loader's way")}),
    Environment("ctranslate2 4.8.5, cuBLAS 12", "ctranslate2", ["ctranslate2==4.8.5", CUBLAS_12, *CTRANSLATE2],
                {**everywhere(WORKS, "4090", "Xp"), **COMPILED}, paths=True),
    Environment("ctranslate2 4.8.5 alone", "ctranslate2", ["ctranslate2==4.8.5", *CTRANSLATE2],
                {"4090": (LOAD, "libcublas.so.12")}, paths=True),
    Environment("onnxruntime-gpu 1.18.1, CUDA 11.8", "onnxruntime",
                ["onnxruntime-gpu==1.18.1", *CUDA_11_8, CUDNN_8_CUDA_11, *ONNXRUNTIME],
                {**everywhere(WORKS, "4090", "Xp"), "H100": COMPILED["H100"], "5090": ("unknown", "CUDA 11 is older than the card")},
                paths=True),
    Environment("onnxruntime-gpu 1.18.1, no cuDNN", "onnxruntime", ["onnxruntime-gpu==1.18.1", *CUDA_11_8, *ONNXRUNTIME],
                {"4090": (SLOW, "libcudnn.so.8")}, paths=True),
    Environment("onnxruntime-gpu 1.23.2, CUDA 12", "onnxruntime", ["onnxruntime-gpu==1.23.2", *CUDA_12, CUDNN_9, *ONNXRUNTIME],
                {**everywhere(WORKS, "4090", "H100", "Xp"), "5090": COMPILED["5090"]}, paths=True),
    Environment("onnxruntime-gpu 1.23.2, no cuDNN", "onnxruntime", ["onnxruntime-gpu==1.23.2", *CUDA_12, *ONNXRUNTIME],
                {"4090": (SLOW, "libcudnn.so.9")}, paths=True),
    Environment("onnxruntime-gpu 1.31.1, CUDA 13", "onnxruntime", ["onnxruntime-gpu==1.31.1", *CUDA_13, CUDNN_9_CUDA_13, *ONNXRUNTIME],
                {**everywhere(WORKS, "T4", "4090", "H100 later", "5090"), **everywhere(KERNEL, "B200", "GB10", "Xp"),
                 "H100": (SLOW, "wants driver 580")}, paths=True),
    Environment("torch 2.7.1 for CUDA 12.6", "torch", ["torch==2.7.1", *TORCH_CUDA_12_6, *TORCH],
                {**everywhere(WORKS, "4090", "H100", "Xp"), **everywhere(KERNEL, "5090")}, measured=True),
    Environment("torch 2.7.1 without cuDNN", "torch",
                ["torch==2.7.1", *(wheel for wheel in TORCH_CUDA_12_6 if "cudnn" not in wheel), *TORCH], {"4090": (LOAD, "libcudnn.so.9")}),
    Environment("torch 2.8.0 for CUDA 12.8", "torch", ["torch==2.8.0", *TORCH_CUDA_12_8, *TORCH],
                {**everywhere(WORKS, "4090", "H100", "5090"), **everywhere(KERNEL, "Xp")}, measured=True),
]


class Wheels:
    """Wheels by name, version and Python, unpacked once; environments have links to their files."""

    def __init__(self, folders, cache, store, pip):
        self.folders, self.cache, self.store, self.pip = [*folders, cache], cache, store, pip

    def find(self, wanted, python):
        name, _, version = wanted.partition("==")
        stem = name.replace("-", "_") + "-"
        abi = re.compile(rf"-(cp{python}-cp{python}|(cp3\d+)-abi3|py2\.py3-none|py3-none)-(any|.*manylinux.*x86_64)\.whl$")
        for folder in self.folders:
            for path in sorted(folder.glob(f"{stem}*.whl")):
                if path.name.startswith(f"{stem}{version}-" if version else stem) and abi.search(path.name):
                    return path
        return None

    def fetch(self, wanted, python):
        if not self.pip:
            return None
        self.cache.mkdir(parents=True, exist_ok=True)
        command = [self.pip, "-m", "pip", "download", "--disable-pip-version-check", "-q", "--no-deps", "--only-binary", ":all:",
                   "--python-version", python, "-d", self.cache, wanted]
        for platform in PLATFORMS:
            command += ["--platform", platform]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"  {wanted} cannot be had: {(done.stderr.strip() or 'pip failed').splitlines()[-1]}")
        return self.find(wanted, python)

    def unpacked(self, wanted, python):
        wheel = self.find(wanted, python) or self.fetch(wanted, python)
        if wheel is None:
            return None
        target = self.store / wheel.stem
        if not target.is_dir():
            part = target.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(part)
            part.rename(target)
        return target

    def forget(self, packages):
        """Removes what is unpacked of others than these packages."""
        names = {package.replace("-", "_").replace("==", "-") + "-" for package in packages}
        for tree in self.store.glob("*"):
            if not tree.name.startswith(tuple(names)):
                shutil.rmtree(tree)


def build(environment, wheels, folder):
    """The prefix of the environment, or None where a wheel is missing."""
    python = "312" if "onnxruntime-gpu==1.31.1" in environment.packages else "311"
    trees = [wheels.unpacked(package, python) for package in environment.packages]
    if None in trees:
        return None
    dotted = f"{python[0]}.{python[1:]}"
    site = folder / "lib" / f"python{dotted}" / "site-packages"
    for tree in trees:
        for path in tree.rglob("*"):
            inside = path.relative_to(tree)
            if path.is_file() and not inside.parts[0].endswith(".data"):
                (site / inside).parent.mkdir(parents=True, exist_ok=True)
                if not (site / inside).exists():  # namespace packages have the same __init__.py
                    os.link(path, site / inside)
    for info in site.glob("*.dist-info"):
        (info / "INSTALLER").write_text("pip\n")
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {dotted}.9\n")
    return folder


class Reader:
    """Runs mynah where the loader knows no library of CUDA."""

    def __init__(self, mynah, work):
        self.mynah, self.before = mynah, []
        known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
        if not re.search(r"lib(cublas|cudnn|cudart|curand|cufft)", known):
            return
        folders = {os.path.dirname(path) for path in re.findall(r"=> (/\S+)", known)}
        plain = [folder for folder in folders if not list(pathlib.Path(folder).glob("libcu[bdfr]*"))]
        (work / "ld.so.conf").write_text("\n".join(sorted(plain)) + "\n")
        subprocess.run(["ldconfig", "-X", "-f", work / "ld.so.conf", "-C", work / "ld.so.cache"], check=True, capture_output=True)
        self.before = ["unshare", "--mount", "sh", "-c", f'mount --bind "{work}/ld.so.cache" /etc/ld.so.cache && exec "$@"', "sh"]
        if subprocess.run([*self.before, "true"], capture_output=True).returncode:
            print("skipped: this machine's loader finds libraries of CUDA, and no namespace can be made without them")
            sys.exit(77)

    def facts(self, place, environment):
        variables = {key: value for key, value in os.environ.items()
                     if not key.startswith(("CUDA", "LD_", "NVIDIA", "TORCH", "ORT", "VIRTUAL_ENV", "CONDA", "PYTHON", "MYNAH_WHEELS"))}
        if environment.paths:
            variables["LD_LIBRARY_PATH"] = ":".join(map(str, sorted(place.glob("lib/python*/site-packages/nvidia/*/lib"))))
        process = subprocess.Popen([*self.before, self.mynah, "doctor", "--facts", place], stdout=subprocess.PIPE, text=True,
                                   env=variables)
        peak = [0]

        def watch():
            # Anonymous pages: what is mapped of files is not the process's own.
            while process.poll() is None:
                try:
                    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                except OSError:
                    return
                if match := re.search(r"RssAnon:\s+(\d+) kB", status):
                    peak[0] = max(peak[0], int(match[1]) / 1024)
                time.sleep(0.001)

        watcher = threading.Thread(target=watch)
        started = time.monotonic()
        watcher.start()
        text = process.stdout.read()
        process.wait()
        seconds = time.monotonic() - started
        watcher.join()
        if process.returncode:
            raise RuntimeError(f"mynah doctor --facts ended with {process.returncode}")
        return json.loads(text), seconds, peak[0]

    def judged(self, facts):
        done = subprocess.run([self.mynah, "doctor", "--json", "--as", "-"], input=json.dumps(facts), capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise RuntimeError(f"mynah doctor --as ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout), done.returncode


def machine(card, read):
    name, capability, memory, driver = CARDS[card]
    made_up = {
        "name": "made-up", "release": read.get("release", ""), "kernel": read.get("kernel", ""), "glibc": "2.39",
        "processor_flags": read.get("processor_flags", []), "driver": driver, "open_kernel_module": card != "Xp",
        "closed_kernel_module": card == "Xp", "driver_libraries": [f"/usr/lib/x86_64-linux-gnu/libcuda.so.{driver}"],
        "library_folders": ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"],
        "cards": [{"name": name, "compute_capability": capability, "memory_mib": memory, "pci": "0000:01:00.0", "vendor": "10de",
                   "kernel_driver": "nvidia"}],
        "nodes": [{"path": f"/dev/{node}", "state": "usable", "group": "root"} for node in ("nvidiactl", "nvidia0", "nvidia-uvm")],
    }
    for key in ("variables", "path_libraries"):
        if key in read:
            made_up[key] = read[key]
    return made_up


def on_machine(facts, card):
    """The facts, the environment being on another machine, whose driver brings libcuda."""
    there = json.loads(json.dumps(facts))
    there["machine"] = machine(card, facts["machine"])
    for framework in (framework for each in there["environments"] for framework in each.get("frameworks", ())):
        for want in framework.get("wants", ()):
            if want["library"] in ("libcuda.so.1", "libnvidia-ml.so.1"):
                want.update(found=f"/usr/lib/x86_64-linux-gnu/{want['library'].removesuffix('1')}{CARDS[card][3]}", via="cache")
    return there


def look(environment, prefix, reader, figures):
    """Faults of the verdicts on one environment."""
    faults, runs = [], []
    for _ in range(RUNS if environment.measured else 1):
        facts, *figure = reader.facts(prefix, environment)
        runs.append(figure)
    seconds, mib = min(run[0] for run in runs), min(run[1] for run in runs)
    figures["seconds"] = max(figures["seconds"], seconds)
    print(f"{environment.name}: read in {seconds:.2f} s, {mib:.0f} MiB of its own")
    if environment.measured and (seconds > MOST_SECONDS or mib > MOST_MIB):
        faults.append(f"wanted at most {MOST_SECONDS} s and {MOST_MIB} MiB")
    for card, (wanted, pattern) in environment.verdicts.items():
        report, code = reader.judged(on_machine(facts, card))
        verdicts = [verdict for verdict in report["verdicts"] if verdict["framework"] == environment.framework]
        said = [f"{verdict['outcome']}: {verdict['reason']}" for verdict in verdicts]
        fails = [finding for finding in report["findings"] if finding["level"] == "fail"]
        print(f"  {card}, driver {CARDS[card][3]}: {'; '.join(said) or 'no verdict'}")
        figures["verdicts"] += 1
        if [verdict["outcome"] for verdict in verdicts] != [wanted]:
            faults.append(f"{card}: wanted '{wanted}', said {said}")
        elif not re.search(pattern, verdicts[0]["reason"]):
            faults.append(f"{card}: the reason has no '{pattern}': {said}")
        if wanted in (WORKS, SLOW) and (fails or code):
            texts = "; ".join(f"{fail['rule']} ({fail['subject']}): {fail['text']}" for fail in fails)
            faults.append(f"{card}: exit code {code}, {texts}")
        if wanted in (LOAD, KERNEL) and not (fails and code == 3):
            faults.append(f"{card}: exit code {code} with {len(fails)} failures")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mynah", type=pathlib.Path)
    parser.add_argument("--wheels", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    parser.add_argument("--work", type=pathlib.Path, help="where trees are made; needs some 20 GB [beside the cache]")
    parser.add_argument("--python", default=sys.executable, help="whose pip fetches")
    parser.add_argument("--offline", action="store_true", help="fetch nothing")
    parser.add_argument("--only", default="", help="environments whose name has this")
    options = parser.parse_args()
    folders = options.wheels + [pathlib.Path(folder) for folder in os.environ.get("MYNAH_WHEELS", "").split(":") if folder]
    options.cache.mkdir(parents=True, exist_ok=True)
    counts, figures, store_of = collections.Counter(), collections.Counter(), (options.work or options.cache.parent).absolute()
    store_of.mkdir(parents=True, exist_ok=True)
    if not options.offline and shutil.disk_usage(store_of).free < ROOM - sum(wheel.stat().st_size for wheel in options.cache.glob("*")):
        print(f"{store_of} has little room: nothing is fetched")
        options.offline = True
    with tempfile.TemporaryDirectory(prefix="environments-", dir=store_of) as scratch:
        work = pathlib.Path(scratch)
        reader = Reader(options.mynah.resolve(), work)
        wheels = Wheels(folders, options.cache, work / "unpacked", "" if options.offline else options.python)
        for number, environment in enumerate(ENVIRONMENTS):
            if options.only not in environment.name:
                continue
            prefix = build(environment, wheels, work / f"environment-{number}")
            if prefix is None:
                counts["skipped"] += 1
                print(f"{environment.name}: skipped, its wheels cannot be had")
                continue
            faults = look(environment, prefix, reader, figures)
            counts["failed" if faults else "passed"] += 1
            for fault in faults:
                print(f"  WRONG {fault}")
            shutil.rmtree(prefix)
            wheels.forget({package for later in ENVIRONMENTS[number + 1:] for package in later.packages})
    print(f"{figures['verdicts']} verdicts; at most {figures['seconds']:.2f} s an environment")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0 if counts["passed"] else 77)


if __name__ == "__main__":
    main()
