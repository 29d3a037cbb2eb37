// Kokoro's voices: what a voice's styles are for sentences of each length, and the files they come
// in.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace mynah::kokoro {

// A voice.
struct VoicePack {
  std::vector<float> styles;  // rows of 2 kStyle: acoustic, then prosodic
  size_t rows = 0;            // 510 in Kokoro's own packs: one for each number of phonemes

  // The style for a sentence of so many phonemes, without the pauses around it: the first row is
  // that of one phoneme (hexgrad/kokoro pipeline.py, infer(): pack[len(ps) - 1]). A longer
  // sentence than the pack knows has its last row. Valid as long as the pack lives; the pack must
  // have rows.
  [[nodiscard]] std::span<const float> style(size_t phonemes) const;
};

struct NamedVoice {
  std::string name;  // "af_heart"
  VoicePack pack;
};

// All voices of a file: a PyTorch tensor (.pt), NumPy arrays (.npz, as kokoro-onnx's
// voices-v1.0.bin is; .npy), safetensors, mynah's own GGUF, or bare float32 values (the .bin files
// of onnx-community). Each is (rows, 1, 256) or (rows, 256), 1 to 1024 rows of f32, f16 or bf16.
// Voices have the names that the file has for them, or its own where it has none. InvalidInput
// for any other tensor in it, and for values that are not finite.
[[nodiscard]] Result<std::vector<NamedVoice>> read_voice_packs(const std::string& path);

// The same of bytes already mapped or in memory.
[[nodiscard]] Result<std::vector<NamedVoice>> read_voice_packs(
    const std::shared_ptr<const MappedFile>& file);

// One of them. Without a name the file must hold one only. NotFound, with the names that are
// there, where the file has no voice of that name.
[[nodiscard]] Result<VoicePack> read_voice_pack(const std::string& path,
                                                std::string_view name = {});

}  // namespace mynah::kokoro
