// Rules about several recipes side by side.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/recipe_trial.h"

namespace mynah::doctor {

namespace {

// They go together: one is not changed without the others.
constexpr std::array<std::string_view, 3> kTorchs = {"torch", "torchaudio", "torchvision"};

bool is_torch(std::string_view row) {
  return std::ranges::find(kTorchs, row) != kTorchs.end();
}

// "torch is pinned apart: 2.5.1+cu124 in asr and tts, 2.1.2+cu121 in search."
std::string apart_text(const AlignmentRow& row, const Alignment& alignment) {
  std::vector<std::pair<std::string, std::vector<std::string>>> versions;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const AlignmentCell& cell = row.cells[i];
    if (!cell.conflict) {
      continue;
    }
    auto found = std::ranges::find(versions, cell.resolved,
                                   [](const auto& version) { return version.first; });
    if (found == versions.end()) {
      found = versions.insert(versions.end(), {cell.resolved, {}});
    }
    found->second.push_back(alignment.columns[i].name);
  }
  std::vector<std::string> said;
  said.reserve(versions.size());
  for (const auto& [version, columns] : versions) {
    said.push_back(fmt::format("{} in {}", version, fmt::join(columns, " and ")));
  }
  return fmt::format("{} is pinned apart: {}.", row.name, fmt::join(said, ", "));
}

// Rows that one finding is about.
using Rows = std::vector<const AlignmentRow*>;

// The edits of these rows, tried before they are said.
void add_edits(Finding& finding, const Rows& rows, const Alignment& alignment,
               const std::vector<RecipeColumn>& columns, RecipeTrials& trials) {
  std::vector<AlignmentEdit> edits;
  std::vector<std::string> changed;
  for (const AlignmentEdit& edit : alignment.edits) {
    if (edit.row == rows.front()->name || (is_torch(rows.front()->name) && is_torch(edit.row))) {
      edits.push_back(edit);
    }
  }
  const auto trial = edits.empty() ? std::nullopt : trials.run(columns, edits);
  if (!trial || trial->fails) {
    return;
  }
  Remedy remedy = remedy_of(
      edits, fmt::format("Pin {} everywhere. All {} lines are needed:",
                         is_torch(rows.front()->name) ? alignment.target : "the same version",
                         edits.size()));
  remedy.cost = fmt::format("{}", fmt::join(trial->brings, " "));
  finding.remedies.push_back(std::move(remedy));
}

// Rows of packages, which an installer decides.
bool decides(const AlignmentRow& row) {
  return row.name != "python" && row.name != "cuDNN" && row.name != "base image";
}

void judge_apart(Diagnosis& diagnosis, const Alignment& alignment,
                 const std::vector<RecipeColumn>& columns, RecipeTrials& trials) {
  std::vector<Rows> groups;
  for (const AlignmentRow& row : alignment.rows) {
    if (!row.conflict || !decides(row)) {
      continue;
    }
    const bool joins =
        !groups.empty() && is_torch(row.name) && is_torch(groups.back().front()->name);
    if (!joins) {
      groups.emplace_back();
    }
    groups.back().push_back(&row);
  }
  for (const Rows& rows : groups) {
    std::vector<std::string> names;
    std::vector<std::string> texts;
    std::vector<Evidence> evidence;
    for (const AlignmentRow* row : rows) {
      names.push_back(row->name);
      texts.push_back(apart_text(*row, alignment));
      for (const AlignmentCell& cell : row->cells) {
        const Evidence seen{row->name + cell.written, cell.where};
        if (cell.conflict && std::ranges::find(evidence, seen) == evidence.end()) {
          evidence.push_back(seen);
        }
      }
    }
    Finding& finding = add_finding(diagnosis, "pinned apart", Level::Warning, Certainty::Certain,
                                   fmt::format("{}", fmt::join(names, ", ")),
                                   fmt::format("{}", fmt::join(texts, " ")));
    finding.evidence = std::move(evidence);
    add_edits(finding, rows, alignment, columns, trials);
  }
}

// Between images, each of which is an environment of its own.
void judge_difference(Diagnosis& diagnosis, const Alignment& alignment, const AlignmentRow& row) {
  std::vector<std::string> said;
  std::vector<Evidence> evidence;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const AlignmentCell& cell = row.cells[i];
    if (!cell.drifts && !cell.resolved.empty()) {
      said.push_back(fmt::format("{} in {}", cell.resolved, alignment.columns[i].name));
      evidence.push_back({row.name + cell.written, cell.where});
    }
  }
  Finding& finding = add_finding(
      diagnosis, "images differ", Level::Note, Certainty::Certain, row.name,
      fmt::format("{} is not the same everywhere: {}. Images are environments apart: they need "
                  "not agree, and only the driver has to serve all of them.",
                  row.name, fmt::join(said, ", ")));
  finding.evidence = std::move(evidence);
}

void judge_floors(Diagnosis& diagnosis, const Alignment& alignment) {
  for (const AlignmentDriver& floor : alignment.drivers) {
    if (floor.driver.empty()) {
      continue;  // no code for the card: that finding says so
    }
    Finding& finding = add_finding(diagnosis, "driver floor", Level::Note, sure(floor.verified),
                                   fmt::format("{} in {}", floor.package, floor.column),
                                   fmt::format("{} wants driver {} at least on this card: {}.",
                                               floor.package, floor.driver, floor.why));
    finding.card = floor.card;
  }
}

}  // namespace

std::vector<AlignmentEdit> apart_edits(const Alignment& alignment) {
  std::vector<AlignmentEdit> edits;
  if (alignment.columns.size() < 2) {
    return edits;
  }
  for (const AlignmentEdit& edit : alignment.edits) {
    const bool apart = std::ranges::any_of(alignment.rows, [&](const AlignmentRow& row) {
      return row.conflict && decides(row) &&
             (row.name == edit.row || (is_torch(row.name) && is_torch(edit.row)));
    });
    if (apart) {
      edits.push_back(edit);
    }
  }
  return edits;
}

void judge_alignment(Diagnosis& diagnosis, const Alignment& alignment,
                     const std::vector<RecipeColumn>& columns, RecipeTrials& trials) {
  if (alignment.columns.size() > 1) {
    judge_apart(diagnosis, alignment, columns, trials);
    for (const AlignmentRow& row : alignment.rows) {
      if (decides(row) && row.differs && !row.conflict) {
        judge_difference(diagnosis, alignment, row);
      }
    }
  }
  judge_floors(diagnosis, alignment);
}

}  // namespace mynah::doctor
