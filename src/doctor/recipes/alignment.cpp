#include "doctor/recipes/alignment.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_cudnn.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_trial.h"
#include "doctor/verdicts/coverage.h"

namespace mynah::doctor {

namespace {

// Packages whose row is shown wherever somebody asks for them, what decides most first.
constexpr std::array<std::string_view, 24> kShown = {"torch",
                                                     "torchaudio",
                                                     "torchvision",
                                                     "torchcodec",
                                                     "ctranslate2",
                                                     "faster-whisper",
                                                     "whisperx",
                                                     "onnxruntime",
                                                     "onnxruntime-gpu",
                                                     "nvidia-cudnn-cu11",
                                                     "nvidia-cudnn-cu12",
                                                     "nvidia-cudnn-cu13",
                                                     "llama-cpp-python",
                                                     "pyannote-audio",
                                                     "speechbrain",
                                                     "silero-vad",
                                                     "nemo-toolkit",
                                                     "coqui-tts",
                                                     "kokoro",
                                                     "openai-whisper",
                                                     "csm-streaming",
                                                     "sentence-transformers",
                                                     "transformers",
                                                     "numpy"};

constexpr size_t kMostRows = 60;

// "below 2", where a range says so of releases that are not there yet.
std::string end_text(const SpecifierSet& range) {
  for (const Specifier& clause : range.clauses) {
    if (clause.relation == Specifier::Relation::Below) {
      return " below " + clause.version.text();
    }
  }
  return {};
}

// `range` of a package's releases, which come to these stretches.
std::string range_text(std::string_view package, const SpecifierSet& range,
                       const std::vector<Stretch>& all, const Knowledge& knowledge) {
  if (all.empty()) {
    return "any that comes";
  }
  const PackageReleases* known = knowledge.releases_of(package);
  const ListedReleases listed =
      known == nullptr ? ListedReleases() : listed_releases(*known, range);
  const bool any = !listed.versions.empty();
  const std::string oldest =
      (listed.no_older && any ? listed.versions.back() : all.front().from).text();
  const std::optional<Version>& below = all.back().below;
  const std::string newest = listed.no_newer && any ? listed.versions.front().text()
                             : below                ? last_before(*below)
                                                    : "";
  return newest.empty()     ? fmt::format("{} and later{}", oldest, end_text(range))
         : oldest == newest ? oldest
                            : fmt::format("{} to {}", oldest, newest);
}

// What a column's own range comes to, from the index that it names.
std::vector<Stretch> own_stretches(const RecipeColumn& column, std::string_view package,
                                   const Resolved& resolved, const Knowledge& knowledge) {
  return stretches(
      package, resolved.range, knowledge,
      package == "torch" ? only_variant(column, *resolved.by, knowledge) : std::string());
}

AlignmentCell package_cell(const RecipeColumn& column, std::string_view package,
                           const Knowledge& knowledge) {
  AlignmentCell cell;
  const Resolved resolved = resolve(column, package);
  if (package == "torch" && !column.image_torch.empty()) {
    cell.resolved = column.image_torch;
    cell.where = column.image_where;
    return cell;
  }
  if (resolved.by != nullptr) {
    const Requirement& requirement = *resolved.by->requirement;
    cell.written = requirement.specifier.empty() ? "any" : requirement.specifier;
    cell.where = place_text(resolved.by->recipe->path, requirement.line);
    if (resolved.version) {
      cell.resolved =
          (package == "torch" ? *torch_of(column, knowledge) : *resolved.version).text();
      return cell;
    }
    if (package == "torch" && column.keeps_unnamed_torch()) {
      cell.resolved = "the image's";
      return cell;
    }
    cell.drifts = true;
    for (const Version& version : resolved.several) {
      cell.resolved += (cell.resolved.empty() ? "" : " or ") + version.text();
    }
    if (resolved.several.empty()) {
      cell.resolved = range_text(package, resolved.range,
                                 own_stretches(column, package, resolved, knowledge), knowledge);
    }
    return cell;
  }
  const Derived other = derived(column, package, knowledge);
  if (!other.by.empty()) {
    cell.drifts = true;
    cell.resolved = fmt::format(
        "{}, by {}",
        range_text(package, other.range, stretches(package, other.range, knowledge), knowledge),
        other.by);
    cell.where = place_text(other.asked->recipe->path, other.asked->requirement->line);
  }
  return cell;
}

// What two pins of a package must share to be the same: builds of other packages than torch's are
// of one version, and "0.5" is "0.5.0".
std::string version_key(std::string_view package, const std::string& version) {
  const auto parsed = Version::parse(version);
  if (!parsed) {
    return version;
  }
  Version key = *parsed;
  while (key.release.size() > 1 && key.release.back() == 0) {
    key.release.pop_back();
  }
  const bool of_torch = package == "torch" || package == "torchaudio" || package == "torchvision";
  return (of_torch ? key : key.public_part()).text();
}

// Versions that columns pin apart. Extras of one project are apart on purpose, and images are
// environments apart: only what is neither may come to be installed into one place. Versions that a
// lock or a pin decide count, ranges do not; and of compose files beside each other that describe
// one service in several ways, one counts.
void compare_columns(AlignmentRow& row, std::span<const RecipeColumn> columns) {
  std::set<std::string> pinned;
  std::set<std::string> pinned_together;
  std::set<std::string> services;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const RecipeColumn& column = columns[i];
    const bool counts =
        column.group.empty() && column.other_machine.empty() &&
        (column.service == nullptr ||
         services
             .insert(std::filesystem::path(column.root->path).parent_path().string() + "\n" +
                     column.service->name)
             .second);
    if (counts && !row.cells[i].drifts && !row.cells[i].resolved.empty()) {
      const std::string key = version_key(row.name, row.cells[i].resolved);
      pinned.insert(key);
      if (!column.is_image()) {
        pinned_together.insert(key);
      }
    }
  }
  row.differs = pinned.size() > 1;
  if (pinned_together.size() > 1) {
    row.conflict = true;
    row.why = "pinned apart";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      AlignmentCell& cell = row.cells[i];
      cell.conflict = !cell.drifts && !cell.resolved.empty() && !columns[i].is_image() &&
                      columns[i].group.empty() && columns[i].other_machine.empty();
    }
  }
}

