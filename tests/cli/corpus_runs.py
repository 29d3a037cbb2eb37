"""Runs calls of the corpus, each in a fresh folder, and writes down all that came of it."""
import concurrent.futures
import fcntl
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from checks import SHARED, WEIGHTS
from corpus_calls import MODELS, make_files, read_files
from corpus_masks import masked

LONGEST_S = 300
# Where models are kept that were imported once for all runs: beside the weights.
WORK = WEIGHTS.parent / "corpus"
# What fills the cache folder that calls start with, for each model.
WARM_UP = {
    "tiny.en": ["transcribe", "--model", "tiny.en", "--threads", "1", "{here}/silence.wav", "--no-vad"],
    "kokoro": ["speak", "--model", "kokoro", "--voice", "jf_alpha", "--phonemes", "a", "--out", "{here}/a.wav"],
    "joe": ["speak", "--model", "joe", "--phonemes", "a", "--out", "{here}/a.wav"],
    "hibari": ["speak", "--model", "hibari", "--phonemes", "a", "--out", "{here}/a.wav"],
}


def link(source, target):
    """`source`, a folder, again as `target`, without another copy of its large files where that can be."""
    try:
        shutil.copytree(source, target, copy_function=os.link)
    except (OSError, shutil.Error):  # another file system
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)


