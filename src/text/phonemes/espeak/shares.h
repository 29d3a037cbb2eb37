// Which phonemes of a clause are which word's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::espeak {

struct Share {
  std::string phonemes;
  bool space_after = true;  // false: said as one word with the next

  bool operator==(const Share&) const = default;
};

// `whole` is what the words are together, with spaces: not always one between two words ("of the"
// is "ʌvðə", "1234" seven words). `alone` is what each is by itself. Gives each word its part of
// `whole`, in order and without spaces at its ends: the one that makes the fewest edits between
// `whole` and the words by themselves (Levenshtein 1966).
[[nodiscard]] std::vector<Share> share_out(std::string_view whole,
                                           std::span<const std::string> alone);

}  // namespace mynah::espeak
