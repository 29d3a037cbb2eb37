// Data of languages that is a part of the program.
#pragma once

#include <span>
#include <string_view>

namespace mynah {

struct LanguageFile {
  std::string_view name;  // without ".json": "de", "de.cldr"
  std::string_view text;
};

[[nodiscard]] std::span<const LanguageFile> language_files();

}  // namespace mynah
