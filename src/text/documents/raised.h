// Raised characters: of HTML's <sup>, and of words of a PDF that stand above their line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah {

// What is raised, as characters that are: numbers and signs of powers. Nothing where one has no
// raised form.
[[nodiscard]] std::optional<std::string> raised(std::string_view text);

// A digit by its raised form; 0 where it is none.
[[nodiscard]] char raised_digit(char32_t c);

// Whether a raised number behind this text is a power; behind other words of four letters and more
// it is the mark of a note.
[[nodiscard]] bool takes_powers(std::string_view text);

}  // namespace mynah
