#include "text/spoken/years.h"

#include <array>

#include "base/ascii.h"
#include "text/spoken/among.h"
#include "text/spoken/quantity.h"
#include "text/spoken/word_tables.h"

namespace mynah {

bool is_year(const Tokens& tokens, size_t at) {
  // "in the year 1066"
  if (tokens.is_digits(at, 3, 4) && ascii_lower(tokens.word_before(at)) == "year") {
    return true;
  }
  if (!tokens.is_digits(at, 4, 4)) {
    return false;
  }
  // "A.D. 1066", "AD 1066"
  const size_t stop = at > 2 && tokens.is_space(at - 1) ? at - 2 : 0;
  if (tokens.word_before(at) == "AD" || (stop > 2 && tokens.text(stop - 3, stop + 1) == "A.D.")) {
    return true;
  }
  // "2500 BCE", "3000 B.C."
  const size_t era = tokens.skip_space(at + 1);
  const std::string_view dotted = tokens.text(era, era + 3);
  if (among(WordList{"eras"}, tokens.text(era)) || dotted == "B.C" || dotted == "A.D" ||
      dotted == "C.E") {
    return true;
  }
  const unsigned value = digits_value(tokens.text(at));
  // "the H1 2024 results"
  if (at > 2 && tokens.is_space(at - 1) && tokens.is_digits(at - 2, 1, 1) &&
      (tokens.is(at - 3, "Q") || tokens.is(at - 3, "H"))) {
    return value >= 1900 && value < 2100;
  }
  // "Pre-1945 maps"
  constexpr auto kPrefixes =
      std::to_array<std::string_view>({"pre", "post", "mid", "early", "late", "ante", "circa"});
  if (at > 1 && tokens.is(at - 1, "-") && among(kPrefixes, ascii_lower(tokens.text(at - 2)))) {
    return value >= 1000 && value < 2100;
  }
  // "From 1066 to c. 1154"
  constexpr auto kUntil = std::to_array<std::string_view>({"to", "until", "till", "through"});
  const size_t until = at + 2;
  const size_t last =
      tokens.is(until + 2, "c") && tokens.is(until + 3, ".") ? until + 5 : until + 2;
  if (value >= 1000 && value < 2100 && ascii_lower(tokens.word_before(at)) == "from" &&
      among(kUntil, tokens.word_behind(at + 1)) && tokens.is_digits(last, 4, 4) &&
      digits_value(tokens.text(last)) < 2100 && !is_counted(tokens.word_behind(last + 1))) {
    return true;
  }
  constexpr auto kBefore =
      std::to_array<std::string_view>({"in", "since", "until", "circa", "In", "Since"});
  // "Summer 2025 starts"
  constexpr auto kSeasons =
      std::to_array<std::string_view>({"spring", "summer", "autumn", "fall", "winter"});
  if (value >= 1900 && value < 2100 && among(kSeasons, ascii_lower(tokens.word_before(at)))) {
    return true;
  }
  if (value >= 1900 && among(WordList{"event-nouns"}, tokens.word_behind(at + 1))) {
    return value < 2100;
  }
  const unsigned first = among(kBefore, tokens.word_before(at)) ? 1000 : 1100;
  return value >= first && value < 2100 && !is_counted(tokens.word_behind(at + 1));
}

}  // namespace mynah
