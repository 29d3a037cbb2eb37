// What edits may run into, as far as it was not read.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/recipes/torch_neighbours.h"

namespace mynah::doctor {

namespace {

bool asks_for(const PackageNeeds& needs, const std::string& package) {
  return std::ranges::any_of(needs.requires_, [&](const std::string& text) {
    const auto need = parse_requirement(text);
    return need && need->name == package && !need->specifier.empty();
  });
}

// Whether an edit pins a release of which nothing was read, where others of its package were.
bool is_unread(const Requirement& edited, const Knowledge& knowledge) {
  const auto set = SpecifierSet::parse(edited.specifier);
  const auto version = set ? set->pinned() : std::nullopt;
  return version && knowledge.package(edited.name, *version) == nullptr &&
         std::ranges::any_of(knowledge.packages, [&](const PackageNeeds& needs) {
           return needs.package == edited.name && !needs.requires_.empty();
         });
}

// What a project pins beside its lock and asks for another release than the lock is made anew with:
// the rules take a lock for one that agrees with itself.
void add_project_pins(std::set<std::string>& words, const Requirement& edited,
                      std::span<const AlignmentEdit> edits, const RecipeColumn& column,
                      const Knowledge& knowledge) {
  const auto set = SpecifierSet::parse(edited.specifier);
  const auto version = set ? set->pinned() : std::nullopt;
  for (const auto& [name, all] : column.packages) {
    const bool moves = std::ranges::find(edits, name, &AlignmentEdit::row) != edits.end();
    for (const Asked& one : moves || !version ? std::vector<Asked>() : all) {
      const auto said = SpecifierSet::parse(one.requirement->specifier);
      const auto pinned =
          said && !one.requirement->locked && !one.bound ? said->pinned() : std::nullopt;
      const auto asked = pinned ? asked_of(name, *pinned, edited.name, knowledge) : std::nullopt;
      if (asked && !asked->range.contains(version->public_part())) {
        words.insert(fmt::format("{} {}, which the project pins, asks for {}{}: it must move first",
                                 name, pinned->text(), edited.name, asked->range.text()));
      }
    }
  }
}

// What is compiled for the torch that was there, where another series of it comes.
void add_built_with_torch(std::set<std::string>& words, const Requirement& torch,
                          const RecipeColumn& column) {
  const auto set = SpecifierSet::parse(torch.specifier);
  const auto version = set ? set->pinned() : std::nullopt;
  const Resolved present = resolve(column, "torch");
  const bool same = version && present.version &&
                    version->release_at(0) == present.version->release_at(0) &&
                    version->release_at(1) == present.version->release_at(1);
  for (const auto& [name, all] : column.packages) {
    const Resolved built = resolve(column, name);
    // Of one that names its torch the rules say so.
    if (version && !same && is_built_with_torch(name) && built.by != nullptr &&
        !torch_of_build(*built.by->requirement)) {
      words.insert(
          fmt::format("{} is compiled for one torch: whether its build goes with {} wants "
                      "checking",
                      name, version->public_part().text()));
    }
  }
}

}  // namespace

std::string unread_needs(std::span<const AlignmentEdit> edits, const RecipeColumn& column,
                         const Knowledge& knowledge) {
  std::set<std::string> words;
  for (const AlignmentEdit& edit : edits) {
    const auto edited = parse_requirement(edit.to.substr(0, edit.to.find(' ')));
    if (!edited) {
      continue;
    }
    if (is_unread(*edited, knowledge)) {
      words.insert(fmt::format("what {} asks for was not read", edit.to));
    }
    if (is_lock(edit.file) && edit.refused) {
      add_project_pins(words, *edited, edits, column, knowledge);
    }
    if (edited->name == "torch") {
      add_built_with_torch(words, *edited, column);
    }
    for (const PackageNeeds& needs : knowledge.packages) {
      const Resolved one = resolve(column, needs.package);
      if (one.version && knowledge.package(needs.package, *one.version) == nullptr &&
          asks_for(needs, edited->name)) {
        words.insert(fmt::format("{} {} may ask for another {}: what it asks for was not read",
                                 needs.package, one.version->text(), edited->name));
      }
    }
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace mynah::doctor
