#include "talk/memory/remembered_words.h"

#include <array>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/ascii.h"

namespace mynah::talk {
namespace {

// Words that ask in a language, and what leads from them to what is to be remembered: its last word
// is written with a space behind it, or a colon. A second form is a statement about oneself,
// without anything between: "remember my sister lives in Ulm".
struct Asking {
  const char* asks;
  const char* leads;
  const char* own;
};

constexpr std::array<Asking, 7> kAskings = {{
    {"(?:please )?(?:remember|don['’]?t forget|do not forget|keep in mind|note|make a note)"
     "(?: please| this)?",
     "that ", "(?:my|our|i|i['’]m|i['’]ve|we|we['’]re) "},
    {"(?:bitte )?(?:merk(?:e)? dir|erinnere dich(?: daran)?|vergiss nicht|denk(?:e)? daran|notiere)"
     "(?: bitte)?",
     "dass ", "(?:mein|meine|meinen|ich|unser|unsere|wir) "},
    {"(?:souviens-toi|rappelle-toi|retiens|n['’]oublie pas|note)(?: bien)?", "(?:que |qu['’])",
     "(?:mon|ma|mes|je|j['’])"},
    {"(?:por favor )?(?:recuerda|acuérdate(?: de)?|no olvides|apunta|anota)", "que ",
     "(?:mi|mis|yo) "},
    {"(?:per favore )?(?:ricorda(?:ti)?|non dimenticare|annota)", "che ",
     "(?:mio|mia|il mio|la mia|io) "},
    {"(?:por favor )?(?:lembra-te(?: de)?|lembre-se(?: de)?|não esqueças|não esqueça|anota)",
     "(?:de )?que ", "(?:meu|minha|o meu|a minha|eu) "},
    {"(?:onthoud|vergeet niet|noteer)(?: alsjeblieft)?", "dat ", "(?:mijn|ik|ons|onze|wij) "},
}};

// Before it: an address, a "so", a "could you", each with a comma or a space behind it.
constexpr const char* kBefore =
    "\\s*(?:(?:hey|hi|ok|okay|so|and|also|mynah|please|could you|can you|will you|i want you to|"
    "kannst du|und|also|bitte|alors|et|pues|y|allora|e|en)[, ]+)*";

std::string pattern_of_all() {
  std::string all;
  for (const Asking& asking : kAskings) {
    all += fmt::format("{}{}(?: ?[:,]\\s*(?:{})?(.+)| {}(.+)| ({}.+))", all.empty() ? "" : "|",
                       asking.asks, asking.leads, asking.leads, asking.own);
  }
  return fmt::format("(?is)^{}(?:{})$", kBefore, all);
}

// RE2 takes a time that grows with the text alone.
const RE2& asking_pattern() {
  static const RE2 pattern(pattern_of_all(), RE2::Quiet);
  return pattern;
}

}  // namespace

std::string_view words_to_remember(std::string_view said) {
  const std::string_view whole = trimmed(said);
  if (whole.ends_with('?')) {
    return {};
  }
  constexpr size_t kGroups = 1 + 3 * kAskings.size();
  std::array<re2::StringPiece, kGroups> groups;
  const re2::StringPiece text(whole.data(), whole.size());
  if (!asking_pattern().Match(text, 0, text.size(), RE2::ANCHOR_BOTH, groups.data(), kGroups)) {
    return {};
  }
  for (size_t i = 1; i < groups.size(); ++i) {
    if (!groups.at(i).empty()) {
      return trimmed({groups.at(i).data(), groups.at(i).size()});
    }
  }
  return {};
}

}  // namespace mynah::talk
