#include "place/plans/assignment.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace mynah::place {
namespace {

// Depth first over the stages, in the order of candidates.
class Search {
 public:
  Search(const std::vector<StageChoices>& stages, Budget* budget, int batch)
      : stages_(stages), budget_(budget), batch_(batch), rest_(stages.size() + 1) {
    // What the stages from one on cost at least. Costs are compared part by part, so that the
    // cheapest sum is the sum of the cheapest.
    for (size_t i = stages.size(); i-- > 0;) {
      rest_[i] = stages[i].candidates.empty() ? rest_[i + 1]
                                              : stages[i].candidates.front().cost + rest_[i + 1];
    }
  }

  std::optional<Assignment> run() {
    descend(0, {});
    return std::move(best_);
  }

 private:
  void descend(size_t depth, const Cost& cost) {
    if (depth == stages_.size()) {
      if (!best_ || cost < best_->cost) {
        best_ = Assignment{.chosen = chosen_, .cost = cost};
      }
      return;
    }
    for (const Candidate& candidate : stages_[depth].candidates) {
      Cost next = cost + candidate.cost;
      if (is_hopeless(next, depth)) {
        break;  // what follows costs as much or more
      }
      if (depth > 0 && stages_[depth].with_last && !may_be_beside(candidate, chosen_.back())) {
        continue;
      }
      if (depth > 0 && candidate.device != chosen_.back().device) {
        next.ms += stages_[depth].gain_ms;
        if (is_hopeless(next, depth)) {
          continue;
        }
      }
      const uint64_t bytes = batch_bytes(candidate.bytes, candidate.window_bytes, batch_);
      if (budget_ != nullptr && !budget_->take(candidate.device, bytes)) {
        continue;
      }
      chosen_.push_back(candidate);
      descend(depth + 1, next);
      chosen_.pop_back();
      if (budget_ != nullptr) {
        budget_->give_back(candidate.device, bytes);
      }
    }
  }

  static bool may_be_beside(const Candidate& candidate, const Candidate& last) {
    const bool as_many = candidate.units == last.units || candidate.units == 0 || last.units == 0;
    return candidate.apart == last.apart && as_many &&
           (candidate.apart > 0 || candidate.device == last.device);
  }

  [[nodiscard]] bool is_hopeless(const Cost& cost, size_t depth) const {
    return best_ && !(cost + rest_[depth + 1] < best_->cost);
  }

  const std::vector<StageChoices>& stages_;
  Budget* budget_;
  int batch_;
  std::vector<Cost> rest_;
  std::vector<Candidate> chosen_;
  std::optional<Assignment> best_;
};

}  // namespace

Cost operator+(const Cost& a, const Cost& b) {
  return {.rank = a.rank + b.rank,
          .unmeasured = a.unmeasured + b.unmeasured,
          .ms = a.ms + b.ms,
          .shrunk = a.shrunk + b.shrunk};
}

void sort_candidates(std::vector<Candidate>& candidates) {
  const auto key = [](const Candidate& candidate) {
    const int storage = candidate.storage ? static_cast<int>(*candidate.storage) : -1;
    return std::tuple(candidate.cost.rank, candidate.cost.unmeasured, candidate.cost.ms,
                      candidate.cost.shrunk, candidate.bytes, candidate.window_bytes,
                      candidate.device, storage, candidate.apart);
  };
  std::ranges::sort(candidates, {}, key);
  std::vector<Candidate> kept;
  for (const Candidate& candidate : candidates) {
    // Candidates that are kept cost as much or less.
    const bool gains = std::ranges::none_of(kept, [&](const Candidate& cheaper) {
      return cheaper.device == candidate.device && cheaper.apart == candidate.apart &&
             cheaper.bytes <= candidate.bytes && cheaper.window_bytes <= candidate.window_bytes;
    });
    if (gains) {
      kept.push_back(candidate);
    }
  }
  candidates = std::move(kept);
}

std::optional<Assignment> cheapest(const std::vector<StageChoices>& stages, Budget budget,
                                   int batch) {
  return Search(stages, &budget, batch).run();
}

std::optional<Assignment> cheapest(const std::vector<StageChoices>& stages) {
  return Search(stages, nullptr, 1).run();
}

bool fits(const Assignment& assignment, Budget budget, int batch) {
  return std::ranges::all_of(assignment.chosen, [&](const Candidate& candidate) {
    return budget.take(candidate.device,
                       batch_bytes(candidate.bytes, candidate.window_bytes, batch));
  });
}

}  // namespace mynah::place
