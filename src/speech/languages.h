// What a BCP 47 tag says, about English above all.
#pragma once

#include <string>
#include <string_view>

namespace mynah {

// The tag in small letters with "-": "en_US" is "en-us". The others below take either.
[[nodiscard]] std::string canonical_language(std::string_view language);

[[nodiscard]] bool is_english(std::string_view language);

// Whether what speaks `language` speaks what was asked for: "en" is spoken by "en-US", "en-GB" by
// "en-GB" alone, "" by all.
[[nodiscard]] bool speaks(std::string_view language, std::string_view wanted);

// The language without its region: "en" of "en-US".
[[nodiscard]] std::string primary_language(std::string_view language);

// Whether its region is one that writes and speaks as Oxford's dictionary does and not as
// Webster's.
[[nodiscard]] bool is_british(std::string_view language);

}  // namespace mynah
