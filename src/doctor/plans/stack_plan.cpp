#include "doctor/plans/stack_plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"
#include "doctor/machine/machine_rule_parts.h"
#include "doctor/plans/stack_search.h"
#include "doctor/recipes/markers.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/verdicts/newer_drivers.h"

namespace mynah::doctor {

namespace {

// The extras that bring NVIDIA's wheels came with 1.21, and those of 1.27 name wheels that do not
// exist (the notes "onnxruntime extras" and "onnxruntime 1.27 extras").
bool has_extras(const Version& onnxruntime) {
  const uint64_t minor = onnxruntime.release_at(1);
  return onnxruntime.release_at(0) > 1 || (minor >= 21 && minor != 27);
}

// The errors E108 and E86 of the knowledge base. soundfile's wheels bring libsndfile themselves.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kUseFfmpeg = {
    {{"openai-whisper", "runs ffmpeg to read sound"},
     {"whisperx", "runs ffmpeg to read sound"},
     {"torchcodec", "opens FFmpeg's libraries"}}};

std::string reason_of(const StackCandidate& candidate, const StackSet& set) {
  for (const FrameworkVerdict& verdict : set.verdicts) {
    if (verdict.framework == candidate.name ||
        (candidate.name == "onnxruntime-gpu" && verdict.framework == "onnxruntime")) {
      return verdict.reason.empty() ? "runs on the card" : verdict.reason;
    }
  }
  for (const StackCandidate& other : set.chosen) {
    for (const Requirement& need : other.needs) {
      if (need.name == candidate.name) {
        return fmt::format("{} {} asks for {}", other.name, other.version.text(),
                           requirement_text(need));
      }
    }
  }
  for (const Requirement& need : candidate.needs) {
    if (std::ranges::count(set.chosen, need.name, &StackCandidate::name) > 0) {
      return fmt::format("the newest that goes with this {}", need.name);
    }
  }
  return "the newest that goes with the others";
}

const StackCandidate* chosen(const StackSet& set, std::string_view name) {
  const auto found = std::ranges::find(set.chosen, name, &StackCandidate::name);
  return found == set.chosen.end() ? nullptr : &*found;
}

// Whether what a package asks for under a condition is asked for in this plan.
bool holds(const Requirement& need, const StackSet& set, System system) {
  if (need.marker.empty()) {
    return true;
  }
  const auto marker = Marker::parse(need.marker);
  return marker &&
         marker->holds({.system = system, .python = set.python, .extras = {}}) == Truth::Yes;
}

// A package that asks for onnxruntime, whose files onnxruntime-gpu would share.
bool brings_other_onnxruntime(const StackCandidate& candidate, const StackSet& set, System system) {
  return chosen(set, "onnxruntime-gpu") != nullptr &&
         std::ranges::any_of(candidate.needs, [&](const Requirement& need) {
           return need.name == "onnxruntime" && holds(need, set, system);
         });
}

// What CTranslate2 and ONNX Runtime open by name must be on the loader's way.
std::vector<std::string> folders(const StackSet& set, const Knowledge& knowledge) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view library, int cuda_major) {
    const Library* const known = knowledge.library(library, cuda_major);
    if (known != nullptr && !known->folder.empty() &&
        std::ranges::count(found, known->folder) == 0) {
      found.push_back(known->folder);
    }
  };
  const auto add_cudnn = [&](const StackCandidate& candidate) {
    if (candidate.cudnn_major > 0) {
      add(fmt::format("cudnn{}", candidate.cudnn_major), candidate.cuda_major);
    }
  };
  for (const StackCandidate& candidate : set.chosen) {
    if (candidate.name == "ctranslate2") {
      add("cublas", candidate.cuda_major);
      add_cudnn(candidate);
    }
    // Beside torch, which is imported first, its libraries are opened already.
    if (candidate.name == "onnxruntime-gpu" && chosen(set, "torch") == nullptr) {
      for (const std::string_view library : {"cublas", "cudart", "cufft", "curand"}) {
        add(library, candidate.cuda_major);
      }
      add_cudnn(candidate);
    }
  }
  return found;
}