AlignmentRow package_row(std::span<const RecipeColumn> columns, std::string_view package,
                         const Knowledge& knowledge) {
  AlignmentRow row;
  row.name = package;
  for (const RecipeColumn& column : columns) {
    AlignmentCell& cell = row.cells.emplace_back(package_cell(column, package, knowledge));
    if (!cell.drifts || !row.why.empty()) {
      continue;
    }
    const Resolved resolved = resolve(column, package);
    const Derived other = resolved.by == nullptr ? derived(column, package, knowledge) : Derived();
    const auto all = resolved.by != nullptr ? own_stretches(column, package, resolved, knowledge)
                                            : stretches(package, other.range, knowledge);
    row.why = all.size() < 2 || !resolved.several.empty() ? "" : stretches_text(all);
  }
  compare_columns(row, columns);
  // An extra's column shows what the extra changes.
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const auto base = std::ranges::find(columns, columns[i].base, &RecipeColumn::name);
    if (columns[i].group.empty() || base == columns.end()) {
      continue;
    }
    const AlignmentCell& plain = row.cells[static_cast<size_t>(base - columns.begin())];
    if (plain.resolved == row.cells[i].resolved && plain.where == row.cells[i].where) {
      row.cells[i] = {};
    }
  }
  return row;
}

// Whether a driver serves images of a CUDA version; one that is not known may not.
bool is_served(const std::string& driver, const std::string& cuda, const Knowledge& knowledge) {
  const DriverBranch* branch = knowledge.branch(driver);
  return branch != nullptr && cuda_number(branch->cuda) >= cuda_number(cuda);
}

