// What holds of every plan: tried on random machines, against all assignments counted one by one.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "much.h"
#include "place/kinds/kinds.h"
#include "place/plan_inputs.h"
#include "place/plans/plan.h"

namespace mynah::place {
namespace {

using mynah::test::much;
using test::failed;
using test::memory;
using test::request;
using test::took;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(engine_); }

  bool one_in(int count) { return below(count) == 0; }

  template <class T>
  void shuffle(std::vector<T>& values) {
    std::ranges::shuffle(values, engine_);
  }

 private:
  std::mt19937_64 engine_;
};

// A machine of a processor and up to three cards, with times and sizes of a few values only, so
// that ties are frequent.
PlanInput any_input(Random& random) {
  PlanInput input;
  const std::vector<std::string> requests = {"auto",
                                             "auto",
                                             "auto",
                                             "cuda",
                                             "cuda,cpu",
                                             "cpu",
                                             "stt=cuda:1",
                                             "cpu,cuda:1",
                                             "tts=cuda,cpu,stt=auto",
                                             "stt.encoder=cuda:0,cpu,stt.decoder=cpu"};
  input.request = request(requests[random.below(static_cast<int>(requests.size()))]);
  for (const Stage stage : all_stages()) {
    // Lower layers are as others; with them there would be nine times as many plans to look at.
    if (!facts_of(stage).only_apart && !random.one_in(4)) {
      input.stages.push_back({.stage = stage, .storage = {}});
    }
  }
  std::vector<std::string> devices = {"cpu"};
  for (int i = 0, cards = random.below(4); i < cards; ++i) {
    devices.push_back("cuda:" + std::to_string(i));
  }
  for (const std::string& device : devices) {
    input.devices.push_back(memory(device, device == "cpu" ? 40 : random.below(30)));
    for (const StageWish& wish : input.stages) {
      for (const DType storage : {DType::F16, DType::I8}) {
        if (random.one_in(8)) {
          input.measurements.push_back(failed(wish.stage, device, "wrong"));
          input.measurements.back().storage = storage;
        } else if (device == "cpu" || !random.one_in(4)) {
          input.measurements.push_back(
              took(wish.stage, device, storage, 1 + random.below(9), 1 + random.below(7)));
          input.measurements.back().window_bytes = random.below(3) * test::kMegabyte;
        }
      }
      if (random.one_in(10)) {
        input.excluded.push_back({wish.stage, device, "failed just now"});
      }
    }
  }
  input.together = random.one_in(2);
  for (int i = 0, ways = random.below(4); i < ways && input.together; ++i) {
    const StageGroup group = random.one_in(2) ? kSttGroup : kTtsGroup;
    StagesApart stages;
    for (const Stage stage : stages_of(group)) {
      stages.push_back(took(stage, devices[random.below(static_cast<int>(devices.size()))],
                            random.one_in(2) ? DType::F16 : DType::I8, 1 + random.below(9),
                            1 + random.below(7)));
      stages.back().window_bytes = random.below(3) * test::kMegabyte;
      stages.back().passed = !random.one_in(8);
    }
    if (stages[0].device != stages[1].device) {
      input.apart.push_back(std::move(stages));
    }
  }
  for (Exclusion& exclusion : input.excluded) {
    exclusion.of_whole = random.one_in(3);
  }
  input.max_vram = random.one_in(4) ? 10 * test::kMegabyte : 0;
  input.batch = 1 + random.below(9);
  return input;
}

// `whole`: its model as a whole is to be there.
bool is_excluded(const PlanInput& input, Stage stage, const std::string& device, bool whole) {
  return std::ranges::any_of(input.excluded, [&](const Exclusion& exclusion) {
    return exclusion.stage == stage && exclusion.device == device && (whole || !exclusion.of_whole);
  });
}

bool is_allowed(const PlanInput& input, const Measurement& measurement) {
  const StageDevices& wanted = input.request.of(measurement.stage);
  return wanted.devices.empty() ||
         std::ranges::find(wanted.devices, measurement.device) != wanted.devices.end();
}

