#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "text/english_numbers.h"

namespace mynah {
namespace {

using Kind = NumberWord::Kind;

void add_cardinals(NumberWords& words) {
  constexpr std::array<std::string_view, 19> kOnes = {
      "one",     "two",     "three",     "four",     "five",    "six",      "seven",
      "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen", "fourteen",
      "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  for (size_t i = 0; i < kOnes.size(); ++i) {
    const std::string name(kOnes[i]);
    const int value = static_cast<int>(i) + 1;
    words[name] = {.kind = Kind::One, .value = value};
    words[name == "six" ? "sixes" : name + "s"] = {
        .kind = Kind::One, .value = value, .suffix = "s"};
    if (value > 3 && value != 5 && value != 12) {
      words[name + (name.ends_with('t') ? "h" : "th")] = {
          .kind = Kind::One, .value = value, .suffix = "th"};
    }
  }
  constexpr std::array<std::string_view, 8> kTens = {"twent", "thirt",  "fort",  "fift",
                                                     "sixt",  "sevent", "eight", "ninet"};
  for (size_t i = 0; i < kTens.size(); ++i) {
    const std::string stem(kTens[i]);
    const int value = static_cast<int>(i + 2) * 10;
    words[stem + "y"] = {.kind = Kind::Ten, .value = value};
    words[stem + "ies"] = {.kind = Kind::Ten, .value = value, .suffix = "s"};
    words[stem + "ieth"] = {.kind = Kind::Ten, .value = value, .suffix = "th"};
  }
  constexpr std::array<std::pair<std::string_view, int>, 12> kMultipliers = {{
      {"hundred", 2},
      {"thousand", 3},
      {"million", 6},
      {"billion", 9},
      {"trillion", 12},
      {"quadrillion", 15},
      {"quintillion", 18},
      {"sextillion", 21},
      {"septillion", 24},
      {"octillion", 27},
      {"nonillion", 30},
      {"decillion", 33},
  }};
  for (const auto& [stem, power] : kMultipliers) {
    const std::string name(stem);
    words[name] = {.kind = Kind::Multiplier, .value = power};
    words[name + "s"] = {.kind = Kind::Multiplier, .value = power, .suffix = "s"};
    words[name + "th"] = {.kind = Kind::Multiplier, .value = power, .suffix = "th"};
  }
}

}  // namespace

NumberWords number_words() {
  NumberWords words;
  add_cardinals(words);
  for (const char* zero : {"o", "oh", "zero"}) {
    words[zero] = {.kind = Kind::Zero};
  }
  words["zeroth"] = {.kind = Kind::One, .value = 0, .suffix = "th"};
  words["first"] = {.kind = Kind::One, .value = 1, .suffix = "st"};
  words["second"] = {.kind = Kind::One, .value = 2, .suffix = "nd"};
  words["third"] = {.kind = Kind::One, .value = 3, .suffix = "rd"};
  words["fifth"] = {.kind = Kind::One, .value = 5, .suffix = "th"};
  words["twelfth"] = {.kind = Kind::One, .value = 12, .suffix = "th"};
  for (const auto& [word, sign] :
       {std::pair{"minus", "-"}, {"negative", "-"}, {"plus", "+"}, {"positive", "+"}}) {
    words[word] = {.kind = Kind::Before, .sign = sign};
  }
  for (const auto& [word, sign] :
       {std::pair{"pound", "£"}, {"euro", "€"}, {"dollar", "$"}, {"cent", "¢"}}) {
    words[word] = {.kind = Kind::After, .sign = sign};
    words[std::string(word) + "s"] = {.kind = Kind::After, .sign = sign};
  }
  words["percent"] = {.kind = Kind::Percent};
  words["per"] = {.kind = Kind::Per};
  words["and"] = {.kind = Kind::And};
  words["double"] = {.kind = Kind::Double, .value = 2};
  words["triple"] = {.kind = Kind::Double, .value = 3};
  words["point"] = {.kind = Kind::Point};
  return words;
}

}  // namespace mynah