// The extras that the user names: "cuda,cudnn".
std::string wanted_extras(const StackWish& wish, std::string_view name) {
  std::vector<std::string> extras;
  for (const Requirement& wanted : wish.wanted) {
    for (const std::string& extra : wanted.extras) {
      if (wanted.name == name && std::ranges::count(extras, extra) == 0) {
        extras.push_back(extra);
      }
    }
  }
  return fmt::format("{}", fmt::join(extras, ","));
}

StackPlan plan_of(const StackSet& set, const StackWish& wish, const Knowledge& knowledge) {
  const System system = wish.machine.system;
  StackPlan plan{.python = set.python,
                 .packages = {},
                 .verdicts = set.verdicts,
                 .library_folders = folders(set, knowledge),
                 .system_packages = {},
                 .notes = {}};
  for (const StackCandidate& candidate : set.chosen) {
    PinnedPackage pinned{.name = candidate.name,
                         .extras = wanted_extras(wish, candidate.name),
                         .version = candidate.version.text(),
                         .index = candidate.index,
                         .reason = reason_of(candidate, set)};
    if (candidate.name == "llama-cpp-python") {
      pinned.version = candidate.version.public_part().text();
    }
    if (candidate.name == "onnxruntime-gpu" && chosen(set, "torch") == nullptr &&
        has_extras(candidate.version)) {
      pinned.extras = "cuda,cudnn";
      plan.notes.push_back(
          "without LD_LIBRARY_PATH call onnxruntime.preload_dlls() before the first session: it "
          "opens the libraries that the extras bring");
    }
    if (brings_other_onnxruntime(candidate, set, system)) {
      pinned.alone = true;
      plan.notes.push_back(fmt::format(
          "{} asks for onnxruntime, which writes over the files of onnxruntime-gpu: it is "
          "installed without what it asks for, and that by name",
          candidate.name));
    }
    plan.packages.push_back(std::move(pinned));
  }
  for (const StackCandidate& library : set.libraries) {
    plan.packages.push_back({.name = library.name,
                             .extras = {},
                             .version = library.version.text(),
                             .index = {},
                             .reason = "a library of the card that nothing else brings"});
  }
  // What a package that is installed alone would have brought, but for what is here already.
  for (const StackCandidate& candidate : set.chosen) {
    if (!brings_other_onnxruntime(candidate, set, system)) {
      continue;
    }
    for (const Requirement& need : candidate.needs) {
      const bool there = need.name == "onnxruntime" || !holds(need, set, system) ||
                         std::ranges::count(plan.packages, need.name, &PinnedPackage::name) > 0;
      if (!there) {
        plan.packages.push_back({.name = need.name,
                                 .extras = {},
                                 .version = need.specifier,
                                 .index = {},
                                 .reason = fmt::format("{} asks for it", candidate.name)});
      }
    }
  }
  for (const auto& [package, use] : kUseFfmpeg) {
    if (chosen(set, package) != nullptr) {
      plan.system_packages = {"ffmpeg"};
      plan.notes.push_back(fmt::format(
          "{} {}, which no package of Python's brings: apt-get install ffmpeg", package, use));
    }
  }
  if (chosen(set, "torch") != nullptr && chosen(set, "onnxruntime-gpu") != nullptr) {
    plan.notes.push_back(
        "import torch before onnxruntime: it opens the CUDA libraries that both use");
  }
  return plan;
}

std::optional<StackPlan> find_plan(StackSearch& search, const StackWish& wish,
                                   const Knowledge& knowledge) {
  for (const StackGrade grade : {StackGrade::Best, StackGrade::Works, StackGrade::Computes}) {
    if (const auto set = search.find(grade)) {
      return plan_of(*set, wish, knowledge);
    }
  }
  return std::nullopt;
}

