#include "speech/languages.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"

namespace mynah {
namespace {

constexpr std::array<std::string_view, 7> kBritishRegions = {"gb", "uk", "au", "nz",
                                                             "ie", "in", "za"};

}  // namespace

std::string canonical_language(std::string_view language) {
  std::string tag = ascii_lower(language);
  std::ranges::replace(tag, '_', '-');
  return tag;
}

bool is_english(std::string_view language) {
  const std::string tag = canonical_language(language);
  return tag == "en" || tag.starts_with("en-");
}

bool speaks(std::string_view language, std::string_view wanted) {
  const std::string has = canonical_language(language);
  const std::string want = canonical_language(wanted);
  return want.empty() || has == want || has.starts_with(want + "-");
}

std::string primary_language(std::string_view language) {
  return canonical_language(language.substr(0, language.find_first_of("-_")));
}

bool is_british(std::string_view language) {
  const std::string tag = canonical_language(language);
  return tag.starts_with("en-") &&
         std::ranges::find(kBritishRegions, std::string_view(tag).substr(3, 2)) !=
             kBritishRegions.end();
}

}  // namespace mynah
