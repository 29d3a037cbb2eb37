#include "place/plans/plan_choices.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/plans/stages_apart.h"
#include "place/terms/device_name.h"

namespace mynah::place {
namespace {

std::vector<std::string> allowed_devices(const StageDevices& wanted, const Budget& budget) {
  if (!wanted.devices.empty()) {
    return wanted.devices;
  }
  std::vector<std::string> all;
  for (size_t i = 0; i < budget.size(); ++i) {
    if (is_for_auto(budget.name(i))) {
      all.push_back(budget.name(i));
    }
  }
  return all;
}

// Gathers the candidates of one stage.
class Gatherer {
 public:
  Gatherer(const PlanInput& input, const Budget& budget, const StageWish& wish)
      : input_(input), budget_(budget), wish_(wish) {}

  StageOptions gather() {
    const StageDevices& wanted = input_.request.of(wish_.stage);
    options_.choices.stage = wish_.stage;
    options_.storage = wish_.storage;
    options_.profile = wish_.profile;
    options_.whole = wish_.whole;
    options_.growing = wish_.growing;
    options_.wanted_units =
        wish_.growing && wish_.growing->grows() ? wish_.growing->units.front() : 0;
    options_.automatic = wanted.automatic;
    options_.allowed = allowed_devices(wanted, budget_);
    for (size_t i = 0; i < options_.allowed.size(); ++i) {
      const std::string why =
          consider(options_.allowed[i], wanted.automatic ? 0 : static_cast<int>(i));
      if (!why.empty()) {
        options_.ruled_out.push_back({.device = options_.allowed[i], .why = why});
      }
    }
    std::ranges::copy_if(input_.too_large, std::back_inserter(options_.too_large),
                         [this](const TooLarge& one) { return one.stage == wish_.stage; });
    if (wanted.devices.empty()) {
      std::ranges::copy(input_.unusable, std::back_inserter(options_.ruled_out));
    }
    sort_candidates(options_.choices.candidates);
    return std::move(options_);
  }

 private:
  // Adds what can be chosen on a device; else says why nothing can.
  std::string consider(const std::string& device, int rank) {
    for (const Exclusion& exclusion : input_.excluded) {
      if (exclusion.stage == wish_.stage && exclusion.device == device) {
        return exclusion.reason;
      }
    }
    const auto index = budget_.find(device);
    if (!index) {
      return "is not here";
    }
    std::map<std::optional<DType>, const Measurement*> last;
    bool of_other_type = false;
    for (const Measurement& measurement : input_.measurements) {
      if (measurement.stage != wish_.stage || measurement.device != device) {
        continue;
      }
      if (wish_.storage && measurement.storage != wish_.storage) {
        of_other_type = true;
      } else {
        last[measurement.storage] = &measurement;
      }
    }
    std::string failure;
    bool found = false;
    for (const auto& [storage, measurement] : last) {
      if (measurement->passed && measurement->has_time()) {
        found = true;
        add({.device = *index,
             .storage = storage,
             .cost = {.rank = rank, .unmeasured = 0, .ms = measurement->ms_per_unit},
             .bytes = measurement->bytes,
             .window_bytes = measurement->window_bytes});
      } else {
        failure = measurement->passed ? "its measured time is no number" : measurement->failure;
      }
    }
    if (found) {
      return {};
    }
    if (!last.empty()) {
      return fmt::format("failed its proof: {}", failure);
    }
    if (card_index(device) || is_mynah(device)) {
      return of_other_type ? fmt::format("was not measured as {}", storage_text(wish_.storage))
                           : "was not proven";
    }
    add({.device = *index,
         .storage = wish_.storage,
         .cost = {.rank = rank, .unmeasured = 1, .ms = 0}});
    return {};
  }

  void add(const Candidate& candidate) {
    add_candidates(candidate, wish_.growing, options_.choices.candidates);
  }

  const PlanInput& input_;
  const Budget& budget_;
  const StageWish& wish_;
  StageOptions options_;
};

// What has nothing to choose from: the group where none of its stages has, else the stage.
std::string_view name_without_choice(const std::vector<StageOptions>& all, Stage stage) {
  const bool whole = std::ranges::all_of(all, [&](const StageOptions& options) {
    return group_of(options.choices.stage) != group_of(stage) || options.choices.candidates.empty();
  });
  return whole ? group_name(group_of(stage)) : stage_name(stage);
}

Status check_has_choice(const std::vector<StageOptions>& all, const StageOptions& options) {
  if (!options.choices.candidates.empty()) {
    return {};
  }
  std::vector<std::string> whys;
  whys.reserve(options.ruled_out.size());
  for (const OtherDevice& device : options.ruled_out) {
    whys.push_back(fmt::format("{} {}", device.device, device.why));
  }
  const std::string_view stage = name_without_choice(all, options.choices.stage);
  if (options.automatic) {
    return fail(ErrorCode::Device,
                fmt::format("no device can compute {}: {}", stage, fmt::join(whys, "; ")));
  }
  const bool has_cpu = std::ranges::find(options.allowed, "cpu") != options.allowed.end();
  const std::string remedy =
      has_cpu ? std::string()
              : fmt::format("name what to fall back on, as in --device {},cpu, or ",
                            fmt::join(options.allowed, ","));
  return fail(ErrorCode::Device,
              fmt::format("{} cannot be computed where --device wants it: {}; {}leave --device out",
                          stage, fmt::join(whys, "; "), remedy));
}

}  // namespace

void add_candidates(const Candidate& candidate, const std::optional<GrowingMemory>& growing,
                    std::vector<Candidate>& all) {
  if (!growing) {
    all.push_back(candidate);
    return;
  }
  int shrunk = 0;
  for (const int64_t units : growing->units) {
    Candidate one = candidate;
    one.cost.shrunk = shrunk++;
    one.units = growing->grows() ? units : 0;
    one.grown_bytes = growing->grown_bytes(units);
    one.bytes += one.grown_bytes +
                 (one.cost.unmeasured > 0 ? growing->unmeasured_bytes : growing->work_bytes);
    all.push_back(one);
    if (one.units == 0) {
      break;  // all sizes are alike
    }
  }
}

std::string_view storage_text(std::optional<DType> storage) {
  return storage ? name(*storage) : std::string_view();
}

bool is_smaller_type(const StageOptions& options, std::string_view device) {
  return std::ranges::find(options.too_large, device, &TooLarge::device) != options.too_large.end();
}

Result<std::vector<StageOptions>> gather_options(const PlanInput& input, const Budget& budget) {
  std::vector<StageOptions> all;
  for (const Stage stage : all_stages()) {
    const auto wish = std::ranges::find(input.stages, stage, &StageWish::stage);
    if (wish == input.stages.end()) {
      continue;
    }
    StageOptions options = Gatherer(input, budget, *wish).gather();
    if (!all.empty() && group_of(all.back().choices.stage) == group_of(stage)) {
      options.choices.with_last =
          options.whole || (input.together && options.automatic && all.back().automatic);
    }
    all.push_back(std::move(options));
  }
  add_stages_apart(input, budget, all);
  for (const StageOptions& options : all) {
    MYNAH_TRY_STATUS(check_has_choice(all, options));
  }
  return all;
}

}  // namespace mynah::place
