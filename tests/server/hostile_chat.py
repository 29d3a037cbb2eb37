#!/usr/bin/env python3
"""What clients must not be able to do to the language model of `mynah serve`: break it, keep others from it, or use it up.

They send prompts of megabytes, schemas and grammars that are bombs, tools and options without end, take nothing of what they are answered,
and leave in the middle. Each gets an answer or one clear error. Beside them somebody asks the same all the time, and gets the same text each
time, soon; behind each kind of them nothing is under way, and memory is not much more.

usage: hostile_chat.py MYNAH MYNAH_WEIGHTS [--all] [--grows MB] [--only NAME]
  --all     the slow ones, too: prompts of megabytes, schemas, tools without end, more than there is room for
  --grows   so much memory may be added from the first group on: some 400 MB are what the model keeps of texts, 200 of forms
  --only    the checks with that in their name
"""
import argparse
import base64
import http.client
import json
import os
import re
import sys
import tempfile
import threading
import time

from hostile import Client
from hostile_bytes import UPGRADE, frame, request
from hostile_prompts import *
from hostile_talk import bad_conversations, respond
from hostile_talk import said as to_say
from serving import CHAT_MODEL, Server, run_checks

PATIENCE_S = 60
LONGEST_S = 10  # that somebody may wait for a reply of a few words beside all of it, or so many times as long as alone
TIMES_ALONE = 40
LONGEST_ERROR = 2000
FILLED_S = 14
SLOW = "adgmn"  # checks that take longer than all others together
LEAVING = 40
WHO_TAKE_NOTHING = 20
PAUSE_BYTES = 19200  # 0.4 s of 24 kHz
LEAVE_LATER_S = 0.1  # each than the one before


