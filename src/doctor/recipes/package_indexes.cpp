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

namespace {

// The indexes that a requirement's own command or table names. A table of a project holds for all
// that the project says of a package: for what it always asks for as for what an extra does.
std::vector<std::string> own_indexes(const RecipeColumn& column, const Requirement& requirement) {
  const auto all = column.packages.find(requirement.name);
  if (requirement.indexes.empty() && all != column.packages.end()) {
    for (const Asked& other : all->second) {
      if (other.recipe->kind == "pyproject" && other.requirement->file == requirement.file &&
          !other.requirement->indexes.empty()) {
        return other.requirement->indexes;
      }
    }
  }
  return requirement.indexes;
}

// Whether an index that a recipe names for all is looked at for a requirement: not where packages
// name it alone, and what a command of an image names for the files that it reads is for those.
bool is_looked_at(const IndexLine& index, const Recipe& recipe, const Requirement& requirement) {
  if (index.explicit_ || !index.one_command) {
    return !index.explicit_;
  }
  bool named = false;  // by some command of the image
  bool here = false;
  for (const IncludeLine& include : recipe.include_lines) {
    named |= include.path == requirement.file;
    here |= include.path == requirement.file && include.line == index.line;
  }
  return here || (!named && requirement.file != recipe.path);
}

}  // namespace

std::vector<std::string> urls_of(const RecipeColumn& column, const Requirement& requirement) {
  std::vector<std::string> urls = own_indexes(column, requirement);
  if (urls.empty()) {
    for (const Recipe* recipe : column.recipes) {
      for (const IndexLine& index : recipe->indexes) {
        if (is_looked_at(index, *recipe, requirement)) {
          urls.push_back(index.url);
        }
      }
    }
  }
  return urls;
}

bool may_have_own_builds(std::string_view url, const Knowledge& knowledge) {
  return known_index(url, knowledge) == nullptr && !looks_like_python_index(url);
}

bool may_have_own_builds(const RecipeColumn& column, const Requirement& requirement,
                         const Knowledge& knowledge) {
  return std::ranges::any_of(urls_of(column, requirement), [&](const std::string& url) {
    return may_have_own_builds(url, knowledge);
  });
}

std::string other_source(const RecipeColumn& column, const Asked* asked,
                         const Knowledge& knowledge) {
  if (asked == nullptr || !asked->requirement->url.empty()) {
    return asked == nullptr ? std::string() : asked->requirement->url;
  }
  const Requirement& requirement = *asked->requirement;
  std::vector<std::string> urls;
  if (!requirement.replaces_index && asked->recipe->kind != "lock") {
    urls = requirement.indexes;
  }
  for (const Recipe* recipe : column.recipes) {
    for (const IndexLine& index : recipe->indexes) {
      if (requirement.indexes.empty() && index.extra && !index.explicit_) {
        urls.push_back(index.url);
      }
    }
  }
  const auto found = std::ranges::find_if(
      urls, [&](const std::string& url) { return may_have_own_builds(url, knowledge); });
  return found == urls.end() ? std::string() : *found;
}

std::string only_variant(const RecipeColumn& column, const Asked& asked,
                         const Knowledge& knowledge) {
  const Requirement& requirement = *asked.requirement;
  // A project's table names the index that its package comes from, and no other.
  std::vector<std::string> urls = own_indexes(column, requirement);
  const bool by_table = asked.recipe->kind == "pyproject" && !urls.empty();
  bool replaced = by_table || requirement.replaces_index;
  for (const Recipe* recipe : column.recipes) {
    for (const IndexLine& index : recipe->indexes) {
      if (!by_table && is_looked_at(index, *recipe, requirement)) {
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

std::string ended_variant(const RecipeColumn& column, const Asked& asked,
                          const Knowledge& knowledge) {
  const std::string variant = only_variant(column, asked, knowledge);
  const auto cuda = Version::parse(cuda_of_variant(variant));
  if (!cuda || knowledge.torch.empty()) {
    return {};
  }
  // Those of nightly builds and of tests lie deeper.
  const std::vector<std::string> urls = urls_of(column, *asked.requirement);
  const bool released = std::ranges::all_of(urls, [&](std::string_view url) {
    const PackageIndex* const index = known_index(url, knowledge);
    while (url.ends_with('/')) {
      url.remove_suffix(1);
    }
    return index != nullptr && url.size() == index->index.size() + 1 + variant.size();
  });
  // A version between those of the newest release may come back, as 12.9 did; one that is older
  // than all of them never has.
  const std::vector<TorchVariant>& newest = knowledge.torch.back().variants;
  const bool ended = std::ranges::all_of(newest, [&](const TorchVariant& each) {
    const auto other = Version::parse(cuda_of_variant(each.cuda));
    return each.verified && other && *cuda < *other;
  });
  return released && ended && !newest.empty() ? variant : "";
}

}  // namespace mynah::doctor