// An image of a newer CUDA than its wheels' demands a newer driver than they do; an older one has
// no say in what they do.
AlignmentRow image_row(std::span<const RecipeColumn> columns, const Machine& machine,
                       const Knowledge& knowledge) {
  AlignmentRow row;
  row.name = "base image";
  for (const RecipeColumn& column : columns) {
    AlignmentCell& cell = row.cells.emplace_back();
    cell.written = column.image;
    cell.where = column.image_where;
    cell.resolved = column.image_says.cuda.empty() ? "" : "CUDA " + column.image_says.cuda;
    const auto torch = torch_of(column, knowledge);
    const std::string wheel = torch ? cuda_of_variant(torch->local_text()) : "";
    if (!wheel.empty() && !column.image_says.cuda.empty() &&
        major_version(wheel) < major_version(column.image_says.cuda) &&
        !is_served(machine.driver, column.image_says.cuda, knowledge)) {
      row.conflict = cell.conflict = true;
      row.why = fmt::format("the image's CUDA {} is not the wheel's {}, and demands a newer driver",
                            column.image_says.cuda, wheel);
    }
  }
  if (!row.conflict) {
    compare_columns(row, columns);
  }
  return row;
}

AlignmentRow python_row(std::span<const RecipeColumn> columns) {
  AlignmentRow row;
  row.name = "python";
  for (const RecipeColumn& column : columns) {
    AlignmentCell& cell = row.cells.emplace_back();
    for (const Recipe* recipe : column.recipes) {
      if (cell.written.empty() && !recipe->python.empty()) {
        cell.written = recipe->python;
        cell.where = recipe->path;
      }
    }
    cell.resolved = column.python;
  }
  compare_columns(row, columns);
  return row;
}

AlignmentCell cudnn_cell(const RecipeColumn& column, const Knowledge& knowledge, std::string& why) {
  AlignmentCell cell;
  const ColumnCudnn cudnn = cudnn_of(column, knowledge);
  cell.resolved = cudnn.there_text();
  for (const CudnnWanted& wish : cudnn.wanted) {
    cell.resolved += fmt::format("{}{} wanted by {} {}", cell.resolved.empty() ? "" : ", ",
                                 wish.major, wish.package, wish.version.text());
    if (cudnn.lacks(wish)) {
      cell.conflict = true;
      if (why.empty()) {
        why = fmt::format("in {} {} {} wants cuDNN {}, and another one is there", column.name,
                          wish.package, wish.version.text(), wish.major);
      }
    }
  }
  return cell;
}

AlignmentRow cudnn_row(std::span<const RecipeColumn> columns, const Knowledge& knowledge) {
  AlignmentRow row;
  row.name = "cuDNN";
  for (const RecipeColumn& column : columns) {
    row.cells.push_back(cudnn_cell(column, knowledge, row.why));
    row.conflict |= row.cells.back().conflict;
  }
  return row;
}

bool says_something(const AlignmentRow& row) {
  return std::ranges::any_of(row.cells, [](const AlignmentCell& cell) { return !cell.empty(); });
}

}  // namespace

bool Alignment::has_conflict() const {
  return std::ranges::any_of(rows, &AlignmentRow::conflict);
}

int major_version(std::string_view version) {
  const auto parsed = Version::parse(version);
  return parsed ? static_cast<int>(std::min<uint64_t>(parsed->release_at(0), 9999)) : 0;
}

Version with_variant(Version torch, const Knowledge& knowledge) {
  const TorchRelease* release = torch.local.empty() ? knowledge.torch_release(torch) : nullptr;
  const bool released =
      !torch.is_prerelease() && knowledge.listing_of("torch", torch) != Listing::Missing;
  if (release != nullptr && released && !release->default_variant.value.empty()) {
    if (auto local = Version::parse("0+" + release->default_variant.value)) {
      torch.local = local->local;
    }
  }
  return torch;
}

