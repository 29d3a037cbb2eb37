// What a reader gives back: how many tokens it took and what is said for them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "text/spoken/among.h"
#include "text/spoken/spoken_text.h"
#include "text/spoken/tokens.h"

namespace mynah {

// Stands before a letter that is read by its name, so that "A" is no article: "\1P \1M".
inline constexpr char kLetterName = '\1';

// Words and marks; the marks , . are written without a space before them.
struct Reading {
  size_t end = 0;  // one past the last token
  std::string words;
};

// A reader looks at the tokens from `at` on, may look around, and takes some or none. It looks at a
// bounded number of tokens, so that any text takes time in proportion to its length.
using Reader = std::optional<Reading> (*)(const Tokens& tokens, size_t at,
                                          const SpokenOptions& options);

// Letters by name: "FBI" is "F B I". Other characters are left out.
[[nodiscard]] std::string spell(std::string_view letters);

// The same for the capitals that stand alone in words: "P H D's", "mac O S".
[[nodiscard]] std::string with_letter_names(std::string_view words);

// "one" + " " + "two"; nothing is joined to nothing.
[[nodiscard]] std::string join_words(std::string_view first, std::string_view second);

// Readers, in the order in which they are asked; each file has a few.
[[nodiscard]] std::optional<Reading> read_address(const Tokens&, size_t, const SpokenOptions&);
// Links and e-mail addresses in the words of SpokenOptions::language.
[[nodiscard]] std::optional<Reading> read_language_address(const Tokens&, size_t,
                                                           const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_dialect(const Tokens&, size_t, const SpokenOptions&);
// What has digits in it, as it stands: the voice reads it.
[[nodiscard]] std::optional<Reading> read_whole(const Tokens&, size_t, const SpokenOptions&);
// Short forms of SpokenOptions::language: "z. B.", "Dr.".
[[nodiscard]] std::optional<Reading> read_short_form(const Tokens&, size_t, const SpokenOptions&);
// Roman numerals in the words of SpokenOptions::language: "Felipe VI", "XX wiek".
[[nodiscard]] std::optional<Reading> read_language_roman(const Tokens&, size_t,
                                                         const SpokenOptions&);
// Numbers in the words of SpokenOptions::language, where mynah has its rules.
[[nodiscard]] std::optional<Reading> read_language_number(const Tokens&, size_t,
                                                          const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_emoji(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_phrase(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_date(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_scripture(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_time(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_phone(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_formula(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_money(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_code(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_version(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_number(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_abbreviation(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_chemical(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_roman(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_initialism(const Tokens&, size_t, const SpokenOptions&);
[[nodiscard]] std::optional<Reading> read_sign(const Tokens&, size_t, const SpokenOptions&);

}  // namespace mynah
