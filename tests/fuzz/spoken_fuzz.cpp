// Any bytes as text to be spoken, with marks in it: UTF-8, pieces in order that leave out only
// spaces, sources within the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/spoken/english_spoken.h"
#include "text/utf8.h"

namespace mynah {
namespace {

void check_pieces(const SpokenText& spoken, size_t source) {
  size_t end = 0;
  size_t source_begin = 0;
  for (const SpokenPiece& piece : spoken.pieces) {
    MYNAH_CHECK(piece.begin >= end && piece.end > piece.begin && piece.end <= spoken.text.size(),
                "pieces are not in order");
    MYNAH_CHECK(piece.source_begin >= source_begin && piece.source_begin <= piece.source_end &&
                    piece.source_end <= source,
                "sources are not in order");
    const std::string between = spoken.text.substr(end, piece.begin - end);
    MYNAH_CHECK(between.find_first_not_of(" \t\r\n") == std::string::npos, "text without a piece");
    end = piece.end;
    source_begin = piece.source_begin;
  }
}

// Three marks at places that the input chooses.
std::vector<TextMark> marks_of(std::string_view text) {
  std::vector<size_t> places;
  for (size_t i = 0; i < std::min<size_t>(6, text.size()); ++i) {
    places.push_back(static_cast<unsigned char>(text[i]) % (text.size() + 1));
  }
  std::ranges::sort(places);
  std::vector<TextMark> marks;
  constexpr TextMark::Kind kKinds[] = {TextMark::Kind::Phonemes, TextMark::Kind::SayAs,
                                       TextMark::Kind::Substitute};
  for (size_t i = 0; i + 1 < places.size(); i += 2) {
    marks.push_back({.kind = kKinds[i / 2 % 3],
                     .begin = places[i],
                     .end = places[i + 1],
                     .value = i == 2 ? "date" : "x 5",
                     .format = "mdy"});
  }
  return marks;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  SpokenOptions options;
  options.dialect = size % 2 == 0 ? EnglishDialect::American : EnglishDialect::British;
  const SpokenText spoken = spoken_english(text, options);
  check_pieces(spoken, size);
  MYNAH_CHECK(replace_invalid_utf8(spoken.text) == spoken.text, "not UTF-8");
  check_pieces(spoken_other(text, options), size);
  constexpr const char* kLanguages[] = {"de", "fr", "es", "it", "pt", "nl", "pl",
                                        "ru", "uk", "cs", "sv", "tr", "hi"};
  SpokenOptions other = options;
  other.language = kLanguages[size % std::size(kLanguages)];
  const SpokenText foreign = spoken_other(text, other);
  check_pieces(foreign, size);
  MYNAH_CHECK(replace_invalid_utf8(foreign.text) == foreign.text, "not UTF-8");
  const std::vector<TextMark> marks = marks_of(text);
  check_pieces(spoken_english(text, options, marks), size);
  options.normalize = false;
  const SpokenText same = spoken_english(text, options);
  check_pieces(same, size);
  MYNAH_CHECK(same.text == text, "not the same");
  check_pieces(spoken_english(text, options, marks), size);
  return 0;
}

}  // namespace mynah
