#include "models/whisper/beam_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mynah::whisper {
namespace {

// A way to go on: `beam` of the request gets `token`.
struct Candidate {
  size_t beam = 0;
  int32_t token = 0;
  float log_probability = 0;
  double score = 0;
};

// So many more tokens are looked at for one that begins a word: what is further behind is less
// likely than kBegunGap allows.
constexpr size_t kLookedAtForWords = 24;

// Behind the score of the best beam, of what a word earns when it is complete: further behind it
// seldom wins, and with thousands of words nearly every text begins one.
constexpr double kBegunGap = 0.8;

struct Search {
  std::vector<Hypothesis> beams;     // running, best first
  std::vector<Hypothesis> finished;  // best first within each step
  bool done = false;
};

// The candidates of one request, the likeliest first; equal ones in the order of the beams.
std::vector<Candidate> candidates_of(const Batch& batch, const Search& search,
                                     const Sampled& picked, size_t first_row, size_t top) {
  std::vector<Candidate> candidates;
  for (size_t beam = 0; beam < search.beams.size(); ++beam) {
    for (size_t k = 0; k < top; ++k) {
      const size_t at = (first_row + beam) * top + k;
      const float log_probability = picked.log_probabilities[at];
      if (std::isinf(log_probability)) {
        continue;  // fewer tokens are allowed than were asked for
      }
      candidates.push_back(
          {.beam = beam,
           .token = picked.ids[at],
           .log_probability = log_probability,
           .score = batch.score_with(search.beams[beam], picked.ids[at], log_probability)});
    }
  }
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::score);
  return candidates;
}

// Whether a beam that is not among the best may still become a word that is expected: how likely
// that is shows with its last tokens.
bool may_be_a_word(const Hypothesis& beam, double best, const ContextGraph& words) {
  return beam.word.held > 0 && beam.score() > best - kBegunGap * words.most();
}

// Takes the best `beam_size` that go on, and some besides that have begun a word; those that end
// before them are finished.
void advance(const Batch& batch, Search& search, std::span<const Candidate> candidates,
             size_t beam_size, size_t max_finished) {
  std::vector<Hypothesis> grown;
  const ContextGraph* const words = batch.words_of(search.beams.front());
  const size_t most = beam_size + (words != nullptr ? kBegunBeams : 0);
  for (const Candidate& candidate : candidates) {
    if (grown.size() == most) {
      break;
    }
    const bool among_best = grown.size() < beam_size;
    Hypothesis next = search.beams[candidate.beam];
    batch.grow(next, candidate.token, candidate.log_probability);
    if (next.finished && among_best && search.finished.size() < max_finished) {
      search.finished.push_back(std::move(next));
    } else if (!next.finished &&
               (among_best || may_be_a_word(next, grown.front().score(), *words))) {
      grown.push_back(std::move(next));
    }
  }
  search.beams = std::move(grown);
  search.done = search.finished.size() >= max_finished || search.beams.empty();
}

}  // namespace

std::vector<Hypothesis> beam_search(Batch& batch, const GenerateOptions& options,
                                    const std::stop_token& stop) {
  const auto beam_size = static_cast<size_t>(options.beam_size);
  const auto max_finished = static_cast<size_t>(
      std::max(1L, std::lround(static_cast<float>(options.beam_size) * options.patience)));
  size_t top = beam_size + 1;
  Tensor logits;
  std::vector<Search> searches;
  for (Hypothesis& text : batch.begin(logits)) {
    top = batch.has_words(text.request) ? beam_size + 1 + kLookedAtForWords : top;
    searches.push_back({.beams = {std::move(text)}, .finished = {}});
  }
  std::vector<const Hypothesis*> next;
  next.reserve(searches.size());
  for (const Search& search : searches) {
    next.push_back(search.beams.data());
  }
  Sampled picked = batch.pick(logits, next, static_cast<int32_t>(top));
  while (!stop.stop_requested()) {
    next.clear();
    size_t row = 0;
    for (size_t request = 0; request < searches.size(); ++request) {
      Search& search = searches[request];
      if (search.done) {
        continue;
      }
      std::vector<int64_t> before;
      before.reserve(search.beams.size());
      for (const Hypothesis& beam : search.beams) {
        before.push_back(beam.sequence);
      }
      advance(batch, search, candidates_of(batch, search, picked, row, top), beam_size,
              max_finished);
      row += before.size();
      if (!search.done && (std::ssize(search.beams[0].tokens) >= batch.room(request) ||
                           batch.is_stopped(request))) {
        search.done = true;
      }
      batch.renew(before, search.done ? std::span<Hypothesis>() : std::span(search.beams));
      for (size_t beam = 0; beam < search.beams.size() && !search.done; ++beam) {
        next.push_back(&search.beams[beam]);
      }
    }
    if (next.empty()) {
      break;
    }
    picked = batch.step(next, static_cast<int32_t>(top));
  }

  std::vector<Hypothesis> all;
  for (Search& search : searches) {
    for (Hypothesis& beam : search.beams) {  // best first
      if (search.finished.size() < beam_size) {
        search.finished.push_back(std::move(beam));
      }
    }
    std::ranges::move(search.finished, std::back_inserter(all));
  }
  return all;
}

}  // namespace mynah::whisper
