// Short words that are said over somebody who speaks: those that want him to stop, and those that
// want him to go on. They are data: short_words.tsv.
#pragma once

#include <cstdint>
#include <string_view>

namespace mynah::talk {

enum class SaidOver : uint8_t {
  Nothing,    // no words
  Listening,  // "mhm", "yes", "I see": whoever speaks goes on
  Stop,       // "stop" and nothing else but that: he is to be silent, and no reply is wanted
  Words,      // anything else
};

// What a text of that language is (ISO 639-1; "", and what there is no list for: any). Marks and
// capitals do not count.
[[nodiscard]] SaidOver said_over(std::string_view text, std::string_view language);

// Whether two texts say the same: marks and capitals do not count.
[[nodiscard]] bool says_the_same(std::string_view text, std::string_view other);

}  // namespace mynah::talk
