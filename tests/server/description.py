#!/usr/bin/env python3
"""Looks whether `mynah serve` describes itself rightly (openapi-spec-validator) and keeps to that whatever is sent (schemathesis):
no 5xx, no answer of another type, nothing taken that the description forbids.

usage: description.py MYNAH MYNAH_WEIGHTS [SECONDS]
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

from serving import CHAT_MODEL, Server, run_checks

CHECKS = (
    "not_a_server_error,content_type_conformance,status_code_conformance,response_schema_conformance,unsupported_method,"
    "negative_data_rejection"
)
# What they pull comes over the network; and what one mynah asks of another is bytes that schemathesis cannot make (fuzzer `elsewhere`).
NOT_ASKED = ("post_v1_models", "post_v1_models_name", *(f"post_v1_elsewhere_{what}" for what in ("clause", "probe", "voice", "windows")))
CONTEXT = "256"  # whatever is asked for, a reply ends soon


class Description:
    def __init__(self, address, seconds):
        self.address = address
        self.seconds = seconds

    def check_document(self):
        from openapi_spec_validator import validate

        with urllib.request.urlopen(f"{self.address}/openapi.json") as answer:
            validate(json.load(answer))

    def check_routes(self):
        program = os.path.join(os.path.dirname(sys.executable), "schemathesis")
        command = [program, "run", f"{self.address}/openapi.json", "--checks", CHECKS, "--phases", "coverage,fuzzing"]
        # Two threads that parse at once break Python 3.11 ("AST constructor recursion depth mismatch"): one worker.
        command += ["--max-time", self.seconds, "--seed", "1", "--continue-on-failure", "--no-color", "--workers", "1"]
        for operation in NOT_ASKED:
            command += ["--exclude-operation-id", operation]
        with tempfile.TemporaryDirectory() as folder:  # it keeps what it found in the folder that it is called in
            ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert ended.returncode == 0, ended.stdout[-8000:]
        cases = re.search(r"(\d+) generated", ended.stdout)
        assert int(cases.group(1)) > 100, ended.stdout[-2000:]
        print(f"schemathesis: {cases.group(0)}")


def main():
    program, weights = sys.argv[1:3]
    seconds = sys.argv[3] if len(sys.argv) > 3 else "60"
    chat_model, embedding_model = f"{weights}/{CHAT_MODEL}", f"{weights}/minilm"
    if not os.path.isdir(f"{weights}/tiny.en") or not os.path.isfile(chat_model) or not os.path.isdir(embedding_model):
        print("no weights here")
        return 77
    with tempfile.TemporaryDirectory() as home:
        options = ["--wyoming-port", "0", "--voice-model", "builtin", "--quiet", "--embedding-model", embedding_model]
        options += ["--chat-model", chat_model, "--chat-context", CONTEXT]
        server = Server(program, weights, home, options, {})
        passed, failed = run_checks(Description(server.address, seconds))
        code = server.stop()
        if code != 0:
            failed += 1
            print(f"FAILED: the server ended with {code}: {''.join(server.log)[-2000:]}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
