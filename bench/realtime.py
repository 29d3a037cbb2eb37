#!/usr/bin/env python3
"""./dev bench realtime: how soon after somebody's words their text is there, and many sessions at once, with tiny.en on this machine.

- One client, English clips as fast as they are spoken: from input_audio_buffer.speech_stopped to the completed text, beside what the
  call in the process takes for the same clip (Server-Timing of POST /v1/audio/transcriptions).
- The same by Wyoming: from audio-stop, which is sent with the last of the sound, to the transcript, which must be the call's.
- Many open sessions, some of whom speak: what a silent one costs in memory, with and without silence as sound; every turn must end
  where it does of a client alone, as no sound is dropped; how late the texts are, and how many are the same to the letter.
- --talk: conversations alone, with SmolLM2 and Kokoro: from the end of the voice, and from input_audio_buffer.speech_stopped, to the
  first sound of the reply, clip after clip, and how many replies had been begun before their turn was over.

usage: realtime.py [--clips N] [--sessions N] [--speaking N] [--threads N] [--talk] [--json]
"""
import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time

import live_clients
import serve
import serving
from live_clients import Realtime, Wyoming

SILENCE_S = 1.5
IN_PROCESS_TIMES = 3
# Of the clip's time in the process, and ms beside it.
MUST = (1.5, 20)
AIM = (1.1, 10)


def in_process_ms(client, path, text=None):
    """What the call takes, which must give that text."""
    times = []
    for _ in range(IN_PROCESS_TIMES):
        heard = client.hear(path, {"language": "en"})["text"]
        if text is not None and heard != text:
            sys.exit(f"{path}: heard as {text!r} by Wyoming, and as {heard!r} in one call")
        times.append(client.hearing_ms)
    return statistics.median(times)


def beside(waits, in_process):
    """How long texts took after the end of speech, beside the same clips in the process."""
    ratios = [wait / took for wait, took in zip(waits, in_process, strict=True)]
    within = lambda share, more: sum(wait <= share * took + more for wait, took in zip(waits, in_process, strict=True))
    return {
        "end of speech to text, ms": serving.spread(waits),
        "the clips in the process, ms": round(statistics.median(in_process), 1),
        "ratio": serving.spread(ratios, 2),
        f"clips within {MUST[0]} times + {MUST[1]} ms": within(*MUST),
        f"clips within {AIM[0]} times + {AIM[1]} ms": within(*AIM),
    }


async def one_by_one(address, work):
    """For each clip: how long its last text took, and what and where it was."""
    waits, heard = [], {}
    for path, frames in work.items():
        session = await Realtime.open(address)
        await session.say(frames)
        await session.settled()
        waits.append(session.waits_ms()[-1])
        heard[path] = (session.turns(), session.text())
        await session.close()
    return waits, heard


async def by_wyoming(port, client, paths, folder):
    waits, in_process = [], []
    for path in paths:
        sound = live_clients.sound_of(path, live_clients.WYOMING_RATE)
        session = await Wyoming.open(port)
        text, wait = await session.hear(live_clients.messages_of(sound))
        await session.close()
        waits.append(wait)
        with open(f"{folder}/turn.wav", "wb") as f:
            f.write(serving.wav_of(sound, live_clients.WYOMING_RATE))
        in_process.append(in_process_ms(client, f"{folder}/turn.wav", text))
    return beside(waits, in_process)


async def many(address, process, work, options):
    silent_count = options.sessions - options.speaking
    before = serving.resident_mb(process)
    silent = [await Realtime.open(address) for _ in range(silent_count)]
    await asyncio.sleep(1)
    opened = serving.resident_mb(process)
    quiet = live_clients.frames_of(bytes(live_clients.REALTIME_RATE * 2 * 3))
    await asyncio.gather(*[session.say(quiet) for session in silent])
    listening = serving.resident_mb(process)
    speakers = [await Realtime.open(address) for _ in range(options.speaking)]
    paths = [list(work)[i % len(work)] for i in range(options.speaking)]
    await asyncio.gather(*[session.say(work[path]) for session, path in zip(speakers, paths)])
    await asyncio.gather(*[session.settled() for session in speakers])
    threads = serving.threads_of(process)
    waits = [wait for session in speakers for wait in session.waits_ms()]
    heard = [(path, session.turns(), session.text()) for session, path in zip(speakers, paths)]
    for session in silent + speakers:
        await session.close()
    return {
        "a session without sound, KB": round(1024 * (opened - before) / silent_count),
        "a session that sends silence, KB": round(1024 * (listening - before) / silent_count),
        "threads": threads,
    }, waits, heard


