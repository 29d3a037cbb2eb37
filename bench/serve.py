#!/usr/bin/env python3
"""./dev bench serve: what `mynah serve` adds to the work itself, with tiny.en on this machine.

- One client, a clip of about five seconds: the time of a request less that of the call in the process (Server-Timing).
- Many clients at once with the English clips up to 12 s: seconds of sound a second, beside `mynah transcribe` on the same files in the
  same run, in turns; the texts must be the same. The load generator's own processor time is told and taken off.
- A short clip while a long recording is transcribed: how long until its text.
- With --peers the same clients at other engines' servers: faster-whisper behind FastAPI, and whisper.cpp's where --whisper-server
  names it (built from its sources). Their errors are counted, too.

usage: serve.py [--clients N] [--turns N] [--threads N] [--peers] [--whisper-server FILE] [--json]
"""
import argparse
import http.client
import json
import os
import queue
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("MYNAH_SHARED", f"{ROOT}/../shared")
WEIGHTS = os.environ.get("MYNAH_WEIGHTS", f"{ROOT}/.cache/weights")
MYNAH = f"{os.environ.get('BENCH_BUILD', f'{ROOT}/build/release')}/mynah"
MODEL = ["--model", f"{WEIGHTS}/tiny.en", "--vad-model", f"{WEIGHTS}/silero/silero_vad_16k_op15.onnx", "--device", "cpu"]
ONE_CLIP_TIMES = 60
LONGEST_S = 12


def clips():
    """The English recordings that are short enough: [[path, seconds], ...]."""
    with open(f"{SHARED}/speech/transcripts.tsv") as f:
        _, *rows = [line.rstrip("\n").split("\t") for line in f]
    found = []
    for row in rows:
        if row[1] == "en":
            path = f"{SHARED}/speech/{row[0]}"
            told = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path], capture_output=True, text=True)
            seconds = float(told.stdout.strip())
            if seconds <= LONGEST_S:
                found.append((path, seconds))
    return found


class Client:
    """One connection, which is kept."""

    def __init__(self, address):
        parts = urllib.parse.urlsplit(address)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)

    def post(self, path, body, kind):
        for last in (False, True):
            try:
                self.connection.request("POST", path, body, {"Content-Type": kind})
                return self.connection.getresponse()
            except (http.client.RemoteDisconnected, ConnectionError):
                self.connection.close()  # some servers end a connection that was quiet for long
                if last:
                    raise

    def hear(self, path, form):
        boundary = "bench-serve-boundary"
        with open(path, "rb") as f:
            sound = f.read()
        body = b"".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in form.items()
        )
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{os.path.basename(path)}"\r\n\r\n'.encode() + sound
        body += f"\r\n--{boundary}--\r\n".encode()
        answer = self.post("/v1/audio/transcriptions", body, f"multipart/form-data; boundary={boundary}")
        told = json.load(answer)
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {told}")
        self.hearing_ms = float(re.search(r"hear;dur=([0-9.]+)", answer.headers.get("Server-Timing", "hear;dur=0")).group(1))
        return told


def start(options, home):
    environment = os.environ | {"MYNAH_HOME": home, "XDG_STATE_HOME": f"{home}/state"}
    command = [MYNAH, "serve", "--port", "0", "--wyoming-port", "0", "--no-share-texts", "--quiet", "--threads", str(options.threads), *MODEL]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    for line in server.stderr:
        if found := re.search(r"listening on (http://\S+)", line):
            return server, found.group(1)
    sys.exit("the server did not start")


def start_peer(command):
    """Another engine's server, whose command takes {port}, once it listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([part.format(port=port) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, f"http://127.0.0.1:{port}"
        if server.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"{command[0]} did not start")


def peers(options, folder):
    """Commands of other engines' servers by their names, all with tiny.en, one beam and the given threads."""
    import hear_models

    commands = {"faster-whisper int8": [sys.executable, f"{ROOT}/bench/serve_peers.py", "faster-whisper", "{port}", f"{WEIGHTS}/tiny.en"]}
    if options.whisper_server:
        model = f"{folder}/ggml-tiny.en.bin"
        hear_models.ggml_file(f"{WEIGHTS}/tiny.en", model, SHARED)
        commands["whisper.cpp f16"] = [options.whisper_server, "-m", model, "-t", str(options.threads), "-l", "en", "-bs", "1", "-bo", "1"]
        commands["whisper.cpp f16"] += ["--port", "{port}", "--inference-path", "/v1/audio/transcriptions"]
    else:
        print("no whisper.cpp: --whisper-server names its program", file=sys.stderr)
    return commands


