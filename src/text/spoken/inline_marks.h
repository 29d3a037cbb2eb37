// Marks inside plain text: [word](/fəˈnɛmz/), [pause:1.5s], [voice:af_sky], [rate:1.5].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/spoken/speak_parts.h"

namespace mynah {

// Reads one sentence or any whole text after the other; voice and rate go on until they are
// changed: [voice:] and [rate:] without a value go back to the speaker's own. "\[" is a bracket
// that begins no mark. What looks like a mark and cannot be one ([pause:soon], [rate:9]) is left
// out with a warning; other brackets are text.
class InlineMarks {
 public:
  // `source_begin`: where the text begins in the document, for the parts' source.
  [[nodiscard]] SpeakScript read(std::string_view text, size_t source_begin = 0);

 private:
  std::string voice_;
  double rate_ = 1.0;
};

// Seconds in "1.5s", "500ms" or, for people, "2"; -1 where it is none. Up to a day.
[[nodiscard]] double duration_seconds(std::string_view text);

// A number without sign or exponent, "1.5"; -1 where it is none.
[[nodiscard]] double plain_number(std::string_view text);

}  // namespace mynah
