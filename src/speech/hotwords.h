// Hotwords: words and names that a recording may have in it, as they are to be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

// The words of a text as users give them: phrases, with commas or line breaks between them; where
// it has neither, words with spaces between them.
[[nodiscard]] std::vector<std::string> hotwords_in(std::string_view text);

// Refuses more than anybody has names for (a megabyte), and what is no UTF-8.
[[nodiscard]] Status check_hotwords(const std::vector<std::string>& words);

}  // namespace mynah
