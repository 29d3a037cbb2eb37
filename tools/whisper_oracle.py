#!/usr/bin/env python3
"""Write what CTranslate2 (float32) and faster-whisper make of a folder of recordings, for mynah to be compared with.

usage: whisper_oracle.py tokens CT2_FOLDER AUDIO... > tokens.tsv     file, tab, tokens: greedy, no timestamps, 30 s window
       whisper_oracle.py words CT2_FOLDER AUDIO... > words.tsv       file, tab, start, tab, end, tab, word
       whisper_oracle.py golden CT2_FOLDER OUT.npz AUDIO...          for tests/models/whisper/real_weights_test.cpp: tokens
           of each, "tokens.0" on, and every 50th position and 8th channel of the first one's encoder output, "states"

Audio is heard as mynah hears it: padded with zeros to 30 seconds before the spectrum is taken (openai/whisper
transcribe.py). Needs faster-whisper.
"""
import sys

import ctranslate2
import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.audio import decode_audio

RATE, WINDOW, FRAMES = 16000, 30 * 16000, 3000


def window(model, audio):
    """(1, mels, 3000) of the first 30 seconds."""
    audio = audio[:WINDOW]
    mel = model.feature_extractor(np.pad(audio, (0, WINDOW - len(audio))))[:, :FRAMES]
    return ctranslate2.StorageView.from_array(np.ascontiguousarray(mel[None]))


def prompt(model, timestamps):
    tokenizer = model.hf_tokenizer
    start = [tokenizer.token_to_id("<|startoftranscript|>")]
    if model.model.is_multilingual:
        start += [tokenizer.token_to_id("<|en|>"), tokenizer.token_to_id("<|transcribe|>")]
    return start if timestamps else start + [tokenizer.token_to_id("<|notimestamps|>")]


def greedy(model, path):
    features = window(model, decode_audio(path))
    return model.model.generate(features, [prompt(model, False)], beam_size=1, max_length=448)[0].sequences_ids[0]


def tokens(model, files):
    for path in files:
        print(path, *greedy(model, path), sep="\t", flush=True)


def golden(model, files):
    out, *files = files
    states = np.array(model.model.encode(window(model, decode_audio(files[0])), to_cpu=True))[0]
    kept = {f"tokens.{i}": np.array(greedy(model, path), np.int32) for i, path in enumerate(files)}
    np.savez(out, states=np.ascontiguousarray(states[::50, ::8]), **kept)


def words(model, files):
    for path in files:
        audio = decode_audio(path)
        segments, _ = model.transcribe(audio, beam_size=1, language="en", condition_on_previous_text=False,
                                       word_timestamps=True, temperature=0.0)
        for segment in segments:
            for word in segment.words:
                print(path, f"{word.start:.2f}", f"{word.end:.2f}", word.word, sep="\t", flush=True)


def main():
    what, folder = sys.argv[1:3]
    model = WhisperModel(folder, device="cpu", compute_type="float32", cpu_threads=2)
    {"tokens": tokens, "words": words, "golden": golden}[what](model, sys.argv[3:])


if __name__ == "__main__":
    main()
