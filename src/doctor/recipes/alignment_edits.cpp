#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/conda_pins.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_trial.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

using Edits = std::vector<AlignmentEdit>;

constexpr size_t kMostCandidates = 200;

void align_torch(const RecipeColumn& column, const Version& target, const Knowledge& knowledge,
                 Edits& edits) {
  const Resolved torch = resolve(column, "torch");
  const auto present = torch_of(column, knowledge);
  // One for the processor is meant to be, of several nobody knows which, and conda has builds of
  // its own.
  const std::string variant =
      torch.by != nullptr ? only_variant(column, *torch.by, knowledge) : std::string();
  if (!torch.several.empty() || (!variant.empty() && cuda_of_variant(variant).empty()) ||
      (present && cuda_of_variant(present->local_text()).empty()) ||
      (torch.by != nullptr && torch.by->requirement->url == "conda")) {
    return;
  }
  change_torch(column, target,
               torch.version ? "the others pin this one" : "another one comes on another day",
               knowledge, edits);
}

// Whether a package computes on all cards that there are; without a card, any does.
bool serves(std::string_view package, const Version& version, const Machine& machine,
            const Knowledge& knowledge) {
  const auto framework = known_framework(package, version, machine.system, knowledge);
  if (!framework) {
    return machine.cards.empty();
  }
  return std::ranges::all_of(machine.cards, [&](const Card& card) {
    const Judged judged = judge_framework(*framework, &card, machine, knowledge);
    return computes_on_card(judged) || judged.verdict.outcome == Outcome::Unknown;
  });
}

// The newest release of a stretch that a column's Python takes.
std::optional<Version> newest_of(const Stretch& stretch, const RecipeColumn& column,
                                 const std::string& package, const Knowledge& knowledge) {
  const auto last = Version::parse(last_before(*stretch.below));
  if (last && takes_python(column, package, *last, knowledge)) {
    return *last;
  }
  const PackageReleases* const listed = knowledge.releases_of(package);
  if (!last || listed == nullptr) {
    return std::nullopt;
  }
  const auto found = std::ranges::find_if(listed->releases, [&](const Version& release) {
    return release >= stretch.from && release < *stretch.below && !release.is_prerelease() &&
           takes_python(column, package, release, knowledge);
  });
  return found == listed->releases.end() ? std::nullopt : std::optional(*found);
}

// CTranslate2 pinned where another version comes on another day: the newest that wants the CUDA and
// the cuDNN of the torch beside it, and that computes on the cards with their driver.
void pin_ctranslate2(const RecipeColumn& column, const Version* torch, const Machine& machine,
                     const Knowledge& knowledge, Edits& edits) {
  const Resolved own = resolve(column, "ctranslate2");
  const Derived other = own.by == nullptr ? derived(column, "ctranslate2", knowledge) : Derived();
  if (own.version || !own.several.empty() || (own.by == nullptr && other.by.empty())) {
    return;
  }
  const auto all = stretches("ctranslate2", own.by != nullptr ? own.range : other.range, knowledge);
  const TorchVariant* variant = torch != nullptr ? knowledge.torch_variant(*torch) : nullptr;
  const int of_conda = cudnn_of_conda(column, knowledge);
  const bool known = of_conda != 0 || variant != nullptr;
  const int cudnn = of_conda != 0 || !known ? of_conda : major_version(variant->cudnn);
  const int cuda = torch != nullptr ? major_version(cuda_of_variant(torch->local_text())) : 0;
  // Another CUDA than torch's only where there is no other: its libraries must then come besides.
  for (const bool same_cuda : {true, false}) {
    for (auto stretch = all.rbegin(); stretch != all.rend(); ++stretch) {
      const bool right_cuda = cuda == 0 || !same_cuda || cuda == stretch->cuda_major;
      const bool right_cudnn = stretch->cudnn_major == 0 || !known || cudnn == stretch->cudnn_major;
      if (!stretch->verified || !stretch->below || !right_cudnn || !right_cuda) {
        continue;
      }
      const auto version = newest_of(*stretch, column, "ctranslate2", knowledge);
      if (!version || !serves("ctranslate2", *version, machine, knowledge)) {
        continue;
      }
      const Asked& asked = own.by != nullptr ? *own.by : *other.asked;
      const std::string pinned = "==" + version->text();
      AlignmentEdit edit =
          own.by != nullptr ? pin_edit(column, asked, pinned, "") : AlignmentEdit();
      if (own.by == nullptr) {
        edit.file = asked.recipe->path;
        edit.to = "ctranslate2" + pinned;
        edit.row = "ctranslate2";
      }
      edit.why = fmt::format("it wants {}", stretch->wants);
      add_edit(edits, std::move(edit));
      return;
    }
  }
}

