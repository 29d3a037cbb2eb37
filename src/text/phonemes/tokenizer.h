// Cuts a text into the words and marks that a tagger was trained on: contractions and abbreviations
// by a list of exceptions, all else by what may be cut off a piece between spaces (affixes.h). The
// steps are those of spaCy's tokenizer and of hibari-tts 0.2.1, g2p/tokenize.py.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace mynah {

// A word or a mark; at and length are in characters of the text.
struct TextToken {
  size_t at = 0;
  size_t length = 0;
  bool space_after = false;
};

class EnglishTokenizer {
 public:
  // {"can't": ["ca", "n't"], ...}: pieces that are cut so and no other way. `name` is for messages.
  static Result<EnglishTokenizer> parse(std::string_view json, std::string_view name);

  // Time grows with the text alone.
  [[nodiscard]] std::vector<TextToken> operator()(std::u32string_view text) const;

 private:
  using Lengths = std::vector<size_t>;

  // The lengths of an exception's pieces, or null.
  [[nodiscard]] const Lengths* exception(std::u32string_view text) const;
  // The lengths of the pieces of what stands between two spaces.
  [[nodiscard]] Lengths split(std::u32string_view text) const;
  void split_inside(std::u32string_view text, Lengths& pieces) const;
  // Pieces that together are an exception are cut as it says.
  [[nodiscard]] Lengths joined(std::u32string_view text, const Lengths& pieces) const;

  std::unordered_map<std::u32string, Lengths> exceptions_;
  size_t longest_exception_ = 0;
};

}  // namespace mynah
