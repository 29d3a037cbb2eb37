#include "place/plans/plan_reasons.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "place/terms/time_text.h"
#include "store/files.h"

namespace mynah::place {
namespace {

// "i8 on cpu".
std::string placed_text(const Budget& budget, const Candidate& candidate) {
  return fmt::format("{}{}{}", storage_text(candidate.storage), candidate.storage ? " on " : "",
                     budget.name(candidate.device));
}

// Explains one stage.
class Explainer {
 public:
  Explainer(const std::vector<StageOptions>& options, const Budget& budget, const Outcome& outcome,
            size_t index)
      : options_(options),
        stage_(options[index]),
        budget_(budget),
        outcome_(outcome),
        index_(index),
        chosen_(outcome.taken.chosen[index]),
        left_beside_(budget) {
    for (size_t i = 0; i < options.size(); ++i) {
      const Candidate& other = outcome.taken.chosen[i];
      if (i != index && !left_beside_.take(other.device, other.bytes)) {
        break;  // it was taken when the assignment was found
      }
    }
  }

  StagePlan explain() {
    StagePlan plan{.stage = stage_.choices.stage,
                   .device = budget_.name(chosen_.device),
                   .storage = chosen_.storage,
                   .bytes = batch_bytes(chosen_.bytes, chosen_.window_bytes, outcome_.batch),
                   .grown_bytes = chosen_.grown_bytes,
                   .units = chosen_.units,
                   .ms_per_unit = std::nullopt,
                   .reason = {},
                   .others = stage_.ruled_out,
                   .together = std::nullopt};
    // One that the model as a whole had no room on may be where this stage is, apart.
    std::erase_if(plan.others,
                  [&](const OtherDevice& other) { return other.device == plan.device; });
    if (chosen_.cost.unmeasured == 0) {
      plan.ms_per_unit = chosen_.cost.ms;
    }
    for (size_t device = 0; device < budget_.size(); ++device) {
      const std::string& name = budget_.name(device);
      if (device == chosen_.device || is_ruled_out(name)) {
        continue;
      }
      const bool allowed = std::ranges::find(stage_.allowed, name) != stage_.allowed.end();
      if (!allowed && is_for_auto(name)) {
        plan.others.push_back({.device = name, .why = "was not asked for"});
      } else if (const auto best = best_on(device)) {
        plan.others.push_back(why_not(*best));
      }
    }
    std::ranges::sort(plan.others, {}, &OtherDevice::device);
    plan.reason = (stage_.automatic ? automatic_reason() : named_reason(plan.others)) +
                  apart_text() + rung_text();
    return plan;
  }

 private:
  // The cheapest candidate on a device that fits beside the other stages; else the smallest.
  [[nodiscard]] std::optional<Candidate> best_on(size_t device) const {
    std::optional<Candidate> smallest;
    for (const Candidate& candidate : stage_.choices.candidates) {
      if (candidate.device != device) {
        continue;
      }
      if (fits_beside(candidate)) {
        return candidate;
      }
      if (!smallest || candidate.bytes < smallest->bytes) {
        smallest = candidate;
      }
    }
    return smallest;
  }

  [[nodiscard]] bool fits_beside(const Candidate& candidate) const {
    return candidate.bytes <= left_beside_.left(candidate.device);
  }

  // Of a candidate on another device.
  [[nodiscard]] OtherDevice why_not(const Candidate& other) const {
    const std::string& device = budget_.name(other.device);
    if (chosen_.cost.rank < other.cost.rank) {
      return {.device = device, .why = "was named later"};
    }
    if (!fits_beside(other)) {
      return {.device = device, .why = no_room(other)};
    }
    if (other.cost.unmeasured > 0) {
      return {.device = device, .why = "was not measured"};
    }
    const std::string type =
        other.storage ? fmt::format(" as {}", storage_text(other.storage)) : std::string();
    std::string takes = fmt::format("takes {} ms{}", milliseconds_text(other.cost.ms), type);
    const bool faster = chosen_.cost.unmeasured == 0 && other.cost.ms < chosen_.cost.ms;
    if (faster) {
      takes += slower_reason(other);
    }
    return {.device = device, .why = std::move(takes), .slower = !faster};
  }

