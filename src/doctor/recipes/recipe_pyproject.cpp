#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/versions.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

// Addresses of indexes by the names that a file gives them.
using IndexNames = std::map<std::string, std::string>;

void add_list(Recipe& recipe, const TextTree& list, const std::string& group) {
  for (const TextTree::Member& item : list.members) {
    if (item.value.is_text()) {
      add_requirement(recipe, item.value.text, item.value.line, {}, group);
    }
  }
}

// Groups of dependencies, which may take in others: each name once, so that loops end.
void add_group(Recipe& recipe, const TextTree& groups, const std::string& name,
               const std::string& as, std::set<std::string>& seen) {
  if (!seen.insert(name).second) {
    return;
  }
  for (const TextTree::Member& group : groups.members) {
    if (normal_name(group.name) != name) {
      continue;
    }
    add_list(recipe, group.value, as);
    for (const TextTree::Member& item : group.value.members) {
      if (const TextTree& other = item.value["include-group"]; other.is_text()) {
        add_group(recipe, groups, normal_name(other.text), as, seen);
      }
    }
  }
}

void add_groups(Recipe& recipe, const TextTree& groups) {
  constexpr size_t kMostGroups = 100;  // each may take in all the others
  size_t count = 0;
  for (const TextTree::Member& group : groups.members) {
    if (++count > kMostGroups) {
      add_doubt(recipe, group.value.line, "there are more groups than are read");
      return;
    }
    std::set<std::string> seen;
    add_group(recipe, groups, normal_name(group.name), normal_name(group.name), seen);
  }
}

void add_index(Recipe& recipe, const TextTree& entry, const std::string& url, bool extra,
               bool is_explicit) {
  IndexLine index;
  index.url = url;
  index.extra = extra;
  index.explicit_ = is_explicit;
  index.file = recipe.path;
  index.line = entry["url"].line != 0 ? entry["url"].line : entry.line;
  recipe.indexes.push_back(std::move(index));
}

// [[tool.uv.index]], [[tool.poetry.source]], [[tool.pdm.source]], [[source]]: with a name and an
// address.
IndexNames add_indexes(Recipe& recipe, const TextTree& list) {
  IndexNames names;
  for (const TextTree::Member& item : list.members) {
    const TextTree& entry = item.value;
    const std::string& url = entry["url"].text;
    if (url.empty()) {
      continue;
    }
    const std::string& priority = entry["priority"].text;
    const bool first = entry["default"].text == "true" || priority == "default" ||
                       priority == "primary" || entry["name"].text == "pypi";
    add_index(recipe, entry, url, !first,
              entry["explicit"].text == "true" || priority == "explicit");
    names.insert_or_assign(entry["name"].text, url);
  }
  return names;
}

// One number more than the one at `place`, and zeros dropped: the end of what '^' and '~' allow.
std::string next_above(const Version& version, size_t place) {
  std::string text;
  for (size_t i = 0; i < place; ++i) {
    text += fmt::format("{}.", version.release_at(i));
  }
  return text + std::to_string(version.release_at(place) + 1);
}

// Poetry's "^2.4" and "~2.4" as PEP 440 says it. Empty: not understood.
Result<std::string> poetry_clause(std::string_view clause) {
  clause = trimmed(clause);
  if (clause.empty() || clause == "*") {
    return std::string();
  }
  const bool caret = clause.starts_with('^');
  const bool tilde = clause.starts_with('~') && !clause.starts_with("~=");
  if (!caret && !tilde) {
    const bool bare = is_digit(clause.front()) || clause.front() == 'v';
    MYNAH_TRY(const SpecifierSet set,
              SpecifierSet::parse(bare ? fmt::format("=={}", clause) : std::string(clause)));
    return set.text();
  }
  MYNAH_TRY(const Version version, Version::parse(clause.substr(1)));
  size_t place = 0;
  if (tilde) {
    place = version.release.size() > 1 ? 1 : 0;
  } else {
    while (place + 1 < version.release.size() && version.release[place] == 0) {
      ++place;
    }
  }
  return fmt::format(">={},<{}", version.text(), next_above(version, place));
}