// What can be chosen for a stage, by the input alone.
std::vector<Measurement> choices(const PlanInput& input, Stage stage) {
  std::vector<Measurement> found;
  for (const Measurement& measurement : input.measurements) {
    if (measurement.stage == stage && measurement.passed && is_allowed(input, measurement) &&
        !is_excluded(input, stage, measurement.device, true)) {
      found.push_back(measurement);
    }
  }
  return found;
}

int rank_of(const PlanInput& input, const Measurement& measurement) {
  const StageDevices& wanted = input.request.of(measurement.stage);
  return wanted.automatic ? 0
                          : static_cast<int>(std::ranges::find(wanted.devices, measurement.device) -
                                             wanted.devices.begin());
}

struct Whole {
  int rank = 0;
  double ms = 0;
  std::vector<Measurement> stages;
};

// Whether a stage goes along with the one before it, of all that are wished.
bool goes_along(const PlanInput& input, size_t index) {
  const auto stage = [&](size_t i) { return input.stages[i].stage; };
  return input.together && index > 0 && group_of(stage(index)) == group_of(stage(index - 1)) &&
         input.request.of(stage(index)).automatic && input.request.of(stage(index - 1)).automatic;
}

// What apart is to gain for a stage that goes along: a twentieth of the fastest on one device.
double least_gain(const PlanInput& input, size_t index) {
  double fastest = -1;
  for (const Measurement& first : choices(input, input.stages[index - 1].stage)) {
    for (const Measurement& second : choices(input, input.stages[index].stage)) {
      const double ms = first.ms_per_unit + second.ms_per_unit;
      if (first.device == second.device && (fastest < 0 || ms < fastest)) {
        fastest = ms;
      }
    }
  }
  return std::max(0.0, fastest) / 20;
}

Whole whole_of(const PlanInput& input, const std::vector<Measurement>& stages) {
  Whole whole{.rank = 0, .ms = 0, .stages = stages};
  for (size_t i = 0; i < stages.size(); ++i) {
    whole.rank += rank_of(input, stages[i]);
    whole.ms += stages[i].ms_per_unit;
    if (i > 0 && group_of(stages[i].stage) == group_of(stages[i - 1].stage) &&
        stages[i].device != stages[i - 1].device) {
      whole.ms += goes_along(input, i) ? least_gain(input, i) : 0;
    }
  }
  return whole;
}

// Whether these were proven apart, and may be so.
bool may_be_apart(const PlanInput& input, const StagesApart& stages, Stage first) {
  return stages.front().stage == first && std::ranges::all_of(stages, [&](const Measurement& one) {
           return one.passed && is_allowed(input, one) &&
                  !is_excluded(input, one.stage, one.device, false);
         });
}

bool fits(const PlanInput& input, const std::vector<Measurement>& stages, int batch) {
  std::map<std::string, uint64_t> left;
  for (const DeviceMemory& device : input.devices) {
    const bool limited = input.max_vram > 0 && device.device != "cpu";
    left[device.device] = limited ? std::min(device.free_bytes, input.max_vram) : device.free_bytes;
  }
  for (const Measurement& stage : stages) {
    const uint64_t bytes = stage.bytes + (batch - 1) * stage.window_bytes;
    if (bytes > left[stage.device]) {
      return false;
    }
    left[stage.device] -= bytes;
  }
  return true;
}

