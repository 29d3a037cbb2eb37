#include "doctor/recipes/column_locks.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "doctor/versions.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

// An index's address, however many '/' end it.
std::string_view without_end(std::string_view url) {
  while (url.ends_with('/')) {
    url.remove_suffix(1);
  }
  return url;
}

// Whether what a project asks for takes what a lock holds.
bool takes(const Requirement& asked, const Requirement& locked) {
  const auto range = SpecifierSet::parse(asked.specifier);
  const auto set = SpecifierSet::parse(locked.specifier);
  const auto version = set ? set->pinned() : std::nullopt;
  if (!range || !version) {
    return true;
  }
  const bool same_index =
      asked.indexes.empty() || std::ranges::any_of(locked.indexes, [&](const std::string& from) {
        return std::ranges::any_of(asked.indexes, [&](const std::string& named) {
          return without_end(named) == without_end(from);
        });
      });
  return same_index && range->contains(*version);
}

// Whether a project that installs it stands beside the lock.
bool beside(const Asked& asked, const Asked& locked) {
  return asked.recipe->kind == "pyproject" &&
         fs::path(asked.recipe->path).parent_path() == fs::path(locked.recipe->path).parent_path();
}

}  // namespace

void settle_locks(RecipeColumn& column) {
  for (auto& [name, all] : column.packages) {
    const auto is_locked = [](const Asked& asked) {
      return asked.requirement->locked && asked.recipe->kind == "lock";
    };
    if (std::ranges::count_if(all, is_locked) < 2) {
      continue;
    }
    const auto refused = [&](const Asked& locked) {
      return is_locked(locked) && std::ranges::any_of(all, [&](const Asked& asked) {
               return asked.holds == Truth::Yes && !asked.bound && beside(asked, locked) &&
                      !takes(*asked.requirement, *locked.requirement);
             });
    };
    std::vector<Asked> kept;
    std::ranges::remove_copy_if(all, std::back_inserter(kept), refused);
    if (std::ranges::any_of(kept, is_locked)) {
      all = std::move(kept);
    }
  }
}

}  // namespace mynah::doctor
