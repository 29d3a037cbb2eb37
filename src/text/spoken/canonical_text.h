// Text in one form of each character, before it is read: ASCII where a character is only a dress of
// it, and nothing that has no sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

struct CanonicalText {
  std::string text;  // valid UTF-8
  // For each byte of `text`, and for its end: the byte of the source at which the character begins
  // that it came from. The source is below 4 GiB.
  std::vector<uint32_t> source;
};

// Digits of every script become ASCII's; full-width, mathematical and circled letters and the
// ligatures of print become letters; typographic apostrophes, hyphens and spaces become ' - and a
// space; soft hyphens, marks of direction, variation selectors and other characters without a sound
// go; controls and broken bytes become spaces.
[[nodiscard]] CanonicalText to_canonical(std::string_view source);

}  // namespace mynah