// Every assignment there is.
std::vector<Whole> all_wholes(const PlanInput& input) {
  std::vector<Whole> wholes;
  std::vector<Measurement> chosen;
  const auto descend = [&](const auto& self, size_t depth) -> void {
    if (depth == input.stages.size()) {
      wholes.push_back(whole_of(input, chosen));
      return;
    }
    for (const Measurement& choice : choices(input, input.stages[depth].stage)) {
      if (!goes_along(input, depth) || choice.device == chosen.back().device) {
        chosen.push_back(choice);
        self(self, depth + 1);
        chosen.pop_back();
      }
    }
    if (depth + 1 < input.stages.size() && goes_along(input, depth + 1)) {
      for (const StagesApart& stages : input.apart) {
        if (may_be_apart(input, stages, input.stages[depth].stage)) {
          chosen.insert(chosen.end(), stages.begin(), stages.end());
          self(self, depth + 2);
          chosen.resize(depth);
        }
      }
    }
  };
  descend(descend, 0);
  return wholes;
}

// That one of them which was planned; null where the processor is used without a measurement.
const Whole* planned(const std::vector<Whole>& wholes, const Plan& plan) {
  const auto found = std::ranges::find_if(wholes, [&](const Whole& whole) {
    return std::ranges::equal(
        whole.stages, plan.stages, [&](const Measurement& one, const StagePlan& stage) {
          return one.device == stage.device && one.storage == stage.storage &&
                 one.ms_per_unit == stage.ms_per_unit &&
                 one.bytes + (plan.batch - 1) * one.window_bytes == stage.bytes;
        });
  });
  return found == wholes.end() ? nullptr : &*found;
}

// The cheapest that fit, by preference and then by time.
const Whole* best_of(const PlanInput& input, const std::vector<Whole>& wholes, int batch) {
  const Whole* best = nullptr;
  for (const Whole& whole : wholes) {
    if ((best == nullptr || std::pair(whole.rank, whole.ms) < std::pair(best->rank, best->ms)) &&
        (batch == 0 || fits(input, whole.stages, batch))) {
      best = &whole;
    }
  }
  return best;
}

bool is_as_good(const Whole& whole, const Whole& best) {
  return whole.rank == best.rank && whole.ms <= best.ms + 1e-9;
}

std::string plan_text(const Plan& plan) {
  std::string text = std::to_string(plan.batch);
  for (const StagePlan& stage : plan.stages) {
    text += " " + stage.device + " " + std::string(stage.storage ? name(*stage.storage) : "") +
            " " + stage.reason;
  }
  return text;
}

// Whether a stage is on another device than it ideally would be, by any of what is as good.
bool has_moved(const Plan& plan, const std::vector<Whole>& wholes, const Whole& ideal) {
  return std::ranges::none_of(wholes, [&](const Whole& whole) {
    return is_as_good(whole, ideal) && std::ranges::equal(plan.stages, whole.stages, {},
                                                          &StagePlan::device, &Measurement::device);
  });
}

// What is promised of a plan, given all that could have been planned.
void check(const PlanInput& input, const Plan& plan, const std::vector<Whole>& wholes) {
  const auto is_measured = [](const StagePlan& stage) { return stage.ms_per_unit.has_value(); };
  if (!std::ranges::all_of(plan.stages, is_measured)) {
    return;  // a processor of unknown speed
  }
  const Whole* const found = planned(wholes, plan);
  ASSERT_TRUE(found != nullptr) << plan_text(plan);
  const Whole& whole = *found;
  ASSERT_TRUE(fits(input, whole.stages, plan.batch)) << plan_text(plan);
  ASSERT_TRUE(plan.batch >= 1 && plan.batch <= input.batch);
  // Where the ideal fits with some batch, it is taken, with the largest that is tried.
  const Whole& ideal = *best_of(input, wholes, 0);
  for (int batch = input.batch; batch > 0; batch /= 2) {
    const Whole* fitting = best_of(input, wholes, batch);
    if (fitting != nullptr && is_as_good(*fitting, ideal)) {
      ASSERT_EQ(plan.batch, batch) << plan_text(plan);
      ASSERT_TRUE(is_as_good(whole, ideal)) << plan_text(plan);
      return;
    }
  }
  // Else it is the cheapest that fits, but for smaller types on the ideal's devices.
  const bool moved = has_moved(plan, wholes, ideal);
  const Whole* fitting = best_of(input, wholes, 1);
  ASSERT_TRUE(fitting != nullptr);
  if (moved) {
    ASSERT_TRUE(is_as_good(whole, *fitting)) << plan_text(plan);
  } else {
    ASSERT_EQ(whole.rank, ideal.rank);
  }
  // Automatic stages are never slower than the processor alone.
  for (const Whole& other : wholes) {
    const bool on_cpu = std::ranges::all_of(
        other.stages, [](const Measurement& stage) { return stage.device == "cpu"; });
    if (on_cpu && input.request == DeviceRequest() && fits(input, other.stages, 1)) {
      ASSERT_LE(whole.ms, other.ms + 1e-9) << plan_text(plan);
    }
  }
}

