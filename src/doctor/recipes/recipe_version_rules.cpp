#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/conda_pins.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/recipe_runs.h"

namespace mynah::doctor {

namespace {

// Whether a run looks for a package at the Python index alone: another may have what that does not.
bool at_python_index(const InstallRun& run, const Requirement& requirement,
                     const Knowledge& knowledge) {
  return std::ranges::all_of(run.urls(requirement), [&](const std::string& url) {
    const PackageIndex* index = known_index(url, knowledge);
    return index != nullptr &&
           std::ranges::find(index->lacks, requirement.name) != index->lacks.end();
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

// A range that none of the releases meets, where it lets in neither older nor newer ones than are
// listed.
void judge_range(Diagnosis& diagnosis, const InstallRun& run, const Asked& asked,
                 const PackageReleases& known, const SpecifierSet& range) {
  const Requirement& requirement = *asked.requirement;
  const ListedReleases listed = listed_releases(known, range);
  if (!listed.versions.empty() || !listed.no_newer || !listed.no_older) {
    return;
  }
  const bool certain = known.verified && asked.holds == Truth::Yes &&
                       at_python_index(run, requirement, diagnosis.knowledge);
  Finding& finding = add_finding(
      diagnosis, "no such version", failing(certain), sure(certain),
      fmt::format("{}{} in {}", requirement.name, requirement.specifier, asked.recipe->path),
      fmt::format("The Python index has no {} that is {}.", requirement.name,
                  requirement.specifier));
  finding.evidence = {evidence_of(asked), {"its releases", known.source}};
  finding.error = fmt::format("No matching distribution found for {}{}", requirement.name,
                              requirement.specifier);
}

void judge_version(Diagnosis& diagnosis, const RecipeColumn& column, const InstallRun& run,
                   const Asked& asked) {
  const Requirement& requirement = *asked.requirement;
  const PackageReleases* known = diagnosis.knowledge.releases_of(requirement.name);
  const auto set = SpecifierSet::parse(requirement.specifier);
  const auto pinned = set ? set->pinned() : std::nullopt;
  if (known == nullptr || !set || !requirement.url.empty() || asked.recipe->kind == "lock" ||
      (asked.bound && !column.asks_for(requirement.name))) {
    return;
  }
  if (!pinned) {
    judge_range(diagnosis, run, asked, *known, *set);
    return;
  }
  const Version version = pinned->public_part();
  const Listing listing = diagnosis.knowledge.listing_of(requirement.name, version);
  const std::string subject =
      fmt::format("{} {} in {}", requirement.name, pinned->text(), asked.recipe->path);
  if (pinned->is_prerelease() || pinned->post) {
    Finding& finding = add_finding(
        diagnosis, "version is not known", Level::Unknown, Certainty::Guess, subject,
        fmt::format("Which versions of {} there are beside the final releases is not known: {} may "
                    "be there or not.",
                    requirement.name, pinned->text()));
    finding.evidence = {evidence_of(asked), {"its final releases", known->source}};
    return;
  }
  if (listing == Listing::There || listing == Listing::NotKnown) {
    return;
  }
  const Version& newest = known->releases.front();
  if (listing == Listing::Newer) {
    Finding& finding = add_finding(
        diagnosis, "version is not known", Level::Unknown, Certainty::Guess, subject,
        fmt::format("{} {} is newer than what is known of {}, of which {} was the "
                    "newest: it may be there or not.",
                    requirement.name, pinned->text(), diagnosis.knowledge.date, newest.text()));
    finding.evidence = {evidence_of(asked), {"its releases", known->source}};
    return;
  }
  const bool certain = known->verified && asked.holds == Truth::Yes &&
                       at_python_index(run, requirement, diagnosis.knowledge);
  std::vector<std::string> words;
  std::vector<Version> others = nearest(*known, version);
  std::ranges::sort(others);
  words.reserve(others.size());
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
  for (Version other : nearest(*known, version)) {
    other.local = pinned->local;
    const AlignmentEdit edit = pin_edit(column, asked, "==" + other.text(), {});
    finding.remedies.push_back(
        {.command = edit_command(edit),
         .text = fmt::format("Write {} in {}{}{}", edit.to, place_text(edit.file, edit.line),
                             edit.why.empty() ? "" : ": ", edit.why),
         .cost = {}});
  }
}

// Packages that bring NumPy.
constexpr std::array<std::string_view, 22> kBringNumpy = {
    "torchvision",    "ctranslate2",  "faster-whisper", "whisperx",  "transformers",
    "openai-whisper", "librosa",      "scipy",          "soundfile", "sentence-transformers",
    "onnxruntime",    "scikit-learn", "pandas",         "numba",     "onnxruntime-gpu",
    "pyannote-audio", "speechbrain",  "coqui-tts",      "kokoro",    "llama-cpp-python",
    "kokoro-onnx",    "nemo-toolkit"};

// Whether some NumPy 2 meets a range.
bool lets_numpy_2(const SpecifierSet& range) {
  return std::ranges::any_of(
      std::array{"2.0.2", "2.1.3", "2.2.6", "2.3.5", "2.4.0"},
      [&](const char* text) { return range.contains(*Version::parse(text)); });
}

}  // namespace

void judge_versions(Diagnosis& diagnosis, const RecipeColumn& column) {
  constexpr size_t kMostFindings = 50;  // of a column
  const size_t before = diagnosis.report.findings.size();
  for (const InstallRun& run : install_runs(column)) {
    for (const Asked* asked : run.asked) {
      if (diagnosis.report.findings.size() - before < kMostFindings) {
        judge_version(diagnosis, column, run, *asked);
      }
    }
  }
}

void judge_numpy(Diagnosis& diagnosis, const RecipeColumn& column) {
  const Resolved torch = resolve_any_build(column, "torch");
  const auto python = Version::parse(column.python);
  const bool without_numpy_2 = python && *python < *Version::parse("3.9");
  if (!torch.version || *torch.version >= *Version::parse("2.3") || without_numpy_2) {
    return;
  }
  const Version numpy_1 = *Version::parse("1.26.4");
  const Resolved numpy = resolve_any_build(column, "numpy");
  // conda's own packages keep numpy 2 away where they know of it: a line that wants it does not.
  const bool conda = torch.by->requirement->url == "conda";
  if (conda && (numpy.by == nullptr || (!numpy.version && numpy.range.contains(numpy_1)))) {
    return;
  }
  const auto* const bringer = std::ranges::find_if(kBringNumpy, [&](std::string_view package) {
    const Resolved asked = resolve(column, package);
    return asked.by != nullptr && asked.by->brings_needs();
  });
  if (numpy.by == nullptr && bringer == kBringNumpy.end()) {
    return;  // torch itself does not ask for it
  }
  SpecifierSet range = numpy.range;
  if (numpy.version) {
    range = {.clauses = {{.relation = Specifier::Relation::Equal,
                          .version = numpy.version->public_part(),
                          .any_below = false,
                          .spelling = {}}}};
  }
  const Derived other = derived(column, "numpy", diagnosis.knowledge);
  range.clauses.insert(range.clauses.end(), other.range.clauses.begin(), other.range.clauses.end());
  const Bounds bounds = column.bounds_of("numpy");
  range.clauses.insert(range.clauses.end(), bounds.range.clauses.begin(),
                       bounds.range.clauses.end());
  if (numpy.version ? numpy.version->release_at(0) < 2 : !lets_numpy_2(range)) {
    return;
  }
  const Asked& decides = numpy.by != nullptr ? *numpy.by : *torch.by;
  Finding& finding = add_finding(
      diagnosis, "numpy is too new", Level::Warning, sure(numpy.version && torch.sure && !conda),
      fmt::format("torch {} in {}", torch.version->text(), column.name),
      fmt::format("torch {} was built for NumPy 1, and {}: what hands arrays to it or takes them "
                  "from it fails.",
                  torch.version->text(),
                  numpy.version ? fmt::format("numpy {} is pinned", numpy.version->text())
                  : numpy.by != nullptr && !numpy.range.contains(numpy_1)
                      ? fmt::format("numpy{} is asked for", numpy.by->requirement->specifier)
                  : numpy.by != nullptr
                      ? std::string("numpy 2 comes, as nothing keeps it away")
                      : fmt::format("{} brings numpy 2, as nothing keeps it away", *bringer)));
  finding.evidence.push_back(evidence_of(*torch.by));
  if (numpy.by != nullptr) {
    finding.evidence.push_back(evidence_of(*numpy.by));
  }
  if (const KnownError* error = diagnosis.knowledge.error("E66")) {
    finding.error = error->patterns.front() + " NumPy 2";
    finding.evidence.push_back({error->cause, error->source});
  }
  // A line of its own may be written anew; what others ask for may not.
  SpecifierSet others = other.range;
  others.clauses.insert(others.clauses.end(), bounds.range.clauses.begin(),
                        bounds.range.clauses.end());
  const bool own_line_only =
      numpy.by != nullptr && others.contains(numpy_1) && !numpy.range.contains(numpy_1);
  if (!numpy.version && !range.contains(numpy_1) && !(conda && own_line_only)) {
    finding.remedies.push_back({.command = {},
                                .text = "Take torch 2.3 or newer: something here wants NumPy 2",
                                .cost = {}});
    return;
  }
  const Requirement& by = *decides.requirement;
  const bool own = numpy.by != nullptr;
  const bool keeps_range =
      own && !numpy.version && !by.specifier.empty() && numpy.range.contains(numpy_1);
  AlignmentEdit edit{.file = decides.recipe->path,
                     .line = own ? by.line : 0,
                     .from = own ? "numpy" + by.specifier : "",
                     .to = keeps_range ? fmt::format("numpy{},<2", by.specifier) : "numpy<2",
                     .why = {}};
  if (own && is_lock(edit.file)) {
    const RemedyStep step = lock_step(std::span(&edit, 1));
    finding.remedies.push_back({.command = step.command,
                                .text = step.text,
                                .cost = "what asks for numpy>=2 no longer fits"});
    return;
  }
  const bool list = decides.recipe->kind == "requirements";
  const bool whole_line =
      list && own && by.line != 0 && by.marker.empty() && edit.file.find('\'') == std::string::npos;
  finding.remedies.push_back(
      {.command = whole_line
                      ? fmt::format("sed -i '{}s|.*|{}|' '{}'", edit.line, edit.to, edit.file)
                  : list && !own ? edit_command(edit)
                                 : std::string(),
       .text = own ? fmt::format("Write {} in {}{}{}", edit.to, place_text(edit.file, edit.line),
                                 by.hashed ? ": " : "", hash_words(by))
                   : fmt::format("Add numpy<2 beside torch in {}", place_text(edit.file, by.line)),
       .cost = "what asks for numpy>=2 no longer fits"});
}

}  // namespace mynah::doctor
