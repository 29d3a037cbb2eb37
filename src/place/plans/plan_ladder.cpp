#include "place/plans/plan_ladder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/terms/kind.h"
#include "store/files.h"

namespace mynah::place {
namespace {

std::vector<StageChoices> choices_of(const std::vector<StageOptions>& options) {
  std::vector<StageChoices> choices;
  choices.reserve(options.size());
  for (const StageOptions& stage : options) {
    choices.push_back(stage.choices);
  }
  return choices;
}

// The first device that an assignment asks too much of, in words: "cuda:0 has 310.0 MB to spare,
// 420.0 MB are needed"; "": it fits.
std::string shortage(const Assignment& assignment, const Budget& budget, int batch) {
  for (size_t device = 0; device < budget.size(); ++device) {
    uint64_t needed = 0;
    for (const Candidate& candidate : assignment.chosen) {
      if (candidate.device == device) {
        const uint64_t bytes = batch_bytes(candidate.bytes, candidate.window_bytes, batch);
        needed = needed + bytes < needed ? UINT64_MAX : needed + bytes;
      }
    }
    if (needed > budget.usable(device)) {
      return fmt::format("{} {}, {} are needed", budget.name(device),
                         spare_text(budget, device, budget.usable(device)), human_bytes(needed));
    }
  }
  return {};
}

// The largest batch that fits, of `batch`, its half, its quarter and so on; 0: not even one window.
int largest_batch(const Assignment& assignment, const Budget& budget, int batch) {
  while (batch > 0 && !fits(assignment, budget, batch)) {
    batch /= 2;
  }
  return batch;
}

// Climbs down for one set of options.
class Ladder {
 public:
  Ladder(const std::vector<StageOptions>& options, const Budget& budget, int batch)
      : options_(options),
        choices_(choices_of(options)),
        budget_(budget),
        wanted_(std::max(batch, 1)) {}

  Result<Outcome> descend() {
    auto ideal = cheapest(choices_);
    if (!ideal) {
      return fail(ErrorCode::Device,
                  "no device can compute all stages of a model; leave --device out");
    }
    outcome_.ideal = *std::move(ideal);
    outcome_.wanted_batch = wanted_;
    if (take_ideal()) {
      return std::move(outcome_);
    }
    if (auto smaller = smaller_types()) {
      take(*std::move(smaller));
      return std::move(outcome_);
    }
    auto moved = cheapest(choices_, budget_, 1);
    if (!moved) {
      return refuse();
    }
    take(*std::move(moved));
    return std::move(outcome_);
  }

 private:
  // As fast as can be, with the largest batch for which that is so: another assignment may cost as
  // much and fit.
  bool take_ideal() {
    for (int batch = wanted_; batch > 0; batch /= 2) {
      auto found = cheapest(choices_, budget_, batch);
      if (found && !(outcome_.ideal.cost < found->cost)) {
        outcome_.taken = *std::move(found);
        outcome_.batch = batch;
        return true;
      }
    }
    return false;
  }

  std::optional<Assignment> smaller_types() const {
    std::vector<StageChoices> same_devices = choices_;
    for (size_t i = 0; i < same_devices.size(); ++i) {
      std::erase_if(same_devices[i].candidates, [&](const Candidate& candidate) {
        return candidate.device != outcome_.ideal.chosen[i].device;
      });
    }
    auto found = cheapest(same_devices, budget_, 1);
    if (found && !is_slower_than_processor(*found)) {
      return found;
    }
    return std::nullopt;
  }

  // Whether a group of automatic stages takes longer than it would on the processor alone, where
  // that was measured.
  [[nodiscard]] bool is_slower_than_processor(const Assignment& assignment) const {
    const std::optional<size_t> cpu = budget_.find("cpu");
    for (size_t first = 0; cpu && first < options_.size();) {
      const StageGroup group = group_of(choices_[first].stage);
      double ms = 0;
      double cpu_ms = 0;
      bool comparable = true;
      size_t i = first;
      for (; i < options_.size() && group_of(choices_[i].stage) == group; ++i) {
        const auto on_cpu = std::ranges::find_if(choices_[i].candidates, [&](const Candidate& c) {
          return c.device == *cpu && c.cost.unmeasured == 0 && c.apart == 0;
        });
        comparable = comparable && options_[i].automatic && on_cpu != choices_[i].candidates.end();
        if (!comparable) {
          continue;
        }
        cpu_ms += on_cpu->cost.ms;
        ms += assignment.chosen[i].cost.ms;
      }
      if (comparable && ms > cpu_ms) {
        return true;
      }
      first = i;
    }
    return false;
  }

  void take(Assignment assignment) {
    outcome_.batch = largest_batch(assignment, budget_, wanted_);
    outcome_.taken = std::move(assignment);
  }

  [[nodiscard]] std::unexpected<Error> refuse() const {
    // The least that the ideal's devices could be asked for.
    Assignment least = outcome_.ideal;
    for (size_t i = 0; i < options_.size(); ++i) {
      for (const Candidate& candidate : choices_[i].candidates) {
        Candidate& best = least.chosen[i];
        if (candidate.device == best.device && candidate.apart == best.apart &&
            candidate.bytes < best.bytes) {
          best = candidate;
        }
      }
    }
    std::vector<std::string_view> stages;
    stages.reserve(choices_.size());
    for (const StageOptions& stage : options_) {
      // What has no work where it is needs no room either.
      if (!stage.whole || !facts_of(stage.choices.stage).only_apart) {
        stages.push_back(stage_name(stage.choices.stage));
      }
    }
    // What has no types to choose among has no windows either.
    const bool may_be_smaller = std::ranges::any_of(choices_, [](const StageChoices& stage) {
      return kind_of(group_of(stage.stage)).has_types;
    });
    const bool may_grow_less = std::ranges::any_of(
        options_, [](const StageOptions& stage) { return stage.wanted_units > 0; });
    return fail(ErrorCode::Device,
                fmt::format("there is no room for {}{}: {}; free some memory, {}{}or allow another "
                            "device",
                            fmt::join(stages, ", "),
                            may_be_smaller ? ", not even for one window at a time and in the "
                                             "smallest storage types that were measured"
                                           : "",
                            shortage(least, budget_, 1),
                            may_be_smaller || may_grow_less ? "take a smaller model, " : "",
                            may_grow_less ? "ask for a smaller --context, " : ""));
  }

  const std::vector<StageOptions>& options_;
  std::vector<StageChoices> choices_;
  const Budget& budget_;
  int wanted_;
  Outcome outcome_;
};

}  // namespace

Result<Outcome> descend_ladder(const std::vector<StageOptions>& options, const Budget& budget,
                               int batch) {
  return Ladder(options, budget, batch).descend();
}

bool fastest_fits(const std::vector<StageOptions>& options, const Budget& budget) {
  const std::vector<StageChoices> choices = choices_of(options);
  const std::optional<Assignment> ideal = cheapest(choices);
  const std::optional<Assignment> fitting = cheapest(choices, budget, 1);
  return ideal && fitting && !(ideal->cost < fitting->cost);
}

std::string spare_text(const Budget& budget, size_t device, uint64_t bytes) {
  return budget.is_limited(device) ? fmt::format("may give {} (--max-vram)", human_bytes(bytes))
                                   : fmt::format("has {} to spare", human_bytes(bytes));
}

}  // namespace mynah::place
