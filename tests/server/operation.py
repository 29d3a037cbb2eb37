"""`mynah serve` as whoever runs it sees it: sockets that are passed, signals, logs, health and metrics. Built-in models alone.

usage: operation.py MYNAH
"""
import fcntl
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from serving import run_checks

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:{NAME}="(?:[^"\\\n]|\\[\\n"])*",?)*)\}})? (-?[0-9.e+-]+|[+-]Inf|NaN)')


def series(text):
    """Samples of an exposition by name and labels; what the format forbids fails (prometheus.io, Exposition formats)."""
    assert text.endswith("\n")
    found, kinds, begun = {}, {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            begun = line.split(" ", 3)[2]
            assert begun not in kinds and len(line.split(" ", 3)) == 4, line
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == begun and kind in ("counter", "gauge", "histogram"), line
            assert (kind == "counter") == name.endswith("_total"), line
            kinds[name] = kind
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        name, labels, value = match.groups()
        of = re.sub("_(bucket|sum|count)$", "", name) if kinds[begun] == "histogram" else name
        assert of == begun, f"{line} stands below {begun}"
        assert (name, labels) not in found, f"twice: {line}"
        found[name, labels] = float(value)
    return found


class Running:
    """A server of its own; `options` beside those that all have."""

    def __init__(self, program, folder, *options, variables=None, passed=(), wait=True):
        self.folder = pathlib.Path(folder)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MYNAH_")}
        environment |= {"HOME": folder, "MYNAH_HOME": f"{folder}/home", "XDG_CACHE_HOME": f"{folder}/cache", "XDG_CONFIG_HOME": f"{folder}/config", "XDG_STATE_HOME": f"{folder}/state"}
        environment |= variables or {}
        command = [program, "serve", "--port", "0", "--wyoming-port", "0", "--device", "cpu", "--threads", "1", *options]

        apart = [fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, 100) for one in passed]

        def take_sockets():
            """As systemd does: descriptors from 3 on, and its own number for whom they are."""
            for i, one in enumerate(apart):
                os.dup2(one, 3 + i, inheritable=True)

        if passed:
            # The number of a process is known to itself alone.
            command = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *command]
            environment |= {"LISTEN_FDS": str(len(passed))}
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=take_sockets if passed else None, close_fds=not passed
        )
        for one in apart:
            os.close(one)
        self.log = []
        self.addresses = []
        for line in self.process.stderr if wait else ():
            self.log.append(line)
            if found := re.search(r"listening on (\S+)", line):
                self.addresses.append(found.group(1))
                if len(self.addresses) >= max(1, len(passed)):
                    break
        else:
            assert not wait, f"it did not start: {''.join(self.log)}"
        self.reader = threading.Thread(target=lambda: self.log.extend(iter(self.process.stderr.readline, "")), daemon=True)
        self.reader.start()

    def ask(self, path, body=None, headers=None):
        request = urllib.request.Request(self.addresses[0] + path, data=body, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def until_said(self, text):
        deadline = time.monotonic() + 20
        while not any(text in line for line in self.log):
            assert time.monotonic() < deadline, f"{text} is not in {self.log}"
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.reader.join()


class Checks:
    def __init__(self, program):
        self.program = program
        self.kept = tempfile.TemporaryDirectory()

    def folder(self):
        return tempfile.mkdtemp(dir=self.kept.name)

    def health(self, *options):
        return subprocess.run([self.program, "health", *options], capture_output=True, text=True, timeout=60)

    def check_health_by_the_verb(self):
        with Running(self.program, self.folder()) as server:
            for options in ([], ["--ready"]):
                done = self.health("--url", server.addresses[0] + "/", *options)
                assert (done.returncode, done.stdout) == (0, "healthy\n"), done
            address = server.addresses[0]
        done = self.health("--url", address)
        assert done.returncode == 1 and address in done.stderr, done
        told = json.loads(self.health("--url", address, "--json").stdout)
        assert told["healthy"] is False and told["status"] is None and told["reason"], told

    def check_ready_says_why_not(self):
        with Running(self.program, self.folder(), variables={"MYNAH_WORKER": "/bin/false"}) as server:
            status, _, body = server.ask("/health/ready")
            assert status == 503 and "exit code 1" in json.loads(body)["reason"], body
            done = self.health("--url", server.addresses[0], "--ready")
            assert done.returncode == 1 and "exit code 1" in done.stderr, done
            assert server.ask("/health/live")[0] == 200

    def refused(self, *options, variables=None):
        """Its exit code, and what it said."""
        server = Running(self.program, self.folder(), *options, variables=variables, wait=False)
        code = server.process.wait(20)
        server.reader.join()
        return code, "".join(server.log)

    def check_what_was_named_and_cannot_be_is_refused_at_the_start(self):
        wrong = pathlib.Path(self.folder(), "text.gguf")
        wrong.write_text("no weights\n")
        for options, code, told in (
            (["--model", "small"], 3, "run 'mynah pull small'\n"),
            (["--model", "nosuch"], 2, "nosuch"),
            (["--model", "/no/such.gguf"], 3, "found nothing at /no/such.gguf"),
            (["--model", str(wrong)], 2, "text.gguf"),
            (["--chat-model", str(wrong)], 2, "text.gguf"),
            (["--embedding-model", str(wrong)], 2, "text.gguf"),
            (["--key-file", "/no/keys.json"], 3, "--key-file: cannot open /no/keys.json"),
            (["--key-file", self.folder()], 3, "mynah keys add NAME"),
            (["--vad-model", "silero"], 3, "`mynah pull silero`"),
            (["--vad-model", "nosuch"], 2, "nosuch"),
            (["--voice-model", "kokoro"], 3, "`mynah pull kokoro`"),
            (["--voice-model", "small"], 3, "small"),
            (["--voice-model", "/no/such.onnx"], 3, "/no/such.onnx"),
            (["--voice", "nosuch"], 2, "no model here has a voice 'nosuch'"),
            (["--webhook-allow", "bad addr"], 2, "found 'bad addr'"),
            (["--webhook-allow", "10.0.0.0/99"], 2, "found '10.0.0.0/99'"),
            (["--wyoming-allow", "foo", "--wyoming-port", "1"], 2, "found 'foo'"),
            (["--tls-cert", "/no/such.pem", "--tls-key", "/no/such.pem"], 3, "there is no file /no/such.pem"),
        ):
            done = self.refused(*options)
            assert done[0] == code and told in done[1] and "--yes" not in done[1] and "listening" not in done[1], (options, done)
            if "model" in options[0] or options[0] == "--voice":
                assert f"mynah: serve: {options[0]}: " in done[1], done
        with Running(self.program, self.folder(), "--model", "builtin", "--voice", "slt", "--webhook-allow", "printer.local") as server:
            assert server.ask("/health/ready")[0] == 200

    def check_what_is_missing_is_said_at_the_start(self):
        with Running(self.program, self.folder(), "--alias", "whisper-1=small", "--alias", "mine=builtin", "--alias", "alloy=slt") as server:
            said = "".join(server.log)
            assert "there is no model that hears here" in said and "mynah pull tiny.en" in said, said
            assert "--alias whisper-1=small: the model small is not on this machine" in said and "mine" not in said and "alloy" not in said, said

    def check_a_file_without_a_key_is_said(self):
        keys = pathlib.Path(self.folder(), "keys.json")
        keys.write_text('{"keys": []}')
        with Running(self.program, self.folder(), "--key-file", str(keys)) as server:
            assert f"{keys} has no key" in "".join(server.log), server.log
            assert server.ask("/v1/models")[0] == 200

    def check_a_port_that_is_taken_is_named(self):
        folder = self.folder()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            for option, told in (("--port", "take another --port, or"), ("--wyoming-port", "take another --wyoming-port (0: none), or")):
                code, said = self.refused(option, port)
                assert code == 3 and told in said, said
        with Running(self.program, folder, "--host", f"{folder}/mynah.sock") as server:
            code, said = self.refused("--host", f"{folder}/mynah.sock")
            assert code == 3 and "take another --host, or" in said and "--port" not in said, said
            done = self.health("--url", server.addresses[0])
            assert (done.returncode, done.stdout) == (0, "healthy\n"), done
        done = self.health("--url", f"unix:{folder}/mynah.sock")
        assert done.returncode == 1 and f"cannot connect to {folder}/mynah.sock: No such file" in done.stderr, done

    def check_who_stops_it_is_told_what_it_finishes(self):
        with Running(self.program, self.folder()) as server:
            text = "One two three four five six seven. " * 400
            body = json.dumps({"input": text, "voice": "slt", "response_format": "pcm"}).encode()
            host, port = server.addresses[0].removeprefix("http://").split(":")
            with socket.create_connection((host, int(port))) as client:
                client.sendall(b"POST /v1/audio/speech HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                assert b" 200 " in client.recv(4096)  # which takes no more: it is not over
                server.process.terminate()
                server.until_said("finishing one request; nobody new is taken")
                server.process.terminate()
            assert server.process.wait(20) == 128 + signal.SIGTERM
            assert not any("a clause" in line for line in server.log), server.log

    def check_exit_codes_of_keys(self):
        def keys(*arguments):
            done = subprocess.run([self.program, "keys", *arguments, "--key-file", f"{folder}/keys.json"], capture_output=True, text=True)
            return done.returncode, done.stderr

        folder = self.folder()
        code, said = keys("add", "kitchen")
        assert code == 0 and "systemctl reload mynah" in said, said
        assert keys("add", "kitchen")[0] == 1, "it failed, as written it could be done"
        for wrong in (["add", "x", "--rights", "sing"], ["add", "a b"]):
            assert keys(*wrong)[0] == 2, wrong
        assert keys("remove", "nobody")[0] == 3

    def check_sockets_that_are_passed_are_taken(self):
        folder = self.folder()
        web, wyoming, local = (socket.socket(family) for family in (socket.AF_INET, socket.AF_INET, socket.AF_UNIX))
        path = f"{folder}/mynah.sock"
        with web, wyoming, local:
            web.bind(("127.0.0.1", 0))
            wyoming.bind(("127.0.0.1", 0))
            local.bind(path)
            for one in (web, wyoming, local):
                one.listen()
            # Who comes before it has started waits for it.
            early = socket.create_connection(web.getsockname())
            early.sendall(b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            variables = {"LISTEN_FDNAMES": "http:wyoming:http"}
            with Running(self.program, folder, variables=variables, passed=[web, wyoming, local]) as server:
                assert sorted(server.addresses) == sorted(
                    [f"http://127.0.0.1:{web.getsockname()[1]}", f"tcp://127.0.0.1:{wyoming.getsockname()[1]}", f"unix:{path}"]
                ), server.addresses
                assert b"200 OK" in early.makefile("rb").read()
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(path)
                    client.sendall(b"GET /version HTTP/1.1\r\nConnection: close\r\n\r\n")
                    assert b"200 OK" in client.makefile("rb").read()
                with socket.create_connection(wyoming.getsockname()) as client:
                    client.sendall(b'{"type": "describe"}\n')
                    assert json.loads(client.makefile("rb").readline())["type"] == "info"
            assert os.path.exists(path), "it belongs to who made it"

    def check_a_wide_socket_that_is_passed_wants_a_key(self):
        with socket.socket() as web:
            web.bind(("0.0.0.0", 0))
            web.listen()
            server = Running(self.program, self.folder(), passed=[web], wait=False)
            assert server.process.wait(20) == 2
            server.reader.join()
            assert "lets other machines ask" in "".join(server.log), server.log

    def check_the_service_manager_is_told(self):
        folder = self.folder()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(f"{folder}/notify")
            manager.settimeout(20)
            with Running(self.program, folder, variables={"NOTIFY_SOCKET": f"{folder}/notify"}) as server:
                assert manager.recv(4096) == b"READY=1"
                server.process.send_signal(signal.SIGHUP)
                assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=\d+", manager.recv(4096))
                assert manager.recv(4096) == b"READY=1"
            assert manager.recv(4096) == b"STOPPING=1"
            assert server.process.returncode == 0

    @staticmethod
    def until(look):
        deadline = time.monotonic() + 20
        while not look():
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.01)

    def check_hangup_reads_keys_and_opens_the_log_anew(self):
        folder = self.folder()
        keys, log = f"{folder}/keys.json", pathlib.Path(folder, "access.log")

        def add(name):
            done = subprocess.run([self.program, "keys", "add", name, "--key-file", keys], capture_output=True, text=True)
            return re.search(r"mynah-\w+", done.stdout).group(0)

        first = add("first")
        with Running(self.program, folder, "--key-file", keys, "--access-log", str(log)) as server:
            told = lambda key: server.ask("/v1/models", headers={"Authorization": f"Bearer {key}", "X-Request-Id": f"by-{key[-4:]}"})[0]
            assert told(first) == 200
            second = add("second")
            assert told(second) == 401
            # A line is written behind the answer.
            self.until(lambda: " 401 " in log.read_text())
            log.rename(f"{folder}/access.1")
            server.process.send_signal(signal.SIGHUP)
            self.until(log.exists)
            assert told(second) == 200 and told(first) == 200
            assert server.ask("/version")[0] == 200, "it goes on"
            server.until_said(f"read again: the keys of {keys}; the log {log} was opened anew")
        before, after = pathlib.Path(folder, "access.1").read_text(), log.read_text()
        assert f" by-{first[-4:]} GET /v1/models 200 " in before and " 401 " in before, before
        assert f" by-{second[-4:]} GET /v1/models 200 " in after, after
        assert first not in before + after and second not in before + after

    def check_a_key_is_shown_as_a_link(self):
        def add(name, address):
            return subprocess.run([self.program, "keys", "add", name, "--key-file", f"{folder}/keys.json", "--link", address], capture_output=True, text=True)

        folder = self.folder()
        added = add("tablet", "https://192.0.2.7:8080/")
        assert added.returncode == 0 and f"https://192.0.2.7:8080/#key={added.stdout.strip()}\n" in added.stderr, added
        assert added.stderr.count("\u2588") > 100, "a QR code"
        refused = add("phone", "192.0.2.7")
        assert refused.returncode == 2 and "--link: wanted" in refused.stderr, refused
        assert len(json.loads(pathlib.Path(folder, "keys.json").read_text())["keys"]) == 1, "no key is made that nobody is shown"

    def check_names_of_requests(self):
        with Running(self.program, self.folder()) as server:
            assert server.ask("/version", headers={"X-Request-Id": "trace-7.a_B"})[1]["X-Request-Id"] == "trace-7.a_B"
            for odd in ("two words", "x" * 129, "é", 'a"b'):
                assert server.ask("/version", headers={"X-Request-Id": odd})[1]["X-Request-Id"].startswith("req_"), odd
            assert server.ask("/nothing", headers={"X-Request-Id": "lost"})[1]["X-Request-Id"] == "lost"
            server.until_said(" lost GET /nothing 404 ")

    def check_a_base_path(self):
        with Running(self.program, self.folder(), "--base-path", "/my/nah/") as server:
            for path in ("/my/nah/", "/my/nah/v1/models", "/my/nah/health/live", "/v1/models", "/my/nah"):
                assert server.ask(path)[0] == 200, path
            assert server.ask("/my/nahv1/models")[0] == 404
            page = server.ask("/my/nah/")[2]
            assert not re.search(r'(src|href)="/', page), "the page's own are relative"

    def check_metrics_count_what_is_done(self):
        with Running(self.program, self.folder()) as server:
            before = series(server.ask("/metrics")[2])
            said = server.ask("/v1/audio/speech", json.dumps({"input": "One two three.", "response_format": "wav"}).encode())
            assert said[0] == 200 and float(said[1]["X-Mynah-Queue-Ms"]) >= 0, said[:2]
            server.ask("/v1/models/" + "x" * 50)
            server.ask("/" + "y" * 50)
            after = series(server.ask("/metrics")[2])
            assert not any("xxxx" in (labels or "") or "yyyy" in (labels or "") for _, labels in after), "what clients send is no label"
            assert after["mynah_requests_total", 'route="/v1/audio/speech",status="200"'] == 1
            assert after["mynah_requests_total", 'route="/v1/models/{name}",status="404"'] == 1
            assert after["mynah_requests_total", 'route="none",status="404"'] == 1
            assert after["mynah_audio_seconds_total", 'task="speak"'] > 0.5 > before["mynah_audio_seconds_total", 'task="speak"']
            assert after["mynah_first_sound_seconds_count", None] == 1
            assert after["mynah_wait_seconds_bucket", 'task="speak",le="+Inf"'] == 1
            assert after["mynah_connections", None] >= 1 and after["process_threads", None] >= 2
            assert 1e6 < after["process_resident_memory_bytes", None] < 1e9

    def check_health_keeps_no_model(self):
        with Running(self.program, self.folder(), "--keep-alive", "2") as server:
            opened = lambda: series(server.ask("/metrics")[2])["mynah_models_open", None]
            assert server.ask("/health/ready")[2] == '{"status":"idle"}\n' and opened() == 0, "nothing is loaded for it"
            server.ask("/v1/audio/speech", json.dumps({"input": "One.", "response_format": "pcm"}).encode())
            assert json.loads(server.ask("/health/ready")[2]) == {"status": "ready", "models": 1}
            deadline = time.monotonic() + 20
            while opened() > 0:
                assert server.ask("/health/ready")[0] == 200
                assert time.monotonic() < deadline, "it is kept by who asks whether it is ready"
                time.sleep(0.1)


def main():
    checks = Checks(sys.argv[1])
    with checks.kept:
        passed, failed = run_checks(checks)
    print(f"{passed} checks passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