bool is_for_processor(const RecipeColumn& column, const Knowledge& knowledge) {
  const auto torch = torch_of(column, knowledge);
  const Resolved resolved = resolve(column, "torch");
  return (torch && torch->local_text() == "cpu") || column.asks_for("cpuonly") ||
         (resolved.by != nullptr && only_variant(column, *resolved.by, knowledge) == "cpu");
}

std::optional<Version> torch_of(const RecipeColumn& column, const Knowledge& knowledge) {
  if (const auto version = Version::parse(column.image_torch)) {
    return *version;
  }
  Resolved resolved = resolve(column, "torch");
  if (resolved.version) {
    // An index that has no such release leaves it to the Python index.
    const TorchRelease* release = knowledge.torch_release(*resolved.version);
    const std::string variant = resolved.version->local_text();
    const bool by_index = resolved.by->requirement->specifier.find('+') == std::string::npos;
    if (release != nullptr && by_index && !cuda_of_variant(variant).empty() &&
        release->variant(variant) == nullptr &&
        only_variant(column, *resolved.by, knowledge).empty()) {
      resolved.version->local.clear();
    }
    return with_variant(*resolved.version, knowledge);
  }
  return std::nullopt;
}

std::vector<AlignmentRow> alignment_rows(std::span<const RecipeColumn> columns,
                                         const Machine& machine, const Knowledge& knowledge) {
  std::vector<AlignmentRow> rows;
  const auto add = [&](AlignmentRow row) {
    if (says_something(row) && rows.size() < kMostRows) {
      rows.push_back(std::move(row));
    }
  };
  add(python_row(columns));
  add(image_row(columns, machine, knowledge));
  for (const std::string_view package : kShown) {
    add(package_row(columns, package, knowledge));
    if (package == "onnxruntime-gpu") {
      add(cudnn_row(columns, knowledge));
    }
  }
  // Whatever else several columns pin apart.
  std::map<std::string, int> others;
  for (const RecipeColumn& column : columns) {
    for (const auto& [name, asked] : column.packages) {
      if (std::ranges::find(kShown, name) == kShown.end()) {
        ++others[name];
      }
    }
  }
  for (const auto& [name, count] : others) {
    if (count < 2 || rows.size() >= kMostRows) {
      continue;
    }
    AlignmentRow row = package_row(columns, name, knowledge);
    if (row.conflict) {
      add(std::move(row));
    }
  }
  return rows;
}

namespace {

// Images are each made to fit in themselves where there is nothing but images.
std::vector<AlignmentEdit> edits_of(std::span<const RecipeColumn> columns, const Facts& facts,
                                    const Knowledge& knowledge, std::string& target) {
  RecipeTrials trials(facts, knowledge);
  if (columns.size() < 2 || !std::ranges::all_of(columns, &RecipeColumn::is_image)) {
    return smallest_edits(columns, facts.machine, knowledge, trials, target);
  }
  std::vector<AlignmentEdit> edits;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string own_target;  // each has its own: there is none for all
    for (AlignmentEdit& edit :
         smallest_edits(columns.subspan(i, 1), facts.machine, knowledge, trials, own_target)) {
      const bool there = std::ranges::any_of(edits, [&](const AlignmentEdit& other) {
        return other.file == edit.file && other.line == edit.line && other.to == edit.to;
      });
      if (!there) {
        edits.push_back(std::move(edit));
      }
    }
  }
  return edits;
}

}  // namespace

Alignment align(const Facts& facts, const Knowledge& knowledge) {
  Alignment alignment;
  const std::vector<RecipeColumn> columns = recipe_columns(facts, knowledge);
  for (const RecipeColumn& column : columns) {
    alignment.columns.push_back({.name = column.name, .path = column.root->path});
  }
  alignment.rows = alignment_rows(columns, facts.machine, knowledge);
  alignment.edits = edits_of(columns, facts, knowledge, alignment.target);
  alignment.drivers = driver_floors(columns, facts.machine, knowledge);
  return alignment;
}

}  // namespace mynah::doctor
