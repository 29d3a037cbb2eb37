#!/usr/bin/env python3
"""Run openai-whisper on tiny models with weights from a seeded generator and keep what it computes.

usage: export_whisper_golden.py OUT_FOLDER        (needs openai-whisper, torch, numpy, safetensors)

tests/models/whisper/golden_test.cpp makes the same weights and inputs with the same generator, so only results are
stored. Two models: English with 80 mel bands, and multilingual with 128 (large-v3's vocabulary); two layers, width 16.
Writes OUT_FOLDER/{english,multilingual}.safetensors with the versions of the libraries in the metadata.
"""
import os
import sys

import numpy as np
import torch
import whisper
from safetensors.numpy import save_file
from whisper.audio import log_mel_spectrogram
from whisper.decoding import DecodingOptions, DecodingTask
from whisper.model import ModelDimensions, Whisper

MODELS = {
    "english": ModelDimensions(80, 50, 16, 2, 2, 51864, 64, 16, 2, 2),
    "multilingual": ModelDimensions(128, 50, 16, 2, 2, 51866, 64, 16, 2, 2),
}
MASK = (1 << 64) - 1


def uniform(name, count):
    """Values in [-1, 1), the same on every machine: SplitMix64 of FNV-1a of the name, 24 bits of each."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 & MASK
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)


def weight(name, shape):
    """Scales are powers of two, so that both programs round alike; they keep activations near one."""
    values = uniform(name, int(np.prod(shape))).reshape(shape)
    if "ln" in name:
        return values * np.float32(0.25) + np.float32(1 if name.endswith("weight") else 0)
    if name.endswith("bias"):
        return values * np.float32(0.125)
    if "token_embedding" in name:
        return values
    return values * np.float32(0.125 if len(shape) == 3 else 0.5)


def export(name, dims, folder):
    model = Whisper(dims).eval()
    state = {key: torch.from_numpy(weight(key, tuple(value.shape)))
             for key, value in model.state_dict().items()}
    model.load_state_dict(state)
    kept = {}

    def keep(key):
        return lambda module, inputs, output: kept.__setitem__(key, output[0].detach().numpy().copy())

    for i, block in enumerate(model.encoder.blocks):
        block.attn.key.register_forward_hook(keep(f"encoder.{i}.key"))
        block.attn.value.register_forward_hook(keep(f"encoder.{i}.value"))
    handles = []
    for i, block in enumerate(model.decoder.blocks):
        handles.append(block.cross_attn.query.register_forward_hook(keep(f"decoder.{i}.cross_query")))
    mel = torch.from_numpy(uniform("mel", dims.n_mels * 2 * dims.n_audio_ctx).reshape(dims.n_mels, -1))
    tokenizer = whisper.tokenizer.get_tokenizer(model.is_multilingual, num_languages=model.num_languages, language="en",
                                                task="transcribe")
    tokens = [*tokenizer.sot_sequence, 11, 345, 6789, 50000 % dims.n_vocab]
    with torch.no_grad():
        states = model.encoder(mel[None])
        kept["encoder.states"] = states[0].numpy()
        logits = model.decoder(torch.tensor([tokens]), states)[0]
    kept["decoder.logits"] = logits[:, ::97].numpy().copy()
    for handle in handles:
        handle.remove()
    # Tokens by the rules of decoding.
    kept["suppressed"] = np.array(tokenizer.non_speech_tokens, np.int32)
    for kind, options in {
            "greedy": dict(temperature=0.0),
            "plain": dict(temperature=0.0, without_timestamps=True),
            "beam": dict(temperature=0.0, beam_size=3),
            "patient": dict(temperature=0.0, beam_size=2, patience=2.0, without_timestamps=True),
    }.items():
        # mynah never writes special tokens, nor timestamps where none are wanted; a trained model does not either.
        last = dims.n_vocab if options.get("without_timestamps") else tokenizer.timestamp_begin
        suppressed = [-1, *range(tokenizer.eot + 1, last)]
        result = DecodingTask(model, DecodingOptions(language="en", sample_len=20, fp16=False, max_initial_timestamp=None,
                                                     suppress_tokens=suppressed, **options)).run(states)[0]
        kept[f"tokens.{kind}"] = np.array(result.tokens, np.int32)
        kept[f"score.{kind}"] = np.array([result.avg_logprob, result.no_speech_prob], np.float32)
    if model.is_multilingual:
        found, probabilities = model.detect_language(states)
        kept["language"] = np.array([found.item()], np.int32)
        kept["language.probability"] = np.array([max(probabilities[0].values())], np.float32)
    waveform = uniform("waveform", 4000)
    kept["log_mel"] = log_mel_spectrogram(waveform, dims.n_mels, padding=16000)[:, :40].T.contiguous().numpy()
    kept = {key: np.ascontiguousarray(value) for key, value in kept.items()}
    save_file(kept, os.path.join(folder, f"{name}.safetensors"),
              {"openai-whisper": whisper.__version__, "torch": torch.__version__.split("+")[0]})


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    for name, dims in MODELS.items():
        export(name, dims, folder)


if __name__ == "__main__":
    main()
