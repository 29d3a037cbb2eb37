// The Python that a recipe takes against those that its packages are for.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/knowledge/pythons.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/image_system.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_rule_parts.h"

namespace mynah::doctor {

namespace {

// What a column's files say of the Python that it runs with.
struct WantedPython {
  std::vector<SpecifierSet> ranges;
  const Recipe* recipe = nullptr;  // that says so
  std::string words;               // "3.13", "Python >=3.13"
  bool certain = false;            // nothing else can come
};

// Whether an image's own Python is the only one that its commands may mean.
bool has_one_python(const RecipeColumn& column, const Recipe& dockerfile) {
  const bool other = std::ranges::any_of(column.recipes, [](const Recipe* recipe) {
    return std::ranges::any_of(recipe->system_packages, [](const std::string& package) {
      return package.starts_with("python3.") || package.starts_with("pypy");
    });
  });
  const bool conda = std::ranges::any_of(
      column.recipes, [](const Recipe* recipe) { return recipe->kind == "conda"; });
  // An environment of uv's runs the first Python that uv finds and the project takes.
  const auto is_found = [&](const InstallStep& step) {
    return step.aside || step.environment != column.environment || step.found;
  };
  const bool own = column.environment.empty() || std::ranges::all_of(dockerfile.steps, is_found);
  return own && !other && !conda && std::ranges::none_of(dockerfile.steps, &InstallStep::unknown);
}

// What the image says, which is the Python of its own environment; another environment may be made
// with one that the project's files ask for. Without an image of Python those decide.
std::optional<WantedPython> python_of(const RecipeColumn& column, const Knowledge& knowledge) {
  WantedPython image;
  WantedPython files;
  files.certain = !column.is_image();
  for (const Recipe* recipe : column.recipes) {
    const auto set = SpecifierSet::parse(recipe->python);
    const std::vector<std::string> meant =
        set && !recipe->python.empty() ? pythons_in({*set}) : std::vector<std::string>();
    if (meant.empty()) {
      continue;
    }
    const bool of_image = recipe->kind == "dockerfile";
    WantedPython& wanted = of_image ? image : files;
    wanted.ranges.push_back(*set);
    if (wanted.recipe == nullptr) {
      wanted.recipe = recipe;
      wanted.words = "Python " + (meant.size() == 1 ? meant.front() : recipe->python);
    }
    // pip takes the Python that it runs with, whatever such a file says.
    files.certain &= recipe->kind != "python version";
  }
  if (const std::string own = image.recipe == nullptr ? python_of_system(column, knowledge) : "";
      !own.empty()) {
    image.ranges.push_back(*SpecifierSet::parse("==" + own + ".*"));
    image.recipe = column.dockerfile();
    image.words = "Python " + own;
  }
  const std::string named = python_of_commands(column);
  if (!named.empty()) {
    image.ranges = {*SpecifierSet::parse("==" + named + ".*")};
    image.recipe = column.dockerfile();
    image.words = "Python " + named;
  }
  if (image.recipe != nullptr) {
    std::vector<SpecifierSet> both = image.ranges;
    both.insert(both.end(), files.ranges.begin(), files.ranges.end());
    if (column.environment.empty() || !pythons_in(both).empty()) {
      image.certain = named.empty()
                          ? has_one_python(column, *image.recipe)
                          : std::ranges::none_of(image.recipe->steps, &InstallStep::unknown);
      return image;
    }
  }
  return files.recipe == nullptr || pythons_in(files.ranges).empty() ? std::nullopt
                                                                     : std::optional(files);
}

// "3.8 to 3.12", "3.10 and later".
std::string range_text(const SpecifierSet& range) {
  const std::vector<std::string> all = pythons_in({range});
  if (all.empty()) {
    return range.text();
  }
  const bool open = pythons_in({}).front() == all.front();
  return open ? all.back() + " and later" : fmt::format("{} to {}", all.back(), all.front());
}

// A package and a release of it that is for other Pythons.
struct Refused {
  Resolved asked;
  Version version;
  Pythons pythons;
  bool certain = false;  // no other release can come
};

bool takes(const Pythons& pythons, const WantedPython& python) {
  std::vector<SpecifierSet> ranges = python.ranges;
  ranges.push_back(pythons.range);
  return !pythons_in(ranges).empty();
}

std::optional<Refused> refused(const RecipeColumn& column, const std::string& package,
                               const WantedPython& python, const Knowledge& knowledge) {
  Resolved asked = resolve(column, package);
  const PackageReleases* known = knowledge.releases_of(package);
  if (asked.by == nullptr || !asked.by->requirement->url.empty() || !asked.several.empty()) {
    return std::nullopt;
  }
  std::vector<Version> may_come;
  bool bounded = true;
  if (asked.version) {
    may_come = {asked.version->public_part()};
  } else if (known != nullptr) {
    ListedReleases listed = listed_releases(*known, asked.range);
    may_come = std::move(listed.versions);
    bounded = listed.no_newer && listed.no_older;
  }
  std::optional<Refused> newest;
  for (const Version& version : may_come) {
    auto pythons = pythons_of(package, version, knowledge);
    if (pythons && takes(*pythons, python)) {
      return std::nullopt;
    }
    bounded &= pythons && pythons->verified;
    if (pythons && &version == &may_come.front()) {
      newest = Refused{.asked = asked, .version = version, .pythons = *std::move(pythons)};
    }
  }
  if (newest) {
    newest->certain = bounded && asked.sure;
  }
  return newest;
}

// The newest Python that this package is for, and all others of which something is known, too, if
// there is one; where nothing bounds that, the oldest, which is surely there.
std::string python_for(const RecipeColumn& column, const Refused& refused,
                       const Knowledge& knowledge) {
  std::vector<SpecifierSet> ranges = {refused.pythons.range};
  for (const auto& [name, all] : column.packages) {
    const Resolved other = resolve(column, name);
    const auto pythons =
        other.version ? pythons_of(name, other.version->public_part(), knowledge) : std::nullopt;
    if (pythons && other.by->requirement->url.empty()) {
      ranges.push_back(pythons->range);
    }
  }
  const std::vector<std::string> common = pythons_in(ranges);
  const std::vector<std::string> own = pythons_in({refused.pythons.range});
  const std::vector<std::string>& all = common.empty() ? own : common;
  if (all.empty()) {
    return {};
  }
  return all.front() == pythons_in({}).front() ? all.back() : all.front();
}

// Releases that are for the Python: the nearest newer series' newest, and the nearest older one.
std::vector<Version> others_of(const Refused& refused, const WantedPython& python,
                               const Knowledge& knowledge) {
  const std::string& package = refused.asked.by->requirement->name;
  const PackageReleases* known = knowledge.releases_of(package);
  std::optional<Version> newer;
  std::optional<Version> older;
  for (size_t i = 0; known != nullptr && i < known->releases.size(); ++i) {
    const Version& release = known->releases[i];
    const auto pythons = pythons_of(package, release, knowledge);
    if (!pythons || !takes(*pythons, python)) {
      continue;
    }
    const bool same_series = newer && newer->release_at(0) == release.release_at(0) &&
                             newer->release_at(1) == release.release_at(1);
    if (release > refused.version && !same_series) {
      newer = release;
    } else if (release < refused.version && !older) {
      older = release;
    }
  }
  std::vector<Version> found;
  for (const std::optional<Version>* other : {&newer, &older}) {
    if (*other) {
      found.push_back(**other);
    }
  }
  return found;
}

// The same image with another Python; empty: it is none of Python's, or does not say which.
std::string image_with(const RecipeColumn& column, const std::string& python) {
  const size_t colon = column.image.rfind(':');
  if (colon == std::string::npos || last_name(column.image.substr(0, colon)) != "python") {
    return {};
  }
  const std::string tag = column.image.substr(colon + 1);
  const size_t end = std::min(tag.find_first_not_of("0123456789."), tag.size());
  return end == 0 ? "" : column.image.substr(0, colon + 1) + python + tag.substr(end);
}

void mend(Diagnosis& diagnosis, const RecipeColumn& column, const Refused& refused,
          const WantedPython& python, Proposals& proposals) {
  const std::string other = python_for(column, refused, diagnosis.knowledge);
  const std::string image =
      python.recipe->kind == "dockerfile" ? image_with(column, other) : std::string();
  const std::string why =
      fmt::format("{} {} is for it", refused.asked.by->requirement->name, refused.version.text());
  if (!other.empty() && !image.empty()) {
    propose(diagnosis, proposals, {image_edit(column, image, why)});
  } else if (!other.empty()) {
    const std::string& kind = python.recipe->kind;
    diagnosis.report.findings.back().remedies.push_back(
        {.command = {},
         .text = fmt::format(
             "Take Python {}{}", other,
             kind == "pyproject" ? fmt::format(": let {} ask for a Python that "
                                               "it is among",
                                               python.recipe->path)
             : kind == "conda"   ? fmt::format(": python={} in {}", other, python.recipe->path)
             : system_of_image(column.image, diagnosis.knowledge).said
                 ? fmt::format(": an image that has it, such as python:{}-slim, in "
                               "place of {}",
                               other, column.image)
                 : fmt::format(" where {} names {}", python.recipe->path, python.words)),
         .cost = {}});
  }
  if (!refused.asked.version) {
    return;
  }
  for (Version release : others_of(refused, python, diagnosis.knowledge)) {
    const std::string reason = fmt::format("it is for {}", python.words);
    if (refused.asked.by->requirement->name == "torch") {
      const TorchRelease* known = diagnosis.knowledge.torch_release(release);
      release.local = refused.asked.version->local;
      const bool built = known != nullptr && known->variant(release.local_text()) != nullptr;
      propose(
          diagnosis, proposals,
          torch_edits(column,
                      built ? release : with_variant(release.public_part(), diagnosis.knowledge),
                      reason, diagnosis.knowledge));
    } else {
      propose(diagnosis, proposals,
              {pin_edit(column, *refused.asked.by, "==" + release.text(), reason)});
    }
  }
}

// What wheels are for was read from the Python index. PyTorch's own may begin with a Python that is
// new, and that release notes call experimental, before.
bool may_begin_earlier(const RecipeColumn& column, const Asked& by, const WantedPython& python) {
  constexpr std::string_view kNew = "3.15";
  const std::vector<std::string> wanted = pythons_in(python.ranges);
  const std::vector<std::string> urls = urls_of(column, *by.requirement);
  return by.requirement->name == "torch" && !wanted.empty() &&
         *Version::parse(wanted.back()) >= *Version::parse(kNew) &&
         std::ranges::any_of(urls,
                             [](const std::string& url) { return !variant_of_index(url).empty(); });
}

}  // namespace

bool takes_python(const RecipeColumn& column, const std::string& package, const Version& release,
                  const Knowledge& knowledge) {
  const auto pythons = pythons_of(package, release.public_part(), knowledge);
  const auto python = pythons ? python_of(column, knowledge) : std::nullopt;
  return !python || takes(*pythons, *python);
}

void judge_pythons(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const auto python = python_of(column, diagnosis.knowledge);
  if (!python) {
    return;
  }
  // Wheels for other processors were not looked at.
  const bool same = column.processor == "x86_64";
  const bool linux = system_of(column, diagnosis.facts.machine) == System::Linux;
  for (const auto& [package, all] : column.packages) {
    const auto found = refused(column, package, *python, diagnosis.knowledge);
    if (!found) {
      continue;
    }
    const Asked& by = *found->asked.by;
    const bool certain = python->certain && found->certain &&
                         ((linux && same) || !found->pythons.wheels) &&
                         !may_begin_earlier(column, by, *python) &&
                         !may_have_own_builds(column, *by.requirement, diagnosis.knowledge);
    const std::string title = fmt::format("{} {}", package, found->version.text());
    const std::string range = range_text(found->pythons.range);
    Finding& finding = add_finding(
        diagnosis, "other Python", failing(certain), sure(certain),
        fmt::format("{} in {}", title, column.name),
        found->pythons.wheels
            ? fmt::format("{} has wheels for Python {} and nothing else to install from: there is "
                          "none for {}.",
                          title, range, python->words)
            : fmt::format("{} is for Python {}, and installers refuse it for {}.", title, range,
                          python->words));
    const bool image = python->recipe->kind == "dockerfile";
    finding.evidence = {
        evidence_of(by),
        {image ? column.image : python->words, image ? column.image_where : python->recipe->path},
        {fmt::format("what {} is for", title), found->pythons.source}};
    if (!found->asked.version) {
      finding.evidence.push_back({"it is the newest that is known: an older one may come", ""});
    }
    finding.error =
        fmt::format("No matching distribution found for {}{}", package, by.requirement->specifier);
    mend(diagnosis, column, *found, *python, proposals);
  }
}

}  // namespace mynah::doctor