  // Why a device is not taken that is faster with this stage.
  [[nodiscard]] std::string slower_reason(const Candidate& other) const {
    if (chosen_.apart > 0 || other.apart > 0) {
      return ", but the whole is not faster so, or has no room";
    }
    const bool proven_apart =
        std::ranges::any_of(stage_.choices.candidates, [&](const Candidate& candidate) {
          return candidate.apart > 0 && candidate.device == other.device;
        });
    if (proven_apart) {
      return ", but with the model's stages apart the whole is not clearly faster";
    }
    const auto failed =
        std::ranges::find(stage_.not_apart, budget_.name(other.device), &OtherDevice::device);
    if (failed != stage_.not_apart.end()) {
      return fmt::format(", but the model's stages apart failed their proof: {}", failed->why);
    }
    return stays_together() ? ", but a model's stages stay on one device, as they were proven"
                            : ", but the whole is slower with what passes between devices";
  }

  // What stands beside a stage that was taken apart from its model's others.
  [[nodiscard]] std::string apart_text() const {
    if (chosen_.apart == 0) {
      return {};
    }
    std::vector<std::string> others;
    for (size_t i = 0; i < options_.size(); ++i) {
      const Candidate& other = outcome_.taken.chosen[i];
      if (i != index_ && other.apart == chosen_.apart) {
        others.push_back(fmt::format("{} on {}", stage_name(options_[i].choices.stage),
                                     budget_.name(other.device)));
      }
    }
    return fmt::format("; apart from {}, as they were proven", fmt::join(others, " and "));
  }

  [[nodiscard]] std::string no_room(const Candidate& other) const {
    std::vector<std::string_view> beside;
    for (size_t i = 0; i < options_.size(); ++i) {
      const Candidate& beside_it = outcome_.taken.chosen[i];
      if (i != index_ && beside_it.device == other.device && beside_it.bytes > 0) {
        beside.push_back(stage_name(options_[i].choices.stage));
      }
    }
    return fmt::format(
        "{}{}, {} are needed", spare_text(budget_, other.device, left_beside_.left(other.device)),
        beside.empty() ? std::string() : fmt::format(" beside {}", fmt::join(beside, " and ")),
        human_bytes(other.bytes));
  }

  [[nodiscard]] std::string named_reason(const std::vector<OtherDevice>& others) const {
    if (chosen_.cost.rank == 0) {
      if (stage_.profile.empty()) {
        return "asked for by name";
      }
      return stage_.storage ? fmt::format("the profile {} says where, --storage as what ({})",
                                          stage_.profile, storage_text(stage_.storage))
                            : fmt::format("the profile {} says so", stage_.profile);
    }
    std::vector<std::string> before;
    for (int i = 0; i < chosen_.cost.rank; ++i) {
      const std::string& device = stage_.allowed[static_cast<size_t>(i)];
      const auto other = std::ranges::find(others, device, &OtherDevice::device);
      if (other != others.end()) {
        before.push_back(fmt::format("{} {}", device, other->why));
      }
    }
    return stage_.profile.empty()
               ? fmt::format("asked for after others: {}", fmt::join(before, "; "))
               : fmt::format("the profile {} says otherwise, but {}", stage_.profile,
                             fmt::join(before, "; "));
  }

