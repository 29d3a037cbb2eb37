#include "speech/own_words.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest_name.h"
#include "text/word_error.h"

namespace mynah {

namespace {

constexpr double kOtherWord = -0.5;

// One letter in so many may be another.
constexpr size_t kLettersPerError = 4;

bool sounds_same(const std::string& a, const std::string& b) {
  const size_t longest = std::max(a.size(), b.size());
  const size_t shortest = std::min(a.size(), b.size());
  const size_t allowed = longest / kLettersPerError;
  return a == b || (longest - shortest <= allowed && edit_distance(a, b) <= allowed);
}

// An alignment that ends at a pair of words.
struct Run {
  double score = 0;
  size_t same = 0;
};

Run extended(const Run& run, double score, size_t same) {
  return {.score = run.score + score, .same = run.same + same};
}

}  // namespace

OwnWords own_words(std::string_view heard, std::string_view played,
                   std::string_view language_code) {
  const TextScorer scorer(language_code);
  const std::vector<std::string> words = scorer.units(heard);
  const std::vector<std::string> own = scorer.units(played);
  OwnWords found{.heard = words.size()};
  Run best;
  const auto better = [](const Run& a, const Run& b) {
    return std::pair(a.score, a.same) < std::pair(b.score, b.same);
  };
  std::vector<Run> above(own.size() + 1);
  for (const std::string& word : words) {
    std::vector<Run> row(own.size() + 1);
    for (size_t i = 0; i < own.size(); ++i) {
      const bool same = sounds_same(word, own[i]);
      row[i + 1] =
          std::max({Run{}, extended(above[i], same ? 1 : kOtherWord, same ? 1 : 0),
                    extended(above[i + 1], kOtherWord, 0), extended(row[i], kOtherWord, 0)},
                   better);
      best = std::max(best, row[i + 1], better);
    }
    above = std::move(row);
  }
  found.own = best.same;
  found.is_own = found.own >= 2 && 3 * found.own >= 2 * found.heard;
  return found;
}

}  // namespace mynah
