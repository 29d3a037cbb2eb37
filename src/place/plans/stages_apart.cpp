#include "place/plans/stages_apart.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "place/terms/device_name.h"
#include "place/terms/kind.h"

namespace mynah::place {
namespace {

// What being apart is to gain, of what the whole takes on one device: a copy takes longer on a busy
// machine than it did in the proof, and two devices can fail.
constexpr double kGain = 0.05;

// The options of a group's stages, where all of them are to be placed and choose for themselves;
// empty: they do not.
std::span<StageOptions> options_of(StageGroup group, std::vector<StageOptions>& options) {
  const auto stages = stages_of(group);
  const auto first = std::ranges::find_if(
      options, [&](const StageOptions& one) { return one.choices.stage == stages.front(); });
  const std::span<StageOptions> found(first, options.end());
  if (stages.size() < 2 || found.size() < stages.size()) {
    return {};
  }
  for (size_t i = 1; i < stages.size(); ++i) {
    if (found[i].choices.stage != stages[i] || !found[i].choices.with_last || found[i].whole) {
      return {};
    }
  }
  return found.first(stages.size());
}

bool may_be(const PlanInput& input, const StageOptions& options, const Measurement& measured) {
  const auto rules_out = [&](const Exclusion& exclusion) {
    return exclusion.stage == measured.stage && exclusion.device == measured.device &&
           !exclusion.of_whole;
  };
  return std::ranges::find(options.allowed, measured.device) != options.allowed.end() &&
         (!options.storage || options.storage == measured.storage) &&
         std::ranges::none_of(input.excluded, rules_out);
}

// What the fastest on one device takes for a second of sound; none where nothing was measured.
std::optional<double> fastest_together(std::span<const StageOptions> options) {
  std::optional<double> fastest;
  for (const Candidate& first : options.front().choices.candidates) {
    double ms = 0;
    const bool measured = std::ranges::all_of(options, [&](const StageOptions& stage) {
      const auto& candidates = stage.choices.candidates;  // the fastest first
      const auto on_it = std::ranges::find_if(candidates, [&](const Candidate& candidate) {
        return candidate.device == first.device && candidate.apart == 0 &&
               candidate.cost.unmeasured == 0;
      });
      ms += on_it == candidates.end() ? 0 : on_it->cost.ms;
      return on_it != candidates.end();
    });
    if (measured && (!fastest || ms < *fastest)) {
      fastest = ms;
    }
  }
  return fastest;
}

// An order that depends on nothing but what stands in it.
bool is_before(const StagesApart& a, const StagesApart& b) {
  const auto key = [](const Measurement& one) {
    return std::tuple(one.stage, one.device, one.storage, one.ms_per_unit, one.bytes,
                      one.window_bytes);
  };
  return std::ranges::lexicographical_compare(a, b, {}, key, key);
}

// The fastest measurement of a stage on a device; where it was too full for the model as a whole
// one that takes no time.
std::optional<Measurement> imagine_stage(const PlanInput& input, const StageOptions& options,
                                         const std::string& device) {
  std::optional<Measurement> best;
  for (const Measurement& measured : input.measurements) {
    if (measured.stage == options.choices.stage && measured.device == device && measured.passed &&
        measured.has_time() && may_be(input, options, measured) &&
        (!best || std::tuple(measured.ms_per_unit, measured.bytes) <
                      std::tuple(best->ms_per_unit, best->bytes))) {
      best = measured;
    }
  }
  for (const Exclusion& exclusion : input.excluded) {
    if (!best && exclusion.of_whole && exclusion.stage == options.choices.stage &&
        exclusion.device == device) {
      Measurement imagined;
      imagined.stage = exclusion.stage;
      imagined.device = device;
      imagined.storage = exclusion.storage;
      imagined.passed = true;
      return may_be(input, options, imagined) ? std::optional(imagined) : std::nullopt;
    }
  }
  return best;
}

}  // namespace

void add_stages_apart(const PlanInput& input, const Budget& budget,
                      std::vector<StageOptions>& options) {
  if (!input.together) {
    return;
  }
  for (const StageGroup group : all_groups()) {
    if (const auto own = options_of(group, options); !own.empty()) {
      for (StageOptions& stage : own.subspan(1)) {
        stage.choices.gain_ms = kGain * fastest_together(own).value_or(0);
      }
    }
  }
  std::vector<StagesApart> all = input.apart;
  std::ranges::sort(all, is_before);
  for (size_t number = 0; number < all.size(); ++number) {
    const StagesApart& stages = all[number];
    const auto own = stages.empty() ? std::span<StageOptions>()
                                    : options_of(group_of(stages.front().stage), options);
    if (own.empty() || !std::ranges::equal(own, stages, [&](const auto& option, const auto& one) {
          return option.choices.stage == one.stage && may_be(input, option, one) &&
                 budget.find(one.device) && (!one.passed || one.has_time());
        })) {
      continue;
    }
    const auto bad = std::ranges::find(stages, false, &Measurement::passed);
    for (size_t i = 0; i < stages.size(); ++i) {
      if (bad != stages.end()) {
        own[i].not_apart.push_back({.device = stages[i].device, .why = bad->failure});
        continue;
      }
      std::vector<Candidate>& candidates = own[i].choices.candidates;
      add_candidates({.device = *budget.find(stages[i].device),
                      .storage = stages[i].storage,
                      .cost = {.rank = 0, .unmeasured = 0, .ms = stages[i].ms_per_unit},
                      .bytes = stages[i].bytes,
                      .window_bytes = stages[i].window_bytes,
                      .apart = number + 1},
                     own[i].growing, candidates);
      sort_candidates(candidates);
    }
  }
}

StagePlaces places_of(const StagesApart& stages) {
  StagePlaces places;
  for (const Measurement& stage : stages) {
    places[stage.stage] = {.device = stage.device, .storage = stage.storage};
  }
  return places;
}

StagePlaces places_of(const Plan& plan, StageGroup group) {
  StagePlaces places;
  for (const StagePlan& stage : plan.stages) {
    if (group_of(stage.stage) == group) {
      places[stage.stage] = {.device = stage.device, .storage = stage.storage};
    }
  }
  return places;
}

const Measurement* measured_apart(const PlanInput& input, const Plan& plan, Stage stage) {
  const StagePlaces places = places_of(plan, group_of(stage));
  for (const StagesApart& stages : input.apart) {
    if (places_of(stages) == places) {
      return &*std::ranges::find(stages, stage, &Measurement::stage);
    }
  }
  return nullptr;
}

std::vector<StagesApart> imagine_apart(const PlanInput& input) {
  std::set<std::string> others;
  for (const Measurement& measured : input.measurements) {
    others.insert(measured.device);
  }
  for (const Exclusion& exclusion : input.excluded) {
    others.insert(exclusion.device);
  }
  others.erase("cpu");
  others.erase("ref");
  std::erase_if(others, is_mynah);  // which does all of a model, or nothing
  std::vector<StagesApart> imagined;
  if (others.empty() || !input.together) {
    return imagined;
  }
  const Budget budget(input.devices, input.max_vram);
  Result<std::vector<StageOptions>> options = gather_options(input, budget);
  if (!options) {
    return imagined;
  }
  for (const StageGroup group : all_groups()) {
    const auto own = options_of(group, *options);
    for (const std::string& other : own.empty() ? std::set<std::string>() : others) {
      // One of the stages on the processor, the others there.
      for (size_t here = 0; here < own.size(); ++here) {
        StagesApart stages;
        for (size_t i = 0; i < own.size(); ++i) {
          if (auto one = imagine_stage(input, own[i], i == here ? "cpu" : other)) {
            // What was measured is the whole's: how much of it a part takes is not known.
            one->bytes = facts_of(own.front().choices.stage).only_apart ? 0 : one->bytes;
            stages.push_back(*std::move(one));
          }
        }
        const StagePlaces places = places_of(stages);
        if (stages.size() == own.size() &&
            std::ranges::none_of(input.apart, [&](const StagesApart& known) {
              return places_of(known) == places;
            })) {
          imagined.push_back(std::move(stages));
        }
      }
    }
  }
  return imagined;
}

Result<Plan> make_plan(PlanInput& input, const ApartProof& prove) {
  std::vector<StagesApart> imagined = imagine_apart(input);
  while (!imagined.empty()) {
    PlanInput hoped = input;
    hoped.apart.insert(hoped.apart.end(), imagined.begin(), imagined.end());
    const Result<Plan> plan = make_plan(std::as_const(hoped));
    if (!plan) {
      break;
    }
    const auto taken = std::ranges::find_if(imagined, [&](const StagesApart& one) {
      return places_of(*plan, group_of(one.front().stage)) == places_of(one);
    });
    if (taken == imagined.end()) {
      break;
    }
    if (auto proven = prove(*taken)) {
      input.apart.push_back(*std::move(proven));
    }
    imagined.erase(taken);
  }
  return make_plan(std::as_const(input));
}

}  // namespace mynah::place
