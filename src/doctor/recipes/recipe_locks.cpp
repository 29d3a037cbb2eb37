#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/versions.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

// A list of texts as one: conditions of which any may hold.
std::string any_of(const TextTree& conditions) {
  std::string all;
  for (const TextTree::Member& condition : conditions.members) {
    all += all.empty() ? "" : " or ";
    all += fmt::format("({})", condition.value.text);
  }
  return all;
}

// Poetry 2 writes one marker, or one for each group.
std::string marker_of(const TextTree& package) {
  for (const std::string_view key : {"marker", "markers"}) {
    const TextTree& marker = package[key];
    if (marker.is_text()) {
      return marker.text;
    }
    if (marker["main"].is_text()) {
      return marker["main"].text;
    }
  }
  return any_of(package["resolution-markers"]);
}

// Where uv installs a package that an override of the project stands for: its marker stands in
// place of those of all that ask for the package. Empty: everywhere.
std::string marker_of_overrides(const TextTree& manifest, const std::string& package) {
  std::string all;
  for (const TextTree::Member& override_ : manifest["overrides"].members) {
    if (normal_name(override_.value["name"].text) != package) {
      continue;
    }
    const std::string& marker = override_.value["marker"].text;
    if (marker.empty()) {
      return {};
    }
    all += fmt::format("{}({})", all.empty() ? "" : " or ", marker);
  }
  return all;
}

// A package that belongs to groups without being the project's own: the first of them.
std::string group_of(const TextTree& package) {
  const TextTree& groups = package["groups"];
  for (const TextTree::Member& group : groups.members) {
    if (group.value.text == "main" || group.value.text == "default") {
      return {};
    }
  }
  if (package["optional"].text == "true") {
    return std::string(kOptionalGroup);
  }
  return groups.members.empty() ? std::string() : normal_name(groups.members.front().value.text);
}

// The project itself and trees of sources stand in uv.lock beside what is installed from an index.
bool is_source_tree(const TextTree& source) {
  return source.has("editable") || source.has("virtual") || source.has("directory");
}

void add_locked(Recipe& recipe, Requirement requirement, const std::string& version) {
  const auto parsed = Version::parse(version);
  if (!parsed) {
    add_doubt(recipe, requirement.line,
              fmt::format("{}: {}", in_quotes(requirement.name), parsed.error().message));
    return;
  }
  requirement.specifier = "==" + parsed->text();
  requirement.locked = true;
  add_requirement(recipe, std::move(requirement));
}

// By the name that other indexes have it by: pytorch's package is torch.
std::string name_of_conda(std::string_view name) {
  std::string normal = normal_name(name);
  // conda-forge's pytorch-gpu asks for the pytorch of its own version.
  return normal == "pytorch" || normal == "pytorch-gpu" ? "torch" : normal;
}

}  // namespace

void read_package_lock(const TextTree& tree, Recipe& recipe) {
  recipe.kind = "lock";
  for (const TextTree* place : {&tree["requires-python"], &tree["metadata"]["python-versions"],
                                &tree["metadata"]["requires_python"]}) {
    recipe.python = place->is_text() ? place->text : recipe.python;
  }
  for (const std::string_view list : {"package", "packages"}) {
    for (const TextTree::Member& item : tree[list].members) {
      const TextTree& package = item.value;
      const TextTree& source = package["source"];
      if (!package["name"].is_text() || is_source_tree(source)) {
        continue;
      }
      Requirement requirement;
      requirement.name = normal_name(package["name"].text);
      requirement.line = package.line;
      requirement.marker = marker_of(package);
      if (const std::string more = marker_of_overrides(tree["manifest"], requirement.name);
          !more.empty()) {
        requirement.marker = requirement.marker.empty()
                                 ? more
                                 : fmt::format("({}) and ({})", requirement.marker, more);
      }
      requirement.group = group_of(package);
      for (const TextTree* index : {&source["registry"], &source["url"], &package["index"]}) {
        if (index->is_text()) {
          requirement.indexes = {index->text};
        }
      }
      if (source["type"].text == "git" || source.has("git")) {
        requirement.indexes.clear();
        requirement.url = source.has("git") ? source["git"].text : source["url"].text;
      }
      if (package["version"].is_text()) {
        add_locked(recipe, std::move(requirement), package["version"].text);
      } else {
        add_doubt(recipe, package.line,
                  fmt::format("{} has no version", in_quotes(requirement.name)));
      }
    }
  }
  add_poetry_extras(recipe, tree["extras"]);
}

