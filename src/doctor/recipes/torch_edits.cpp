// A column's torch in another version, with all that goes with it.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/knowledge/companions.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/installation_edits.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/torch_neighbours.h"
#include "doctor/torch_index.h"

namespace mynah::doctor {

namespace {

using Edits = std::vector<AlignmentEdit>;

// The release of a companion that goes with a torch: "0.20.1"; where the torch itself is not
// listed, its series, "0.20.*". Empty: not known, or there is none for the torch's variant.
std::string companion_of(std::string_view package, const Version& torch,
                         const Knowledge& knowledge) {
  const TorchRelease* release = knowledge.torch_release(torch);
  if (release == nullptr) {
    return {};
  }
  const std::optional<Claim>& claim = series_of_companion(package, *release);
  const auto series = Version::parse(claim ? claim->value : "");
  const std::vector<Version> own =
      series ? releases_of_minor(package, *series, knowledge) : std::vector<Version>();
  if (own.empty() || !has_build(package, own.back(), torch.local_text(), knowledge)) {
    return {};
  }
  if (const auto pair = pair_of_torch(package, torch, knowledge)) {
    return pair->companion.text();
  }
  return own.size() == 1 ? own.front().text() : claim->value + ".*";
}

bool goes_with(const Version& companion, std::string_view package, const Version& torch,
               const Knowledge& knowledge) {
  const std::string wanted = companion_of(package, torch, knowledge);
  const auto set = SpecifierSet::parse("==" + wanted);
  return wanted.empty() || (set && set->contains(companion.public_part()));
}

// Whether a torch comes from the Python index, and an index of PyTorch's is named nowhere: then no
// pin says its variant, which that index knows nothing of.
bool of_python_index(const RecipeColumn& column, const Version& target, const Asked& asked,
                     const Knowledge& knowledge) {
  const TorchRelease* release = knowledge.torch_release(target);
  return release != nullptr && release->default_variant.value == target.local_text() &&
         std::ranges::all_of(urls_of(column, *asked.requirement),
                             [](const std::string& url) { return variant_of_index(url).empty(); });
}

// A pin as a file writes it: with the variant where it had one, which then needs no index line.
std::string pin(const Version& version, const Asked& asked, bool no_variant) {
  const bool had_local = asked.requirement->specifier.find('+') != std::string::npos;
  return "==" + (had_local && !no_variant ? version : version.public_part()).text();
}

// An address where one stands, or a line that names it, for the wheels of a variant.
AlignmentEdit index_edit(const std::string& variant, const std::string& file, uint64_t line,
                         const std::string& from, const std::string& to) {
  AlignmentEdit edit;
  edit.row = "torch";
  edit.file = file;
  edit.line = line;
  edit.from = from;
  edit.to = from.empty() ? std::string(kExtraIndex) + to : to;
  edit.why = fmt::format("wheels for {} come from there", variant);
  return edit;
}

// A torch and its companions of the same lock, which are to come from one index.
std::vector<std::string> pins_of_index(const RecipeColumn& column, const Version& target,
                                       const Asked& asked, const Knowledge& knowledge) {
  std::vector<std::string> pins = {"torch==" + target.public_part().text()};
  for (const std::string_view package : {"torchaudio", "torchvision"}) {
    const Resolved companion = resolve(column, package);
    const std::string wanted = companion_of(package, target, knowledge);
    if (companion.by != nullptr && companion.by->recipe == asked.recipe && !wanted.empty()) {
      pins.push_back(fmt::format("{}=={}", package, wanted));
    }
  }
  return pins;
}

// The index that gives a variant, in a lock.
void edit_lock_index(const RecipeColumn& column, const Version& target, const Asked& asked,
                     const Knowledge& knowledge, Edits& edits) {
  const std::vector<std::string>& present = asked.requirement->indexes;
  if (of_python_index(column, target, asked, knowledge)) {
    return;
  }
  const std::string variant = target.local_text();
  AlignmentEdit edit = index_edit(variant, asked.recipe->path, asked.requirement->line,
                                  present.empty() ? "" : present.front(), torch_index(variant));
  edit.pins = pins_of_index(column, target, asked, knowledge);
  add_edit(edits, std::move(edit));
}

// Whether a project's table names an index for torch.
bool is_named(const RecipeColumn& column, const std::string& url) {
  const auto all = column.packages.find("torch");
  return all != column.packages.end() && std::ranges::any_of(all->second, [&](const Asked& one) {
           return std::ranges::find(one.requirement->indexes, url) !=
                  one.requirement->indexes.end();
         });
}

// Of several indexes of PyTorch's the variant of the one that a torch comes from: the others are
// of other packages, or of other extras. Empty: there is no such one among them.
std::string index_to_change(const RecipeColumn& column, const Asked& asked,
                            const Knowledge& knowledge) {
  const auto torch = torch_of(column, knowledge);
  const std::string variant = torch ? torch->local_text() : "";
  const auto of_variant = [&](const std::string& url) { return variant_of_index(url) == variant; };
  const bool there = !variant.empty() &&
                     (std::ranges::any_of(asked.requirement->indexes, of_variant) ||
                      std::ranges::any_of(column.recipes, [&](const Recipe* recipe) {
                        return std::ranges::any_of(recipe->indexes, of_variant, &IndexLine::url);
                      }));
  return there ? variant : "";
}

// The index line that gives a variant, where it has to change.
void edit_index(const RecipeColumn& column, const Version& target, const Asked& asked,
                const Knowledge& knowledge, Edits& edits) {
  const std::string variant = target.local_text();
  if (asked.recipe->kind == "lock") {
    edit_lock_index(column, target, asked, knowledge, edits);
    return;
  }
  bool named = false;
  const std::string own = index_to_change(column, asked, knowledge);
  const auto change = [&](const std::string& url, const std::string& file, uint64_t line,
                          bool literal) {
    const std::string present = variant_of_index(url);
    if (present.empty() || (!own.empty() && present != own)) {
      return;
    }
    named = true;
    AlignmentEdit edit =
        index_edit(variant, file, line, url, url.substr(0, url.rfind(present)) + variant);
    edit.literal = literal;
    add_edit(edits, std::move(edit));
  };
  const std::vector<uint64_t>& lines = asked.requirement->index_lines;
  for (size_t i = 0; i < asked.requirement->indexes.size(); ++i) {
    const bool known = i < lines.size() && lines[i] != 0;
    const auto index =
        std::ranges::find(asked.recipe->indexes, asked.requirement->indexes[i], &IndexLine::url);
    const bool by_name = !known && index != asked.recipe->indexes.end() && index->line != 0;
    change(asked.requirement->indexes[i], asked.recipe->path,
           known     ? lines[i]
           : by_name ? index->line
                     : asked.requirement->line,
           known || by_name);
  }
  if (!asked.requirement->indexes.empty()) {
    return;
  }
  for (const Recipe* recipe : column.recipes) {
    for (const IndexLine& index : recipe->indexes) {
      if (!index.explicit_ || is_named(column, index.url)) {
        change(index.url, index.file, index.line, recipe->kind != "dockerfile");
      }
    }
  }
  const TorchRelease* release = knowledge.torch_release(target);
  if (!named && release != nullptr && release->default_variant.value != variant) {
    const CommandPlace command = command_place(column, asked);
    const bool project = asked.recipe->kind == "pyproject" && command.file.empty();
    AlignmentEdit edit =
        command.file.empty()
            ? index_edit(variant, asked.recipe->path, project ? asked.requirement->line : 0, "",
                         torch_index(variant))
            : index_edit(variant, command.file, command.line, "", torch_index(variant));
    // Of a package of one extra or group its table is to say of which.
    edit.literal = asked.requirement->group.empty() || !project;
    if (project) {
      edit.pins = pins_of_index(column, target, asked, knowledge);
      edit.program = project_installer(column, asked);
    }
    add_edit(edits, std::move(edit));
  }
}

// What the image has of torch's companions is asked for beside a torch in place of the image's.
void bring_companions(const RecipeColumn& column, const Version& target, const Asked& torch,
                      const Knowledge& knowledge, Edits& edits) {
  std::vector<std::string> wanted;
  for (const std::string_view package : image_companions(column)) {
    const std::string release = companion_of(package, target, knowledge);
    if (!release.empty()) {
      // A series without a '*', which a shell would take for a pattern.
      wanted.push_back(release.ends_with(".*")
                           ? fmt::format("{}~={}0", package, release.substr(0, release.size() - 1))
                           : fmt::format("{}=={}", package, release));
    }
  }
  if (wanted.empty()) {
    return;
  }
  const std::string why = "the image's are of its own torch";
  if (torch.recipe->kind != "dockerfile") {
    for (const std::string& line : wanted) {
      AlignmentEdit edit;
      edit.file = torch.recipe->path;
      edit.to = line;
      edit.why = why;
      edit.row = "torch";
      add_edit(edits, std::move(edit));
    }
    return;
  }
  const auto own = std::ranges::find_if(edits, [&](const AlignmentEdit& edit) {
    return edit.row == "torch" && edit.line == torch.requirement->line && !is_address(edit.from) &&
           !edit.from.empty();
  });
  AlignmentEdit edit =
      own != edits.end() ? *own : pin_edit(column, torch, torch.requirement->specifier, "");
  edit.to += fmt::format(" {}", fmt::join(wanted, " "));
  edit.why = why;
  if (own != edits.end()) {
    *own = std::move(edit);
  } else {
    add_edit(edits, std::move(edit));
  }
}

// A companion for which a project names no index comes from the Python index, for another CUDA
// version: it takes the source of torch.
void name_sources(const RecipeColumn& column, const Version& target, const Asked& torch,
                  const Knowledge& knowledge, Edits& edits) {
  const std::vector<std::string>& indexes = torch.requirement->indexes;
  const TorchRelease* release = knowledge.torch_release(target);
  if (torch.recipe->kind != "pyproject" || indexes.empty() ||
      variant_of_index(indexes.front()).empty() || release == nullptr ||
      release->default_variant.value == target.local_text()) {
    return;
  }
  for (const std::string_view package : {"torchaudio", "torchvision"}) {
    const Resolved companion = resolve(column, package);
    if (companion.by == nullptr || companion.by->recipe != torch.recipe ||
        !companion.by->requirement->indexes.empty() || !companion.by->requirement->url.empty()) {
      continue;
    }
    const std::vector<std::string> urls = urls_of(column, *companion.by->requirement);
    if (std::ranges::all_of(urls, looks_like_python_index)) {
      AlignmentEdit edit;
      edit.row = "torch";
      edit.file = torch.recipe->path;
      edit.line = companion.by->requirement->line;
      edit.to = fmt::format("{}{}", kSourceOfTorch, package);
      edit.why = "that of Python has it for another CUDA version";
      add_edit(edits, std::move(edit));
    }
  }
}

// Whether a pin is of what torch's wheels for a CUDA version ask for, each in one version alone:
// triton and NVIDIA's wheels.
bool is_part_of_torch(const Requirement& requirement, int cuda) {
  const auto set = SpecifierSet::parse(requirement.specifier);
  const bool named =
      requirement.name == "triton" || (requirement.name.starts_with("nvidia-") &&
                                       requirement.name.ends_with(fmt::format("-cu{}", cuda)));
  return named && set && set->pinned() && requirement.url.empty() && !requirement.hashed;
}

// Pins in requirements files of what another torch asks for in another version are left out: it
// brings them. The last lines first, as each that goes moves those below it.
void leave_out_parts(const RecipeColumn& column, const Version& target, Edits& edits) {
  const Resolved torch = resolve(column, "torch");
  const bool moves = torch.by != nullptr && torch.by->recipe->kind == "requirements" &&
                     (!torch.version || *torch.version != target) && !edits.empty();
  const int cuda = major_version(cuda_of_variant(target.local_text()));
  std::vector<const Asked*> parts;
  for (const auto& [name, all] : column.packages) {
    for (const Asked& asked : all) {
      if (moves && asked.recipe->kind == "requirements" && !asked.bound &&
          is_part_of_torch(*asked.requirement, cuda)) {
        parts.push_back(&asked);
      }
    }
  }
  std::ranges::stable_sort(parts, std::ranges::greater(),
                           [](const Asked* asked) { return asked->requirement->line; });
  for (const Asked* asked : parts) {
    add_edit(edits, removal_edit(*asked, fmt::format("torch {} brings the one that it asks for",
                                                     target.public_part().text())));
  }
}

}  // namespace

void change_torch(const RecipeColumn& column, const Version& target, const std::string& why,
                  const Knowledge& knowledge, Edits& edits) {
  const Resolved torch = resolve(column, "torch");
  const auto present = torch_of(column, knowledge);
  const bool no_variant =
      torch.by != nullptr && of_python_index(column, target, *torch.by, knowledge);
  if (torch.by != nullptr && (!present || *present != target)) {
    add_edit(edits, pin_edit(column, *torch.by, pin(target, *torch.by, no_variant), why));
  }
  if (torch.by != nullptr && (!present || present->local != target.local)) {
    edit_index(column, target, *torch.by, knowledge, edits);
  }
  if (torch.by != nullptr) {
    bring_companions(column, target, *torch.by, knowledge, edits);
  }
  for (const std::string_view package : {"torchaudio", "torchvision"}) {
    const Resolved companion = resolve(column, package);
    const std::string wanted = companion_of(package, target, knowledge);
    if (companion.by == nullptr || wanted.empty()) {
      continue;
    }
    const bool right_variant = !companion.version || companion.version->local.empty() ||
                               companion.version->local == target.local;
    if (companion.version && right_variant &&
        goes_with(*companion.version, package, target, knowledge)) {
      continue;
    }
    // Of a series the variant comes from the index.
    const auto exact = Version::parse(wanted);
    Version version = exact ? *exact : Version();
    version.local = target.local;
    add_edit(edits, pin_edit(column, *companion.by,
                             exact ? pin(version, *companion.by, no_variant) : "==" + wanted,
                             fmt::format("it goes with torch {}", target.public_part().text())));
  }
  if (torch.by != nullptr) {
    name_sources(column, target, *torch.by, knowledge, edits);
  }
  move_neighbours(column, target, knowledge, edits);
}

std::vector<std::string_view> image_companions(const RecipeColumn& column) {
  std::vector<std::string_view> found;
  if (column.image_says.torch.empty() || !column.environment.empty()) {
    return found;
  }
  for (const std::string_view package : {"torchvision", "torchaudio"}) {
    const bool removed = std::ranges::any_of(column.recipes, [&](const Recipe* recipe) {
      return std::ranges::any_of(recipe->steps, [&](const InstallStep& step) {
        return std::ranges::find(step.removes, package) != step.removes.end();
      });
    });
    if (!removed && !column.asks_for(package)) {
      found.push_back(package);
    }
  }
  return found;
}

std::vector<AlignmentEdit> torch_beside(const RecipeColumn& column, const Asked& by,
                                        const Version& target, const Knowledge& knowledge) {
  Edits edits;
  const std::string text = "torch==" + target.public_part().text();
  AlignmentEdit edit;
  if (by.recipe->kind == "dockerfile") {
    edit = pin_edit(column, by, by.requirement->specifier, "");
    edit.to += " " + text;
  } else {
    edit.file = by.recipe->path;
    edit.to = text;
  }
  edit.why = derived(column, "torch", knowledge).asks.pinned()
                 ? fmt::format("{} brings another one", by.requirement->name)
                 : fmt::format("{} asks for it, and takes any", by.requirement->name);
  edit.row = "torch";
  add_edit(edits, std::move(edit));
  edit_index(column, target, by, knowledge, edits);
  change_torch(column, target, "", knowledge, edits);  // what goes with it
  std::ranges::stable_partition(
      edits, [](const AlignmentEdit& each) { return !each.from.empty() || each.line == 0; });
  return edits;
}

std::vector<AlignmentEdit> torch_edits(const RecipeColumn& column, const Version& target,
                                       const std::string& why, const Knowledge& knowledge) {
  Edits edits;
  change_torch(column, target, why, knowledge, edits);
  // A line that is put in moves those below it.
  std::ranges::stable_partition(
      edits, [](const AlignmentEdit& edit) { return !edit.from.empty() || edit.line == 0; });
  leave_out_parts(column, target, edits);
  return edits;
}

}  // namespace mynah::doctor
