// Facts about code points, from utf8proc (Unicode 15): its 350 KB hold the categories, case and
// normal forms that mynah needs; ICU would be 36 MB for the same answers.
#pragma once

#include <string>
#include <string_view>

namespace mynah {

// General categories L*, N* and the White_Space property: \p{L}, \p{N} and \s of the tokenizers.
[[nodiscard]] bool is_letter(char32_t code_point);
[[nodiscard]] bool is_number(char32_t code_point);
[[nodiscard]] bool is_white_space(char32_t code_point);
// What Python's str.isspace, str.split and re's \s take for space: White_Space and the four
// information separators U+001C to U+001F.
[[nodiscard]] bool is_python_space(char32_t code_point);

}  // namespace mynah