std::optional<StackPlan> find_plan(const StackWish& wish, const Knowledge& knowledge) {
  StackSearch search(wish, knowledge);
  return find_plan(search, wish, knowledge);
}

// The fewest of the wanted packages of which there is no plan either: leaving out any one makes it.
StackWish core_of(const StackWish& wish, const Knowledge& knowledge) {
  StackWish core = wish;
  for (size_t i = 0; i < core.wanted.size() && core.wanted.size() > 1;) {
    StackWish fewer = core;
    fewer.wanted.erase(fewer.wanted.begin() + static_cast<std::ptrdiff_t>(i));
    if (find_plan(fewer, knowledge)) {
      ++i;
    } else {
      core = std::move(fewer);
    }
  }
  return core;
}

// Which of the wanted packages do not go together, and why.
std::vector<std::string> reasons_of(const StackWish& wish, const StackWish& core,
                                    const Knowledge& knowledge) {
  StackSearch search(core, knowledge);
  std::ignore = search.find(StackGrade::Computes);
  std::vector<std::string> reasons = search.reasons();
  if (core.wanted.size() < 2) {
    return reasons;
  }
  std::vector<std::string> names;
  names.reserve(core.wanted.size());
  for (const Requirement& wanted : core.wanted) {
    names.push_back(requirement_text(wanted));
  }
  reasons.insert(reasons.begin(),
                 fmt::format("{} do not go together{}", fmt::join(names, " and "),
                             wish.python.empty() ? "" : " on Python " + wish.python));
  return reasons;
}

// The newest branch that still knows every card.
int last_branch(const Machine& machine, const Knowledge& knowledge) {
  int last = knowledge.branches.empty() ? 0 : knowledge.branches.back().branch;
  for (const Card& card : machine.cards) {
    const Architecture* const architecture = knowledge.architecture(card.compute_capability);
    if (architecture != nullptr && architecture->last_driver) {
      last = std::min(last, branch_of(architecture->last_driver->value).value_or(0));
    }
  }
  return last;
}

void change_driver(const StackWish& wish, const Knowledge& knowledge, StackAnswer& answer) {
  const int last = last_branch(wish.machine, knowledge);
  std::vector<NewerDriver> drivers = newer_drivers(wish.machine, knowledge);
  std::erase_if(drivers, [&](const NewerDriver& driver) {
    return branch_of(driver.version).value_or(0) > last;
  });
  // The least change is the best, but of a driver that is not known: one of today is likelier than
  // the oldest that would do, whose plan is of old releases.
  if (wish.machine.driver.empty()) {
    std::ranges::reverse(drivers);
  }
  for (const NewerDriver& driver : drivers) {
    StackWish changed = wish;
    changed.machine.driver = driver.version;
    if (auto plan = find_plan(changed, knowledge)) {
      answer.changes.push_back(
          {.text =
               wish.machine.driver.empty()
                   ? fmt::format("a driver {} (which one there is is not known: nvidia-smi shows "
                                 "it, and --driver takes it)",
                                 driver.words)
                   : fmt::format("a driver {} instead of {}", driver.words, wish.machine.driver),
           .plan = *std::move(plan)});
      return;
    }
  }
}

void change_python(const StackWish& wish, const Knowledge& knowledge, StackAnswer& answer) {
  if (wish.python.empty()) {
    return;
  }
  StackWish changed = wish;
  changed.python.clear();
  if (auto plan = find_plan(changed, knowledge)) {
    answer.changes.push_back(
        {.text = fmt::format("Python {} instead of {}", plan->python, wish.python),
         .plan = *std::move(plan)});
  }
}

