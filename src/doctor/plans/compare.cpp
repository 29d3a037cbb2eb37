#include "doctor/plans/compare.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/diagnose.h"
#include "doctor/machine/card_names.h"
#include "doctor/plans/compare_libraries.h"
#include "doctor/plans/compare_steps.h"
#include "doctor/recipes/conda_pins.h"
#include "doctor/recipes/recipe_columns.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/versions.h"

namespace mynah::doctor {

namespace {

// The facts of one side, and whether they are all that is installed.
struct Side {
  Facts facts;
  PinnedSide pinned;
};

// Whether the packages that a column names are all that it installs: a lock file's, with NVIDIA's
// wheels where its torch computes on cards.
bool is_whole(const RecipeColumn& column) {
  bool libraries = false;
  bool wants_libraries = false;
  for (const auto& [name, asked] : column.packages) {
    const Resolved resolved = resolve(column, name);
    if (resolved.by == nullptr) {
      continue;
    }
    // An installer takes nothing without hashes where one line has some.
    if (!(resolved.locked || resolved.by->requirement->hashed) || !resolved.version) {
      return false;
    }
    libraries |= name.starts_with("nvidia-");
    wants_libraries |= name == "torch" && resolved.version->local_text() != "cpu";
  }
  return libraries || !wants_libraries;
}

// What a recipe installs for sure, as an environment.
std::optional<PythonEnvironment> environment_of(const RecipeColumn& column,
                                                const Knowledge& knowledge) {
  PythonEnvironment environment;
  environment.path = column.name;
  environment.kind = kOfRecipe;
  environment.python = column.python;
  for (const auto& [name, asked] : column.packages) {
    const Resolved resolved = resolve_any_build(column, name);
    if (resolved.by == nullptr || !resolved.version) {
      continue;
    }
    install(environment, name, resolved.version->text(), knowledge);
  }
  return environment.packages.empty() ? std::nullopt : std::optional(std::move(environment));
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

// The facts of one side on the machine that both are meant for, recipes being environments.
Side side(const Facts& facts, const Machine& machine, const Knowledge& knowledge) {
  Side own{
      .facts = facts,
      .pinned = {.pins = {}, .open = {}, .extras = {}, .python = {}, .conda = {}, .whole = true}};
  own.facts.machine = machine;
  name_capabilities(own.facts.machine, knowledge, Trusted::Verified);
  for (const RecipeColumn& column : recipe_columns(facts, knowledge)) {
    if (!column.group.empty()) {
      continue;  // nobody says that it is installed
    }
    if (auto environment = environment_of(column, knowledge)) {
      own.facts.environments.push_back(*std::move(environment));
    }
    own.pinned.whole &= is_whole(column);
    if (column.root->kind == "conda") {
      own.pinned.conda = column.root->path;
    }
    for (const auto& [name, asked] : column.packages) {
      if (const Resolved resolved = resolve_any_build(column, name);
          !resolved.version && column.asks_for(name)) {
        own.pinned.open.try_emplace(name, resolved.range);
      }
      for (const Asked& one : asked) {
        if (!one.bound && one.holds != Truth::No && !one.requirement->extras.empty()) {
          own.pinned.extras[name].insert(one.requirement->extras.begin(),
                                         one.requirement->extras.end());
        }
      }
    }
  }
  own.pinned.pins = pins_of(own.facts);
  own.pinned.python =
      own.facts.environments.empty() ? std::string() : own.facts.environments.front().python;
  return own;
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

std::vector<PackageChange> changes_of(const Pins& first, const PinnedSide& wanted,
                                      const Knowledge& knowledge) {
  const Pins& second = wanted.pins;
  std::vector<PackageChange> changes;
  for (const auto& [name, version] : first) {
    const auto other = second.find(name);
    if (other == second.end() && wanted.open.contains(name)) {
      continue;  // some release of it stays, and nobody says which
    }
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

bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// What a finding is about, whichever versions and folders it names: a number is any number, as is
// the hash that auditwheel puts into a library's name; of a path the last name counts.
std::string identity(const Finding& finding) {
  constexpr size_t kHash = 8;
  std::string identity = finding.subject.substr(0, finding.subject.find(' ')) + "|" + finding.card;
  identity += '|';
  const std::string& text = finding.text;
  size_t word = identity.size();
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const size_t hash_end = at + kHash + 1;
    if (c == '-' && hash_end < text.size() && text[hash_end] == '.' &&
        std::all_of(&text[at + 1], &text[hash_end], is_hexadecimal)) {
      identity += "-#";
      at += kHash;
    } else if (c == '/') {
      identity.resize(word);
    } else if (!is_digit(c)) {
      identity += c;
      word = is_blank(c) ? identity.size() : word;
    } else if (identity.back() != '#') {
      identity += '#';
    }
  }
  return identity;
}

// What is at least as bad in one report, and less so in another.
std::vector<Finding> only_in(const Report& report, const Report& other, Level least) {
  std::map<std::string, Level> known;  // how bad each is there
  for (const Finding& finding : other.findings) {
    Level& level = known.try_emplace(identity(finding), Level::Good).first->second;
    level = std::max(level, finding.level);
  }
  std::vector<Finding> found;
  for (const Finding& finding : report.findings) {
    Level& level = known.try_emplace(identity(finding), Level::Good).first->second;
    if (finding.level >= least && finding.level > level) {
      found.push_back(finding);
      level = finding.level;  // of an environment and of the recipe that it is of, one
    }
  }
  return found;
}

std::vector<Remedy> driver_step(const Report& second) {
  for (const Finding& finding : second.findings) {
    if (finding.level == Level::Fail && finding.rule.contains("driver") &&
        !finding.remedies.empty()) {
      return {finding.remedies.front()};
    }
  }
  return {};
}

// Takes out of `from` what `these` are about, too.
void drop(std::vector<Finding>& from, const std::vector<Finding>& these) {
  std::set<std::string> there;
  for (const Finding& finding : these) {
    there.insert(identity(finding));
  }
  std::erase_if(from, [&](const Finding& finding) { return there.contains(identity(finding)); });
}

// What is bad enough in both, each once; but for what `told` has already.
std::vector<Finding> in_both(const Report& report, const Report& other,
                             const std::vector<Finding>& told, Level least) {
  std::set<std::string> there;
  for (const Finding& finding : other.findings) {
    if (finding.level >= least) {
      there.insert(identity(finding));
    }
  }
  std::vector<Finding> found;
  std::ranges::copy_if(report.findings, std::back_inserter(found), [&](const Finding& finding) {
    return finding.level >= least && there.erase(identity(finding)) > 0;
  });
  drop(found, told);
  return found;
}

// What is worse than a note is worth telling of two machines; of two environments on one machine it
// is what the change brings.
enum class Of : uint8_t { Environments, Machines };

Comparison compared(const Side& one, const Side& other, Of of, const Knowledge& knowledge) {
  const Level least = of == Of::Machines ? Level::Unknown : Level::Warning;
  const Report before = diagnose(one.facts, knowledge);
  Report after = diagnose(other.facts, knowledge);
  const std::vector<StillMissing> missing =
      of == Of::Environments ? still_missing(one.facts, other.facts, other.pinned, knowledge)
                             : std::vector<StillMissing>();
  doubt_what_misses(after.verdicts, missing);
  const Pins& from = one.pinned.pins;
  const Pins& to = other.pinned.pins;
  Comparison comparison;
  comparison.packages = changes_of(from, other.pinned, knowledge);
  comparison.same = static_cast<uint64_t>(std::ranges::count_if(from, [&](const auto& pin) {
    const auto found = to.find(pin.first);
    return found != to.end() && found->second == pin.second;
  }));
  comparison.verdicts = verdict_changes(before, after);
  comparison.breaks = only_in(after, before, least);
  comparison.mended = only_in(before, after, least);
  const Level worst = of == Of::Machines ? least : Level::Fail;
  comparison.both = in_both(after, before, comparison.breaks, worst);
  std::erase_if(comparison.mended,
                [&](const Finding& finding) { return is_about(finding, missing); });
  // What is less bad than before, and still bad enough, is not mended.
  drop(comparison.mended, comparison.both);
  comparison.steps = steps_between(one.pinned, other.pinned, driver_step(after), knowledge);
  // What a file leaves out that does not name everything is not gone.
  if (one.pinned.whole && !other.pinned.whole) {
    std::erase_if(comparison.packages,
                  [](const PackageChange& change) { return change.kind == ChangeKind::Removed; });
    std::erase_if(comparison.verdicts,
                  [](const VerdictChange& change) { return change.to.empty(); });
    std::erase_if(comparison.mended, [&](const Finding& finding) {
      return !to.contains(finding.subject.substr(0, finding.subject.find(' ')));
    });
  }
  return comparison;
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
  return compared(side(first, machine, knowledge), side(second, machine, knowledge),
                  Of::Environments, knowledge);
}

Comparison compare_machines(const Facts& first, const Facts& second, const Knowledge& knowledge) {
  const Side one = side(first, first.machine, knowledge);
  const Side other = side(second, second.machine, knowledge);
  Comparison comparison = compared(one, other, Of::Machines, knowledge);
  comparison.machine = machine_changes(one.facts.machine, other.facts.machine);
  return comparison;
}

}  // namespace mynah::doctor
