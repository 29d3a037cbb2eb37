#include "models/whisper/beam_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mynah::whisper {
namespace {

// A way to go on: `beam` of the request gets `token`.
struct Candidate {
  size_t beam = 0;
  int32_t token = 0;
  float log_probability = 0;
  double score = 0;
};

struct Search {
  std::vector<Hypothesis> beams;     // running, best first
  std::vector<Hypothesis> finished;  // best first within each step
  bool done = false;
};

// The candidates of one request, the likeliest first; equal ones in the order of the beams.
std::vector<Candidate> candidates_of(const Search& search, const Picked& picked, size_t first_row,
                                     size_t top) {
  std::vector<Candidate> candidates;
  for (size_t beam = 0; beam < search.beams.size(); ++beam) {
    for (size_t k = 0; k < top; ++k) {
      const size_t at = (first_row + beam) * top + k;
      const float log_probability = picked.log_probabilities[at];
      if (std::isinf(log_probability)) {
        continue;  // fewer tokens are allowed than were asked for
      }
      candidates.push_back({.beam = beam,
                            .token = picked.ids[at],
                            .log_probability = log_probability,
                            .score = search.beams[beam].sum_log_probability + log_probability});
    }
  }
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::score);
  return candidates;
}

// Takes the best `beam_size` that go on; those that end before them are finished. Returns, for each
// new beam, the beam it grew from.
std::vector<size_t> advance(Search& search, std::span<const Candidate> candidates, size_t beam_size,
                            size_t max_finished, int32_t eot) {
  std::vector<Hypothesis> grown;
  std::vector<size_t> parents;
  for (const Candidate& candidate : candidates) {
    if (grown.size() == beam_size) {
      break;
    }
    Hypothesis next = search.beams[candidate.beam];
    next.add(candidate.token, candidate.log_probability, eot);
    if (!next.finished) {
      grown.push_back(std::move(next));
      parents.push_back(candidate.beam);
    } else if (search.finished.size() < max_finished) {
      search.finished.push_back(std::move(next));
    }
  }
  search.beams = std::move(grown);
  search.done = search.finished.size() >= max_finished || search.beams.empty();
  return parents;
}

}  // namespace

std::vector<Hypothesis> beam_search(const Generator& generator, Sequences& sequences,
                                    size_t requests, const GenerateOptions& options,
                                    const std::stop_token& stop) {
  const auto beam_size = static_cast<size_t>(options.beam_size);
  const auto max_finished = static_cast<size_t>(
      std::max(1L, std::lround(static_cast<float>(options.beam_size) * options.patience)));
  const size_t top = beam_size + 1;
  std::vector<Search> searches(requests);
  for (size_t request = 0; request < requests; ++request) {
    searches[request].beams.push_back(sequences.begun(request));
  }
  std::vector<const Hypothesis*> first;
  first.reserve(requests);
  for (const Search& search : searches) {
    first.push_back(search.beams.data());
  }
  Picked picked = sequences.pick(sequences.prefill(), first, static_cast<int32_t>(top));
  while (!stop.stop_requested()) {
    std::vector<int64_t> sources(requests * beam_size);
    std::iota(sources.begin(), sources.end(), int64_t{0});
    std::vector<const Hypothesis*> next;
    std::vector<int64_t> slots;
    size_t row = 0;
    for (size_t request = 0; request < requests; ++request) {
      Search& search = searches[request];
      if (search.done) {
        continue;
      }
      const size_t rows = search.beams.size();
      const std::vector<size_t> parents = advance(search, candidates_of(search, picked, row, top),
                                                  beam_size, max_finished, generator.special.eot);
      row += rows;
      if (!search.done &&
          (static_cast<int64_t>(search.beams[0].tokens.size()) >= sequences.room(request) ||
           sequences.is_stopped(request))) {
        search.done = true;
      }
      for (size_t beam = 0; beam < search.beams.size() && !search.done; ++beam) {
        const size_t slot = request * beam_size + beam;
        sources[slot] = static_cast<int64_t>(request * beam_size + parents[beam]);
        next.push_back(&search.beams[beam]);
        slots.push_back(static_cast<int64_t>(slot));
      }
    }
    if (next.empty()) {
      break;
    }
    sequences.rearrange(sources);
    picked = sequences.step(next, slots, static_cast<int32_t>(top));
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
