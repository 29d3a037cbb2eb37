#!/usr/bin/env python3
"""Kills `mynah serve` with -9 at random moments while it has jobs: each job that it acknowledged ends exactly once, with its right
text, and whoever wanted to be told of that is.

usage: jobs.py MYNAH MYNAH_SHARED MYNAH_WEIGHTS KILLS JOBS [SEED]
"""
import base64
import collections
import hashlib
import hmac
import http.client
import http.server
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid

from serving import Server, run_checks

CLIPS = ["librispeech_misc_1995-1837-0001", "jfk_jfk", "librispeech_test-other_1688-142285-0000", "librispeech_test-other_1688-142285-0005", "azure_whatstheweatherlike"]
PATIENCE_S = 120
LONGEST_LIFE_S = 0.8
EARLY_S = 0.15  # before a server listens
BURST = 5  # jobs that come together


def form(fields, name, sound):
    boundary = uuid.uuid4().hex
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields.items()]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return b"".join(parts) + head.encode() + sound + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


class Api:
    """What a client asks of a server at that address."""

    def __init__(self, address):
        self.base = address

    def ask(self, method, path, body=None, kind=None):
        headers = {"Content-Type": kind} if kind else {}
        request = urllib.request.Request(self.base + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def post(self, path, fields, clip):
        body, kind = form(fields, *clip)
        return self.ask("POST", path, body, kind)

    def job(self, name):
        return json.loads(self.ask("GET", f"/v1/jobs/{name}"))

    def listed(self):
        """The ids of all jobs, page by page."""
        names, more = [], True
        while more:
            after = f"&after={names[-1]}" if names else ""
            page = json.loads(self.ask("GET", f"/v1/jobs?limit=100{after}"))
            names += [job["id"] for job in page["data"]]
            more = page["has_more"]
        assert len(set(names)) == len(names)
        return set(names)

    def refused(self, method, path):
        try:
            self.ask(method, path)
        except urllib.error.HTTPError as told:
            return told.code
        raise AssertionError(f"{method} {path} was answered")

    def ended(self, name):
        """The job once it has ended."""
        end = time.monotonic() + PATIENCE_S
        while (job := self.job(name))["state"] in ("queued", "running"):
            assert time.monotonic() < end, job
            time.sleep(0.05)
        return job


class Receiver:
    """Takes webhooks; the first of each job is refused, so that all are tried twice and more."""

    def __init__(self):
        self.ends = collections.defaultdict(list)  # by webhook-id
        self.key = None
        self.faults = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.send_response(receiver.take(self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/ended?secret=w"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, headers, body):
        name, at = headers["webhook-id"], headers["webhook-timestamp"]
        wanted = base64.b64encode(hmac.digest(self.key, f"{name}.{at}.".encode() + body, hashlib.sha256)).decode()
        if headers["webhook-signature"] != f"v1,{wanted}" or abs(time.time() - int(at)) > 60:
            self.faults.append(f"signed wrongly: {dict(headers)}")
        self.ends[name].append(json.loads(body))
        return 204

    def read_key(self, state):
        with open(f"{state}/webhook-secret", encoding="ascii") as file:
            self.key = base64.b64decode(file.read().strip().removeprefix("whsec_"))


class Service:
    """A server that is started again and again on one state folder."""

    def __init__(self, program, weights, home):
        self.program, self.weights, self.home = program, weights, home
        self.state = f"{home}/state/mynah/serve"
        self.log = []

    def command(self):
        return [self.program, "serve", "--port", "0", "--wyoming-port", "0", "--device", "cpu", "--model", f"{self.weights}/tiny.en", "--job-attempts", "100000"]

    def variables(self):
        folders = {"MYNAH_HOME": self.home, "XDG_CACHE_HOME": f"{self.home}/cache", "XDG_STATE_HOME": f"{self.home}/state"}
        return os.environ | folders

    def start(self, *options):
        usual = ["--wyoming-port", "0", "--webhook-allow", "127.0.0.1", "--job-attempts", "100000"]
        self.server = Server(self.program, self.weights, self.home, [*usual, *options], {})
        return Api(self.server.address)

    def start_and_kill(self, delay):
        """Before it listens, as a rule."""
        try:
            subprocess.run(self.command(), env=self.variables(), stderr=subprocess.DEVNULL, timeout=delay)
        except subprocess.TimeoutExpired:
            pass  # run() killed it

    def kill(self):
        self.server.process.kill()
        self.server.reader.join()
        self.server.process.wait()
        self.log += self.server.log

    def stop(self):
        code = self.server.stop()
        self.log += self.server.log
        return code


class Checks:
    def __init__(self, service, receiver, clips, kills, jobs, chance):
        self.service, self.receiver, self.clips = service, receiver, clips
        self.kills, self.jobs, self.chance = kills, jobs, chance

    def check_1_answers_as_the_synchronous_call(self):
        api = self.service.start()
        self.receiver.read_key(self.service.state)
        self.texts = {}
        for clip in self.clips:
            for answer in ("json", "text", "srt", "vtt", "verbose_json"):
                fields = {"response_format": answer, "timestamp_granularities[]": "word"}
                said = api.post("/v1/audio/transcriptions", fields, clip)
                job = json.loads(api.post("/v1/jobs", fields, clip))
                assert job["state"] == "queued" and job["attempts"] == 0, job
                assert api.ended(job["id"])["state"] == "done"
                got = api.ask("GET", f"/v1/jobs/{job['id']}/result")
                if answer == "verbose_json":  # but for how long it took
                    said, got = (json.dumps({key: value for key, value in json.loads(text).items() if key != "timings"}) for text in (said, got))
                assert got == said, f"{answer}: {got} and not {said}"
                as_text = api.ask("GET", f"/v1/jobs/{job['id']}/result?format=text").strip()
                assert self.texts.setdefault(clip[0], as_text) == as_text
        assert self.service.stop() == 0

    def check_2_kill(self):
        asked = {}  # what each acknowledged job is to say
        for life in range(self.kills + 1):
            last = life == self.kills
            if not last and self.chance.random() < 0.25:
                self.service.start_and_kill(self.chance.uniform(0, EARLY_S))
                continue
            api = self.service.start()
            killer = threading.Timer(self.chance.uniform(0, LONGEST_LIFE_S), self.service.kill)
            if not last:
                killer.start()
            wanted = self.jobs if last else min(self.jobs, BURST * (1 + life * self.jobs // (BURST * self.kills)))
            try:
                while len(asked) < wanted:
                    clip = self.chance.choice(self.clips)
                    path = self.chance.choice(["/v1/jobs", "/v1/audio/transcriptions?async=1"])
                    fields = {"webhook": self.receiver.address, "webhook_text": "true"}
                    job = json.loads(api.post(path, fields, clip))
                    asked[job["id"]] = self.texts[clip[0]]
            except (OSError, http.client.HTTPException):
                assert not last  # what was not acknowledged may be lost
            if not last:
                killer.join()
        tried_again = 0
        for name, text in asked.items():
            job = api.ended(name)
            assert job["state"] == "done" and job["text"] == text, job
            assert api.ask("GET", f"/v1/jobs/{name}/result?format=text").strip() == text
            tried_again += job["attempts"] > 1
        end = time.monotonic() + PATIENCE_S
        while any(api.job(name)["webhook"]["state"] == "pending" for name in asked):
            assert time.monotonic() < end
            time.sleep(0.1)
        for name, text in asked.items():
            told = self.receiver.ends[f"msg_{name}"]
            ends = {(one["type"], one["data"]["text"]) for one in told}
            assert ends == {("job.done", text)}, told
        assert not self.receiver.faults, self.receiver.faults
        assert api.listed() >= set(asked)
        while os.listdir(f"{self.service.state}/uploads"):  # a job has ended before its recording goes
            assert time.monotonic() < end, "recordings stay when their texts are there"
            time.sleep(0.1)
        print(f"{self.kills} kills, {len(asked)} jobs, {tried_again} of them begun more than once, {sum(map(len, self.receiver.ends.values()))} webhooks")
        self.service.stop()

    def check_3_drain_puts_back(self):
        api = self.service.start("--jobs", "1")
        many = [json.loads(api.post("/v1/jobs", {}, self.clips[0]))["id"] for _ in range(12)]
        watcher = urllib.request.urlopen(f"{api.base}/v1/jobs/{many[-1]}/events", timeout=30)
        begun = time.monotonic()
        assert self.service.stop() == 0
        assert time.monotonic() - begun < 5, "a watcher does not keep a server from ending"
        watcher.read()
        api = self.service.start()
        for name in many:
            job = api.ended(name)
            assert job["state"] == "done" and job["attempts"] == 1, job

    def check_4_second_server_is_refused(self):
        second = subprocess.run(self.service.command(), env=self.service.variables(), stderr=subprocess.PIPE, text=True, timeout=30)
        assert second.returncode != 0 and "--state-folder" in second.stderr, second

    def check_5_cancel_and_remove(self):
        api = Api(self.service.server.address)
        names = [json.loads(api.post("/v1/jobs", {}, self.clips[0]))["id"] for _ in range(6)]
        cancelled = json.loads(api.ask("POST", f"/v1/jobs/{names[-1]}/cancel"))
        assert cancelled["state"] in ("cancelled", "done")
        for name in names:
            api.ask("DELETE", f"/v1/jobs/{name}")
            assert api.refused("GET", f"/v1/jobs/{name}") == 404
        assert not os.listdir(f"{self.service.state}/uploads")
        self.service.stop()


def main():
    program, shared, weights, kills, jobs = sys.argv[1:6]
    seed = int(sys.argv[6]) if len(sys.argv) > 6 else random.randrange(1 << 32)
    if not os.path.isdir(f"{shared}/speech/clips") or not os.path.isdir(f"{weights}/tiny.en"):
        print("no recordings or no weights here")
        return 77
    print(f"seed {seed}")
    clips = []
    for name in CLIPS:
        with open(f"{shared}/speech/clips/{name}.flac", "rb") as file:
            clips.append((f"secret-{name}.flac", file.read()))
    with tempfile.TemporaryDirectory() as home:
        service = Service(program, weights, home)
        checks = Checks(service, Receiver(), clips, int(kills), int(jobs), random.Random(seed))
        passed, failed = run_checks(checks)
        if service.server.process.poll() is None:
            service.server.process.send_signal(signal.SIGKILL)
        log = "".join(service.log)
        told = [word for word in ["secret", *(text[:20] for text in checks.texts.values())] if word in log]
        if told or failed:
            failed += bool(told)
            print(f"FAILED: the log tells {told}:\n{log[-8000:]}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
