// Directions beside streets and roads: "12 W. 5th St.", "45 Park Ave NW", "I-5 N.".
#include <array>
#include <string>

#include "text/spoken/abbreviations.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/codes.h"
#include "text/spoken/reading.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

struct Direction {
  std::string_view written;
  std::string_view spoken;
};

// United States Postal Service, publication 28, section 233.
constexpr std::array kDirections = std::to_array<Direction>({{"N", "North"},
                                                             {"S", "South"},
                                                             {"E", "East"},
                                                             {"W", "West"},
                                                             {"NE", "Northeast"},
                                                             {"NW", "Northwest"},
                                                             {"SE", "Southeast"},
                                                             {"SW", "Southwest"}});

std::string_view direction_of(std::string_view word) {
  const auto* const found = std::ranges::find(kDirections, word, &Direction::written);
  return found == kDirections.end() ? std::string_view{} : found->spoken;
}

// One past a direction's letters, and its stop where that does not end the sentence too.
size_t direction_end(const Tokens& tokens, size_t at) {
  if (!tokens.is(at + 1, ".") || tokens.ends_text(at + 2)) {
    return at + 1;
  }
  const std::string_view next = tokens.word_behind(at + 2);
  const bool sentence = is_capitalised(next) && is_sentence_starter(ascii_lower(next));
  return sentence ? at + 1 : at + 2;
}

// Whether the number at `at` is a road's: "I-5", "US-101", "Route 9".
bool is_road_number(const Tokens& tokens, size_t at) {
  constexpr auto kRoads = std::to_array<std::string_view>(
      {"Interstate", "Highway", "Hwy", "Route", "Rte", "Rt", "I", "US", "SR", "CR"});
  if (at > 1 && tokens.is(at - 1, "-")) {
    const std::string_view road = tokens.text(at - 2);
    return road.size() <= 2 && is_capitalised(road) && tokens.begins_word(at - 2);
  }
  return among(kRoads, tokens.word_before(at));
}

// "12 W. 5th St.": the house's number and the direction; "I-5 N": the road's.
std::optional<Reading> read_number_and_direction(const Tokens& tokens, size_t at,
                                                 EnglishDialect dialect) {
  if (!tokens.is_digits(at, 1, 5) || !tokens.is_space(at + 1) || !tokens.ends_word(at + 3)) {
    return std::nullopt;
  }
  const std::string_view direction = direction_of(tokens.text(at + 2));
  if (direction.empty()) {
    return std::nullopt;
  }
  const size_t end = direction_end(tokens, at + 2);
  const bool house = tokens.begins_word(at) && is_street(tokens, end);
  if (!house && !is_road_number(tokens, at)) {
    return std::nullopt;
  }
  const std::string_view digits = tokens.text(at);
  const bool pairs = digits.size() == 3 || digits.size() == 4;
  return Reading{end, (pairs ? pair_words(digits, dialect) : cardinal_words(digits, dialect)) +
                          " " + std::string(direction)};
}

}  // namespace

std::optional<Reading> read_compass(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (tokens.is_digits(at)) {
    return read_number_and_direction(tokens, at, options.dialect);
  }
  const std::string_view letters = tokens.text(at);
  const std::string_view direction = direction_of(letters);
  if (direction.empty() || !tokens.begins_word(at) || !tokens.ends_word(at + 1)) {
    return std::nullopt;
  }
  // "N. Dakota", "the S. Korean team"
  if (letters.size() == 1 && tokens.is(at + 1, ".") && tokens.is_space(at + 2) &&
      among(WordList{"compass-places"}, tokens.text(at + 3))) {
    return Reading{at + 2, std::string(direction)};
  }
  const size_t end = direction_end(tokens, at);
  // "Park Ave NW", "5th St. N"
  const bool stop = at > 2 && tokens.is_space(at - 1) && tokens.is(at - 2, ".");
  const bool behind = is_street_word(stop ? tokens.text(at - 3) : tokens.word_before(at));
  // "5th Ave. & E. 61st"
  if (letters.size() == 1 && tokens.is(at + 1, ".") && tokens.is_space(at + 2) &&
      tokens.is_digits(at + 3, 1, 3) && is_ordinal_ending(tokens.text(at + 4))) {
    return Reading{at + 2, std::string(direction)};
  }
  // "5 km N. of Mt. Ida"
  if (letters.size() == 1 && tokens.is(at + 1, ".") && tokens.word_behind(at + 2) == "of") {
    return Reading{at + 2, ascii_lower(direction)};
  }
  // "winds NW 10-15 mph", "Wind: W at 5 knots"
  constexpr size_t kNear = 8;  // tokens
  constexpr auto kFrom = std::to_array<std::string_view>({"at", "to", "around", "near"});
  const size_t speed = tokens.skip_space(at + 1);
  if (is_near(WordList{"winds"}, tokens, at, kNear) &&
      (tokens.is_digits(speed) || among(kFrom, tokens.text(speed)))) {
    return Reading{at + 1, ascii_lower(direction)};
  }
  // "30 mi. N of town"
  constexpr auto kDistances =
      std::to_array<std::string_view>({"mi", "miles", "mile", "km", "blocks", "kilometers"});
  if (at > 3 && tokens.is_space(at - 1) &&
      among(kDistances, tokens.is(at - 2, ".") ? tokens.text(at - 3) : tokens.text(at - 2)) &&
      !tokens.is(at + 1, ".")) {
    return Reading{at + 1, ascii_lower(direction)};
  }
  // "on E. 42nd St.", "NW 23rd Ave": a letter alone needs its stop.
  const bool before = (letters.size() > 1 || end > at + 1) && is_street(tokens, end);
  return behind || before ? std::optional(Reading{end, std::string(direction)}) : std::nullopt;
}

}  // namespace mynah
