#!/usr/bin/env python3
"""./dev bench soak: what `mynah serve` keeps of 10,000 mixed requests: memory, descriptors and threads, every answer looked at.

Eight clients ask at once, the same mix at every run: recordings heard in each form and by other servers' interfaces, jobs, texts spoken in each
format (hibari, Piper's joe, some by Kokoro), lists, health, errors, Wyoming, Realtime, and clients that leave in the middle. Every request is
asked once alone first, when the answer itself is looked at; each later answer must be the same. After each fifth all connections are closed, a
last clip is heard alone, and the server is looked at when it rests: from the first fifth to the last its memory may grow by 2 MB, its
descriptors and threads not at all.

usage: soak.py [--requests N] [--clients N] [--only KIND ...] [--share-texts] [--threads N] [--seed N] [--json]
"""
import argparse
import collections
import json
import queue
import random
import sys
import tempfile
import threading
import time

import live_clients
import mixed_requests
import serve
import serving

CLIPS = 6
SHORTEST_S, LONGEST_S = 1.5, 5
STEPS = 5  # after the first of which nothing is to grow
MOST_MB = 2
REST_S = 12  # threads that have nothing to do end after ten
LONGEST_REST_S = 40
SHOWN = 5


class Soak:
    def __init__(self, server, asker, kinds, last):
        self.server = server
        self.new_asker = asker
        self.last = last
        self.kinds = kinds
        self.answers = {}
        self.wrong = []
        self.took_s = collections.defaultdict(float)

    def ask_each_once(self):
        asker = self.new_asker()
        for kind in self.kinds:
            for i, request in enumerate(kind.requests):
                answer = request(asker)
                if not kind.is_right(answer):
                    sys.exit(f"{kind.name}: wanted a right answer, found {str(answer)[:300]}")
                self.answers[kind.name, i] = kind.steady(answer)
        asker.close()

    def ask(self, asker, kind, i):
        begin = time.perf_counter()
        try:
            answer = kind.steady(kind.requests[i](asker))
            if answer != self.answers[kind.name, i]:
                self.wrong.append(f"{kind.name} {i}: wanted {str(self.answers[kind.name, i])[:300]}, found {str(answer)[:300]}")
        except (Exception, SystemExit) as error:  # whatever a client meets
            self.wrong.append(f"{kind.name} {i}: {type(error).__name__} {error}")
            asker.close()
        self.took_s[kind.name] += time.perf_counter() - begin

    def run(self, requests, clients):
        waiting = queue.SimpleQueue()
        for one in requests:
            waiting.put(one)

        def work():
            asker = self.new_asker()
            while True:
                try:
                    kind, i = waiting.get_nowait()
                except queue.Empty:
                    break
                self.ask(asker, kind, i)
            asker.close()

        threads = [threading.Thread(target=work) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def look(self):
        """Once it rests: MB, descriptors, threads. What a voice computed with is kept until a recording is heard, whoever came last."""
        asker = self.new_asker()
        self.last(asker)
        asker.close()
        seen, since, begin = None, time.monotonic(), time.monotonic()
        while time.monotonic() - since < REST_S and time.monotonic() - begin < LONGEST_REST_S:
            time.sleep(0.1)
            now = (serving.descriptors_of(self.server), serving.threads_of(self.server), round(serving.resident_mb(self.server)))
            if now != seen:
                seen, since = now, time.monotonic()
        return {"MB": round(serving.resident_mb(self.server), 2), "descriptors": seen[0], "threads": seen[1]}


def clips_and_samples():
    """WAV files by their names, and the samples of one of them for Wyoming and Realtime."""
    clips = sorted((seconds, path) for path, seconds in serve.clips() if SHORTEST_S <= seconds <= LONGEST_S)[:CLIPS]
    files = {path: serving.wav_of(serving.samples_of(path, live_clients.WYOMING_RATE), live_clients.WYOMING_RATE) for _, path in clips}
    first = clips[0][1]
    return files, [serving.samples_of(first, rate) for rate in (live_clients.WYOMING_RATE, live_clients.REALTIME_RATE)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--only", nargs="*", help="kinds of requests: the begins of their names")
    parser.add_argument("--share-texts", action="store_true", help="hear a recording that is sent again once, as servers do by themselves")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    clips, samples = clips_and_samples()
    kinds = mixed_requests.kinds(clips, samples)
    if options.only:
        kinds = [kind for kind in kinds if kind.name.startswith(tuple(options.only))]
    home = serving.home_with("kokoro", "kokoro-voices", "english-phonemes", "hibari", "joe")
    with tempfile.TemporaryDirectory() as folder:
        port = serving.free_port()
        flags = ["--keep-alive", "1h"] + ([] if options.share_texts else ["--no-share-texts"])
        server, address = serving.start(options.threads, home, *flags, state=folder, keys=mixed_requests.KEY, wyoming_port=port)
        soak = Soak(server, lambda: mixed_requests.Asker(address, port), kinds, mixed_requests.hear(next(iter(clips.values()))))
        soak.ask_each_once()
        draw = random.Random(options.seed)
        drawn = [(kind, draw.randrange(len(kind.requests))) for kind in draw.choices(kinds, [kind.weight for kind in kinds], k=options.requests)]
        looks, begin = {}, time.monotonic()
        for step in range(STEPS):
            soak.run(drawn[len(drawn) * step // STEPS : len(drawn) * (step + 1) // STEPS], options.clients)
            done = len(drawn) * (step + 1) // STEPS
            looks[done] = soak.look()
            print(f"... {done} after {time.monotonic() - begin:.0f} s: {looks[done]}, {len(soak.wrong)} wrong", file=sys.stderr, flush=True)
        lives = server.poll() is None
        serving.end(server)
    first, last = list(looks.values())[0], list(looks.values())[-1]
    counts = collections.Counter(kind.name for kind, _ in drawn)
    report = {
        "requests": len(drawn),
        "seconds": round(time.monotonic() - begin),
        "wrong": len(soak.wrong),
        "after": looks,
        "more MB": round(last["MB"] - first["MB"], 2),
        "kinds": {name: {"requests": count, "s": round(soak.took_s[name], 1)} for name, count in counts.items()},
    }
    print(json.dumps(report, indent=None if options.json else 1))
    for what in soak.wrong[:SHOWN]:
        print(what, file=sys.stderr)
    grown = [what for what in ("descriptors", "threads") if last[what] > first[what]] + (["memory"] if last["MB"] - first["MB"] > MOST_MB else [])
    if not lives or soak.wrong or grown:
        sys.exit(f"the server {'lives' if lives else 'ended'}, {len(soak.wrong)} answers were wrong, and these grew: {', '.join(grown) or 'none'}")


if __name__ == "__main__":
    main()
