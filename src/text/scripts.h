// Which script a letter belongs to (Unicode 15, Blocks.txt), where it is none of Latin's.
#pragma once

#include <string_view>

namespace mynah {

struct Script {
  std::string_view name;  // "Cyrillic"
  std::string_view
      language;  // ISO 639-1: the one with most speakers that is written so; "": several
};

// Null for letters of Latin and for what is no letter.
[[nodiscard]] const Script* foreign_script(char32_t character);

}  // namespace mynah
