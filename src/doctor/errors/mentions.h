// Lines that name an error without having met it: changelogs, advice, code, messages of no concern.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah::doctor {

// Whether the line that holds text[begin, end), the words of a known error, merely speaks of it: it
// says that this was mended or is avoided, begins as advice does ("If you see"), is a line of a
// program or a comment, was logged as of no concern (INFO, DEBUG), or is a test that passed. False
// where nothing speaks for that. The text is as plain_log makes it; at most 4 KiB around are looked
// at.
[[nodiscard]] bool only_mentions(std::string_view text, size_t begin, size_t end);

}  // namespace mynah::doctor
