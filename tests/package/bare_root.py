"""Installs mynah's Debian package in a bare Debian and uses it there: what a person has who installs nothing else.

usage: bare_root.py PACKAGE.deb RECORDING.wav WORDS

RECORDING is one in which WORDS (a few, with spaces between) are said. The root is made by mmdebstrap from the Debian archives
that this machine's apt asks. Ends with "N passed, N failed, N skipped"; 77 where no such root can be made here (no root's
rights, no mmdebstrap, no archive).
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RIGHTS = ["unshare", "--mount", "--pid", "--fork", "sh", "-ec"]
# The kernel's files and the devices, for this command alone: the namespace ends with it.
ENTER = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" "$@"'


class Unable(Exception):
    """This machine cannot make a root; the text says why."""


def archives() -> list[str]:
    """The lines of sources.list for the archives of Debian's that this machine asks."""
    asked = subprocess.run(["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
                            "Created-By: Packages", "Origin: Debian"], capture_output=True, text=True, check=False)
    return sorted(set(asked.stdout.split("\n")) - {""})


def make_root(root: Path) -> None:
    if os.geteuid() != 0:
        raise Unable("wanted root's rights to make a root")
    if shutil.which("mmdebstrap") is None:
        raise Unable("wanted mmdebstrap: apt install mmdebstrap")
    lines = archives()
    if not lines:
        raise Unable("apt knows no archive of Debian's: apt-get update")
    codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
    made = subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", codename, str(root), *lines],
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Unable("mmdebstrap could not make a root:\n" + made.stderr)
    # Where names are asked is this machine's, for the archives.
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")


class Bare:
    """A root in which commands run, and the checks that were made of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.passed = 0
        self.failed = 0

    def run(self, *command: str) -> subprocess.CompletedProcess:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb",
                       "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.run([*RIGHTS, ENTER, str(self.root), *command], capture_output=True, text=True, check=False,
                              env=environment, stdin=subprocess.DEVNULL)

    def check(self, what: str, done: subprocess.CompletedProcess, wanted: str = "") -> bool:
        """Whether a command ended well and printed what matches WANTED; prints all of it where not."""
        good = done.returncode == 0 and re.search(wanted, done.stdout, re.IGNORECASE | re.DOTALL) is not None
        print(f"  {'good' if good else 'BAD '}  {what}", flush=True)
        if not good:
            print(f"    wanted exit code 0 and /{wanted}/; exit code {done.returncode}\n{done.stdout}{done.stderr}")
        self.passed += good
        self.failed += not good
        return good


def last_stage(containerfile: Path) -> list[tuple[str, str]]:
    """Its instructions with what stands behind them: ("RUN", "apt-get ...")."""
    text = containerfile.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    begin = max(i for i, line in enumerate(lines) if line[0] == "FROM")
    return [(line[0], line[1]) for line in lines[begin:]]


def build_container(bare: Bare, package: Path) -> None:
    """The Containerfile's last stage, step by step, as a script: then its server, by its user, with its health check."""
    steps = last_stage(Path(__file__).resolve().parents[2] / "packaging/Containerfile")
    said = dict(steps)
    for instruction, text in steps:
        if instruction == "COPY":
            shutil.copy(package, bare.root / text.split()[-1].lstrip("/"))
        elif instruction == "RUN":
            bare.check("the Containerfile: " + " ".join(text.split())[:60], bare.run("sh", "-ec", text))
    health = json.loads(said["HEALTHCHECK"].split("CMD ", 1)[1])
    serve = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
    address = "http://127.0.0.1:18473"
    script = f"""{" ".join(serve)} --port 18473 --wyoming-port 0 & server=$!
        for i in $(seq 100); do {" ".join(health)} --url {address} --ready && break; sleep 0.1; done
        kill $server; wait $server"""
    as_user = ["setpriv", f"--reuid={said['USER']}", f"--regid={said['USER']}", "--clear-groups", "env", *said["ENV"].split(), "MYNAH_API_KEYS=k"]
    bare.check("its server is ready, by its user", bare.run(*as_user, "sh", "-c", script), "^healthy")


