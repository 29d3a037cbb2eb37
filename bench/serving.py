"""`mynah serve`, and other engines' servers, as benchmarks start them, and what is seen of their processes from outside."""
import atexit
import os
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("MYNAH_SHARED", f"{ROOT}/../shared")
WEIGHTS = os.environ.get("MYNAH_WEIGHTS", f"{ROOT}/.cache/weights")
MYNAH = f"{os.environ.get('BENCH_BUILD', f'{ROOT}/build/release')}/mynah"
HOME = os.environ.get("BENCH_HOME", f"{ROOT}/.cache/bench/serving")  # which keeps what is imported
JOE = f"{WEIGHTS}/piper/en_US-joe-medium.onnx"
VOICES = f"{SHARED}/weights/kokoro-voices"
SPEECH = {
    "kokoro": f"{WEIGHTS}/kokoro/kokoro.onnx",
    "kokoro-voices": VOICES,
    "english-phonemes": f"{WEIGHTS}/phonemes",
    "hibari": f"{WEIGHTS}/hibari/hibari.onnx",
    "joe": JOE,
    "smart-turn": f"{WEIGHTS}/smart_turn/smart-turn-v3.2-cpu.onnx",
}
HEARING = ["--model", f"{WEIGHTS}/tiny.en", "--vad-model", f"{WEIGHTS}/silero/silero_vad_16k_op15.onnx", "--device", "cpu"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def home_with(*names):
    """A home that has these models of SPEECH."""
    for name in names:
        if not os.path.isdir(f"{HOME}/models/{name}"):
            environment = os.environ | {"MYNAH_HOME": HOME}
            subprocess.run([MYNAH, "import", SPEECH[name], "--name", name], check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return HOME


signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # as any other end, at which servers end too


def start(threads, home, *flags, state=None, keys=None, wyoming_port=0):
    """The server's process and its address. `state`: a folder of its own beside the home; `keys`: as MYNAH_API_KEYS has them."""
    environment = os.environ | {"MYNAH_HOME": home, "XDG_STATE_HOME": state or f"{home}/state", "XDG_CONFIG_HOME": f"{home}/config"}
    if keys:
        environment["MYNAH_API_KEYS"] = keys
    command = [MYNAH, "serve", "--port", "0", "--wyoming-port", str(wyoming_port), "--quiet", "--threads", str(threads), *HEARING, *flags]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    atexit.register(server.kill)  # whatever becomes of the benchmark
    said = []
    for line in server.stderr:
        said.append(line)
        if found := re.search(r"listening on (http://\S+)", line):
            threading.Thread(target=server.stderr.read, daemon=True).start()
            return server, found.group(1)
    sys.exit(f"the server did not start: {''.join(said)}")


def start_peer(command):
    """Another engine's server, whose command takes {port}, once it listens."""
    port = free_port()
    server = subprocess.Popen([part.replace("{port}", str(port)) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(server.kill)
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, f"http://127.0.0.1:{port}"
        if server.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"{' '.join(command)} did not start")


def end(server):
    server.terminate()
    server.wait()


def resident_mb(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def threads_of(process):
    return len(os.listdir(f"/proc/{process.pid}/task"))


def descriptors_of(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def multipart(fields, name, sound):
    """A form with a file, and its type."""
    boundary = "bench-serve-boundary"
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields.items()]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return b"".join(parts) + head.encode() + sound + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def wav_of(samples, rate):
    """A file of 16-bit samples of one channel."""
    head = b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
    return head + b"data" + struct.pack("<I", len(samples)) + samples


def samples_of(path, rate):
    command = ["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ar", str(rate), "-ac", "1", "-"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def percentile(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


def spread(values, digits=1):
    return {"median": round(statistics.median(values), digits), "95 %": round(percentile(values, 0.95), digits)}
