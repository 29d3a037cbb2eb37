// WakePhrase: a wake word by its text alone. A recogniser writes what it hears, and this says
// whether that begins with the phrase, or with what sounds like it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

struct PhraseMatch {
  double distance = 0;  // 0: the same sounds; up to the tolerance where one is asked for
  size_t end = 0;       // byte of the text behind it: what follows is what is wanted

  bool operator==(const PhraseMatch&) const = default;
};

// A recogniser has never heard of "mynah" and writes "Mina" or "minor": what is compared are rough
// sounds of the letters, by a distance of edits in which vowels cost little and neighbours (m and
// n, b and p) less than strangers.
class WakePhrase {
 public:
  // Of all sounds so many may be wrong.
  static constexpr double kTolerance = 0.2;

  // Usage where the text has fewer than four sounds: everything would sound like it.
  static Result<WakePhrase> create(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }

  // Where the text begins with it; the best of the ends that are ends of words.
  [[nodiscard]] std::optional<PhraseMatch> begins(std::string_view text) const;

  // What of the text sounds most like it, from the begin of any sentence on, however little; none:
  // the text has no words.
  [[nodiscard]] std::optional<PhraseMatch> nearest(std::string_view text) const;

  // The same of any sentence of the text, the first that does.
  [[nodiscard]] std::optional<PhraseMatch> find(std::string_view text) const;

 private:
  WakePhrase(std::string text, std::string sounds)
      : text_(std::move(text)), sounds_(std::move(sounds)) {}

  // The best of the ends that are ends of words, no further away than `most` of its sounds.
  [[nodiscard]] std::optional<PhraseMatch> begins(std::string_view text, double most) const;

  std::string text_;
  std::string sounds_;
};

// The rough sounds of a word: letters, each vowel or run of them one; what is written and not said
// is left out.
[[nodiscard]] std::string rough_sounds(std::string_view word);

}  // namespace mynah
