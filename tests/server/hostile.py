#!/usr/bin/env python3
"""What clients must not be able to do to `mynah serve`: break it, keep others from it, or use it up.

They close at every byte, send what is no request, too much, too slowly or nothing, and take nothing of what they are answered. Behind each kind
of them the server is as it was: it hears a recording with the same text, nothing is under way, descriptors and what was sent are gone, its memory
is not much more, it told nobody of a fault of its own.

usage: hostile.py MYNAH MYNAH_SHARED MYNAH_WEIGHTS [--all] [--grows MB]
  --all     those who are slow until they are dropped, too, and then all of it once more (three minutes)
  --grows   so much memory may be added from the first group to the last (of a sanitizer: more)
"""
import argparse
import glob
import http.client
import json
import os
import re
import socket
import struct
import sys
import tempfile
import threading
import time

from hostile_bytes import *
from serving import Server, free_port, run_checks, unsent

CLIP = "speech/clips/jfk_jfk.flac"
KINDS = ("close", "reset", "half-close")
PLACES = 200
PATIENCE_S, HANGS_S = 20, 300  # the second is no measure of speed: what takes so long does not come
WORK_THREADS = 256  # which a server keeps
SLOW = 300
AGAIN_MB = 64


class Client:
    """A socket of somebody who means no good."""

    def __init__(self, port, small=False):
        self.socket = socket.socket()
        if small:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", port))

    def send(self, data):
        """What the server takes of it before it closes."""
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def rest(self, most=1 << 22):
        """What is answered until the server closes."""
        told = b""
        try:
            while len(told) < most and (piece := self.socket.recv(1 << 16)):
                told += piece
        except TimeoutError:
            raise AssertionError(f"the server does not close behind {told[:300]}") from None
        except OSError:
            pass
        self.socket.close()
        return told

    def until(self, what):
        """What is answered up to that."""
        told = b""
        while what not in told:
            piece = self.socket.recv(1 << 16)
            assert piece, f"wanted {what}, the server closes behind {told[-300:]}"
            told += piece
        return told

    def half_close(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:  # the server was first
            pass

    def leave(self, kind):
        if kind == "reset":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if kind == "half-close":
            self.half_close()
            self.rest()
        self.socket.close()


class Busy(Exception):
    """The server tells a client to come again."""


class Watched:
    """The server, and what can be seen of it from outside."""

    def __init__(self, program, weights, home, clip):
        self.wyoming = free_port()
        options = ["--wyoming-port", str(self.wyoming), "--voice-model", "builtin", "--vad-model", f"{weights}/silero/silero_vad_16k_op15.onnx", "--no-share-texts"]
        self.server = Server(program, weights, home, options, {})
        self.pid = self.server.process.pid
        self.port = int(self.server.address.rsplit(":", 1)[1])
        self.clip = clip
        self.text = self.hear()
        assert "ask not what your country can do for you" in self.text.lower(), self.text

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request("GET", path)
        told = connection.getresponse().read()
        connection.close()
        return told

    def hear(self, comes_from="127.0.0.1"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=(comes_from, 0))
        connection.request("POST", "/v1/audio/transcriptions", form(self.clip), {"Content-Type": "multipart/form-data; boundary=b"})
        answer = connection.getresponse()
        told = answer.read()
        connection.close()
        if answer.status == 429:
            raise Busy(told)
        assert answer.status == 200, told
        return json.loads(told)["text"]

    def descriptors(self):
        files = []
        for path in glob.glob(f"/proc/{self.pid}/fd/*"):
            try:
                files.append(os.readlink(path))
            except OSError:  # closed meanwhile
                pass
        return files

    def status(self, name):
        with open(f"/proc/{self.pid}/status") as file:
            return int(re.search(rf"^{name}:\s+(\d+)", file.read(), re.MULTILINE).group(1))

    def log(self):
        return "".join(self.server.log)

    def unsettled(self):
        """What is still there of those who were there; nothing where all have gone."""
        if requests := json.loads(self.get("/v1/queue"))["requests"]:
            return f"requests are under way: {requests[:3]}"
        metrics = self.get("/metrics").decode()
        for name, most in (("mynah_connections", 1), ("mynah_request_threads", 1)):
            if (found := float(re.search(rf"^{name} (\S+)", metrics, re.MULTILINE).group(1))) > most:
                return f"{name} is {found}"
        if uploads := [one for one in self.descriptors() if "mynah-upload" in one or "/var/tmp/" in one]:
            return f"uploads are kept: {uploads[:3]}"
        return None

    def settle(self):
        end = time.monotonic() + HANGS_S
        while left := self.unsettled():
            assert time.monotonic() < end, left
            time.sleep(0.02)


def hosts(address):
    return f"Host: 127.0.0.1:{address}\r\n".encode()


class Checks:
    def __init__(self, watched, everything, grows):
        self.watched = watched
        self.everything = everything
        self.port, self.wyoming = watched.port, watched.wyoming
        self.clip = watched.clip
        self.grows = grows
        watched.settle()
        self.first = (len(watched.descriptors()), watched.status("Threads"), watched.status("VmRSS"))

    def as_before(self):
        """The server is what it was."""
        assert self.watched.server.process.poll() is None, f"the server ended with {self.watched.server.process.returncode}: {self.watched.log()[-3000:]}"
        assert (heard := self.watched.hear()) == self.watched.text, heard
        self.watched.settle()
        files, threads, memory = self.first
        assert len(self.watched.descriptors()) <= files + 4, sorted(self.watched.descriptors())
        assert self.watched.status("Threads") <= threads + WORK_THREADS, self.watched.status("Threads")
        grown = (self.watched.status("VmRSS") - memory) / 1024
        assert grown <= self.grows, f"{grown:.0f} MB more than at first"
        jobs = json.loads(self.watched.get("/v1/jobs"))["data"]
        assert not jobs, f"jobs of which half was sent: {jobs}"
        log = self.watched.log()
        assert not (fault := re.search(r".*(Sanitizer|runtime error|terminate called|a fault of|went wrong).*", log)), fault.group(0)
        assert not (fault := re.search(r".* /\S* 5\d\d .*", log)), fault.group(0)

    def cut(self, data, ends, port=None, kinds=KINDS, begin=b""):
        """Somebody closes behind each of those many bytes, in each of the ways."""
        for kind in kinds:
            for end in ends:
                client = Client(port or self.port)
                client.send(begin + data[:end])
                client.leave(kind)

    def places(self, data):
        return sorted({len(data) * i // PLACES for i in range(1, PLACES)})

    def refused(self, data, wanted, port=None):
        client = Client(port or self.port)
        client.send(data)
        try:
            told = client.rest()
        except AssertionError as error:
            raise AssertionError(f"{data[:120]} ... {data[-60:]}: {error}") from None
        status = told[9:12].decode()
        assert told.startswith(b"HTTP/1.1 ") and int(status) in wanted, (data[:120], wanted, told[:300])

    def check_a_heads_closed_at_every_byte(self):
        get = b"GET /v1/models?task=stt HTTP/1.1\r\n" + hosts(self.port) + b"Authorization: Bearer nobody\r\nAccept: */*\r\n\r\n"
        self.cut(get, range(len(get) + 1))
        self.as_before()

    def check_b_forms_closed_at_every_byte(self):
        data = request("/v1/audio/transcriptions", form(b"12345"), "multipart/form-data; boundary=b")
        self.cut(data, range(len(data)))
        self.as_before()

    def check_c_chunks_closed_at_every_byte(self):
        body = b'{"input": "One.", "voice": "slt", "response_format": "pcm"}'
        chunks = b"".join(b"%x;a=b\r\n%s\r\n" % (len(body[at : at + 9]), body[at : at + 9]) for at in range(0, len(body), 9)) + b"0\r\nTrailer: x\r\n\r\n"
        data = request("/v1/audio/speech", None, "application/json", b"Transfer-Encoding: chunked\r\n") + chunks
        self.cut(data, range(len(data)))
        self.as_before()

    def check_d_sockets_closed_at_every_byte(self):
        self.cut(UPGRADE, range(0, len(UPGRADE)))
        messages = frame(json.dumps({"type": "session.update", "session": {"type": "transcription"}})) + frame(b"hello", 9) + frame("a", last=False) + frame("b", 0) + frame(b"\x03\xe8", 8)
        self.cut(messages, range(len(messages) + 1), begin=UPGRADE)
        self.as_before()

    def check_e_wyoming_closed_at_every_byte(self):
        data = wyoming("ping", {"text": "here"}) + b'{"type":"ping","data":{"text":"a"}}\n' + wyoming("audio-start", {"rate": 16000, "width": 2, "channels": 1}) + wyoming("audio-chunk", {"rate": 16000, "width": 2, "channels": 1}, b"12")
        self.cut(data, range(len(data) + 1), self.wyoming)
        self.as_before()

    def check_f_bodies_closed_at_200_places(self):
        sound = self.clip
        whole = request("/v1/audio/transcriptions", form(sound), "multipart/form-data; boundary=b")
        speech = request("/v1/audio/speech", json.dumps({"input": "a" * 3000, "voice": "slt"}).encode(), "application/json")
        job = request("/v1/jobs", form(sound), "multipart/form-data; boundary=b")
        for data in (whole, speech, job):
            self.cut(data, self.places(data), kinds=KINDS if self.everything else KINDS[:2])
        samples = bytes(PLACES * 640)
        start = wyoming("transcribe", {}) + wyoming("audio-start", {"rate": 16000, "width": 2, "channels": 1})
        chunks = b"".join(wyoming("audio-chunk", {"rate": 16000, "width": 2, "channels": 1}, samples[at : at + 2048]) for at in range(0, len(samples), 2048))
        self.cut(chunks, self.places(chunks), self.wyoming, begin=start, kinds=KINDS[:2])
        appended = b"".join(frame(json.dumps({"type": "input_audio_buffer.append", "audio": "AAAA" * 200})) for _ in range(100))
        self.cut(appended, self.places(appended), begin=UPGRADE, kinds=KINDS[:2])
        self.as_before()

    def check_g_heads_that_are_none(self):
        line = b"POST /v1/audio/speech HTTP/1.1\r\n" + hosts(self.port)
        for head, wanted in bad_heads():
            self.refused(line + head + b"\r\n\r\n", wanted)
        for data, wanted in bad_lines():
            self.refused(data, wanted)
        self.as_before()

    def check_h_bodies_that_lie(self):
        for data, wanted in lying_bodies():
            self.refused(data, wanted)
        # More is announced than is sent: whoever sends no more is gone.
        for data in (chunked(b"ffffffffffffffff\r\n" + b"a" * 100), chunked(b"5\r\nab"), chunked(b""), request("/v1/audio/speech", b"{}", "application/json")[:-1]):
            client = Client(self.port)
            client.send(data)
            client.leave("half-close")
        self.as_before()

    def check_i_forms_that_are_none(self):
        for body, wanted in bad_forms(self.clip):
            self.refused(request("/v1/audio/transcriptions", body, "multipart/form-data; boundary=b", b"Connection: close\r\n"), wanted)
        for kind in (b"multipart/form-data", b"multipart/form-data; boundary=", b"multipart/form-data; boundary=" + b"b" * 71, b"multipart/form-data; boundary=\"b", b"multipart/mixed; boundary=b"):
            self.refused(request("/v1/audio/transcriptions", form(b"x"), kind.decode(), b"Connection: close\r\n"), (400, 415))
        self.as_before()

    def check_j_json_that_is_none(self):
        for path in ("/v1/audio/speech", "/dev/phonemize", "/v1/realtime/client_secrets", "/dev/dialogue"):
            for body in bad_json():
                self.refused(request(path, body, "application/json", b"Connection: close\r\n"), (200, 400, 413) if path.endswith("secrets") else (400, 413))
        self.as_before()

    def check_k_pipelined_requests(self):
        """Each has its answer, in its order; whoever takes none of them is no harm."""
        client = Client(self.port)
        one = b"GET /version HTTP/1.1\r\n" + hosts(self.port) + b"\r\n"
        client.send(one * 200 + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert client.rest().count(b"HTTP/1.1 200") == 201
        never = [Client(self.port, small=True) for _ in range(20)]
        for client in never:
            client.socket.setblocking(False)
            client.send((b"GET /openapi.json HTTP/1.1\r\n" + hosts(self.port) + b"\r\n") * 100)
        assert self.watched.hear() == self.watched.text
        for client in never:
            client.leave("reset")
        self.as_before()

    def check_l_frames_that_are_none(self):
        for data, code in bad_frames():
            client = Client(self.port)
            client.send(UPGRADE + data)
            told = client.until(b"\r\n\r\n")
            while close_code(told) is None:
                assert (piece := client.socket.recv(1 << 16)), f"wanted a frame that closes, the server closes behind {told[-100:]}"
                told += piece
            assert close_code(told) == code, (data[:40], code, told[-100:])
            client.leave("close")
        self.as_before()

    def check_m_messages_that_are_none(self):
        """An error each, and the socket goes on."""
        for text in bad_messages():
            client = Client(self.port)
            client.send(UPGRADE + frame(text))
            told = client.until(b'"type":"error"')
            client.send(frame(b"", 8))
            assert close_code(told + client.rest()) == 1005, (text[:80], told[-300:])
        client = Client(self.port)
        client.send(UPGRADE + frame(b"") * 20000 + frame(b"p", 9) * 20000 + frame("", last=False) + frame("", 0, last=False) * 20000)
        client.leave("close")
        self.as_before()

    def check_n_wyoming_that_is_none(self):
        for data in bad_wyoming():
            client = Client(self.wyoming)
            client.send(data)
            client.half_close()
            told = client.rest()
            assert not told or b'"type":"error"' in told, (data[:80], told[:300])
        for data in refused_wyoming():
            client = Client(self.wyoming)
            client.send(data)
            client.until(b'"type":"error"')
            client.leave("close")
        # A line that is long, and a byte at a time of what it announces.
        client = Client(self.wyoming)
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.send(b'{"type":"audio-chunk","payload_length":16000000,"x":[' + b"0," * 30000 + b"0]}\n")
        begin = time.monotonic()
        for _ in range(3000):
            client.send(b"a")
        assert self.watched.get("/version")
        assert (took := time.monotonic() - begin) < 3, f"{took} s"
        client.leave("reset")
        self.as_before()

    def check_o_messages_without_end(self):
        """Nobody has the server keep more than a little of what is not dealt with yet."""
        before = self.watched.status("VmRSS")
        flood = Client(self.wyoming, small=True)
        flood.socket.settimeout(0.3)
        sent = 0
        try:
            while sent < (200 << 20):
                flood.socket.sendall(b'{"type":"describe"}\n' * 3000)
                sent += 60000
        except TimeoutError:
            pass
        # Wyoming's client takes nothing: the server stops reading.
        assert sent < (60 << 20), f"{sent >> 20} MB were taken"
        grown = (self.watched.status("VmRSS") - before) / 1024
        assert grown < self.grows, f"{grown:.0f} MB are kept for one client"
        flood.leave("reset")
        self.as_before()

    def check_p_recordings_that_are_none(self):
        for name, sound in bad_sounds():
            data = request("/v1/audio/transcriptions", form(sound, name), "multipart/form-data; boundary=b", b"Connection: close\r\n")
            self.refused(data, (400, 413))
        self.as_before()

    def slow_ones(self, count):
        """Clients that send a byte a second: heads, bodies, Wyoming's lines; and some that never do."""
        head = b"GET /v1/models HTTP/1.1\r\n" + hosts(self.port) + b"A: " + b"a" * 200
        body = request("/v1/audio/transcriptions", form(self.clip), "multipart/form-data; boundary=b")
        middle = body.index(b"\r\n\r\n") + 300
        wyoming_line = b'{"type":"ping","data":{"text":"' + b"a" * 200
        starts = [(self.port, head, 30), (self.port, body, middle), (self.wyoming, wyoming_line, 5), (self.port, b" " * 100, 0)]
        clients = []
        for i in range(count):
            port, data, sent = starts[i % len(starts)]
            client = Client(port)
            client.send(data[:sent])
            clients.append([client, data, sent, port, time.monotonic()])
        return clients

    def trickle(self, clients, until, dropped):
        """A byte a second of each, until they are dropped or it is over."""
        while clients and time.monotonic() < until:
            for one in list(clients):
                client, data, sent, port, begun = one
                client.socket.setblocking(False)
                try:
                    if told := client.socket.recv(4096):
                        dropped.setdefault(told[:12], []).append(time.monotonic() - begun)
                    else:
                        dropped.setdefault(b"closed", []).append(time.monotonic() - begun)
                    client.socket.close()
                    clients.remove(one)
                    continue
                except BlockingIOError:
                    pass
                except OSError:
                    dropped.setdefault(b"closed", []).append(time.monotonic() - begun)
                    clients.remove(one)
                    continue
                if data[sent : sent + 1] != b" ":
                    client.send(data[sent : sent + 1])
                    one[2] += 1
            time.sleep(min(1, max(0, until - time.monotonic())))

    def check_q_slow_ones(self):
        alone = self.timed()
        clients, dropped = self.slow_ones(SLOW), {}
        until = time.monotonic() + (100 if self.everything else 2)
        slow = threading.Thread(target=self.trickle, args=(clients, until, dropped))
        slow.start()
        beside = [self.timed() for _ in range(3)]
        assert min(beside) < 2 * alone + 0.2, f"{beside} s beside those who are slow, {alone} s alone"
        slow.join()
        if self.everything:
            assert not clients, f"{len(clients)} slow clients are still there: {[one[1][:40] for one in clients[:3]]}"
            print({name.decode(): (len(times), round(max(times))) for name, times in dropped.items()})
            assert len(dropped[b"HTTP/1.1 408"]) == SLOW // 2, dropped.keys()
        for client, *_ in clients:
            client.leave("reset")
        self.as_before()

    def check_r_who_takes_nothing(self):
        """Speech that nobody takes is not computed; it holds a thread each, until another wants it, and leaves some to other addresses."""
        body = json.dumps({"input": "One. [pause:10s] " * 20, "voice": "slt", "response_format": "wav"}).encode()
        clients = [Client(self.port, small=True) for _ in range(SLOW)]
        for client in clients:
            client.send(request("/v1/audio/speech", body, "application/json"))
        assert self.watched.hear("127.0.0.2") == self.watched.text
        end = time.monotonic() + HANGS_S
        while True:  # one of them goes once it has taken nothing for a second
            try:
                self.timed()
                break
            except Busy as told:
                assert time.monotonic() < end, told
                time.sleep(0.1)
        assert (kept := unsent(self.port)) < 1 << 20, f"{kept} bytes were computed for a client that takes nothing"
        for client in clients:
            client.leave("reset")
        self.as_before()

    def check_s_more_than_there_is_room_for(self):
        """Silent connections, as many as there may be: who asks is served."""
        clients = [Client(self.port) for _ in range(1100)]
        begin = time.monotonic()
        assert self.watched.hear() == self.watched.text
        assert (took := time.monotonic() - begin) < 15, took
        for client in clients:
            client.leave("close")
        self.as_before()

    def timed(self):
        begin = time.monotonic()
        assert self.watched.hear() == self.watched.text
        return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("shared")
    parser.add_argument("weights")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--grows", type=float, default=192)
    options = parser.parse_args()
    if not os.path.isfile(f"{options.shared}/{CLIP}") or not os.path.isdir(f"{options.weights}/tiny.en"):
        print("no recordings or no weights here")
        return 77
    with open(f"{options.shared}/{CLIP}", "rb") as file:
        clip = file.read()
    with tempfile.TemporaryDirectory() as home:
        watched = Watched(options.program, options.weights, home, clip)
        try:
            checks = Checks(watched, options.all, options.grows)
            passed, failed = run_checks(checks)
            if options.all:  # what was kept once is not kept twice
                again = Checks(watched, False, AGAIN_MB)
                passed, failed = map(sum, zip((passed, failed), run_checks(again)))
            print(f"memory: {checks.first[2] / 1024:.0f} MB at first, {watched.status('VmRSS') / 1024:.0f} MB at last; threads: {checks.first[1]}, {watched.status('Threads')}")
        finally:
            code = watched.server.stop()
        if code != 0:
            failed += 1
            print(f"FAILED: the server ended with {code}:\n{watched.log()[-4000:]}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
