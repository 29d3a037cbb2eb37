#include "doctor/recipes/framework_remedies.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/default_torch.h"
#include "doctor/recipes/installation_edits.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/recipes/torch_neighbours.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

// The build of a torch that a remedy installs: "2.7.0+cu128". None: it installs none by itself.
std::optional<Version> torch_of_remedy(const Remedy& remedy) {
  constexpr std::string_view kPin = "pip install torch==";
  if (!remedy.command.starts_with(kPin)) {
    return std::nullopt;
  }
  const std::string_view pin = std::string_view(remedy.command).substr(kPin.size());
  const auto torch = Version::parse(pin.substr(0, pin.find(' ')));
  return torch ? std::optional(*torch) : std::nullopt;
}

// Whether edits have a project's torch come from an index that nothing names yet.
bool names_index(const Brought& brought, const std::vector<AlignmentEdit>& edits) {
  return brought.by != nullptr && brought.by->recipe->kind == "pyproject" &&
         std::ranges::any_of(edits, [](const AlignmentEdit& edit) {
           return edit.from.empty() && edit.to.starts_with(kExtraIndex);
         });
}

}  // namespace

void add_recipe_remedies(const Diagnosis& diagnosis, const RecipeColumn& column,
                         const Brought& brought, Finding& finding, std::vector<Remedy> remedies,
                         Proposals& proposals) {
  for (Remedy& remedy : remedies) {
    InstallationEdits found =
        brought.by == nullptr
            ? InstallationEdits()
            : installation_edits(remedy.command, column, *brought.by, diagnosis.knowledge);
    const auto torch = torch_of_remedy(remedy);
    const auto edits_for = [&](const Version& version) {
      return brought.through.empty()
                 ? torch_edits(column, version, "", diagnosis.knowledge)
                 : torch_beside(column, *brought.by, version, diagnosis.knowledge);
    };
    if (torch && !brought.through.empty()) {
      found.edits = edits_for(*torch);
    }
    const auto better = torch && !found.edits.empty()
                            ? torch_with_neighbours(column, *torch, diagnosis.knowledge)
                            : std::nullopt;
    if (better) {
      proposals.push_back({.finding = diagnosis.report.findings.size(),
                           .edits = edits_for(*better),
                           .text = remedy.text,
                           .instead_of = finding.remedies.size(),
                           .cost = remedy.cost,
                           .more = found.more,
                           .or_next = true});
    }
    if (!found.edits.empty()) {
      proposals.push_back({.finding = diagnosis.report.findings.size(),
                           .edits = std::move(found.edits),
                           .text = std::move(remedy.text),
                           .instead_of = finding.remedies.size(),
                           .cost = std::move(remedy.cost),
                           .more = std::move(found.more)});
      continue;
    }
    // What another package asks for is not to be put in its place.
    if (!brought.through.empty() &&
        remedy.command.contains(fmt::format(" {}==", brought.frameworks.front().package))) {
      continue;
    }
    if (brought.by != nullptr && remedy.command.contains("pip install ")) {
      // Of another package, which no line here asks for.
      remedy.text = fmt::format(
          "In place of {} at {}: {}", requirement_text(*brought.by->requirement),
          place_text(brought.by->recipe->path, brought.by->requirement->line), remedy.text);
    }
    if (brought.by == nullptr && remedy.command.starts_with("pip install ")) {
      remedy.text = fmt::format("Write it behind FROM at {}: {}", column.image_where, remedy.text);
      remedy.command.insert(0, "RUN ");
    }
    finding.remedies.push_back(std::move(remedy));
  }
}

void propose_default_torch(const Diagnosis& diagnosis, const RecipeColumn& column,
                           const Brought& brought,
                           const std::function<bool(const Framework&)>& works,
                           Proposals& proposals) {
  const size_t finding = diagnosis.report.findings.size();
  const bool wanted = std::ranges::any_of(proposals, [&](const Proposal& proposal) {
    return proposal.finding == finding && names_index(brought, proposal.edits);
  });
  const auto present = Version::parse(brought.frameworks.front().version);
  if (!wanted || !present || brought.frameworks.front().package != "torch" ||
      !brought.through.empty()) {
    return;
  }
  const auto torch = default_torch(column, *present, diagnosis.knowledge, works);
  if (!torch) {
    return;
  }
  std::vector<AlignmentEdit> edits = torch_edits(
      column, *torch,
      fmt::format("that release is built with CUDA {} on the Python index, which no line need name",
                  cuda_of_variant(torch->local_text())),
      diagnosis.knowledge);
  if (!edits.empty()) {
    proposals.push_back({.finding = finding, .edits = std::move(edits), .text = {}});
  }
}

void add_extra_remedy(const RecipeColumn& column, Finding& finding,
                      const std::vector<Remedy>& remedies) {
  std::set<std::string> installed;
  for (const Recipe* recipe : column.recipes) {
    installed.insert(recipe->groups.begin(), recipe->groups.end());
  }
  std::set<std::string> named;  // of those, which ask for torch
  for (const Recipe* recipe : column.recipes) {
    for (const Requirement& requirement : recipe->requirements) {
      if (requirement.name == "torch" && installed.contains(requirement.group)) {
        named.insert(requirement.group);
      }
    }
  }
  for (const Remedy& remedy : remedies) {
    const auto torch = torch_of_remedy(remedy);
    if (!torch) {
      continue;
    }
    for (const Recipe* recipe : column.recipes) {
      for (const Requirement& requirement : recipe->requirements) {
        const auto set = SpecifierSet::parse(requirement.specifier);
        const auto pinned = set ? set->pinned() : std::nullopt;
        const bool right =
            requirement.name == "torch" && pinned && pinned->local_text() == torch->local_text();
        if (right && !named.empty() && !requirement.group.empty() &&
            !named.contains(requirement.group)) {
          finding.remedies.push_back(
              {.command = {},
               .text = fmt::format("Install the extra {} in place of {}: it brings torch {} ({})",
                                   in_quotes(requirement.group), fmt::join(named, " "),
                                   pinned->text(), place_text(recipe->path, requirement.line)),
               .cost = {}});
          return;
        }
      }
    }
  }
}

void add_image_remedy(const Diagnosis& diagnosis, const RecipeColumn& column,
                      const Finding& finding, const std::vector<Remedy>& remedies,
                      Proposals& proposals) {
  if (column.image_torch.empty() || !column.image.starts_with("pytorch/pytorch:")) {
    return;
  }
  for (const Remedy& remedy : remedies) {
    const auto torch = torch_of_remedy(remedy);
    const TorchVariant* const variant = torch ? diagnosis.knowledge.torch_variant(*torch) : nullptr;
    const bool known = variant != nullptr && !variant->cudnn.empty();
    const std::string cuda = known ? cuda_of_variant(variant->cuda) : "";
    if (!known || cuda.empty()) {
      continue;
    }
    const std::string image = fmt::format(
        "pytorch/pytorch:{}-cuda{}-cudnn{}-{}", torch->public_part().text(), cuda,
        major_version(variant->cudnn), column.image.ends_with("-devel") ? "devel" : "runtime");
    proposals.push_back(
        {.finding = diagnosis.report.findings.size(),
         .edits = {image_edit(column, image, fmt::format("it holds torch {}", torch->text()))},
         .text = {},
         .instead_of = finding.remedies.size()});
    return;
  }
}

}  // namespace mynah::doctor
