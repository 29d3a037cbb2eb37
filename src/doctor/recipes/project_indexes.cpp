#include "doctor/recipes/project_indexes.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/package_indexes.h"
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

std::string project_index_command(const AlignmentEdit& edit) {
  std::string sources;
  for (const std::string& package : packages_of(edit)) {
    sources += fmt::format("{}{}", sources.empty() ? "" : "\\n", source_of(edit, package));
  }
  // A table stands in a file once: lines are put below it where it is there.
  const std::string uv = fmt::format(
      "{{ (grep -q '^\\[tool\\.uv\\.sources\\]' pyproject.toml || printf '\\n[tool.uv.sources]\\n' "
      ">> "
      "pyproject.toml) && sed -i '/^\\[tool\\.uv\\.sources\\]/a {}' pyproject.toml && printf "
      "'\\n[[tool.uv.index]]\\nname = \"{}\"\\nurl = \"{}\"\\nexplicit = true\\n' >> "
      "pyproject.toml; "
      "}}",
      sources, name_of(edit), url_of(edit));
  const std::string poetry =
      fmt::format("poetry source add --priority=explicit {0} {1} && poetry add --source {0} '{2}'",
                  name_of(edit), url_of(edit), fmt::join(edit.pins, "' '"));
  const std::string pdm = fmt::format(
      "printf '\\n[[tool.pdm.source]]\\nname = \"{}\"\\nurl = \"{}\"\\ninclude_packages = "
      "[\"{}\"]\\n' >> pyproject.toml",
      name_of(edit), url_of(edit), fmt::join(packages_of(edit), "\", \""));
  return beside_lock(
      edit.file,
      fmt::format(
          "if grep -q '^\\[tool\\.poetry\\|poetry\\.core' pyproject.toml; then {}; elif grep "
          "-q '^\\[tool\\.pdm\\|pdm\\.backend' pyproject.toml; then {}; else {}; fi",
          poetry, pdm, uv));
}

std::string project_index_text(const AlignmentEdit& edit) {
  std::vector<std::string> sources;
  for (const std::string& package : packages_of(edit)) {
    sources.push_back(source_of(edit, package));
  }
  return fmt::format(
      "{} is to name the index {}: for uv [[tool.uv.index]] with name = \"{}\", url = \"{}\" and "
      "explicit = true, and in [tool.uv.sources] {}; Poetry and PDM have a source for it; pip "
      "reads neither "
      "and wants --extra-index-url {}",
      edit.file, url_of(edit), name_of(edit), url_of(edit), fmt::join(sources, " and "),
      url_of(edit));
}

}  // namespace mynah::doctor
