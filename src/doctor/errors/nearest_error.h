// The known error that a log's line is nearest to, by the rare words that they share.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

struct NearestError {
  size_t error = 0;     // index in Knowledge::errors
  size_t at = 0;        // of the line, in the text
  double sureness = 0;  // 0 to 1: which part of a pattern's words the line has, the rarer the more
};

// The nearest of all lines that speak of a failure. None where no line has half of the words of a
// pattern, three of them at least, and one of them that few patterns have. The text is as plain_log
// makes it; takes time in proportion to it.
[[nodiscard]] std::optional<NearestError> nearest_error(std::string_view text,
                                                        const Knowledge& knowledge);

}  // namespace mynah::doctor
