// What edits may run into, as far as it was not read.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/requirement_text.h"

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