def by_peer(command, work, clients, sound_s):
    """Seconds of sound a second that a peer's server hears, and its errors."""
    import hear

    server, address = start_peer(command)
    Client(address).hear(work[0][0], {"language": "en"})  # opens what is opened late
    took, own, texts = by_server(address, work, clients, {"language": "en"})
    server.terminate()
    server.wait()
    wanted = dict(hear.english_clips())
    errors, words = hear.count_errors([wanted[path] for path, _ in work], [texts[path] for path, _ in work])
    return sound_s / (took - own / (os.cpu_count() or 1)), round(errors / words, 4)


def one_client(address, clip):
    """What a request takes beyond the call in the process, in ms."""
    client = Client(address)
    added = []
    for _ in range(ONE_CLIP_TIMES):
        begin = time.perf_counter()
        client.hear(clip, {"response_format": "verbose_json"})
        added.append(1e3 * (time.perf_counter() - begin) - client.hearing_ms)
    return sorted(added[ONE_CLIP_TIMES // 10 :])


def by_server(address, work, clients, form):
    waiting = queue.SimpleQueue()
    for path, _ in work:
        waiting.put(path)
    texts = {}

    def ask():
        client = Client(address)
        while True:
            try:
                path = waiting.get_nowait()
            except queue.Empty:
                return
            texts[path] = client.hear(path, form)["text"]

    before = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.perf_counter()
    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, own, texts


def by_command(options, work):
    command = [MYNAH, "transcribe", *[path for path, _ in work], "--json", "--threads", str(options.threads), *MODEL]
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    took = time.perf_counter() - begin
    heard = [json.loads(line) for line in done.stdout.splitlines()]
    return took, {one["file"]: one["text"].strip() for one in heard if "segments" in one}


def behind_long_work(address, clip, work, folder):
    """A short clip while a recording of some minutes is heard: its time, beside its time alone, in ms."""
    long = f"{folder}/long.wav"
    with open(f"{folder}/list", "w") as f:
        f.write("".join(f"file '{path}'\n" for path, _ in work))
    inputs = [part for path, _ in work for part in ("-i", path)]
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", *inputs, "-filter_complex", f"concat=n={len(work)}:v=0:a=1", "-ar", "16000", "-ac", "1", long], check=True
    )
    client = Client(address)
    alone = [timed(client, clip) for _ in range(10)]
    thread = threading.Thread(target=lambda: Client(address).hear(long, {}))
    thread.start()
    time.sleep(1)
    beside = []
    while thread.is_alive():
        beside.append(timed(client, clip))
        time.sleep(0.1)
    return statistics.median(alone), beside


def timed(client, clip):
    begin = time.perf_counter()
    client.hear(clip, {})
    return 1e3 * (time.perf_counter() - begin)


def percentile(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--whisper-server")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    work = clips()
    sound_s = sum(seconds for _, seconds in work)
    five = min(work, key=lambda one: abs(one[1] - 5))[0]
    three = min(work, key=lambda one: abs(one[1] - 3))[0]
    with tempfile.TemporaryDirectory() as folder:
        server, address = start(options, f"{folder}/home")
        added = one_client(address, five)
        rates, commands, shares = [], [], []
        for _ in range(options.turns):
            took, own, texts = by_server(address, work, options.clients, {})
            alone, wanted = by_command(options, work)
            different = [path for path, text in wanted.items() if texts[path] != text]
            if different:
                sys.exit(f"heard otherwise by the server: {different[:3]}")
            # The load generator computes on the same cores.
            rates.append(sound_s / (took - own / (os.cpu_count() or 1)))
            commands.append(sound_s / alone)
            shares.append(own / took)
        alone_ms, beside = behind_long_work(address, three, work, folder)
        server.terminate()
        server.wait()
        beside_it = {}
        for name, command in (peers(options, folder) if options.peers else {}).items():
            rate, errors = by_peer(command, work, options.clients, sound_s)
            beside_it[name] = {"s of sound a second": round(rate), "mynah's ratio": round(statistics.median(rates) / rate, 2), "word errors": errors}
    report = {
        "clips": len(work),
        "sound, s": round(sound_s),
        "HTTP adds to a clip of 5 s, ms": {"median": round(statistics.median(added), 2), "95 %": round(percentile(added, 0.95), 2)},
        f"{options.clients} clients, s of sound a second": round(statistics.median(rates)),
        "mynah transcribe, s of sound a second": round(statistics.median(commands)),
        "ratio": round(statistics.median(a / b for a, b in zip(rates, commands)), 3),
        "load generator's share of a core": round(statistics.median(shares), 2),
        "a clip of 3 s alone, ms": round(alone_ms),
        "while a long recording is heard, ms": {"median": round(statistics.median(beside)), "95 %": round(percentile(beside, 0.95)), "times": len(beside)},
        **beside_it,
    }
    print(json.dumps(report, indent=None if options.json else 1))


if __name__ == "__main__":
    main()
