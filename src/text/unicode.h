// Facts about code points, from utf8proc (Unicode 15): its 350 KB hold the categories, case and
// normal forms that mynah needs; ICU would be 36 MB for the same answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah {

// General categories L*, N* and the White_Space property: \p{L}, \p{N} and \s of the tokenizers.
[[nodiscard]] bool is_letter(char32_t code_point);
[[nodiscard]] bool is_number(char32_t code_point);
[[nodiscard]] bool is_white_space(char32_t code_point);

// M*, Mn alone, and S* with P*.
[[nodiscard]] bool is_mark(char32_t code_point);
[[nodiscard]] bool is_nonspacing_mark(char32_t code_point);
[[nodiscard]] bool is_symbol_or_punctuation(char32_t code_point);

// The general category, 0 to kGeneralCategories - 1, and its two letters: "Lu", "Nd", "Cn" ...
inline constexpr int kGeneralCategories = 30;
[[nodiscard]] int general_category(char32_t code_point);
[[nodiscard]] std::string_view general_category_name(int category);

// A letter that has a case: Lu, Ll, Lt.
[[nodiscard]] bool is_cased_letter(char32_t code_point);

// What Python's str.isspace, str.split and re's \s take for space: White_Space and the four
// information separators U+001C to U+001F.
[[nodiscard]] bool is_python_space(char32_t code_point);

// Python's \w: a letter, a number or "_".
[[nodiscard]] bool is_word_character(char32_t code_point);

// The value of a decimal digit of any script (category Nd, Python's \d).
[[nodiscard]] std::optional<int> decimal_digit(char32_t code_point);

// Python's str.lower: one to one, but for U+0130 and a sigma that ends a word.
[[nodiscard]] std::u32string to_lower(std::u32string_view text);
// The letter that begins a name, of one code point: itself where there is none.
[[nodiscard]] char32_t to_title(char32_t letter);

[[nodiscard]] std::u32string nfkc(std::u32string_view text);
[[nodiscard]] std::u32string nfkd(std::u32string_view text);

// The canonical decomposition of one code point: NFD but for the order of marks over several.
[[nodiscard]] std::u32string canonical_parts(char32_t code_point);

// Two columns of a terminal or a subtitle: East Asian Width W and F.
[[nodiscard]] bool is_wide(char32_t code_point);

// A space between extended grapheme clusters (UAX 29).
[[nodiscard]] std::u32string separate_graphemes(std::u32string_view text);

}  // namespace mynah