  [[nodiscard]] std::string automatic_reason() const {
    const std::string device = budget_.name(chosen_.device);
    const std::optional<Candidate> rival = fastest_rival();
    if (const OtherDevice* const beside = rival ? nullptr : ruled_out_beside()) {
      return fmt::format("{} {}", beside->device, beside->why);
    }
    if (!rival) {
      return stage_.ruled_out.empty() ? fmt::format("{} is the only device to choose", device)
                                      : std::string("no other device can be used");
    }
    const std::string other = budget_.name(rival->device);
    if (chosen_.cost.unmeasured > 0 || rival->cost.ms < chosen_.cost.ms) {
      return fmt::format("{} {}", other, why_not(*rival).why);
    }
    const double ratio = rival->cost.ms / chosen_.cost.ms;
    const std::string ours = milliseconds_text(chosen_.cost.ms);
    const std::string theirs = milliseconds_text(rival->cost.ms);
    if (rival->cost.ms == chosen_.cost.ms) {
      return fmt::format("as fast as {} ({} ms for {})", other, ours, unit());
    }
    if (chosen_.cost.ms > 0 && ratio >= 1.95) {
      return fmt::format("{} is {}x {} ({} ms for {}, {} ms there)", device, times_text(ratio),
                         other, ours, unit(), theirs);
    }
    return fmt::format("{} ({} ms) beat {} ({} ms)", placed_text(budget_, chosen_), ours,
                       placed_text(budget_, *rival), theirs);
  }

  // What times are for: "a second of sound".
  [[nodiscard]] std::string_view unit() const {
    return kind_of(group_of(stage_.choices.stage)).unit;
  }

  // The fastest that was measured on another device, whether it fits or not.
  [[nodiscard]] std::optional<Candidate> fastest_rival() const {
    const auto rival =
        std::ranges::find_if(stage_.choices.candidates, [this](const Candidate& candidate) {
          return candidate.device != chosen_.device && candidate.cost.unmeasured == 0 &&
                 !is_ruled_out(budget_.name(candidate.device));
        });
    return rival == stage_.choices.candidates.end() ? std::nullopt : std::optional(*rival);
  }