def use(bare: Bare, package: Path, recording: Path, words: list[str]) -> None:
    root = bare.root
    shutil.copy(package, root / "mynah.deb")
    bare.check("apt asks its archives", bare.run("apt-get", "update", "-q"))
    if not bare.check("apt installs it and what it depends on",
                      bare.run("apt-get", "install", "-y", "-q", "--no-install-recommends", "/mynah.deb")):
        return
    version = subprocess.run(["dpkg-deb", "--field", str(package), "Version"], capture_output=True, text=True,
                             check=True).stdout.strip()
    bare.check("it says its version", bare.run("mynah", "--version"), re.escape(version))

    documents = root / "usr/share/doc/mynah"
    readme = documents / "README.md"
    links = re.findall(r"\]\((docs/[^)#]+)", readme.read_text(encoding="utf-8")) if readme.is_file() else []
    lacking = [link for link in links if not (documents / link).is_file()]
    bare.check(f"the README is there, and the {len(links)} documents that it links to",
               subprocess.CompletedProcess([], int(bool(lacking) or not links), str(lacking), ""))

    said = ".*".join(map(re.escape, words))
    shutil.copy(recording, root / "said.wav")
    bare.check("the built-in recogniser hears a recording", bare.run("mynah", "transcribe", "/said.wav"), said)
    # mynah-media decodes it, confined.
    subprocess.run(["ffmpeg", "-v", "error", "-i", str(recording), str(root / "said.m4a")], check=True)
    bare.check("and one that FFmpeg opens", bare.run("mynah", "transcribe", "/said.m4a"), said)
    bare.check("the built-in voice speaks into a file",
               bare.run("mynah", "speak", "Good morning to you.", "--out", "/spoken.wav"))
    bare.check("and what it said is heard", bare.run("mynah", "transcribe", "/spoken.wav"), "good.*morning")
    for verb in ("devices", "doctor"):
        told = bare.run("mynah", verb, "--json")
        try:
            objects = [json.loads(line) for line in told.stdout.splitlines()]
        except ValueError as wrong:
            objects, told.stderr = [], str(wrong)
        told.returncode = told.returncode or int(not objects)
        bare.check(f"{verb} answers in JSON", told)

    shells = bare.run("apt-get", "install", "-y", "-q", "--no-install-recommends", "man-db", "bash-completion", "zsh", "fish")
    if bare.check("apt installs man and three shells", shells):
        bare.check("the manual is there", bare.run("man", "-P", "cat", "mynah"), "mynah.*transcribe")
        loaded = ". /usr/share/bash-completion/bash_completion; _completion_loader mynah; complete -p mynah"
        bare.check("bash completes it", bare.run("bash", "-c", loaded), "complete .*mynah")
        bare.check("zsh completes it", bare.run("zsh", "-fc", "autoload -U compinit; compinit -u; print $_comps[mynah]"),
                   "^_mynah$")
        bare.check("fish completes it", bare.run("fish", "-c", "complete -C 'mynah tran'"), "^transcribe")

    build_container(bare, package)

    listed = bare.run("dpkg", "--listfiles", "mynah").stdout.split()
    files = [name for name in listed if (root / name.lstrip("/")).is_file()]
    bare.check("apt removes it", bare.run("apt-get", "purge", "-y", "-q", "mynah"))
    left = [name for name in files if (root / name.lstrip("/")).exists()]
    bare.check(f"and all of its {len(files)} files", subprocess.CompletedProcess([], int(bool(left) or not files), str(left), ""))


def main() -> int:
    package, recording, words = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3].split()
    # Programs are run in it: a /tmp that forbids that will not do.
    with tempfile.TemporaryDirectory(dir=package.parent) as folder:
        # apt reads archives as a user of its own.
        os.chmod(folder, 0o755)
        root = Path(folder) / "root"
        try:
            make_root(root)
        except Unable as reason:
            print(reason)
            return 77
        bare = Bare(root)
        use(bare, package, recording, words)
    print(f"{bare.passed} passed, {bare.failed} failed, 0 skipped")
    return int(bare.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
