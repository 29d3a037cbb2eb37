#include "cli/hear/language_codes.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "base/ascii.h"
#include "base/embedded_file.h"
#include "text/languages.h"

MYNAH_EMBEDDED_FILE(language_code_table, MYNAH_LANGUAGE_CODES)

namespace mynah::cli {

namespace {

bool has_word(std::string_view words, std::string_view wanted) {
  return std::ranges::any_of(words | std::views::split(','), [wanted](const auto& word) {
    return std::string_view(word.begin(), word.end()) == wanted;
  });
}

}  // namespace

std::string language_codes(std::string_view language) {
  std::string wanted = ascii_lower(language);
  for (const auto& row : language_code_table() | std::views::split('\n')) {
    const std::string_view line(row.begin(), row.end());
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      continue;
    }
    const std::string_view codes = line.substr(0, tab);
    if (has_word(codes, wanted) || has_word(line.substr(tab + 1), wanted)) {
      return std::string(codes);
    }
  }
  return wanted;
}

std::string language_code_of_name(const std::string& language) {
  constexpr size_t kLongestCode = 3;
  const auto found = language.size() > kLongestCode && !language.contains('-')
                         ? find_language(language)
                         : std::nullopt;
  return found ? std::string(languages()[*found].code) : language;
}

}  // namespace mynah::cli