def home_with(program, work, wanted):
    """The folder of models that were imported by the first program that ran here; those of `wanted` are there afterwards."""
    work.mkdir(parents=True, exist_ok=True)
    home, imported = work / "home", work / "imported"
    imported.mkdir(exist_ok=True)
    with open(work / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for model in sorted(wanted):
            # A folder alone does not tell: what has a voice model may bring voices, too.
            if (imported / model).exists():
                continue
            print(f"importing {model} into {home}", file=sys.stderr, flush=True)
            result = subprocess.run([program, "import", MODELS[model], "--name", model, "--force"], env=environment(work, home=home),
                                    capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            if result.returncode:
                sys.exit(f"{model} cannot be imported: {result.stderr}")
            (imported / model).touch()
    return home


def environment(here, home=None, more=None):
    """What a call's processes see: nothing of the user's but these."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(here), "TMPDIR": str(here / "tmp"), "MYNAH_HOME": str(home or here / "home"),
            "XDG_CACHE_HOME": str(here / "cache"), "XDG_CONFIG_HOME": str(here / "config"), "XDG_DATA_HOME": str(here / "data"),
            "XDG_RUNTIME_DIR": str(here / "run"), "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "NO_COLOR": "1", **(more or {})}


def without_serials(data):
    """An Ogg stream without the number that each stream draws by lot, and the checksums over it."""
    data, at = bytearray(data), 0
    while data[at:at + 4] == b"OggS":
        data[at + 14:at + 18] = data[at + 22:at + 26] = bytes(4)
        segments = data[at + 26]
        at += 27 + segments + sum(data[at + 27:at + 27 + segments])
    return bytes(data)


def digest(data):
    return f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}\n"


def text_of(data):
    """Bytes as lines that a file of text can have; of what is no text the size and the digest."""
    data = without_serials(data)
    if b"\0" in data or (data and is_binary(data)):
        return digest(data)
    text = data.decode()
    text = re.sub(r"[\x01-\x08\x0b-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", text)
    return text if not text or text.endswith("\n") else text + "\n(no end of line)\n"


def is_binary(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


class Runner:
    """Runs calls with one program; close() takes away what they left."""

    def __init__(self, program, work=WORK):
        self.program = pathlib.Path(program).resolve()
        if not os.access(self.program, os.X_OK):
            sys.exit(f"there is no program {self.program}")
        self.work, self.files, self.home = work, read_files(), None
        # The same length in every run: tables are as wide as paths.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="mynah-corpus-", dir="/tmp"))

    def close(self):
        # A call may have taken away rights.
        subprocess.run(["chmod", "-R", "u+rwX", self.root], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def prepare(self, calls):
        """Imports the models that these calls need, and fills a cache with this program's packed weights."""
        models = {model for call in calls for model in call.models}
        if not models:
            return
        self.home = home_with(self.program, self.work, models)
        warm = self.root / "warm"
        warm.mkdir()
        (warm / "silence.wav").write_bytes(b"RIFF\x24\x3e\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\0\x3e\0\0" +
                                           b"\0" * 15872)
        for model in sorted(models & set(WARM_UP)):
            words = [word.replace("{here}", str(warm)) for word in WARM_UP[model]]
            subprocess.run([self.program, *words], env=environment(warm, home=self.home), check=False,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def lay_out(self, call, here):
        for name in ("tmp", "run", "home/models"):
            (here / name).mkdir(parents=True)
        os.chmod(here / "run", 0o700)
        for model in call.models:
            link(self.home / "models" / model, here / "home/models" / model)
        packed = self.root / "warm/cache/mynah/packed"
        if call.models and packed.is_dir():
            link(packed, here / "cache/mynah/packed")
        make_files(call, here, self.files)

    def filled(self, text, here):
        for name, path in (("{here}", here), ("{weights}", WEIGHTS), ("{shared}", SHARED)):
            text = text.replace(name, str(path))
        return text

    def environment_of(self, call, here):
        more = dict(word.split("=", 1) for word in shlex.split(self.filled(call.env, here)))
        return environment(here, more={**more, "MYNAH": str(self.program)})

    def run(self, call, number):
        """What came of one call, as text."""
        here = self.root / f"{number:04}"
        here.mkdir()
        self.lay_out(call, here)
        before = {path: path.stat().st_mtime_ns for path in here.rglob("*") if path.is_file()}
        env = self.environment_of(call, here)
        parts = [self.step(command, call, here, env) for command in call.commands]
        parts += self.written(here, before)
        subprocess.run(["chmod", "-R", "u+rwX", here], check=False)
        shutil.rmtree(here, ignore_errors=True)
        return "".join(parts)

    def shown(self, data, here):
        """What was said or written, as the record has it: a bar before each line tells it from the record's own."""
        places = [(str(here), "{here}"), (str(self.program), "{program}"), (str(WEIGHTS), "{weights}"), (str(SHARED), "{shared}")]
        return "".join(f"|{line}\n" for line in masked(text_of(data), places).split("\n")[:-1])

    def step(self, command, call, here, env):
        if command.startswith("sh: "):
            words = ["/bin/sh", "-c", self.filled(command.removeprefix("sh: "), here)]
        else:
            words = [str(self.program), *(self.filled(word, here) for word in shlex.split(command))]
        given = b""
        if call.input.startswith("<"):
            given = (here / call.input[1:]).read_bytes()
        elif call.input:
            given = call.input.replace("\\n", "\n").encode()
        with subprocess.Popen(words, cwd=here, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True) as process:
            try:
                out, err = process.communicate(given, timeout=LONGEST_S)
                code = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                code = f"none after {LONGEST_S} s"
        parts = [f"$ {command}\n", f"exit code {code}\n"]
        for name, data in (("standard output", out), ("standard error", err)):
            if lines := self.shown(data, here):
                parts.append(f"-- {name}\n{lines}")
        return "".join(parts)

    def written(self, here, before):
        """Files that were written or are gone; of the cache their names alone, as what they hold is of this moment."""
        parts, kept = [], []
        for path in sorted(path for path in here.rglob("*") if path.is_file()):
            name = str(path.relative_to(here))
            known = before.pop(path, None)
            if name.startswith("cache/"):
                if known:  # a packed file's time says when it was last used
                    continue
                kept.append("-- kept " + re.sub(r"[0-9a-f]{16,}", "{digest}", name) + "\n")
            elif known != path.stat().st_mtime_ns:
                whole = name.startswith("home/models/") and path.name not in ("source.json", "levels.json")  # as they came
                parts.append(f"-- file {name}\n" + (f"|{digest(path.read_bytes())}" if whole else self.shown(path.read_bytes(), here)))
        parts += [f"-- gone {path.relative_to(here)}\n" for path in sorted(before) if not path.exists()]
        return "".join(parts + sorted(kept))


def run_all(runners, calls, jobs, told):
    """Runs each call with each runner, one behind the other, and tells of each when it is through."""
    for runner in runners:
        runner.prepare(calls)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        def each(pair):
            number, call = pair
            return call, [runner.run(call, number) for runner in runners]
        for call, texts in pool.map(each, enumerate(calls)):
            told(call, texts)
