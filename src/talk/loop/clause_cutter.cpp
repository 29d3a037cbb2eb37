#include "talk/loop/clause_cutter.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace mynah::talk {

namespace {

// A first piece that ends at a mark has so many bytes at least: "Well," alone is spoken as a word
// that waits.
constexpr size_t kLeastFirst = 12;
// Without a mark it ends between two words: about two seconds of speech.
constexpr size_t kMostFirst = 48;

// Where a first piece may end: behind a mark with a space behind it. 0: nowhere yet.
size_t first_edge(std::string_view text) {
  constexpr std::string_view kMarks = ",;:";
  for (size_t at = kLeastFirst; at + 1 < text.size(); ++at) {
    if (kMarks.contains(text[at]) && is_ascii_space(text[at + 1])) {
      return at + 1;
    }
  }
  if (text.size() <= kMostFirst) {
    return 0;
  }
  const size_t space = text.find_last_of(" \n", kMostFirst);
  return space == std::string_view::npos || space < kLeastFirst ? 0 : space;
}

}  // namespace

ClauseCutter::ClauseCutter(const std::string& language)
    : options_{.language = language.empty() ? "en" : language}, splitter_(options_) {}

void ClauseCutter::take(const std::vector<Sentence>& sentences, std::vector<SpokenPiece>& pieces) {
  for (const Sentence& sentence : sentences) {
    const bool paragraph = sentence.after == Sentence::Break::Paragraph;
    pieces.push_back(
        {.text = sentence.text,
         .begin = split_from_ + sentence.begin,
         .behind = paragraph ? SpokenPiece::Behind::Paragraph : SpokenPiece::Behind::Sentence});
    begun_ = true;
  }
}

void ClauseCutter::take_first(std::vector<SpokenPiece>& pieces) {
  const size_t edge = first_edge(first_);
  if (edge == 0) {
    return;
  }
  const size_t lead = std::min(first_.find_first_not_of(" \t\r\n"), edge);
  pieces.push_back({.text = first_.substr(lead, edge - lead),
                    .begin = lead,
                    .behind = SpokenPiece::Behind::Clause});
  begun_ = true;
  split_from_ = edge;
  splitter_ = SentenceSplitter(options_);
  take(splitter_.push(std::string_view(first_).substr(edge)), pieces);
}

std::vector<SpokenPiece> ClauseCutter::push(std::string_view markdown) {
  const std::string plain = filter_.push(markdown);
  std::vector<SpokenPiece> pieces;
  if (!begun_) {
    first_ += plain;
  }
  take(splitter_.push(plain), pieces);
  if (!begun_) {
    take_first(pieces);
  }
  return pieces;
}

std::vector<SpokenPiece> ClauseCutter::finish() {
  std::vector<SpokenPiece> pieces;
  take(splitter_.push(filter_.finish()), pieces);
  take(splitter_.finish(), pieces);
  return pieces;
}

size_t ClauseCutter::reply_bytes(size_t plain_bytes) const {
  return plain_bytes == 0 ? 0 : filter_.source_of({0, plain_bytes}).end;
}

}  // namespace mynah::talk
