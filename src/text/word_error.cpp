#include "text/word_error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <unordered_map>

#include "text/normalizer_steps.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using Ids = std::vector<int32_t>;

// Equal units get equal numbers, so that the inner loop compares numbers.
class Numbering {
 public:
  Ids number(std::span<const std::string> units) {
    Ids ids;
    ids.reserve(units.size());
    for (const std::string& unit : units) {
      ids.push_back(ids_.try_emplace(unit, static_cast<int32_t>(ids_.size())).first->second);
    }
    return ids;
  }

 private:
  std::unordered_map<std::string, int32_t> ids_;
};

// What the backtrace asks of each pair (i, j) of prefix lengths, two bits a pair.
class Trace {
 public:
  Trace(size_t rows, size_t columns) : columns_(columns), bits_((rows * columns + 3) / 4) {}

  void set(size_t row, size_t column, unsigned bits) {
    const size_t at = row * columns_ + column;
    bits_[at / 4] = static_cast<uint8_t>(bits_[at / 4] | (bits << (at % 4 * 2)));
  }

  [[nodiscard]] unsigned get(size_t row, size_t column) const {
    const size_t at = row * columns_ + column;
    return (bits_[at / 4] >> (at % 4 * 2)) & 3U;
  }

 private:
  size_t columns_;
  std::vector<uint8_t> bits_;
};

// The distance of (i, j) is one above that of (i - 1, j): leaving out reference unit i is cheapest.
constexpr unsigned kAboveLeft = 1;
// The distance of (i, j) is one below that of (i - 1, j).
constexpr unsigned kBelowLeft = 2;

// Distances of all pairs of prefixes, of which only how they differ from (i - 1, j) is kept.
Trace measure(std::span<const int32_t> reference, std::span<const int32_t> hypothesis) {
  Trace trace(hypothesis.size() + 1, reference.size() + 1);
  std::vector<int32_t> distances(reference.size() + 1);
  std::iota(distances.begin(), distances.end(), 0);
  for (size_t j = 1; j <= hypothesis.size(); ++j) {
    int32_t diagonal = distances[0];
    distances[0] = static_cast<int32_t>(j);
    for (size_t i = 1; i <= reference.size(); ++i) {
      const int32_t change = reference[i - 1] == hypothesis[j - 1] ? 0 : 1;
      const int32_t cheapest =
          std::min({distances[i] + 1, distances[i - 1] + 1, diagonal + change});
      diagonal = distances[i];
      distances[i] = cheapest;
      const int32_t step = cheapest - distances[i - 1];
      trace.set(j, i, step == 1 ? kAboveLeft : step == -1 ? kBelowLeft : 0);
    }
  }
  return trace;
}

// The edits between the two, first to last.
std::vector<EditKind> backtrace(std::span<const int32_t> reference,
                                std::span<const int32_t> hypothesis) {
  const Trace trace = measure(reference, hypothesis);
  std::vector<EditKind> edits;
  size_t i = reference.size();
  size_t j = hypothesis.size();
  while (i > 0 && j > 0) {
    if (trace.get(j, i) == kAboveLeft) {
      --i;
      edits.push_back(EditKind::Delete);
    } else if (j > 1 && trace.get(j - 1, i) == kBelowLeft) {
      --j;
      edits.push_back(EditKind::Insert);
    } else {
      --i;
      --j;
      edits.push_back(reference[i] == hypothesis[j] ? EditKind::Equal : EditKind::Substitute);
    }
  }
  edits.insert(edits.end(), i, EditKind::Delete);
  edits.insert(edits.end(), j, EditKind::Insert);
  std::ranges::reverse(edits);
  return edits;
}

// Equal units at both ends are set apart first: it saves time, and jiwer's choice among equally
// cheap alignments rests on it.
std::vector<EditKind> edits_between(std::span<const int32_t> reference,
                                    std::span<const int32_t> hypothesis) {
  const auto head = std::ranges::mismatch(reference, hypothesis);
  const auto n_head = static_cast<size_t>(head.in1 - reference.begin());
  reference = reference.subspan(n_head);
  hypothesis = hypothesis.subspan(n_head);
  size_t n_tail = 0;
  while (n_tail < std::min(reference.size(), hypothesis.size()) &&
         reference[reference.size() - 1 - n_tail] == hypothesis[hypothesis.size() - 1 - n_tail]) {
    ++n_tail;
  }
  std::vector<EditKind> edits(n_head, EditKind::Equal);
  const std::vector<EditKind> middle = backtrace(reference.first(reference.size() - n_tail),
                                                 hypothesis.first(hypothesis.size() - n_tail));
  edits.insert(edits.end(), middle.begin(), middle.end());
  edits.insert(edits.end(), n_tail, EditKind::Equal);
  return edits;
}

int64_t& count_of(ErrorCounts& counts, EditKind kind) {
  switch (kind) {
    case EditKind::Substitute:
      return counts.substitutions;
    case EditKind::Delete:
      return counts.deletions;
    case EditKind::Insert:
      return counts.insertions;
    default:
      return counts.hits;
  }
}

bool counts_characters(std::string_view language_code) {
  constexpr std::array<std::string_view, 7> kByCharacter = {"zh", "ja", "ko", "th",
                                                            "lo", "my", "yue"};
  return std::ranges::find(kByCharacter, language_code) != kByCharacter.end();
}

}  // namespace

double ErrorCounts::rate() const {
  const int64_t length = reference_length();
  return length == 0 ? static_cast<double>(insertions)
                     : static_cast<double>(errors()) / static_cast<double>(length);
}

ErrorCounts& ErrorCounts::operator+=(const ErrorCounts& other) {
  hits += other.hits;
  substitutions += other.substitutions;
  deletions += other.deletions;
  insertions += other.insertions;
  return *this;
}

Alignment align(std::span<const std::string> reference, std::span<const std::string> hypothesis) {
  Numbering numbering;
  const Ids reference_ids = numbering.number(reference);
  const Ids hypothesis_ids = numbering.number(hypothesis);
  Alignment alignment;
  size_t i = 0;
  size_t j = 0;
  for (const EditKind kind : edits_between(reference_ids, hypothesis_ids)) {
    AlignedUnit unit{.kind = kind, .reference = {}, .hypothesis = {}};
    if (kind != EditKind::Insert) {
      unit.reference = reference[i++];
    }
    if (kind != EditKind::Delete) {
      unit.hypothesis = hypothesis[j++];
    }
    ++count_of(alignment.counts, kind);
    alignment.units.push_back(std::move(unit));
  }
  return alignment;
}

TextScorer::TextScorer(std::string_view language_code)
    : by_character_(counts_characters(language_code)),
      normalizer_(language_code == "en" ? english_text_normalizer() : basic_text_normalizer()) {}

std::vector<std::string> TextScorer::units(std::string_view text) const {
  std::vector<std::string> units;
  for (const std::u32string& word : split_words(to_code_points(normalizer_->normalize(text)))) {
    if (!by_character_) {
      units.push_back(to_utf8(word));
      continue;
    }
    for (const char32_t character : word) {
      units.push_back(to_utf8({&character, 1}));
    }
  }
  return units;
}

Alignment TextScorer::score(std::string_view reference, std::string_view hypothesis) const {
  return align(units(reference), units(hypothesis));
}

}  // namespace mynah
