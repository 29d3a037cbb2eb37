#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/recipe_runs.h"

namespace mynah::doctor {

namespace {

// Whether a run looks at the Python index and PyTorch's alone: another may have what they do not.
bool at_known_indexes(const InstallRun& run, const Requirement& requirement,
                      const Knowledge& knowledge) {
  return std::ranges::all_of(run.urls(requirement), [&](const std::string& url) {
    return url.find("//pypi.org/") != std::string::npos ||
           std::ranges::any_of(knowledge.indexes, [&](const PackageIndex& index) {
             return url.starts_with(index.index);
           });
  });
}

// The releases on either side of a version, the one that is nearer by its numbers first.
std::vector<Version> nearest(const PackageReleases& known, const Version& version) {
  std::vector<Version> found;
  const auto below = std::ranges::find_if(
      known.releases, [&](const Version& release) { return release < version; });
  if (below != known.releases.begin()) {
    found.push_back(*std::prev(below));
  }
  if (below != known.releases.end()) {
    const bool same_series = below->release_at(0) == version.release_at(0) &&
                             below->release_at(1) == version.release_at(1);
    const bool above_is_of_series = !found.empty() &&
                                    found.front().release_at(0) == version.release_at(0) &&
                                    found.front().release_at(1) == version.release_at(1);
    found.insert(same_series && !above_is_of_series ? found.begin() : found.end(), *below);
  }
  return found;
}

void judge_version(Diagnosis& diagnosis, const InstallRun& run, const Asked& asked) {
  const Requirement& requirement = *asked.requirement;
  const PackageReleases* known = diagnosis.knowledge.releases_of(requirement.name);
  const auto set = SpecifierSet::parse(requirement.specifier);
  const auto pinned = set ? set->pinned() : std::nullopt;
  if (known == nullptr || !pinned || !requirement.url.empty() || asked.recipe->kind == "lock" ||
      pinned->is_prerelease() || pinned->post) {
    return;
  }
  const Version version = pinned->public_part();
  const bool exists = std::ranges::find(known->releases, version) != known->releases.end();
  // What is older than those that are listed may be there.
  if (exists || version < known->releases.back()) {
    return;
  }
  const Version& newest = known->releases.front();
  const std::string subject =
      fmt::format("{} {} in {}", requirement.name, pinned->text(), asked.recipe->path);
  if (version > newest) {
    Finding& finding = add_finding(
        diagnosis, "version is not known", Level::Unknown, Certainty::Guess, subject,
        fmt::format("{} {} is newer than what is known of {}, of which {} was the "
                    "newest: it may be there or not.",
                    requirement.name, pinned->text(), diagnosis.knowledge.date, newest.text()));
    finding.evidence = {evidence_of(asked), {"its releases", known->source}};
    return;
  }
  const bool certain = known->verified && asked.holds == Truth::Yes &&
                       at_known_indexes(run, requirement, diagnosis.knowledge);
  std::vector<std::string> words;
  const std::vector<Version> others = nearest(*known, version);
  for (const Version& other : others) {
    words.push_back(other.text());
  }
  Finding& finding =
      add_finding(diagnosis, "no such version", failing(certain), sure(certain), subject,
                  fmt::format("The Python index has no {} {}: the nearest are {}.",
                              requirement.name, version.text(), fmt::join(words, " and ")));
  finding.evidence = {evidence_of(asked), {"its releases", known->source}};
  finding.error = fmt::format("No matching distribution found for {}{}", requirement.name,
                              requirement.specifier);
  for (Version other : others) {
    other.local = pinned->local;
    const AlignmentEdit edit{.file = asked.recipe->path,
                             .line = requirement.line,
                             .from = requirement.name + requirement.specifier,
                             .to = fmt::format("{}=={}", requirement.name, other.text()),
                             .why = {}};
    finding.remedies.push_back(
        {.command = edit_command(edit),
         .text = fmt::format("Write {} in {}", edit.to, place_text(edit.file, edit.line)),
         .cost = {}});
  }
}

}  // namespace

void judge_versions(Diagnosis& diagnosis, const RecipeColumn& column) {
  for (const InstallRun& run : install_runs(column)) {
    for (const Asked* asked : run.asked) {
      judge_version(diagnosis, run, *asked);
    }
  }
}

}  // namespace mynah::doctor
