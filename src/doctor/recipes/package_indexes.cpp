#include "doctor/recipes/package_indexes.h"

#include <algorithm>

namespace mynah::doctor {

const PackageIndex* known_index(std::string_view url, const Knowledge& knowledge) {
  const auto found = std::ranges::find_if(
      knowledge.indexes, [&](const PackageIndex& index) { return url.starts_with(index.index); });
  return found == knowledge.indexes.end() ? nullptr : &*found;
}

bool looks_like_python_index(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) {
    return false;
  }
  url.remove_prefix(scheme + 3);
  const size_t slash = std::min(url.find('/'), url.size());
  std::string_view host = url.substr(0, slash);
  host.remove_prefix(std::min(host.rfind('@') + 1, host.size()));
  std::string_view path = url.substr(slash);
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return path == "/simple" && std::ranges::count(host, '.') == 1;
}

std::vector<std::string> urls_of(const RecipeColumn& column, const Requirement& requirement) {
  std::vector<std::string> urls = requirement.indexes;
  if (urls.empty()) {
    for (const Recipe* recipe : column.recipes) {
      for (const IndexLine& index : recipe->indexes) {
        if (!index.explicit_) {
          urls.push_back(index.url);
        }
      }
    }
  }
  return urls;
}

bool may_have_own_builds(const RecipeColumn& column, const Requirement& requirement,
                         const Knowledge& knowledge) {
  return std::ranges::any_of(urls_of(column, requirement), [&](const std::string& url) {
    return known_index(url, knowledge) == nullptr && !looks_like_python_index(url);
  });
}

std::string only_variant(const RecipeColumn& column, const Asked& asked,
                         const Knowledge& knowledge) {
  const Requirement& requirement = *asked.requirement;
  // A project's table names the index that its package comes from, and no other.
  const bool by_table = asked.recipe->kind == "pyproject" && !requirement.indexes.empty();
  bool replaced = by_table || requirement.replaces_index;
  std::vector<std::string> urls = requirement.indexes;
  for (const Recipe* recipe : column.recipes) {
    for (const IndexLine& index : recipe->indexes) {
      if (!by_table && !index.explicit_) {
        urls.push_back(index.url);
        replaced |= !index.extra;
      }
    }
  }
  const std::string variant = urls.empty() ? "" : variant_of_index(urls.front());
  const bool all = std::ranges::all_of(urls, [&](const std::string& url) {
    return known_index(url, knowledge) != nullptr && variant_of_index(url) == variant;
  });
  return replaced && all ? variant : "";
}

}  // namespace mynah::doctor
