#!/usr/bin/env python3
"""A tiny Kokoro with random weights, and what PyTorch makes of it layer by layer, for tests of src/models/kokoro.

  export_kokoro_golden.py OUT_FOLDER              writes tiny.pth and golden.npz

The layers are those of the package kokoro 0.9.4 (hexgrad/kokoro, Apache-2.0), the checkpoint is a dictionary of its modules'
states as kokoro-v1_0.pth is. Sizes are small; strides, kernels, heads and layers are Kokoro-82M's. Without noise, and all
sines begin at phase zero. Each layer of the second half is fed what the one before it made here; the generator is given
harmonics of its own, since phases of silent ones are roundings (tests/models/kokoro/speech_test.cpp).

Needs torch, kokoro and transformers, which no other tool needs: pip install torch==2.6.0 transformers==4.49.0 numpy loguru
attrs huggingface_hub; pip install --no-deps kokoro==0.9.4 (several GB, so in an environment of its own).
"""
import importlib.machinery
import pathlib
import sys
import types

import numpy as np
import torch
from transformers import AlbertConfig

STYLE, HIDDEN, EMBEDDING, WIDTH, INNER = 4, 8, 6, 24, 10
DECODER, SEEN, GENERATOR = 12, 3, 16
VOCABULARY, MOST_FRAMES, POSITIONS, HEADS, LAYERS, KERNEL = 178, 50, 512, 12, 12, 5
ISTFT = {"resblock_kernel_sizes": [3, 7, 11], "upsample_rates": [10, 6], "upsample_initial_channel": GENERATOR,
         "resblock_dilation_sizes": [[1, 3, 5]] * 3, "upsample_kernel_sizes": [20, 12], "gen_istft_n_fft": 20,
         "gen_istft_hop_size": 5}
IDS = [0, 50, 83, 54, 177, 31, 0]
HARMONIC_ROWS = 16  # every so many are kept
SEED = 20261122


def modules():
    """kokoro's modules, without its __init__, which wants its G2P."""
    folder = next(pathlib.Path(path) / "kokoro" for path in sys.path if (pathlib.Path(path) / "kokoro/istftnet.py").exists())
    package = types.ModuleType("kokoro")
    package.__path__ = [str(folder)]
    package.__spec__ = importlib.machinery.ModuleSpec("kokoro", None, is_package=True)
    sys.modules["kokoro"] = package
    from kokoro import istftnet, modules as others
    return istftnet, others


def build():
    istftnet, others = modules()
    block = istftnet.AdainResBlk1d
    model = torch.nn.ModuleDict({
        "bert": others.CustomAlbert(AlbertConfig(
            vocab_size=VOCABULARY, embedding_size=EMBEDDING, hidden_size=WIDTH, num_attention_heads=HEADS,
            intermediate_size=INNER, max_position_embeddings=POSITIONS, num_hidden_layers=LAYERS)),
        "bert_encoder": torch.nn.Linear(WIDTH, HIDDEN),
        "predictor": others.ProsodyPredictor(style_dim=STYLE, d_hid=HIDDEN, nlayers=3, max_dur=MOST_FRAMES),
        "text_encoder": others.TextEncoder(channels=HIDDEN, kernel_size=KERNEL, depth=3, n_symbols=VOCABULARY),
        "decoder": istftnet.Decoder(dim_in=HIDDEN, style_dim=STYLE, dim_out=80, **ISTFT),
    })
    # The package writes these sizes out in numbers: 1024, 64, 512.
    decoder = model["decoder"]
    decoder.encode = block(HIDDEN + 2, DECODER, STYLE)
    decoder.decode = torch.nn.ModuleList(
        [block(DECODER + SEEN + 2, DECODER, STYLE) for _ in range(3)] +
        [block(DECODER + SEEN + 2, GENERATOR, STYLE, upsample=True)])
    decoder.asr_res = torch.nn.Sequential(torch.nn.utils.weight_norm(torch.nn.Conv1d(HIDDEN, SEEN, kernel_size=1)))
    return model.eval()


