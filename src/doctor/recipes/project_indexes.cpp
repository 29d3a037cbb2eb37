#include "doctor/recipes/project_indexes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/torch_index.h"

namespace mynah::doctor {

namespace {

std::string url_of(const AlignmentEdit& edit) {
  return edit.to.substr(kExtraIndex.size());
}

// The name that the project gives the index: "pytorch-cu128".
std::string name_of(const AlignmentEdit& edit) {
  const std::string variant = variant_of_index(url_of(edit));
  return variant.empty() ? "pytorch" : "pytorch-" + variant;
}

// The packages that are to come from it: "torch", "torchaudio".
std::vector<std::string> packages_of(const AlignmentEdit& edit) {
  std::vector<std::string> names;
  names.reserve(edit.pins.size());
  for (const std::string& pin : edit.pins) {
    names.push_back(pin.substr(0, pin.find_first_of("=<>!~[ ")));
  }
  return names;
}

std::string source_of(const AlignmentEdit& edit, const std::string& package) {
  return fmt::format("{} = {{ index = \"{}\" }}", package, name_of(edit));
}

}  // namespace

bool names_project_index(const AlignmentEdit& edit) {
  return edit.from.empty() && edit.to.starts_with(kExtraIndex) && !edit.pins.empty() &&
         last_name(edit.file) == "pyproject.toml";
}

namespace {

std::string command_of_uv(const AlignmentEdit& edit) {
  std::string sources;
  for (const std::string& package : packages_of(edit)) {
    sources += fmt::format("{}{}", sources.empty() ? "" : "\\n", source_of(edit, package));
  }
  // A table stands in a file once: lines are put below it where it is there.
  return fmt::format(
      "{{ (grep -q '^\\[tool\\.uv\\.sources\\]' pyproject.toml || printf '\\n[tool.uv.sources]\\n' "
      ">> pyproject.toml) && sed -i '/^\\[tool\\.uv\\.sources\\]/a {}' pyproject.toml && printf "
      "'\\n[[tool.uv.index]]\\nname = \"{}\"\\nurl = \"{}\"\\nexplicit = true\\n' >> "
      "pyproject.toml; }}",
      sources, name_of(edit), url_of(edit));
}

std::string command_of_poetry(const AlignmentEdit& edit) {
  return fmt::format(
      "poetry source add --priority=explicit {0} {1} && poetry add --source {0} '{2}'",
      name_of(edit), url_of(edit), fmt::join(edit.pins, "' '"));
}

std::string command_of_pdm(const AlignmentEdit& edit) {
  return fmt::format(
      "printf '\\n[[tool.pdm.source]]\\nname = \"{}\"\\nurl = \"{}\"\\ninclude_packages = "
      "[\"{}\"]\\n' >> pyproject.toml",
      name_of(edit), url_of(edit), fmt::join(packages_of(edit), "\", \""));
}

}  // namespace

std::string project_index_command(const AlignmentEdit& edit) {
  constexpr std::string_view kIsOfPoetry =
      "if grep -q '^\\[tool\\.poetry\\|poetry\\.core' pyproject.toml; then";
  constexpr std::string_view kIsOfPdm =
      "if grep -q '^\\[tool\\.pdm\\|pdm\\.backend' pyproject.toml; then";
  std::string command;
  if (edit.program == kByUv) {
    command = command_of_uv(edit);
  } else if (edit.program == kByPoetry) {
    command =
        fmt::format("{} {}; else {}; fi", kIsOfPdm, command_of_pdm(edit), command_of_poetry(edit));
  } else {
    command = fmt::format("{} {}; el{} {}; else {}; fi", kIsOfPoetry, command_of_poetry(edit),
                          kIsOfPdm, command_of_pdm(edit), command_of_uv(edit));
  }
  return beside_lock(edit.file, command);
}

std::string project_index_text(const AlignmentEdit& edit) {
  std::vector<std::string> sources;
  for (const std::string& package : packages_of(edit)) {
    sources.push_back(source_of(edit, package));
  }
  const std::string names = fmt::format("{} is to name the index {}", edit.file, url_of(edit));
  const std::string uv = fmt::format(
      "[[tool.uv.index]] with name = \"{}\", url = \"{}\" and explicit = true, and in "
      "[tool.uv.sources] {}",
      name_of(edit), url_of(edit), fmt::join(sources, " and "));
  if (edit.program == kByUv) {
    return fmt::format("{}: {}", names, uv);
  }
  if (edit.program == kByPoetry) {
    return fmt::format(
        "{}, with Poetry in [[tool.poetry.source]] and as the source of {}, with "
        "PDM in [[tool.pdm.source]]; neither reads uv's tables",
        names, fmt::join(packages_of(edit), " and "));
  }
  return fmt::format(
      "{}: for uv {}; Poetry and PDM have a source for it; pip reads none of these "
      "and wants --extra-index-url {}",
      names, uv, url_of(edit));
}

}  // namespace mynah::doctor
