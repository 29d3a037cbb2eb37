// Numbers that name something rather than count it: rooms, seats, roads, PINs.
#pragma once

#include <cstddef>

#include "text/spoken/reading.h"

namespace mynah {

// "Room 101", "Flight 370", "123 Main St.": three or four digits that are said in pairs.
[[nodiscard]] bool wants_pairs(const Tokens& tokens, size_t at);

// "call 911", "PIN 1234", a postal code: digits that are said one by one.
[[nodiscard]] bool wants_digits(const Tokens& tokens, size_t at);

// "Sec. 2(a)(iii)", "1-800", "CVE-2024-3094", "FY2023/24", "S01E05".
[[nodiscard]] std::optional<Reading> read_name_in_parts(const Tokens& tokens, size_t at,
                                                        const SpokenOptions& options);

// "4Bs", "3 As", "Ps and Qs": letters that are counted.
[[nodiscard]] std::optional<Reading> read_letter_plural(const Tokens& tokens, size_t at,
                                                        const SpokenOptions& options);

// Whether a house's number and one to three names stand before `at`, so that "St." and "Dr." there
// are a street's: "12 Elm Dr. Apt 4".
[[nodiscard]] bool is_behind_street_name(const Tokens& tokens, size_t at);

// "St", "Avenue": what the name of a street ends with.
[[nodiscard]] bool is_street_word(std::string_view word);

// Whether the name of a street begins behind the space at `gap`: "Baker St.", "5th Ave".
[[nodiscard]] bool is_street(const Tokens& tokens, size_t gap);

// "st", "nd", "rd", "th", and the "d" of "2d Cir."
[[nodiscard]] bool is_ordinal_ending(std::string_view word);

// "12 W. 5th St.", "45 Park Ave NW", "I-5 N.": directions beside streets and roads.
[[nodiscard]] std::optional<Reading> read_compass(const Tokens& tokens, size_t at,
                                                  const SpokenOptions& options);

// "in kg/m2", "km/h": a unit divided by another, with no number before it.
[[nodiscard]] std::optional<Reading> read_compound_unit(const Tokens& tokens, size_t at,
                                                        const SpokenOptions& options);

// 40°26′46″N: an angle with its minutes.
[[nodiscard]] std::optional<Reading> read_coordinate(const Tokens& tokens, size_t at,
                                                     const SpokenOptions& options);

}  // namespace mynah