void read_pipfile_lock(const TextTree& tree, Recipe& recipe) {
  recipe.kind = "lock";
  const TextTree& meta = tree["_meta"];
  if (const std::string& python = meta["requires"]["python_version"].text; !python.empty()) {
    recipe.python = fmt::format("=={}.*", python);
  }
  for (const std::string_view section : {"default", "develop"}) {
    for (const TextTree::Member& member : tree[section].members) {
      Requirement requirement;
      requirement.name = normal_name(member.name);
      requirement.line = member.value.line;
      requirement.marker = member.value["markers"].text;
      requirement.group = section == "develop" ? "dev" : "";
      for (const TextTree::Member& source : meta["sources"].members) {
        if (source.value["name"].text == member.value["index"].text &&
            source.value["url"].is_text()) {
          requirement.indexes = {source.value["url"].text};
        }
      }
      std::string_view version = member.value["version"].text;
      version.remove_prefix(std::min(version.find_first_not_of('='), version.size()));
      if (!version.empty()) {
        add_locked(recipe, std::move(requirement), std::string(version));
      }
    }
  }
}

void read_conda_lock(const TextTree& tree, Recipe& recipe) {
  recipe.kind = "lock";
  for (const TextTree::Member& item : tree["package"].members) {
    const TextTree& package = item.value;
    const std::string& platform = package["platform"].text;
    Requirement requirement;
    requirement.line = package.line;
    requirement.url = package["manager"].text == "conda" ? "conda" : "";
    requirement.name = requirement.url.empty() ? normal_name(package["name"].text)
                                               : name_of_conda(package["name"].text);
    requirement.marker = platform.starts_with("win")   ? "sys_platform == 'win32'"
                         : platform.starts_with("osx") ? "sys_platform == 'darwin'"
                         : platform == "linux-64"
                             ? "sys_platform == 'linux' and platform_machine == 'x86_64'"
                             : "sys_platform == 'linux' and platform_machine != 'x86_64'";
    const std::string& category = package["category"].text;
    requirement.group = category.empty() || category == "main" ? "" : normal_name(category);
    if (requirement.name == "python" && platform == "linux-64") {
      recipe.python = "==" + package["version"].text;
    } else if (!requirement.name.empty() && package["version"].is_text()) {
      add_locked(recipe, std::move(requirement), package["version"].text);
    }
  }
}

void add_conda_requirement(Recipe& recipe, std::string_view text, uint64_t line) {
  text = trimmed(text);
  if (const size_t channel = text.rfind("::"); channel != std::string_view::npos) {
    text.remove_prefix(channel + 2);
  }
  const size_t end = std::min(text.find_first_of("=<>!~ ["), text.size());
  Requirement requirement;
  requirement.name = name_of_conda(text.substr(0, end));
  requirement.line = line;
  requirement.url = "conda";
  std::string_view rest = trimmed(text.substr(end));
  rest = rest.substr(0, rest.find('['));
  // "=2.1" means any 2.1; a build behind a second '=' or a blank is left out.
  std::string specifier;
  if (rest.starts_with('=') && !rest.starts_with("==")) {
    rest.remove_prefix(1);
    std::string_view version = rest.substr(0, rest.find_first_of("= "));
    while (version.ends_with('*') || version.ends_with('.')) {
      version.remove_suffix(1);
    }
    specifier = version.empty() ? "" : fmt::format("=={}.*", version);
  } else if (!rest.empty()) {
    const size_t sign = std::min(rest.find_first_not_of("=<>!~ "), rest.size());
    const size_t build = std::min(rest.find_first_of("= ", sign), rest.size());
    specifier = std::string(rest.substr(0, build));
    specifier = is_digit(specifier.front()) ? "==" + specifier : specifier;
  }
  const auto set = SpecifierSet::parse(specifier);
  if (requirement.name.empty() || !set) {
    add_doubt(recipe, line, fmt::format("{} was not understood", in_quotes(text)));
    return;
  }
  requirement.specifier = set->text();
  if (requirement.name == "python") {
    recipe.python = requirement.specifier;
  } else {
    add_requirement(recipe, std::move(requirement));
  }
}

}  // namespace mynah::doctor