// For each kind of card alone, where no builds serve all of them at once.
void change_cards(const StackWish& wish, const Knowledge& knowledge, StackAnswer& answer) {
  std::set<std::string> seen;
  for (const Card& card : wish.machine.cards) {
    if (!seen.insert(card.compute_capability).second) {
      continue;
    }
    StackWish changed = wish;
    std::erase_if(changed.machine.cards, [&](const Card& other) {
      return other.compute_capability != card.compute_capability;
    });
    if (changed.machine.cards.size() == wish.machine.cards.size()) {
      return;
    }
    if (auto plan = find_plan(changed, knowledge)) {
      answer.changes.push_back(
          {.text = fmt::format("{} alone (CUDA_VISIBLE_DEVICES), each kind of card having an "
                               "environment of its own,",
                               label_of(card)),
           .plan = *std::move(plan)});
    }
  }
}

// Without what the user said of a version, then without the package.
void change_wanted(const StackWish& wish, const Knowledge& knowledge, StackAnswer& answer) {
  for (size_t i = 0; i < wish.wanted.size(); ++i) {
    const Requirement& wanted = wish.wanted[i];
    StackWish changed = wish;
    if (!wanted.specifier.empty()) {
      changed.wanted[i].specifier.clear();
      if (auto plan = find_plan(changed, knowledge)) {
        const auto found = std::ranges::find(plan->packages, wanted.name, &PinnedPackage::name);
        answer.changes.push_back({.text = fmt::format("{} {} instead of {}", wanted.name,
                                                      found->version, wanted.specifier),
                                  .plan = *std::move(plan)});
        continue;
      }
    }
    StackWish alone = wish;
    alone.wanted = {wanted};
    if (wish.wanted.size() > 1 && find_plan(alone, knowledge)) {
      changed.wanted.erase(changed.wanted.begin() + static_cast<std::ptrdiff_t>(i));
      if (auto plan = find_plan(changed, knowledge)) {
        answer.changes.push_back(
            {.text = fmt::format("{} in an environment of its own", wanted.name),
             .plan = *std::move(plan)});
      }
    }
  }
}

// One that is named twice is to be as both say.
StackWish without_twins(const StackWish& given) {
  StackWish wish = given;
  wish.wanted.clear();
  for (const Requirement& wanted : given.wanted) {
    const auto twin = std::ranges::find(wish.wanted, wanted.name, &Requirement::name);
    if (twin == wish.wanted.end()) {
      wish.wanted.push_back(wanted);
      continue;
    }
    if (!wanted.specifier.empty()) {
      twin->specifier += (twin->specifier.empty() ? "" : ",") + wanted.specifier;
    }
    twin->extras.insert(twin->extras.end(), wanted.extras.begin(), wanted.extras.end());
  }
  return wish;
}

}  // namespace

Result<StackAnswer> plan_stack(const StackWish& given, const Knowledge& knowledge) {
  const StackWish wish = without_twins(given);
  StackSearch search(wish, knowledge);
  if (!search.unknown().empty()) {
    std::vector<std::string> names;
    for (const PackageReleases& listed : knowledge.releases) {
      if (!listed.package.starts_with("nvidia-") &&
          !stack_candidates(listed.package, knowledge).empty()) {
        names.push_back(listed.package);
      }
    }
    std::ranges::sort(names);
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("the knowledge base has no releases of {} to plan with{}; it has those of {}",
                    search.unknown(), suggestion(search.unknown(), names), fmt::join(names, ", ")));
  }
  StackAnswer answer;
  answer.plan = find_plan(search, wish, knowledge);
  if (!answer.plan) {
    const StackWish core = core_of(wish, knowledge);
    answer.clash = core.wanted.size() > 1;
    answer.reasons = reasons_of(wish, core, knowledge);
    change_driver(wish, knowledge, answer);
    change_python(wish, knowledge, answer);
    change_wanted(wish, knowledge, answer);
    change_cards(wish, knowledge, answer);
  }
  return answer;
}

}  // namespace mynah::doctor
