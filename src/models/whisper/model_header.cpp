#include "models/whisper/model_header.h"

#include <utility>

#include <fmt/format.h>

namespace mynah::whisper {

Result<ModelHeader> ModelHeader::create(std::string name, const Config& config,
                                        Vocabulary vocabulary, const std::string& path) {
  MYNAH_TRY(WhisperTokenizer tokenizer,
            WhisperTokenizer::create(std::move(vocabulary), config.n_vocab));
  if (tokenizer.size() != config.n_vocab) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a vocabulary of {} tokens, found one of {}", path,
                            config.n_vocab, tokenizer.size()));
  }
  return ModelHeader{std::move(name), config, std::move(tokenizer)};
}

}  // namespace mynah::whisper
