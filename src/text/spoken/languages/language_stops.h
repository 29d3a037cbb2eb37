// Whether a stop ends a sentence, by what a language writes with stops.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mynah {

// Whether ordinals are digits with a stop: "am 3. Mai".
[[nodiscard]] bool writes_ordinals_with_stops(std::string_view language);

// A single full stop with a space behind it.
struct StopPlace {
  std::string_view text;       // from the sentence's first byte on
  size_t stop = 0;             // the stop
  size_t next = 0;             // the first character of what follows, behind opening quotes
  std::string_view next_word;  // the word there
  bool line_begins = false;    // the word before the stop begins its line
};

// Whether the sentence goes on behind the stop, by the language's short forms, ordinals ("am 3.
// Mai"), Roman numerals ("Karl IV. war") and initials; nothing in English and in languages of which
// mynah has no data.
[[nodiscard]] std::optional<bool> goes_on_behind(std::string_view language, const StopPlace& place);

}  // namespace mynah
