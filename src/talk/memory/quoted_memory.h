// Recalled words as a language model is given them: quoted data with its origin, no instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "talk/memory/recall.h"

namespace mynah::talk {

// Bytes of one item's words that are quoted, and of all.
inline constexpr size_t kMostQuoted = 400;
inline constexpr size_t kMostQuotedOfAll = 2000;

// The day of a time as it is kept, in UTC: "2026-11-30".
[[nodiscard]] std::string day_of(int64_t at_ms);

// A line an item: when, by whom, and the words as a JSON string, so that none of them ends the
// quotation or begins a line. "": there is nothing to tell. Only a user's words are told as such;
// what a tool, a file or a model said is left out, whatever was recalled.
[[nodiscard]] std::string quoted_memory(const std::vector<Recalled>& recalled);

// A question with that before it, as the turn that a model is given.
[[nodiscard]] std::string with_memory(std::string_view question, std::string_view quoted);

}  // namespace mynah::talk