def randomise(model):
    """So that nothing is as it is initialised: lengths of normalised weights, norms, snakes."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith("norm.weight") and value.dim() == 1 and "bert" not in name:
                value.fill_(1.0)  # InstanceNorm1d's own, which the checkpoint has not
            elif name.endswith("norm.bias") and "bert" not in name:
                value.zero_()
            elif name.endswith("weight_g") or value.dim() == 1 and name.endswith(("weight", "gamma")) or ".alpha" in name:
                value.mul_(torch.rand(value.shape) + 0.5)
            elif value.dim() == 1 and name.startswith("bert."):
                value.uniform_(-0.1, 0.1)
            elif value.dim() >= 2 and name.startswith("bert."):
                value.mul_(8.0)
        predictor = model["predictor"]
        predictor.duration_proj.linear_layer.bias.uniform_(-4.6, -3.6)
        predictor.duration_proj.linear_layer.weight.mul_(12.0)
        predictor.F0_proj.weight.mul_(200.0)
        predictor.F0_proj.bias.fill_(150.0)


def states(model):
    """As kokoro-v1_0.pth: a module's state by its name, without the norms' ones and zeros and what the transformers keep."""
    return {name: {key: value.clone() for key, value in module.state_dict().items()
                   if not key.endswith(("norm.weight", "norm.bias")) or name == "bert" if not key.endswith("position_ids")}
            for name, module in model.items()}


def compute(model):
    istftnet, _ = modules()
    kept = {}

    def keep(name, value):
        """(1, channels, time) as (time, channels)."""
        kept[name] = np.ascontiguousarray(value.detach()[0].T.numpy(), np.float32)

    torch.rand = lambda *shape, **_: torch.zeros(*shape)
    torch.randn_like = torch.zeros_like
    style = torch.randn(1, 2 * STYLE)
    acoustic, prosodic = style[:, :STYLE], style[:, STYLE:]
    ids = torch.tensor([IDS])
    lengths, mask = torch.tensor([len(IDS)]), torch.zeros(1, len(IDS), dtype=torch.bool)
    predictor, decoder = model["predictor"], model["decoder"]
    heard = model["bert"](ids, attention_mask=(~mask).int())
    keep("albert", heard.mT)
    heard = model["bert_encoder"](heard).mT
    keep("heard", heard)
    prosody = predictor.text_encoder(heard, prosodic, lengths, mask)
    keep("prosody", prosody.mT)
    spans = torch.sigmoid(predictor.duration_proj(predictor.lstm(prosody)[0])).sum(-1)
    kept["durations"] = spans[0].detach().numpy()
    frames = torch.round(spans).clamp(min=1).long()[0]
    kept["frames"] = frames.numpy().astype(np.int32)
    rows = torch.repeat_interleave(torch.arange(len(IDS)), frames)
    shared = predictor.shared(prosody[:, rows])[0].mT
    keep("shared", shared)
    curves = {}
    for name in ("F0", "N"):
        curve = shared
        for i, layer in enumerate(getattr(predictor, name)):
            curve = layer(curve, prosodic)
            keep(f"{name}.{i}", curve)
        curves[name] = getattr(predictor, f"{name}_proj")(curve)
        keep(name, curves[name])
    text = model["text_encoder"](ids, lengths, mask)
    keep("text", text)
    text = text[:, :, rows]
    pitch, energy = decoder.F0_conv(curves["F0"]), decoder.N_conv(curves["N"])
    seen = decoder.asr_res(text)
    x = torch.cat([text, pitch, energy], dim=1)
    keep("decoder.encode.in", x)
    x = decoder.encode(x, acoustic)
    keep("decoder.encode", x)
    for i, layer in enumerate(decoder.decode):
        x = torch.cat([x, seen, pitch, energy], dim=1)
        keep(f"decoder.decode.{i}.in", x)
        x = layer(x, acoustic)
        keep(f"decoder.decode.{i}", x)
    # The generator's own way of forward(), its harmonics given.
    generator = decoder.generator
    count = x.shape[2] * 60 + 1
    harmonics = torch.cat([torch.rand_like(torch.empty(1, 11, count)), 6 * torch.rand_like(torch.empty(1, 11, count)) - 3], dim=1)
    keep("harmonics", harmonics)
    source = generator.m_source(generator.f0_upsamp(curves["F0"]).mT)[0]
    kept["source"] = source.detach().numpy().reshape(-1)

    class Given(istftnet.TorchSTFT):
        def transform(self, _):
            return harmonics[:, :11], harmonics[:, 11:]

    given = Given(20, 5, 20)
    generator.stft = given
    spectra = []
    hook = generator.conv_post.register_forward_hook(lambda _, __, out: spectra.append(out))
    samples = generator(x, acoustic, curves["F0"].squeeze(1))
    hook.remove()
    keep("spectrum", spectra[0])
    kept["spectrum"] = kept["spectrum"][::HARMONIC_ROWS]
    kept["samples"] = samples.detach().numpy().reshape(-1)
    kept["ids"] = np.array(IDS[1:-1], np.int32)
    kept["style"] = style.numpy().reshape(-1)
    return kept


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    model = build()
    randomise(model)
    torch.save(states(model), folder / "tiny.pth")
    with torch.no_grad():
        kept = compute(model)
    np.savez_compressed(folder / "golden.npz", **kept)
    for name, values in kept.items():
        print(name, values.shape, float(np.abs(values).max()))


if __name__ == "__main__":
    main()
