// Recall: what was kept that a text may be about, found by its words and by its meaning together.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/embedder.h"
#include "talk/memory/memory_store.h"

namespace mynah::talk {

// What makes vectors of texts, and the name by which a memory knows them; none: words alone count.
struct MeaningModel {
  std::shared_ptr<const Embedder> embedder;
  std::string name;
};

// A question that is about something kept is nearer to it than this, most often, and one that is
// about nothing is not (docs/memory.md has the figures).
inline constexpr double kLeastCosine = 0.35;

struct Recalled {
  MemoryItem item;
  double score = 0;                // more is better; comparable within one recall alone
  std::optional<double> cosine{};  // where it is among the nearest by meaning
  bool by_words = false;           // it is among the best by words
};

// The `most` items that fit best, the best first. A fact stands for the turn it was said in. Lists
// are joined by their ranks (reciprocal rank fusion, Cormack, Clarke and Buettcher 2009): neither
// bm25 nor a cosine says how sure it is.
Result<std::vector<Recalled>> recall(MemoryStore& store, const MeaningModel& model,
                                     std::string_view text, const MemoryFilter& filter, size_t most,
                                     const std::stop_token& stop);

// Whether something that was found is like a text: by its meaning, or because it has all of its
// words, as they are written, in any order. To share one word with it is nothing.
[[nodiscard]] bool is_like(const Recalled& found, std::string_view text);

// The same of lists that were found: ids with their scores, the best first.
[[nodiscard]] std::vector<FoundItem> fused(const std::vector<FoundItem>& by_words,
                                           const std::vector<FoundItem>& by_meaning);

// Gives vectors to items that have none, the oldest first, until all have one, some `most` got one
// or stop is requested, which is no error.
Status make_vectors(MemoryStore& store, const MeaningModel& model, const std::stop_token& stop,
                    size_t most = std::numeric_limits<size_t>::max());

// The vector of what is asked. Of a long text its beginning.
Result<std::vector<float>> vector_of(const MeaningModel& model, std::string_view text,
                                     const std::stop_token& stop);

}  // namespace mynah::talk