Result<std::string> poetry_specifier(std::string_view text) {
  if (text.find('|') != std::string_view::npos) {
    return fail(ErrorCode::Unsupported, fmt::format("{} are alternatives", in_quotes(text)));
  }
  std::string all;
  while (!text.empty()) {
    // Blanks separate clauses as commas do, but for one behind a sign: ">= 2".
    const size_t comma = std::min(text.find(','), text.size());
    MYNAH_TRY(const std::string clause, poetry_clause(text.substr(0, comma)));
    all += all.empty() || clause.empty() ? clause : "," + clause;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return all;
}

std::string both(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : fmt::format("({}) and ({})", a, b);
}

// Poetry's condition on Python as a marker. One that is not understood holds for nobody knows whom.
std::string python_marker(const std::string& python) {
  const auto specifier = poetry_specifier(python);
  const auto set = specifier ? SpecifierSet::parse(*specifier) : Result<SpecifierSet>();
  if (!specifier || !set) {
    return "python_full_version in ''";
  }
  std::string marker;
  for (const Specifier& clause : set->clauses) {
    const std::string text = clause.text();
    const size_t sign = text.find_first_not_of("=<>!~");
    marker = both(marker,
                  fmt::format("python_version {} '{}'", text.substr(0, sign), text.substr(sign)));
  }
  return marker;
}

// One dependency of Poetry's or Pipenv's tables: a text, or a table with more.
void add_table_dependency(Recipe& recipe, const std::string& name, const TextTree& value,
                          const IndexNames& indexes, const std::string& group) {
  if (value.is_list()) {
    for (const TextTree::Member& item : value.members) {
      if (!item.value.is_list()) {
        add_table_dependency(recipe, name, item.value, indexes, group);
      }
    }
    return;
  }
  Requirement requirement;
  requirement.name = normal_name(name);
  requirement.line = value.line;
  requirement.group = group;
  const std::string& text = value.is_text() ? value.text : value["version"].text;
  const auto specifier = poetry_specifier(text);
  if (!specifier) {
    add_doubt(recipe, value.line,
              fmt::format("{}: {}", in_quotes(name), specifier.error().message));
    return;
  }
  requirement.specifier = *specifier;
  // "^2.1" stands for two clauses.
  requirement.literal = *specifier == text || *specifier == "==" + text;
  for (const TextTree::Member& extra : value["extras"].members) {
    requirement.extras.push_back(normal_name(extra.value.text));
  }
  requirement.marker = value["markers"].text;
  for (const std::string_view key : {"url", "git", "path", "file"}) {
    requirement.url = value[key].is_text() ? value[key].text : requirement.url;
  }
  if (const std::string& platform = value["platform"].text; !platform.empty()) {
    requirement.marker = both(requirement.marker, fmt::format("sys_platform == '{}'", platform));
  }
  if (const std::string& python = value["python"].text; !python.empty()) {
    requirement.marker = both(requirement.marker, python_marker(python));
  }
  for (const std::string_view key : {"source", "index"}) {
    if (const auto index = indexes.find(value[key].text); index != indexes.end()) {
      requirement.indexes.push_back(index->second);
    }
  }
  if (value["optional"].text == "true" && group.empty()) {
    requirement.group = kOptionalGroup;
  }
  add_requirement(recipe, std::move(requirement));
}

void add_table(Recipe& recipe, const TextTree& table, const IndexNames& indexes,
               const std::string& group) {
  for (const TextTree::Member& member : table.members) {
    if (normal_name(member.name) == "python" && group.empty()) {
      if (const auto python = poetry_specifier(member.value.text); python) {
        recipe.python = *python;
      }
    } else {
      add_table_dependency(recipe, member.name, member.value, indexes, group);
    }
  }
}

// What Poetry is told to install is what the project asks for, whoever reads it: but not from
// where.
void read_poetry(const TextTree& poetry, Recipe& recipe) {
  const IndexNames indexes =
      reads_tables(recipe, kByPoetry) ? add_indexes(recipe, poetry["source"]) : IndexNames();
  add_table(recipe, poetry["dependencies"], indexes, "");
  add_table(recipe, poetry["dev-dependencies"], indexes, "dev");
  add_poetry_extras(recipe, poetry["extras"]);
  for (const TextTree::Member& group : poetry["group"].members) {
    add_table(recipe, group.value["dependencies"], indexes, normal_name(group.name));
  }
}

// The extra or the group of dependencies that an entry of [tool.uv.sources] is for; empty: all.
std::string group_of_source(const TextTree& entry) {
  for (const std::string_view key : {"extra", "group"}) {
    if (entry[key].is_text()) {
      return normal_name(entry[key].text);
    }
  }
  return {};
}

// [tool.uv.sources] says where requirements that stand elsewhere come from: one line of it, or
// several, each for some machines, or for what one extra or group asks for
// (https://docs.astral.sh/uv/concepts/projects/dependencies/#multiple-sources).
void apply_uv_source(Recipe& recipe, const std::string& name, const TextTree& source,
                     const IndexNames& indexes) {
  constexpr size_t kMostSources = 20;
  std::vector<const TextTree*> entries;
  if (source.is_list()) {
    for (size_t i = 0; i < std::min(source.members.size(), kMostSources); ++i) {
      entries.push_back(&source.members[i].value);
    }
  } else {
    entries.push_back(&source);
  }
  std::set<std::string> groups;  // that ask for it themselves
  for (const Requirement& requirement : recipe.requirements) {
    if (requirement.name == name && !requirement.group.empty()) {
      groups.insert(requirement.group);
    }
  }
  std::vector<Requirement> changed;
  for (const Requirement& requirement : recipe.requirements) {
    bool applied = false;
    for (const TextTree* entry :
         requirement.name == name ? entries : std::vector<const TextTree*>()) {
      const std::string group = group_of_source(*entry);
      // What the project always asks for takes the source of an extra that does not name it.
      const bool for_all = requirement.group.empty() && !groups.contains(group);
      if (!group.empty() && group != requirement.group && !for_all) {
        continue;
      }
      Requirement& copy = changed.emplace_back(requirement);
      applied = true;
      if (const auto index = indexes.find((*entry)["index"].text); index != indexes.end()) {
        copy.indexes = {index->second};
      }
      for (const std::string_view key : {"url", "git", "path"}) {
        copy.url = (*entry)[key].is_text() ? (*entry)[key].text : copy.url;
      }
      copy.marker = both(copy.marker, (*entry)["marker"].text);
      copy.group = group.empty() ? copy.group : group;
    }
    if (!applied) {
      changed.push_back(requirement);
    }
  }
  if (changed.size() <= kMostOfARecipe) {
    recipe.requirements = std::move(changed);
  }
}

// Requirements that bring nothing: one stands in place of all that others say of its package, the
// other bounds it (https://docs.astral.sh/uv/concepts/resolution/).
void add_uv_bounds(Recipe& recipe, const TextTree& list, bool Requirement::* kind) {
  for (const TextTree::Member& item : list.members) {
    const size_t before = recipe.requirements.size();
    if (item.value.is_text()) {
      add_requirement(recipe, item.value.text, item.value.line);
    }
    for (size_t i = before; i < recipe.requirements.size(); ++i) {
      recipe.requirements[i].*kind = true;
    }
  }
}

void read_uv(const TextTree& uv, Recipe& recipe) {
  constexpr size_t kMostSources = 200;
  const IndexNames indexes = add_indexes(recipe, uv["index"]);
  const TextTree& sources = uv["sources"];
  if (sources.members.size() > kMostSources) {
    add_doubt(recipe, sources.line, "there are more sources than are read");
  }
  for (size_t i = 0; i < std::min(sources.members.size(), kMostSources); ++i) {
    apply_uv_source(recipe, normal_name(sources.members[i].name), sources.members[i].value,
                    indexes);
  }
  for (const TextTree* table : {&uv, &uv["pip"]}) {
    if (const TextTree& url = (*table)["index-url"]; url.is_text()) {
      add_index(recipe, url, url.text, false, false);
    }
    for (const TextTree::Member& url : (*table)["extra-index-url"].members) {
      add_index(recipe, url.value, url.value.text, true, false);
    }
  }
  add_uv_bounds(recipe, uv["override-dependencies"], &Requirement::overrides);
  add_uv_bounds(recipe, uv["constraint-dependencies"], &Requirement::bound);
}

// Requirements files that setuptools is told to take a project's dependencies from; false: none.
bool takes_files(Recipe& recipe, const TextTree& files) {
  if (files.is_text()) {
    add_include(recipe, recipe.includes, beside(recipe.path, files.text), files.line);
  }
  for (const TextTree::Member& file : files.members) {
    add_include(recipe, recipe.includes, beside(recipe.path, file.value.text), file.value.line);
  }
  return files.is_text() || !files.members.empty();
}

}  // namespace

