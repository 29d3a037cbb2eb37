// Sentences that are too long for a model, cut where a speaker would breathe.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace mynah {

struct Clause {
  size_t begin = 0;  // bytes of the sentence; no white space at either end
  size_t end = 0;
};

struct ClauseOptions {
  // The most that a piece may cost. Kokoro takes 510 phonemes.
  size_t max_cost = 510;
  // Where it is not 0, the first piece costs about so much at most, so that sound starts early: it
  // ends at a clause, or between two words of a sentence that is more than twice as long.
  size_t first_cost = 0;
};

// What a word or a mark costs, for instance its phonemes. It is asked once for every word, and for
// parts of a word that alone is above the limit.
using ClauseCost = std::function<size_t(std::string_view)>;

// Code points: the cost where no other is known.
[[nodiscard]] size_t count_code_points(std::string_view text);

// The sentence in pieces of about equal cost, each within the limit: the sum of its words' costs,
// and one for each space between them. Borders are chosen in this order: ; : and dashes, commas,
// closing brackets and quotes, before conjunctions, spaces; inside a word only where the word alone
// is above the limit. Takes time in proportion to the text.
[[nodiscard]] std::vector<Clause> cut_clauses(std::string_view sentence,
                                              const ClauseOptions& options,
                                              const ClauseCost& cost = count_code_points);

}  // namespace mynah