TALK = {"type": "session.update", "session": {"type": "realtime", "max_output_tokens": 60, "audio": {"output": {"voice": "af_heart"}}}}
TALK_MOST_S = 8  # of a clip: questions are short


async def answered(address, frames, counted):
    """One turn, and its reply up to the first sound: ms from the voice's end, ms from when that is told, whether it was prepared."""
    session = await Realtime.open(address, query="model=auto")
    await session.send(live_clients.frame_of(TALK))
    await session.until(lambda: session.told_of("session.updated"))
    begin = time.perf_counter()
    await session.say(frames)
    await session.until(lambda: session.told_of("response.output_audio.delta"))
    sound = next(at for at, event in session.told if event["type"] == "response.output_audio.delta")
    stopped, end_ms = [(at, event["audio_end_ms"]) for at, event in session.told if event["type"] == live_clients.STOPPED and at < sound][-1]
    await session.send(live_clients.frame_of({"type": "response.cancel"}))
    await session.until(lambda: session.told_of("response.done"))
    response = session.told_of("response.done")[-1]["response"]
    await session.close()
    if counted:
        return 1e3 * (sound - begin) - end_ms, 1e3 * (sound - stopped), "mynah_prepared_ms" in response
    return None


def talks(address, options):
    clips = [one for one in sorted(serve.clips(), key=lambda one: one[1]) if one[1] < TALK_MOST_S]
    clips = clips[:: max(1, len(clips) // options.clips)][: options.clips]
    work = [live_clients.frames_of(live_clients.sound_of(path, live_clients.REALTIME_RATE, 2 * SILENCE_S)) for path, _ in clips]
    asyncio.run(answered(address, work[0], False))  # opens all models
    from_voice, from_stop, prepared = zip(*[asyncio.run(answered(address, frames, True)) for frames in work])
    return {
        "conversations": len(work),
        "end of the voice to the first sound, ms": serving.spread(from_voice),
        "speech_stopped to the first sound, ms": serving.spread(from_stop),
        "begun before the turn was over": sum(prepared),
    }


def measure(server, address, wyoming_port, options, folder):
    """The report; `server`: its process."""
    clips = sorted(serve.clips(), key=lambda one: one[1])[:: max(1, len(serve.clips()) // options.clips)][: options.clips]
    work = {path: live_clients.frames_of(live_clients.sound_of(path, live_clients.REALTIME_RATE, SILENCE_S)) for path, _ in clips}
    client = serve.Client(address)
    in_process = [in_process_ms(client, path) for path, _ in clips]
    waits, alone = asyncio.run(one_by_one(address, work))
    wyoming = asyncio.run(by_wyoming(wyoming_port, client, work, folder))
    memory, crowd_waits, crowd = asyncio.run(many(address, server, work, options))
    dropped = [path for path, turns, _ in crowd if turns != alone[path][0]]
    if dropped:
        sys.exit(f"other turns were found among many than alone, as where sound is dropped: {dropped[:3]}")
    return {
        "clips": len(work),
        "Realtime": beside(waits, in_process),
        "Wyoming": wyoming,
        f"{options.sessions} sessions, {options.speaking} speak": memory
        | {
            "end of speech to text, ms": serving.spread(crowd_waits),
            "the same text as alone": sum(text == alone[path][1] for path, _, text in crowd),
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--speaking", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--talk", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.talk:
            home = serving.home_with("kokoro", "kokoro-voices", "english-phonemes")
            chat = f"{serving.WEIGHTS}/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
            server, address = serving.start(options.threads, home, "--chat-model", chat, "--voice-model", "kokoro", state=f"{folder}/state")
            report = talks(address, options)
            serving.end(server)
            print(json.dumps(report, indent=None if options.json else 1))
            return
        wyoming_port = serving.free_port()
        server, address = serving.start(options.threads, f"{folder}/home", "--no-share-texts", wyoming_port=wyoming_port)
        report = measure(server, address, wyoming_port, options, folder)
        serving.end(server)
    print(json.dumps(report, indent=None if options.json else 1))


if __name__ == "__main__":
    main()
