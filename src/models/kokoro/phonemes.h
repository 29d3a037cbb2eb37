// Kokoro's phonemes and their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::kokoro {

// Which code point has which id; 0 is the pause around a sentence and no phoneme's.
class Phonemes {
 public:
  // The 114 of Kokoro-82M v1.0 (config.json of hexgrad/Kokoro-82M).
  [[nodiscard]] static Phonemes of_kokoro_82m();

  // tokens[id], empty where an id is nobody's: tokenizer.ggml.tokens of mynah's file. `what` names
  // them in errors. InvalidInput for a token of several code points, one that comes twice and an id
  // outside 1 to kVocabulary - 1.
  static Result<Phonemes> of_tokens(std::span<const std::string> tokens, const std::string& what);

  // The object "vocab" of a config.json or vocab.json: phonemes to ids. Errors as of_tokens().
  static Result<Phonemes> of_json(std::string_view text, const std::string& what);

  [[nodiscard]] std::optional<int32_t> id(char32_t phoneme) const;

  // The ids of text in UTF-8. What is no phoneme is left out, as hexgrad/kokoro's model.py does.
  [[nodiscard]] std::vector<int32_t> ids(std::string_view text) const;

  // kVocabulary of them, as of_tokens() reads.
  [[nodiscard]] std::vector<std::string> tokens() const;

  // All of them.
  [[nodiscard]] std::u32string characters() const;

  [[nodiscard]] size_t size() const { return ids_.size(); }

  bool operator==(const Phonemes&) const = default;

 private:
  Status add(std::string_view phoneme, int64_t id, const std::string& what);

  std::map<char32_t, int32_t> ids_;
};

}  // namespace mynah::kokoro
