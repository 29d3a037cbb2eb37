// PhonemeClause: words as the ids that a network is given, and back from its durations to the
// words.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "speech/voice_model.h"

namespace mynah {

class PhonemeClause {
 public:
  // The number of a character in a model's alphabet; none where the model was not taught it, which
  // is passed over.
  using IdOf = std::function<std::optional<int32_t>(char32_t)>;

  // A space between two words is a phoneme too, where the alphabet has it.
  PhonemeClause(std::span<const PhonemeWord> words, const IdOf& id_of);

  [[nodiscard]] const std::vector<int32_t>& ids() const { return ids_; }

  // Nothing to be heard.
  [[nodiscard]] ClauseSound silence() const;

  // `units`: of the pause before, each id, and the pause behind, in runs of `unit_samples`.
  // Phonemes are heard `early` units before theirs.
  [[nodiscard]] ClauseSound sound(std::vector<float> samples, std::span<const int32_t> units,
                                  size_t unit_samples, int32_t early) const;

 private:
  struct Place {
    size_t word = 0;
    std::string symbol;  // empty: a space between two words
  };

  void add(std::optional<int32_t> id, char32_t character, size_t word, bool space);

  size_t words_ = 0;
  std::vector<int32_t> ids_;
  std::vector<Place> places_;
};

}  // namespace mynah
