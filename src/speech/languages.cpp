#include "speech/languages.h"

#include <algorithm>
#include <array>
#include <string>

namespace mynah {
namespace {

constexpr std::array<std::string_view, 7> kBritishRegions = {"gb", "uk", "au", "nz",
                                                             "ie", "in", "za"};

std::string canonical(std::string_view language) {
  std::string tag(language);
  for (char& c : tag) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' ? '-' : c;
  }
  return tag;
}

}  // namespace

bool is_english(std::string_view language) {
  const std::string tag = canonical(language);
  return tag == "en" || tag.starts_with("en-");
}

bool speaks(std::string_view language, std::string_view wanted) {
  const std::string has = canonical(language);
  const std::string want = canonical(wanted);
  return want.empty() || has == want || has.starts_with(want + "-");
}

std::string primary_language(std::string_view language) {
  return canonical(language.substr(0, language.find_first_of("-_")));
}

bool is_british(std::string_view language) {
  const std::string tag = canonical(language);
  return tag.starts_with("en-") &&
         std::ranges::find(kBritishRegions, std::string_view(tag).substr(3, 2)) !=
             kBritishRegions.end();
}

}  // namespace mynah
