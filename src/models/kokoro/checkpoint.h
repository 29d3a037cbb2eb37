// One set of names for Kokoro's tensors, whoever wrote the file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "models/kokoro/phonemes.h"

namespace mynah::kokoro {

// What Kokoro::load() takes, out of any file.
struct Checkpoint {
  std::vector<StoredTensor> tensors;
  std::optional<Phonemes> phonemes;   // where the file has them
  std::shared_ptr<const void> owner;  // of the tensors' bytes, the file's among them
};

// Whether the tensors' names are those of Kokoro's modules: exports, checkpoints, mynah's own
// files, and StyleTTS2's, which read_checkpoint() refuses.
[[nodiscard]] bool looks_like_kokoro(const TensorFile& file);

// Reads ONNX exports by their graph (onnx_weights.h) and anything else by its tensors' names: the
// PyTorch checkpoint (a dictionary of bert, bert_encoder, predictor, text_encoder and decoder, each
// with "module." before its names or without), the same as safetensors, and mynah's GGUF. Weights
// that are kept as a direction and a length become one: weight_g * weight_v / |weight_v|, the norm
// over all dimensions but the first (torch/nn/utils/weight_norm.py, dim 0); old and new names
// (parametrizations.weight.original0, original1). bert.pooler, of which nothing is heard, is left
// out. InvalidInput where one of a few tensors that every Kokoro has is missing or has other
// phonemes, kernels, frames or bins; how wide layers are is read_sizes()'s (sizes.h).
[[nodiscard]] Result<Checkpoint> read_checkpoint(const TensorFile& file);

}  // namespace mynah::kokoro
