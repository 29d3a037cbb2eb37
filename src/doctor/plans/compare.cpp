#include "doctor/plans/compare.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/diagnose.h"
#include "doctor/recipes/recipe_columns.h"
#include "doctor/torch_index.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/versions.h"

namespace mynah::doctor {

namespace {

using Pins = std::map<std::string, std::string, std::less<>>;  // version by name

// What a recipe installs for sure, as an environment.
std::optional<PythonEnvironment> environment_of(const RecipeColumn& column,
                                                const Knowledge& knowledge) {
  PythonEnvironment environment;
  environment.path = column.name;
  environment.kind = "lock";
  environment.python = column.python;
  for (const auto& [name, asked] : column.packages) {
    const Resolved resolved = resolve(column, name);
    if (resolved.by == nullptr || !resolved.version) {
      continue;
    }
    install(environment, name, resolved.version->text(), knowledge);
  }
  return environment.packages.empty() ? std::nullopt : std::optional(std::move(environment));
}

// The facts of one side on the machine that both are meant for, recipes being environments.
Facts side(const Facts& facts, const Machine& machine, const Knowledge& knowledge) {
  Facts own = facts;
  own.machine = machine;
  for (const RecipeColumn& column : recipe_columns(facts)) {
    if (!column.group.empty()) {
      continue;  // nobody says that it is installed
    }
    if (auto environment = environment_of(column, knowledge)) {
      own.environments.push_back(*std::move(environment));
    }
  }
  return own;
}

Pins pins_of(const Facts& facts) {
  Pins pins;
  for (const PythonEnvironment& environment : facts.environments) {
    for (const Package& package : environment.packages) {
      pins.emplace(package.name, package.version);
    }
  }
  // A framework's own files know more than the metadata: the local part of its version.
  for (const PythonEnvironment& environment : facts.environments) {
    for (const Framework& framework : environment.frameworks) {
      if (const auto found = pins.find(framework.package);
          found != pins.end() && framework.version.starts_with(found->second)) {
        found->second = framework.version;
      }
    }
  }
  return pins;
}

ChangeKind kind_of(const std::string& from, const std::string& to) {
  const auto before = Version::parse(from);
  const auto after = Version::parse(to);
  if (!before || !after) {
    return ChangeKind::Rebuilt;
  }
  if (before->public_part() == after->public_part()) {
    return ChangeKind::Rebuilt;
  }
  return *before < *after ? ChangeKind::Newer : ChangeKind::Older;
}

// "CUDA 12.6 to 12.8, cuDNN 9.5.1.17 to 9.7.1.26".
std::string effect_of(const PackageChange& change, const Knowledge& knowledge) {
  const auto before = Version::parse(change.from);
  const auto after = Version::parse(change.to);
  if (!before || !after) {
    return {};
  }
  const auto one = known_framework(change.name, *before, System::Linux, knowledge);
  const auto other = known_framework(change.name, *after, System::Linux, knowledge);
  if (!one || !other) {
    return {};
  }
  std::vector<std::string> parts;
  if (one->cuda && other->cuda && *one->cuda != *other->cuda) {
    const auto called = [](const std::string& cuda) { return cuda.empty() ? "none" : cuda; };
    parts.push_back(fmt::format("CUDA {} to {}", called(*one->cuda), called(*other->cuda)));
  }
  if (one->cudnn != other->cudnn && !one->cudnn.empty() && !other->cudnn.empty()) {
    parts.push_back(fmt::format("cuDNN {} to {}", one->cudnn, other->cudnn));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<PackageChange> changes_of(const Pins& first, const Pins& second,
                                      const Knowledge& knowledge) {
  std::vector<PackageChange> changes;
  for (const auto& [name, version] : first) {
    const auto other = second.find(name);
    if (other == second.end()) {
      changes.push_back(
          {.name = name, .kind = ChangeKind::Removed, .from = version, .to = {}, .effect = {}});
    } else if (other->second != version) {
      PackageChange change{.name = name,
                           .kind = kind_of(version, other->second),
                           .from = version,
                           .to = other->second,
                           .effect = {}};
      change.effect = effect_of(change, knowledge);
      changes.push_back(std::move(change));
    }
  }
  for (const auto& [name, version] : second) {
    if (!first.contains(name)) {
      changes.push_back(
          {.name = name, .kind = ChangeKind::Added, .from = {}, .to = version, .effect = {}});
    }
  }
  std::ranges::sort(changes, {}, &PackageChange::name);
  return changes;
}

using Verdicts = std::map<std::pair<std::string, std::string>, FrameworkVerdict>;

// The worst verdict of each framework on each card: a side may have several environments.
Verdicts verdicts_of(const Report& report) {
  Verdicts verdicts;
  for (const FrameworkVerdict& verdict : report.verdicts) {
    const auto [found, is_new] =
        verdicts.emplace(std::pair(verdict.framework, verdict.card), verdict);
    if (!is_new && badness(found->second.outcome) < badness(verdict.outcome)) {
      found->second = verdict;
    }
  }
  return verdicts;
}

std::vector<VerdictChange> verdict_changes(const Report& first, const Report& second) {
  const Verdicts before = verdicts_of(first);
  const Verdicts after = verdicts_of(second);
  std::vector<VerdictChange> changes;
  for (const auto& [key, verdict] : after) {
    const auto found = before.find(key);
    if (found != before.end() && found->second.outcome == verdict.outcome) {
      continue;
    }
    changes.push_back({.framework = key.first,
                       .card = key.second,
                       .from = found == before.end() ? "" : found->second.version,
                       .to = verdict.version,
                       .before = found == before.end() ? Outcome::Unknown : found->second.outcome,
                       .after = verdict.outcome,
                       .reason = verdict.reason});
  }
  for (const auto& [key, verdict] : before) {
    if (!after.contains(key)) {
      changes.push_back({.framework = key.first,
                         .card = key.second,
                         .from = verdict.version,
                         .to = {},
                         .before = verdict.outcome,
                         .after = Outcome::Unknown,
                         .reason = {}});
    }
  }
  return changes;
}

// What a finding is about, whichever version or folder it names.
auto identity(const Finding& finding) {
  return std::tie(finding.rule, finding.card, finding.text);
}

// The failures and warnings of one report that another has not.
std::vector<Finding> only_in(const Report& report, const Report& other) {
  std::vector<Finding> found;
  for (const Finding& finding : report.findings) {
    const bool there = std::ranges::any_of(other.findings, [&](const Finding& candidate) {
      return identity(candidate) == identity(finding);
    });
    if (!there && finding.level >= Level::Warning) {
      found.push_back(finding);
    }
  }
  return found;
}

// PyTorch's index for a version with a local part; empty: the Python index.
std::string index_option(std::string_view name, std::string_view version) {
  const auto parsed = Version::parse(version);
  const bool torch = name == "torch" || name == "torchaudio" || name == "torchvision";
  if (!torch || !parsed || parsed->local.empty()) {
    return {};
  }
  return " --index-url " + torch_index(parsed->local_text());
}

// Which of the libraries below others come first: what brings CUDA before what needs it.
int order_of(std::string_view name) {
  if (name == "torch" || name.starts_with("nvidia-")) {
    return 0;
  }
  return name.starts_with("torch") ? 1 : 2;
}

void add_driver_step(const Report& second, std::vector<Remedy>& steps) {
  for (const Finding& finding : second.findings) {
    if (finding.level == Level::Fail && finding.rule.contains("driver") &&
        !finding.remedies.empty()) {
      steps.push_back(finding.remedies.front());
      return;
    }
  }
}

std::vector<Remedy> steps_of(const Facts& first, const Facts& second, const Report& after,
                             const std::vector<PackageChange>& changes) {
  std::vector<Remedy> steps;
  add_driver_step(after, steps);
  const auto python = [](const Facts& facts) {
    return facts.environments.empty() ? std::string() : facts.environments.front().python;
  };
  if (!python(second).empty() && !python(first).empty() && python(first) != python(second)) {
    steps.push_back({.command = fmt::format("python{} -m venv NEW", python(second)),
                     .text = fmt::format("make an environment of Python {}: an environment keeps "
                                         "the Python that it was made with",
                                         python(second)),
                     .cost = "all packages are installed anew"});
  }
  std::vector<std::string> removed;
  for (const PackageChange& change : changes) {
    if (change.kind == ChangeKind::Removed) {
      removed.push_back(change.name);
    }
  }
  if (!removed.empty()) {
    steps.push_back({.command = fmt::format("pip uninstall --yes {}", fmt::join(removed, " ")),
                     .text = "remove what the second has not, before others write to its folders",
                     .cost = {}});
  }
  // One line for each index, what brings CUDA first.
  std::map<std::pair<int, std::string>, std::vector<std::string>> installs;
  for (const PackageChange& change : changes) {
    if (change.kind != ChangeKind::Removed) {
      installs[{order_of(change.name), index_option(change.name, change.to)}].push_back(
          fmt::format("{}=={}", change.name, change.to));
    }
  }
  for (const auto& [key, pins] : installs) {
    steps.push_back(
        {.command = fmt::format("pip install --no-deps {}{}", fmt::join(pins, " "), key.second),
         .text = "install exactly what the second has",
         .cost = {}});
  }
  if (!steps.empty()) {
    steps.push_back(
        {.command = "pip check && mynah doctor", .text = "look at what came of it", .cost = {}});
  }
  return steps;
}

}  // namespace

std::string_view change_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Added:
      return "added";
    case ChangeKind::Removed:
      return "removed";
    case ChangeKind::Newer:
      return "newer";
    case ChangeKind::Older:
      return "older";
    case ChangeKind::Rebuilt:
      return "rebuilt";
  }
  return "";
}

bool Comparison::is_worse() const {
  return std::ranges::any_of(breaks,
                             [](const Finding& finding) { return finding.level == Level::Fail; });
}

Comparison compare(const Facts& first, const Facts& second, const Machine& machine,
                   const Knowledge& knowledge) {
  const Facts one = side(first, machine, knowledge);
  const Facts other = side(second, machine, knowledge);
  const Report before = diagnose(one, knowledge);
  const Report after = diagnose(other, knowledge);
  const Pins from = pins_of(one);
  const Pins to = pins_of(other);
  Comparison comparison;
  comparison.packages = changes_of(from, to, knowledge);
  comparison.same = static_cast<uint64_t>(std::ranges::count_if(from, [&](const auto& pin) {
    const auto found = to.find(pin.first);
    return found != to.end() && found->second == pin.second;
  }));
  comparison.verdicts = verdict_changes(before, after);
  comparison.breaks = only_in(after, before);
  comparison.mended = only_in(before, after);
  comparison.steps = steps_of(one, other, after, comparison.packages);
  return comparison;
}

}  // namespace mynah::doctor