class Watched:
    """The server, and what can be seen of it from outside."""

    def __init__(self, program, weights, home):
        options = ["--wyoming-port", "0", "--voice-model", "builtin", "--chat-model", f"{weights}/{CHAT_MODEL}", "--no-share-texts", "--embedding-model", f"{weights}/minilm"]
        options += ["--alias", f"x={os.path.basename(CHAT_MODEL).removesuffix('.gguf')}"]  # what bodies name
        self.server = Server(program, weights, home, options, {})
        self.port = int(self.server.address.rsplit(":", 1)[1])
        self.text = ""

    def ask(self, path, body=None, method="POST"):
        """Status and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        told = answer.read()
        connection.close()
        return answer.status, told

    def reply(self, stream=False):
        status, told = self.ask("/v1/chat/completions", chat(messages=FRANCE, max_tokens=10, stream=stream))
        assert status == 200, told
        if not stream:
            return json.loads(told)["choices"][0]["message"]["content"]
        *parts, done = re.findall(r"^data: (.*)", told.decode(), re.MULTILINE)
        assert done == "[DONE]", told
        return "".join(choice["delta"].get("content") or "" for part in parts for choice in json.loads(part)["choices"])

    def memory_mb(self, name="VmRSS"):
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return int(re.search(rf"^{name}:\s+(\d+)", file.read(), re.MULTILINE).group(1)) / 1024

    def unsettled(self):
        """What is still there of those who were there; nothing where all have gone."""
        if requests := json.loads(self.ask("/v1/queue", method="GET")[1])["requests"]:
            return f"requests are under way: {requests[:3]}"
        metrics = self.ask("/metrics", method="GET")[1].decode()
        for name in ("mynah_connections", "mynah_request_threads"):
            if (found := float(re.search(rf"^{name} (\S+)", metrics, re.MULTILINE).group(1))) > 1:
                return f"{name} is {found}"
        return None

    def settle(self):
        end = time.monotonic() + PATIENCE_S
        while left := self.unsettled():
            assert time.monotonic() < end, left
            time.sleep(0.05)

    def log(self):
        return "".join(self.server.log)


class Neighbour:
    """Somebody who asks the same all the time, and what becomes of it."""

    def __init__(self, watched):
        self.watched = watched
        self.waits = []
        self.wrong = []
        begin = time.monotonic()
        watched.reply()
        self.longest = max(LONGEST_S, TIMES_ALONE * (time.monotonic() - begin))
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.go)

    def go(self):
        while not self.over.is_set():
            begin = time.monotonic()
            try:
                if (text := self.watched.reply(stream=len(self.waits) % 2 == 1)) != self.watched.text:
                    self.wrong.append(text)
            except Exception as error:  # whatever it is told in place of a reply
                self.wrong.append(repr(error))
            self.waits.append(time.monotonic() - begin)
            self.over.wait(0.05)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Checks:
    def __init__(self, watched, grows):
        self.watched = watched
        self.grows = grows
        self.longest = 0.0

    def as_before(self, neighbour):
        """Nobody else was hurt, and the server is what it was."""
        assert self.watched.server.process.poll() is None, f"the server ended with {self.watched.server.process.returncode}: {self.watched.log()[-3000:]}"
        assert not neighbour.wrong, f"somebody else got {neighbour.wrong[:3]}"
        assert max(neighbour.waits) < neighbour.longest, f"somebody else waited for {max(neighbour.waits):.1f} s"
        self.longest = max(self.longest, *neighbour.waits)
        self.watched.settle()
        assert self.watched.reply() == self.watched.text
        end = time.monotonic() + PATIENCE_S
        while (grown := self.watched.memory_mb() - self.grows) > 0:  # what nobody uses is given back once threads rest
            assert time.monotonic() < end, f"{grown:.0f} MB more than it may have"
            time.sleep(1)
        log = self.watched.log()
        assert not (fault := re.search(r".*(Sanitizer|runtime error|terminate called|a fault of|went wrong).*", log)), fault.group(0)
        assert not (fault := re.search(r".* /\S* 5\d\d .*", log)), fault.group(0)

    def send_all(self, bodies, path="/v1/chat/completions"):
        """Sends each of (name, body, statuses), and looks at each answer."""
        with Neighbour(self.watched) as neighbour:
            for name, body, wanted in bodies:
                begin = time.monotonic()
                try:
                    status, told = self.watched.ask(path, body)
                except (ConnectionResetError, http.client.IncompleteRead):
                    # Behind the white space that keeps gateways patient an error breaks the answer off.
                    assert time.monotonic() - begin > FILLED_S, name
                    continue
                took = time.monotonic() - begin
                if os.environ.get("HOSTILE_TELLS"):
                    print(f"{took:6.2f} s {self.watched.memory_mb():5.0f} MB {status} {path} {name}: {told[:300].decode(errors='replace')}", flush=True)
                assert status in wanted, (name, status, told[:500])
                if status != 200:
                    self.is_clear(name, told)
        self.as_before(neighbour)

    @staticmethod
    def is_clear(name, told):
        """One error with a message that somebody can read."""
        error = json.loads(told)["error"]
        message = error if isinstance(error, str) else error["message"]
        assert 10 < len(message) < LONGEST_ERROR, (name, len(message), message[:300])

    def check_a_prompts_of_megabytes(self):
        self.send_all(big_prompts())
        self.send_all([("raw", json.dumps({"model": "x", "prompt": "word " * 200_000, "raw": True, "stream": False}), (400,))], "/api/generate")
        self.send_all([("text", json.dumps({"model": "x", "prompt": "word " * 200_000}), (400,))], "/v1/completions")
        self.send_all([("input", json.dumps({"model": "x", "input": "word " * 200_000}), (400,))], "/v1/responses")

    def check_b_text_that_is_none(self):
        self.send_all(bad_text())

    def check_c_messages_that_are_none(self):
        for path, bodies in bad_messages():
            self.send_all(bodies, path)

    def check_d_schemas_that_are_bombs(self):
        schemas = schema_bombs()
        self.send_all([(name, chat(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}), (200, 400)) for name, schema in schemas])
        tool = {"tool_choice": "required", "max_tokens": 4}
        self.send_all([(f"{name} of a tool", chat(tools=[function("f", schema)], **tool), (200, 400)) for name, schema in schemas])

    def check_e_grammars_that_are_bombs(self):
        self.send_all([(name, chat(grammar=text, max_tokens=16), (200, 400)) for name, text in grammar_bombs()])

    def check_f_options_that_are_bombs(self):
        self.send_all(bad_options())

    def check_g_tools_without_end(self):
        self.send_all(tool_bombs())

    def check_h_owners_without_end(self):
        """What a conversation is shared within is as long as a client likes, and kept with it."""
        keys = [(f"key {i}", chat(messages=said(f"{i} " + "word " * 40), prompt_cache_key=f"{i}" + "k" * (2 << 20), user="u" * (2 << 20), max_tokens=1), (200, 400)) for i in range(40)]
        self.send_all(keys[:2])
        before = self.watched.memory_mb()
        self.send_all(keys)
        # Their texts are kept, 1.4 MB each; who asked would be 4 MB more.
        assert (grown := self.watched.memory_mb() - before) < 128, f"{grown:.0f} MB are kept of who asked"

    def check_i_ollamas(self):
        for path, bodies in bad_ollama():
            self.send_all(bodies, path)

    def leave_all(self, data, streams):
        """Somebody leaves behind as many bytes of an answer, if any come before its end."""
        with Neighbour(self.watched) as neighbour:
            for i in range(LEAVING):
                client = Client(self.watched.port)
                client.send(data)
                if streams and i % 3:
                    client.socket.recv(1 + 37 * i)
                client.leave(("close", "reset")[i % 2])
        self.as_before(neighbour)

    def check_j_who_leave_in_the_middle(self):
        """A reply that nobody waits for ends: a thousand tokens of each would take minutes."""
        begin = time.monotonic()
        for path, fields in (("/v1/chat/completions", {"stream": True}), ("/v1/chat/completions", {"stream": False}), ("/v1/responses", {"stream": True, "input": "Go on."}), ("/api/chat", {"model": "x"})):
            long = json.loads(chat(max_tokens=4000, logit_bias={"2": -100})) | {"options": {"num_predict": 4000}} | fields
            self.leave_all(request(path, json.dumps(long).encode(), "application/json"), fields.get("stream", True))
        assert (took := time.monotonic() - begin) < PATIENCE_S, f"{took:.0f} s"

    def check_k_who_take_nothing(self):
        """Streams that nobody takes are written to their end, and hold nobody up."""
        with Neighbour(self.watched) as neighbour:
            clients = [Client(self.watched.port, small=True) for _ in range(WHO_TAKE_NOTHING)]
            for client in clients:
                client.send(request("/v1/chat/completions", chat(stream=True, max_tokens=40).encode(), "application/json"))
            end = time.monotonic() + PATIENCE_S
            while len(json.loads(self.watched.ask("/v1/queue", method="GET")[1])["requests"]) > 1 and time.monotonic() < end:
                time.sleep(0.1)
            for client in clients:
                client.leave("reset")
        self.as_before(neighbour)

    def check_l_closed_at_every_byte(self):
        data = request("/v1/chat/completions", chat(stream=True, max_tokens=2).encode(), "application/json")
        with Neighbour(self.watched) as neighbour:
            for end in range(0, len(data)):
                client = Client(self.watched.port)
                client.send(data[:end])
                client.leave(("close", "reset", "half-close")[end % 3])
        self.as_before(neighbour)

    def check_m_more_than_there_is_room_for(self):
        """So many at once that some are told to come again; whoever was there first has his reply."""
        with Neighbour(self.watched):
            clients = [Client(self.watched.port) for _ in range(300)]
            for client in clients:
                client.send(request("/v1/chat/completions", chat(max_tokens=2).encode(), "application/json", b"Connection: close\r\n"))
            statuses = [client.rest()[9:12] for client in clients]
        assert set(statuses) <= {b"200", b"429", b"503"} and statuses.count(b"200") > 30, {one: statuses.count(one) for one in statuses}
        self.watched.settle()
        assert self.watched.reply() == self.watched.text

    def check_n_conversations_without_end(self):
        self.send_all(long_conversations())

    def check_o_numbers_that_are_none(self):
        self.send_all(numbers_that_are_none())

    def check_p_texts_for_vectors(self):
        for path, bodies in text_lists():
            self.send_all(bodies, path)

    def check_q_texts_to_go_on_with(self):
        self.send_all(texts_to_go_on_with(), "/v1/completions")

    def converse(self, events):
        """A client of Realtime that has sent these events."""
        client = Client(self.watched.port)
        client.send(UPGRADE.replace(b"?intent=transcription", b""))
        client.send(b"".join(frame(json.dumps(event)) for event in events))
        return client

    def check_r_conversations_out_loud(self):
        with Neighbour(self.watched) as neighbour:
            for i, (name, events, last) in enumerate(bad_conversations()):
                client = self.converse(events)
                try:
                    told = client.until(last)
                except TimeoutError:
                    raise AssertionError(f"{name}: {last} does not come") from None
                assert b"a fault of" not in told, (name, told[-500:])
                client.leave(("close", "reset")[i % 2])
        self.as_before(neighbour)

    def check_s_who_leave_a_conversation(self):
        """Nobody waits for what they asked for, spoken or not."""
        with Neighbour(self.watched) as neighbour:
            for i in range(LEAVING):
                wish = {"max_output_tokens": 4000, "output_modalities": [("text", "audio")[i % 2]]}
                client = self.converse([to_say("Count to a million."), respond(**wish), respond(conversation="none", input=[], **wish)])
                client.until((b"response.created", b".delta")[i % 2])
                client.leave(("close", "reset")[i % 2])
        self.as_before(neighbour)

    def check_t_who_leave_in_a_pause(self):
        """What was prepared for the end of their turn ends with them, wherever it was."""
        status, sound = self.watched.ask("/v1/audio/speech", json.dumps({"input": "What time is it in Rome?", "response_format": "pcm"}))
        assert status == 200, sound
        sound += bytes(PAUSE_BYTES)
        pieces = [sound[at : at + PAUSE_BYTES] for at in range(0, len(sound), PAUSE_BYTES)]
        wish = {"type": "session.update", "session": {"max_output_tokens": 4000, "audio": {"input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 5000}}}}}
        spoken = [{"type": "input_audio_buffer.append", "audio": base64.b64encode(piece).decode()} for piece in pieces]
        with Neighbour(self.watched) as neighbour:
            for i in range(LEAVING // 4):
                client = self.converse([wish, *spoken])
                client.until(b"speech_started")
                time.sleep(i * LEAVE_LATER_S)
                client.leave(("close", "reset")[i % 2])
        self.as_before(neighbour)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("weights")
    parser.add_argument("--grows", type=float, default=700)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not os.path.isfile(f"{options.weights}/{CHAT_MODEL}") or not os.path.isdir(f"{options.weights}/tiny.en"):
        print("no weights here")
        return 77
    every_day = {name for name in vars(Checks) if name.startswith("check_") and (options.all or options.only or name[6] not in SLOW)}
    for name in [name for name in vars(Checks) if name.startswith("check_") and (options.only not in name or name not in every_day)]:
        delattr(Checks, name)
    with tempfile.TemporaryDirectory() as home:
        watched = Watched(options.program, options.weights, home)
        try:
            watched.text = watched.reply()
            assert "Paris" in watched.text, watched.text
            first = watched.memory_mb()
            checks = Checks(watched, first + options.grows)
            passed, failed = run_checks(checks)
            if watched.server.process.poll() is None:
                print(f"memory: {first:.0f} MB at first, {watched.memory_mb():.0f} MB at last, {watched.memory_mb('VmHWM'):.0f} MB at most; somebody else waited for {checks.longest:.1f} s at most")
        finally:
            code = watched.server.stop()
        if code != 0:
            failed += 1
            print(f"FAILED: the server ended with {code}:\n{watched.log()[-4000:]}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