// An image of a newer CUDA than all wheels: the one of theirs, of the same flavour.
void align_image(const RecipeColumn& column, const Version& target, const Knowledge& knowledge,
                 Edits& edits) {
  const std::string cuda = cuda_of_variant(target.local_text());
  const std::string& image = column.image_says.cuda;
  if (cuda.empty() || image.empty() || major_version(cuda) >= major_version(image) ||
      !column.image_torch.empty()) {
    return;
  }
  std::string changed = column.image;
  const size_t at = changed.rfind(image);
  if (at == std::string::npos) {
    return;
  }
  changed.replace(at, image.size(), cuda_of_tag(cuda, knowledge));
  add_edit(edits,
           image_edit(column, changed,
                      fmt::format("the wheels are for CUDA {}, and an image of {} demands a newer "
                                  "driver",
                                  cuda, image)));
}

// The version that most columns pin, and of such the newest; everything else that is pinned apart
// goes there.
void align_others(std::span<const RecipeColumn> columns, Edits& edits) {
  static const std::set<std::string, std::less<>> kDone = {"torch", "torchaudio", "torchvision"};
  std::map<std::string, std::map<Version, int>> pins;
  for (const RecipeColumn& column : columns) {
    for (const auto& [name, asked] : column.packages) {
      if (!column.group.empty() || !column.other_machine.empty()) {
        break;
      }
      if (const Resolved resolved = resolve(column, name);
          resolved.version && !kDone.contains(name)) {
        ++pins[name][resolved.version->public_part()];
      }
    }
  }
  for (const auto& [name, versions] : pins) {
    if (versions.size() < 2) {
      continue;
    }
    const auto most = std::ranges::max_element(
        versions, [](const auto& a, const auto& b) { return a.second <= b.second; });
    for (const RecipeColumn& column : columns) {
      const Resolved resolved = resolve(column, name);
      const bool other = column.group.empty() && column.other_machine.empty() && resolved.version &&
                         resolved.version->public_part() != most->first;
      if (other && !resolved.locked) {
        add_edit(edits,
                 pin_edit(column, *resolved.by, "==" + most->first.text(),
                          most->second > 1 ? "most pin this one" : "the newest is this one"));
      }
    }
  }
}

bool fits_pythons(const Version& torch, std::span<const RecipeColumn> columns,
                  const Knowledge& knowledge) {
  const TorchRelease* release = knowledge.torch_release(torch);
  return std::ranges::all_of(columns, [&](const RecipeColumn& column) {
    const auto python = Version::parse(column.python);
    return release == nullptr || !python || release->python.contains(*python);
  });
}

// What could be aligned on: pinned ones, other variants of theirs, and the first version of every
// release that is known, the newest first.
std::vector<Version> candidates(std::span<const RecipeColumn> columns, const Knowledge& knowledge) {
  std::vector<Version> all;
  const auto add = [&](const Version& version) {
    if (std::ranges::find(all, version) == all.end() && all.size() < kMostCandidates) {
      all.push_back(version);
    }
  };
  const auto add_variants = [&](const Version& version, const TorchRelease& release) {
    for (const TorchVariant& variant : release.variants) {
      if (const auto local = Version::parse("0+" + variant.cuda); local && variant.verified) {
        Version candidate = version.public_part();
        candidate.local = local->local;
        add(candidate);
      }
    }
  };
  for (const RecipeColumn& column : columns) {
    if (const auto torch = torch_of(column, knowledge);
        torch && !cuda_of_variant(torch->local_text()).empty()) {
      add(*torch);
    }
  }
  std::ranges::sort(all, std::ranges::greater());
  const std::vector<Version> pinned = all;
  for (const Version& version : pinned) {
    if (const TorchRelease* release = knowledge.torch_release(version)) {
      add_variants(version, *release);
    }
  }
  if (!pinned.empty()) {
    for (auto release = knowledge.torch.rbegin(); release != knowledge.torch.rend(); ++release) {
      if (const auto version = Version::parse(release->torch + ".0")) {
        add_variants(*version, *release);
      }
    }
  }
  return all;
}

