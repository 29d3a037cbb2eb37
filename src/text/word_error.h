// Word error rate: a hypothesis aligned with its reference, and the errors counted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_normalizer.h"

namespace mynah {

struct ErrorCounts {
  int64_t hits = 0;
  int64_t substitutions = 0;
  int64_t deletions = 0;
  int64_t insertions = 0;

  [[nodiscard]] int64_t errors() const { return substitutions + deletions + insertions; }

  [[nodiscard]] int64_t reference_length() const { return hits + substitutions + deletions; }

  // Errors over the reference's length. With an empty reference the number of insertions, as jiwer
  // has it.
  [[nodiscard]] double rate() const;

  ErrorCounts& operator+=(const ErrorCounts& other);
  bool operator==(const ErrorCounts&) const = default;
};

enum class EditKind : uint8_t { Equal, Substitute, Delete, Insert };

// One position of an alignment. The side that has no word there is empty.
struct AlignedUnit {
  EditKind kind = EditKind::Equal;
  std::string reference;
  std::string hypothesis;
};

struct Alignment {
  std::vector<AlignedUnit> units;
  ErrorCounts counts;
};

// The cheapest way from the reference to the hypothesis, all edits costing one. Where several are
// cheapest, the same one as jiwer's (rapidfuzz's backtrace: from the end, a deletion before an
// insertion before a substitution), so that the three counts agree with it and not only their sum.
// Memory: a quarter of a byte for each pair of units.
[[nodiscard]] Alignment align(std::span<const std::string> reference,
                              std::span<const std::string> hypothesis);

// What errors are counted by, and how texts are made comparable: words, or single characters
// without spaces for languages that are written without them or with few (zh, ja, ko, th, lo, my,
// yue), as Whisper's paper does.
class TextScorer {
 public:
  // A language's code; English has a normaliser of its own.
  explicit TextScorer(std::string_view language_code);

  [[nodiscard]] bool by_character() const { return by_character_; }

  // Normalises both and aligns them.
  [[nodiscard]] Alignment score(std::string_view reference, std::string_view hypothesis) const;

  // The normalised text's words or characters.
  [[nodiscard]] std::vector<std::string> units(std::string_view text) const;

 private:
  bool by_character_ = false;
  std::unique_ptr<TextNormalizer> normalizer_;
};

}  // namespace mynah
