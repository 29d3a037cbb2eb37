// Reads whisper.cpp's ggml .bin files: Whisper, Parakeet TDT and Silero.
#pragma once

#include <cstdint>
#include <memory>

#include "formats/tensor_file.h"

namespace mynah {

inline constexpr uint32_t kGgmlMagic = 0x67676d6c;

// Layouts: ggml-org/whisper.cpp models/convert-pt-to-ggml.py, convert-parakeet-to-ggml.py and
// convert-silero-vad-to-ggml.py. The header's fields become metadata under whisper.cpp's names
// ("n_vocab", "n_audio_head"), "ggml.model" is "whisper", "parakeet" or "silero", "vocabulary" the
// tokens' bytes; the header's tables become tensors "mel_filters" (n_mels, n_fft / 2 + 1),
// "mel_window" (samples). Refused: header fields that no model can have (an n_fft of 0).
// The format does not say how many tensors follow: a file cut between two of them reads as one with
// fewer, and the model that misses them says so.
[[nodiscard]] Result<TensorFile> read_ggml_bin(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