// What was not read and may refuse an edit is said in its words.
void say_unread(std::span<const RecipeColumn> columns, const Knowledge& knowledge, Edits& edits) {
  for (AlignmentEdit& edit : edits) {
    std::set<std::string> words;
    for (const RecipeColumn& column : columns) {
      const bool holds = std::ranges::any_of(
          column.recipes, [&](const Recipe* recipe) { return recipe->path == edit.file; });
      if (holds) {
        words.insert(unread_needs(std::span(&edit, 1), column, knowledge));
      }
    }
    words.erase("");
    for (const std::string& unread : words) {
      edit.why += (edit.why.empty() ? "" : "; ") + unread;
    }
  }
}

Edits edits_for(std::span<const RecipeColumn> columns, const Version& target,
                const Knowledge& knowledge) {
  Edits edits;
  for (const RecipeColumn& column : columns) {
    if (!column.group.empty() || !column.other_machine.empty()) {
      continue;
    }
    align_torch(column, target, knowledge, edits);
    align_image(column, target, knowledge, edits);
  }
  return edits;
}

}  // namespace

std::string cuda_of_tag(const std::string& cuda, const Knowledge& knowledge) {
  const std::string prefix = cuda + ".";
  std::string newest = prefix + "0";
  for (const CudaToolkit& toolkit : knowledge.toolkits) {
    newest = toolkit.cuda.starts_with(prefix) ? toolkit.cuda : newest;
  }
  return newest;
}

std::vector<AlignmentEdit> smallest_edits(std::span<const RecipeColumn> columns,
                                          const Machine& machine, const Knowledge& knowledge,
                                          RecipeTrials& trials, std::string& target) {
  struct Way {
    Version torch;
    Edits edits;
  };

  std::vector<Way> ways;
  for (const Version& candidate : candidates(columns, knowledge)) {
    if (serves("torch", candidate, machine, knowledge) &&
        fits_pythons(candidate, columns, knowledge)) {
      ways.push_back({.torch = candidate, .edits = edits_for(columns, candidate, knowledge)});
    }
  }
  // Of as few edits the nearest is first: what is pinned, then its other variants.
  std::ranges::stable_sort(ways, {}, [](const Way& way) { return way.edits.size(); });
  // The first that brings no new trouble; where each does, the first, which then says its cost.
  constexpr size_t kMostTried = 12;
  const Way* chosen = ways.empty() ? nullptr : &ways.front();
  for (size_t i = 0; i < std::min(ways.size(), kMostTried); ++i) {
    const auto trial = trials.run(columns, ways[i].edits);
    if (!trial || trial->brings.empty()) {
      chosen = trial ? &ways[i] : chosen;
      break;
    }
  }
  Edits best = chosen != nullptr ? chosen->edits : Edits();
  for (const RecipeColumn& column : columns) {
    if (!column.group.empty() || !column.other_machine.empty()) {
      continue;
    }
    const bool beside = chosen != nullptr && column.asks_for("torch");
    pin_ctranslate2(column, beside ? &chosen->torch : nullptr, machine, knowledge, best);
  }
  align_others(columns, best);
  say_unread(columns, knowledge, best);
  if (chosen != nullptr && !best.empty()) {
    target = "torch " + chosen->torch.text();
  }
  return best;
}

}  // namespace mynah::doctor
