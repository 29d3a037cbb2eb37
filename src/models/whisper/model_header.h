// ModelHeader: what is known of a Whisper checkpoint without its weights: for who prepares its
// input and reads its output, wherever it is computed.
#pragma once

#include <string>

#include "formats/tensor_file.h"
#include "models/whisper/config.h"
#include "text/whisper_tokenizer.h"

namespace mynah::whisper {

struct ModelHeader {
  std::string name;  // "tiny.en"
  Config config;
  WhisperTokenizer tokenizer;

  // Of `file` (any producer's) and its vocabulary; `path` is named in errors. InvalidInput where
  // the vocabulary is not as long as the weights say.
  static Result<ModelHeader> create(std::string name, const Config& config, Vocabulary vocabulary,
                                    const std::string& path);
};

}  // namespace mynah::whisper
