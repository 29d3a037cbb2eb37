// The letters that the network reads and the phonemes that it writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace mynah::unknown_words {

class Alphabet {
 public:
  // oov.json of the hibari-tts wheel: {"in": [letters], "out": [phonemes], "slots": phonemes a
  // letter may have, "maxlen": letters a word may have}. `name` is for messages.
  static Result<Alphabet> parse(std::string_view json, std::string_view name);

  // How many kinds of letters there are, 0 beside them for none; and of phonemes, 0 for silence.
  [[nodiscard]] int64_t letters() const { return static_cast<int64_t>(letters_.size()) + 1; }

  [[nodiscard]] int64_t phonemes() const { return static_cast<int64_t>(phonemes_.size()) + 1; }

  // Phonemes or silences for each letter.
  [[nodiscard]] int64_t slots() const { return slots_; }

  [[nodiscard]] int64_t longest_word() const { return longest_word_; }

  // Of each letter that the network knows, in order; the others are passed over.
  [[nodiscard]] std::vector<int32_t> ids(std::string_view word) const;

  // Numbers of phonemes as connectionist temporal classification has them (Graves et al. 2006):
  // equal neighbours are one, and silence is left out.
  [[nodiscard]] std::string text(std::span<const int32_t> phonemes) const;

 private:
  std::unordered_map<char32_t, int32_t> letters_;
  std::vector<std::string> phonemes_;
  int64_t slots_ = 0;
  int64_t longest_word_ = 0;
};

}  // namespace mynah::unknown_words