  // The device of the stages that this one was taken apart from, where it cannot be there itself.
  [[nodiscard]] const OtherDevice* ruled_out_beside() const {
    for (const Candidate& other : outcome_.taken.chosen) {
      const auto out =
          std::ranges::find(stage_.ruled_out, budget_.name(other.device), &OtherDevice::device);
      if (chosen_.apart > 0 && other.apart == chosen_.apart && out != stage_.ruled_out.end()) {
        return &*out;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool is_ruled_out(const std::string& device) const {
    return std::ranges::find(stage_.ruled_out, device, &OtherDevice::device) !=
           stage_.ruled_out.end();
  }

  // The rungs of the ladder that this stage stands on.
  [[nodiscard]] std::string rung_text() const {
    std::string text;
    const Candidate& ideal = outcome_.ideal.chosen[index_];
    const bool tried = is_smaller_type(stage_, budget_.name(chosen_.device));
    if (tried || (ideal.device == chosen_.device && ideal.storage != chosen_.storage)) {
      text += fmt::format("; as {}, for want of memory",
                          chosen_.storage ? storage_text(chosen_.storage) : "the file has it");
    }
    if (chosen_.units < stage_.wanted_units) {
      text += fmt::format("; with room for {} tokens and not {}, for want of memory", chosen_.units,
                          stage_.wanted_units);
    }
    if (outcome_.batch < outcome_.wanted_batch && keeps_windows()) {
      text += fmt::format("; {} of {} windows together, for want of memory", outcome_.batch,
                          outcome_.wanted_batch);
    }
    return text;
  }

  // Whether it may not leave the stage beside it.
  [[nodiscard]] bool stays_together() const {
    return stage_.choices.with_last ||
           (index_ + 1 < options_.size() && options_[index_ + 1].choices.with_last);
  }

  // Whether this stage, or another of its group beside it, keeps something of each window of a
  // batch.
  [[nodiscard]] bool keeps_windows() const {
    for (size_t i = 0; i < options_.size(); ++i) {
      const Candidate& other = outcome_.taken.chosen[i];
      if (group_of(options_[i].choices.stage) == group_of(stage_.choices.stage) &&
          other.device == chosen_.device && other.window_bytes > 0) {
        return true;
      }
    }
    return false;
  }

  const std::vector<StageOptions>& options_;
  const StageOptions& stage_;
  const Budget& budget_;
  const Outcome& outcome_;
  size_t index_;
  const Candidate& chosen_;
  Budget left_beside_;
};

// Stages of a model that are together as one: what each device takes for all of them.
struct Together {
  std::vector<StageOptions> options;
  Outcome outcome;
};

Candidate sum_of(Candidate sum, const Candidate& next) {
  sum.cost.unmeasured += next.cost.unmeasured;
  sum.cost.ms += next.cost.ms;
  sum.bytes += next.bytes;
  sum.units = std::max(sum.units, next.units);
  sum.window_bytes += next.window_bytes;
  return sum;
}

// Of each device what is cheapest there, where every stage of [first, end) may be.
std::vector<Candidate> candidates_together(std::span<const StageOptions> stages, size_t devices) {
  std::vector<Candidate> all;
  for (size_t device = 0; device < devices; ++device) {
    std::optional<Candidate> sum;
    for (const StageOptions& stage : stages) {
      const auto& candidates = stage.choices.candidates;
      const auto best = std::ranges::find_if(candidates, [&](const Candidate& candidate) {
        return candidate.device == device && candidate.apart == 0;
      });
      if (best == candidates.end()) {
        sum.reset();
        break;
      }
      sum = sum ? sum_of(*sum, *best) : *best;
    }
    if (sum) {
      all.push_back(*sum);
    }
  }
  sort_candidates(all);
  return all;
}

Together merged(const std::vector<StageOptions>& options, const Budget& budget,
                const Outcome& outcome, size_t first, size_t end) {
  Together all{.options = options, .outcome = outcome};
  all.options[first].choices.candidates =
      candidates_together(std::span(options).subspan(first, end - first), budget.size());
  for (size_t i = first + 1; i < end; ++i) {
    all.options[first].wanted_units =
        std::max(all.options[first].wanted_units, options[i].wanted_units);
    for (Assignment* const assignment : {&all.outcome.ideal, &all.outcome.taken}) {
      assignment->chosen[first] = sum_of(assignment->chosen[first], assignment->chosen[i]);
    }
    std::ranges::copy_if(options[i].ruled_out, std::back_inserter(all.options[first].ruled_out),
                         [&](const OtherDevice& out) {
                           return std::ranges::find(all.options[first].ruled_out, out.device,
                                                    &OtherDevice::device) ==
                                  all.options[first].ruled_out.end();
                         });
  }
  const auto erase_rest = [&](auto& list) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(first) + 1,
               list.begin() + static_cast<std::ptrdiff_t>(end));
  };
  erase_rest(all.options);
  erase_rest(all.outcome.ideal.chosen);
  erase_rest(all.outcome.taken.chosen);
  return all;
}

// Behind the automatic stages of a group that are where `first` is, and as the same type.
size_t end_of_together(const std::vector<StageOptions>& options, const Outcome& outcome,
                       size_t first) {
  const auto is_beside = [&](size_t i) {
    const Candidate& one = outcome.taken.chosen[first];
    const Candidate& other = outcome.taken.chosen[i];
    return options[i].automatic && other.device == one.device && other.storage == one.storage &&
           other.apart == 0 &&
           group_of(options[i].choices.stage) == group_of(options[first].choices.stage);
  };
  size_t end = first;
  while (end < options.size() && is_beside(end)) {
    ++end;
  }
  return end;
}

// Fills in what is true of such stages as a whole.
void explain_together(const std::vector<StageOptions>& options, const Budget& budget,
                      const Outcome& outcome, std::vector<StagePlan>& stages) {
  for (size_t first = 0; first < options.size(); ++first) {
    const size_t end = end_of_together(options, outcome, first);
    if (end - first < 2) {
      continue;
    }
    const Together all = merged(options, budget, outcome, first, end);
    StagePlan whole = Explainer(all.options, budget, all.outcome, first).explain();
    stages[first].together = Reasons{.why = whole.reason, .others = std::move(whole.others)};
    first = end - 1;
  }
}

}  // namespace

std::vector<StagePlan> explain(const std::vector<StageOptions>& options, const Budget& budget,
                               const Outcome& outcome) {
  std::vector<StagePlan> stages;
  stages.reserve(options.size());
  for (size_t i = 0; i < options.size(); ++i) {
    stages.push_back(Explainer(options, budget, outcome, i).explain());
  }
  explain_together(options, budget, outcome, stages);
  return stages;
}

}  // namespace mynah::place