bool is_smaller_for_want_of_memory(const StagePlan& stage) {
  return stage.reason.find("; as ") != std::string::npos &&
         stage.reason.find(", for want of memory") != std::string::npos;
}

TEST(PlanProperties, HoldOnRandomMachines) {
  size_t plans = 0;
  size_t refusals = 0;
  size_t moves = 0;
  size_t types = 0;
  size_t apart = 0;
  for (uint64_t seed = 0; seed < much(4500); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    PlanInput input = any_input(random);
    const auto plan = make_plan(input);
    // The parts' order means nothing.
    random.shuffle(input.measurements);
    random.shuffle(input.devices);
    random.shuffle(input.excluded);
    random.shuffle(input.apart);
    const auto again = make_plan(input);
    ASSERT_EQ(plan ? plan_text(*plan) : plan.error().message,
              again ? plan_text(*again) : again.error().message);
    const std::vector<Whole> wholes = all_wholes(input);
    if (!plan) {
      ++refusals;
      EXPECT_EQ(plan.error().code, ErrorCode::Device);
      ASSERT_TRUE(best_of(input, wholes, 1) == nullptr) << plan.error().message;
      continue;
    }
    ++plans;
    ASSERT_EQ(plan->stages.size(), input.stages.size());
    for (const StagePlan& stage : plan->stages) {
      const StageDevices& wanted = input.request.of(stage.stage);
      ASSERT_TRUE(wanted.devices.empty() ||
                  std::ranges::find(wanted.devices, stage.device) != wanted.devices.end());
      ASSERT_FALSE(is_excluded(input, stage.stage, stage.device, false));
      ASSERT_FALSE(stage.reason.empty());
      apart += stage.reason.find("; apart from ") != std::string::npos ? 1 : 0;
    }
    check(input, *plan, wholes);
    const Whole* const ideal = best_of(input, wholes, 0);
    const bool moved = ideal != nullptr && has_moved(*plan, wholes, *ideal);
    moves += moved ? 1 : 0;
    types += !moved && std::ranges::any_of(plan->stages, is_smaller_for_want_of_memory) ? 1 : 0;
  }
  // Each was tried often enough to mean something.
  EXPECT_GT(plans, much(1000));
  EXPECT_GT(refusals, much(100));
  EXPECT_GT(moves, much(100));
  EXPECT_GT(types, much(50));
  EXPECT_GT(apart, much(50));
}

// Whatever fails, one after the other: the request ends on a device that never failed, or is
// refused when none is left.
TEST(PlanProperties, EveryFailureLeadsOn) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    PlanInput input = any_input(random);
    const size_t most = input.stages.size() * input.devices.size() + input.excluded.size();
    while (const auto plan = make_plan(input)) {
      ASSERT_LE(input.excluded.size(), most);
      if (plan->stages.empty()) {
        break;
      }
      const StagePlan& dead = plan->stages[random.below(static_cast<int>(plan->stages.size()))];
      ASSERT_FALSE(is_excluded(input, dead.stage, dead.device, false));
      input.excluded.push_back({dead.stage, dead.device, "failed just now"});
    }
  }
}

}  // namespace
}  // namespace mynah::place
