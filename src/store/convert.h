// Any model file that formats/ reads, written once as the GGUF file that mynah maps.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "store/download.h"
#include "tensor/dtype.h"

namespace mynah {

struct ConvertOptions {
  std::string name;              // of the model: it tells tiny from tiny.en where sizes do not
  std::optional<DType> storage;  // of the matrices; none: as the source has them
  std::string licence = {};      // empty: as the source says
};

struct Converted {
  std::string family;  // "whisper", "silero", "kokoro"
  // name(DType): the one asked for, or the one that most bytes have. Of a GGUF file that says how
  // it was quantised, that: "q4_k_m".
  std::string storage;
  std::string licence;    // general.license of what was written; empty where nobody knows
  bool converses = true;  // StoredModel::converses
};

// Reads `source` (a file or a folder) and writes `target`. A Whisper model gets OpenAI's tensor
// names, its sizes as whisper.* and its vocabulary as tokenizer.ggml.tokens; the vocabulary is
// taken from the file, or from tokenizer.json, vocab.json and the like in the source's folder. A
// Silero model keeps its tensors' names. A Kokoro model gets those of its PyTorch checkpoint
// (models/kokoro/checkpoint.h) and its phonemes as tokenizer.ggml.tokens: the file's, those of a
// config.json or vocab.json beside it, or Kokoro-82M's. Its int8 weights stay int8 with their
// scales. With a storage type, matrices are rounded to it once; norms, biases and positions stay as
// they are, and so does a matrix whose rows are no whole blocks. Kokoro's convolutions are rounded
// too, to int8 where a block type is wanted. A
// language model's GGUF and an embedding model's are copied as they are; an embedding model's
// folder becomes what llama.cpp's converter makes of it (models/bert/checkpoint.h). Fails with
// Unsupported for a model of another family and for a storage type that is not written.
Result<Converted> convert_model(const std::string& source, const std::string& target,
                                const ConvertOptions& options, StoreObserver& observer,
                                const std::stop_token& stop);

// The types that --type takes: f32 f16 bf16 i8 ("int8" too) q4_0 q4_1 q5_0 q5_1 q8_0.
Result<DType> parse_storage(const std::string& text);

}  // namespace mynah
