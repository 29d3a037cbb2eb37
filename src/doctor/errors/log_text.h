// Logs as people paste them, made plain for the patterns of errors.
#pragma once

#include <string>
#include <string_view>

namespace mynah::doctor {

// The log's text, line for line: without a terminal's colours and other escape sequences
// (ECMA-48), without what Docker, Compose and loggers write in front of each line (a service and a
// bar, a date and a time), without the NULs of UTF-16, with typographic quotes as plain ones, and
// with every run of blanks as one. Never longer than the log.
[[nodiscard]] std::string plain_log(std::string_view log);

// At most `most` bytes of the line that holds `at`, all but printable ASCII as '?'.
[[nodiscard]] std::string printable_line(std::string_view text, size_t at, size_t most);

}  // namespace mynah::doctor