void add_poetry_extras(Recipe& recipe, const TextTree& extras) {
  constexpr size_t kMostNames = 500;
  std::map<std::string, std::vector<std::string>> extras_of;  // by the dependency
  size_t names = 0;
  for (const TextTree::Member& extra : extras.members) {
    for (const TextTree::Member& item : extra.value.members) {
      if (item.value.is_text() && ++names <= kMostNames) {
        extras_of[normal_name(item.value.text)].push_back(normal_name(extra.name));
      }
    }
  }
  std::vector<Requirement> more;
  for (Requirement& requirement : recipe.requirements) {
    const auto found = extras_of.find(requirement.name);
    if (requirement.group != kOptionalGroup || found == extras_of.end()) {
      continue;
    }
    requirement.group = found->second.front();
    for (size_t i = 1; i < found->second.size() && more.size() < kMostNames; ++i) {
      more.push_back(requirement);
      more.back().group = found->second[i];
    }
  }
  recipe.requirements.insert(recipe.requirements.end(), more.begin(), more.end());
}

void read_pyproject(const TextTree& tree, Recipe& recipe) {
  recipe.kind = "pyproject";
  const TextTree& project = tree["project"];
  recipe.python = project["requires-python"].text;
  add_list(recipe, project["dependencies"], "");
  for (const TextTree::Member& extra : project["optional-dependencies"].members) {
    add_list(recipe, extra.value, normal_name(extra.name));
  }
  add_groups(recipe, tree["dependency-groups"]);
  const TextTree& tool = tree["tool"];
  read_poetry(tool["poetry"], recipe);
  if (reads_tables(recipe, kByUv)) {
    read_uv(tool["uv"], recipe);
  }
  if (reads_tables(recipe, kByPoetry)) {
    add_indexes(recipe, tool["pdm"]["source"]);
  }
  add_groups(recipe, tool["pdm"]["dev-dependencies"]);
  for (const TextTree::Member& field : project["dynamic"].members) {
    if (field.value.text == "dependencies" && project["dependencies"].is_nothing() &&
        !takes_files(recipe, tool["setuptools"]["dynamic"]["dependencies"]["file"])) {
      add_doubt(recipe, field.value.line, kMadeWhileBuilt);
    }
  }
}

void read_pipfile(const TextTree& tree, Recipe& recipe) {
  recipe.kind = "pyproject";
  const IndexNames indexes = add_indexes(recipe, tree["source"]);
  if (const std::string& python = tree["requires"]["python_version"].text; !python.empty()) {
    recipe.python = fmt::format("=={}.*", python);
  }
  add_table(recipe, tree["packages"], indexes, "");
  add_table(recipe, tree["dev-packages"], indexes, "dev");
}

}  // namespace mynah::doctor
