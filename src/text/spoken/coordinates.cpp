// Angles in degrees, minutes and seconds: 40°26′46″N (ISO 6709, annex D).
#include <array>
#include <string>

#include "text/spoken/cardinals.h"
#include "text/spoken/codes.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

// "46.3" at `at` with its mark behind it; the end is `at` where there is none.
struct Part {
  size_t end = 0;
  std::string words;
};

Part part_at(const Tokens& tokens, size_t at, std::string_view mark, std::string_view unit,
             EnglishDialect dialect) {
  if (!tokens.is_digits(at, 1, 3)) {
    return {.end = at, .words = {}};
  }
  std::string words = cardinal_words(tokens.text(at), dialect);
  const bool one = words == "one";
  size_t end = at + 1;
  if (tokens.is(end, ".") && tokens.is_digits(end + 1, 1, 6)) {
    words += " point " + digit_words(tokens.text(end + 1));
    end += 2;
  }
  const bool marked = tokens.is(end, mark) || (mark == "\"" && tokens.is(end, "\u201D"));
  if (!marked) {
    return {.end = at, .words = {}};
  }
  return {.end = end + 1,
          .words = words + " " + std::string(unit) + (one && end == at + 1 ? "" : "s")};
}

}  // namespace

std::optional<Reading> read_coordinate(const Tokens& tokens, size_t at,
                                       const SpokenOptions& options) {
  if (!tokens.begins_word(at)) {
    return std::nullopt;
  }
  const Part degrees = part_at(tokens, at, "\u00B0", "degree", options.dialect);
  const size_t next = tokens.skip_space(degrees.end);
  const Part minutes = part_at(tokens, next, "'", "minute", options.dialect);
  if (degrees.end == at || minutes.end == next) {
    return std::nullopt;
  }
  std::string words = degrees.words + " " + minutes.words;
  size_t end = minutes.end;
  const size_t last = tokens.skip_space(end);
  if (const Part seconds = part_at(tokens, last, "\"", "second", options.dialect);
      seconds.end > last) {
    words += " " + seconds.words;
    end = seconds.end;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSides = {
      {{"N", "north"}, {"S", "south"}, {"E", "east"}, {"W", "west"}}};
  const size_t side = tokens.skip_space(end);
  for (const auto& [letter, name] : kSides) {
    if (tokens.is(side, letter) && tokens.ends_word(side + 1)) {
      return Reading{side + 1, words + " " + std::string(name)};
    }
  }
  return Reading{end, std::move(words)};
}

}  // namespace mynah
