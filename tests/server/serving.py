"""A server under test, and checks of it that are counted one by one."""
import atexit
import os
import re
import socket
import subprocess
import sys
import threading
import time
import traceback

CHAT_MODEL = "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"  # of the weights: one that writes


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def unsent(port):
    """The most bytes that the system keeps for a client of that port which does not take them."""
    kept = [0]
    with open("/proc/net/tcp") as table:
        for line in table:
            local, state, queues = (line.split()[i] for i in (1, 3, 4))
            if local.endswith(f":{port:04X}") and state == "01":
                kept.append(int(queues.split(":")[0], 16))
    return max(kept)


class Server:
    """`mynah serve` with tiny.en in a home of its own; `log`: what it says, line by line, as it comes."""

    def __init__(self, program, weights, home, options, variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MYNAH_")}
        environment |= {"MYNAH_HOME": home, "XDG_CACHE_HOME": f"{home}/cache", "XDG_STATE_HOME": f"{home}/state"} | variables
        command = [program, "serve", "--port", "0", "--device", "cpu", "--model", f"{weights}/tiny.en", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        # A check that fails leaves none behind, which would hold open the pipe that the results go to.
        atexit.register(self.process.kill)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"listening on (https?://\S+)", line):
                self.address = found.group(1)
                break
        else:
            sys.exit(f"the server did not start: {''.join(self.log)}")
        self.reader = threading.Thread(target=lambda: self.log.extend(iter(self.process.stderr.readline, "")), daemon=True)
        self.reader.start()

    def until_said(self, text):
        deadline = time.monotonic() + 20
        while not any(text in line for line in self.log):
            assert time.monotonic() < deadline, f"{text} is not in {self.log}"
            time.sleep(0.01)

    def stop(self):
        """Its exit code, once it has said all."""
        self.process.terminate()
        self.reader.join()
        return self.process.wait()


def run_checks(checks, on_failure=lambda name: None):
    """Calls every method check_...; returns how many passed and failed."""
    passed = failed = 0
    for name in sorted(vars(type(checks))):
        if not name.startswith("check_"):
            continue
        try:
            getattr(checks, name)()
            passed += 1
        except Exception:  # whatever a library throws
            failed += 1
            print(f"FAILED: {name}")
            traceback.print_exc(file=sys.stdout)
            on_failure(name)
    return passed, failed
