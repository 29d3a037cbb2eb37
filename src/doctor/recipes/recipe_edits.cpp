#include "doctor/recipes/recipe_edits.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/recipes/project_indexes.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

// What a project says itself of a package that a lock pins; null: nothing.
const Asked* by_project(const RecipeColumn& column, const Asked& asked) {
  const auto all = column.packages.find(asked.requirement->name);
  if (asked.requirement->locked && all != column.packages.end()) {
    for (const Asked& other : all->second) {
      if (!other.requirement->locked && !other.bound) {
        return &other;
      }
    }
  }
  return nullptr;
}

// Whether a specifier with one version is outside of what a project says.
bool refuses(const Asked* project, const std::string& specifier) {
  const auto said = SpecifierSet::parse(project == nullptr ? "" : project->requirement->specifier);
  const auto set = SpecifierSet::parse(specifier);
  const auto version = set ? set->pinned() : std::nullopt;
  return said && version && !said->contains(*version);
}

// "onnxruntime-gpu[cuda]".
std::string name_of(const Requirement& requirement) {
  return requirement.extras.empty()
             ? requirement.name
             : fmt::format("{}[{}]", requirement.name, fmt::join(requirement.extras, ","));
}

bool is_text_of_requirements(const std::string& file) {
  return file.ends_with(".txt") || file.ends_with(".in");
}

bool is_dockerfile(const std::string& file) {
  return file.find("ockerfile") != std::string::npos ||
         file.find("ontainerfile") != std::string::npos;
}

// Whether the file's format has the version in a place of its own: torch = "2.1.2".
bool has_fields(const std::string& file) {
  static constexpr std::array<std::string_view, 6> kEndings = {".toml", ".cfg",  ".py",
                                                               ".yml",  ".yaml", "Pipfile"};
  return std::ranges::any_of(kEndings, [&](auto ending) { return file.ends_with(ending); });
}

// A text as a basic regular expression that matches it.
std::string pattern_of(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    pattern += c == '.' || c == '*' || c == '[' || c == ']' || c == '$' || c == '^'
                   ? std::string("\\") + c
                   : std::string(1, c);
  }
  return pattern;
}

// `to` may have others behind a blank, as a command of a Dockerfile may.
void apply_requirement(Recipe& recipe, const AlignmentEdit& edit) {
  if (edit.to.empty()) {
    std::erase_if(recipe.requirements, [&](const Requirement& requirement) {
      return requirement.line == edit.line && requirement.name + requirement.specifier == edit.from;
    });
    return;
  }
  const size_t blank = std::min(edit.to.find(' '), edit.to.size());
  const auto changed = parse_requirement(edit.to.substr(0, blank));
  if (!changed) {
    return;
  }
  std::vector<Requirement> beside;
  if (edit.from.empty()) {
    Requirement added = *changed;
    added.file = edit.file;
    recipe.requirements.push_back(std::move(added));
    return;
  }
  for (Requirement& requirement : recipe.requirements) {
    if (requirement.line == edit.line &&
        name_of(requirement) + requirement.specifier == edit.from) {
      requirement.name = changed->name;  // another package may be what brings it
      requirement.specifier = changed->specifier;
      requirement.extras = changed->extras;
      for (const std::string& word : words_of(edit.to.substr(blank))) {
        if (const auto other = parse_requirement(word)) {
          Requirement& added = beside.emplace_back(requirement);
          added.name = other->name;
          added.specifier = other->specifier;
        }
      }
    }
  }
  recipe.requirements.insert(recipe.requirements.end(), beside.begin(), beside.end());
}

void apply_index(Recipe& recipe, const AlignmentEdit& edit) {
  bool named = false;  // there, under a name that requirements use
  for (IndexLine& index : recipe.indexes) {
    if (index.url == edit.from && index.line == edit.line) {
      index.url = edit.to;
      named = true;
    }
  }
  for (Requirement& requirement : recipe.requirements) {
    for (size_t i = 0; i < requirement.indexes.size(); ++i) {
      const bool known = i < requirement.index_lines.size() && requirement.index_lines[i] != 0;
      if (requirement.indexes[i] == edit.from &&
          ((known ? requirement.index_lines[i] : requirement.line) == edit.line ||
           (!known && named))) {
        requirement.indexes[i] = edit.to;
      }
    }
  }
}

void apply_source(Recipe& recipe, std::string_view package) {
  const auto torch = std::ranges::find(recipe.requirements, "torch", &Requirement::name);
  for (Requirement& requirement : recipe.requirements) {
    if (requirement.name == package && torch != recipe.requirements.end()) {
      requirement.indexes = torch->indexes;
    }
  }
}

void apply_image(Recipe& recipe, const AlignmentEdit& edit) {
  const size_t colon = edit.to.rfind(':');
  for (BaseImage& image : recipe.images) {
    if (image.line == edit.line && colon != std::string::npos) {
      image.image = edit.to.substr(0, colon);
      image.tag = edit.to.substr(colon + 1);
    }
  }
  if (recipe.kind == "dockerfile") {
    recipe.python = python_of_image(recipe);
  }
  for (Service& service : recipe.services) {
    if (service.line == edit.line && service.image == edit.from) {
      service.image = edit.to;
    }
  }
}

// A word of a command of a Dockerfile, which may stand in quotes, in place of which several come,
// or one that a shell takes for a redirection.
std::string word_command(const AlignmentEdit& edit, bool several) {
  const std::string& from = edit.from;
  if ((from + edit.to).find_first_of("$`") != std::string::npos) {
    return {};
  }
  std::string to = several ? edit.to : fmt::format("\"{}\"", edit.to);
  for (size_t at = to.find('"'); at != std::string::npos; at = to.find('"', at + 2)) {
    to.insert(at, 1, '\\');
  }
  constexpr std::string_view kQuote = "['\\\"]\\?";
  return fmt::format("sed -i \"{}s|{}{}{}|{}|\" '{}'", edit.line, kQuote, pattern_of(from), kQuote,
                     to, edit.file);
}

}  // namespace

AlignmentEdit line_edit(const Asked& asked, std::string to, std::string why) {
  return {.file = asked.recipe->path,
          .line = 0,
          .from = {},
          .to = std::move(to),
          .why = std::move(why)};
}

std::string_view hash_words(const Requirement& requirement) {
  return requirement.hashed
             ? "the hashes of that line are of the old version, and pip-compile --generate-hashes "
               "makes new ones"
             : "";
}

AlignmentEdit pin_edit(const RecipeColumn& column, const Asked& decides, const std::string& to,
                       std::string why) {
  const Asked* const project = by_project(column, decides);
  const bool lock = is_lock(decides.recipe->path);
  const Asked& asked = project == nullptr || lock ? decides : *project;
  const Requirement& requirement = *asked.requirement;
  const std::string name = name_of(requirement);
  AlignmentEdit edit;
  edit.file = asked.recipe->path;
  edit.line = requirement.line;
  edit.from = name + requirement.specifier;
  edit.to = name + to;
  edit.why = std::move(why);
  if (requirement.locked && !lock) {
    edit.why += edit.why.empty() ? "" : "; ";
    edit.why += fmt::format(
        "the file was compiled, and what it is compiled from must say so, too; pip-compile "
        "--upgrade-package '{0}', or uv pip compile -P '{0}', then makes it anew with all that "
        "goes with it",
        edit.to);
  }
  edit.why += edit.why.empty() || !requirement.hashed ? "" : "; ";
  edit.why += hash_words(requirement);
  edit.row = requirement.name;
  edit.refused = lock && refuses(project, to);
  edit.marker = lock && project != nullptr ? project->requirement->marker : "";
  std::ranges::replace(edit.marker, '\'', '"');
  // Behind extras alone nothing is put by a command: how they are written is not known.
  edit.literal = requirement.literal && requirement.line != 0 && requirement.url.empty() &&
                 (requirement.extras.empty() || !requirement.specifier.empty());
  return edit;
}

AlignmentEdit image_edit(const RecipeColumn& column, const std::string& to, std::string why) {
  AlignmentEdit edit;
  edit.row = "base image";
  edit.of_image = true;
  edit.literal = column.service == nullptr || !column.service->build.empty();
  for (const Recipe* recipe : column.recipes) {
    const BaseImage* image = recipe->kind == "dockerfile" ? final_image(*recipe) : nullptr;
    edit.literal &= image == nullptr || image->literal;
  }
  const size_t colon = column.image_where.rfind(':');
  edit.file = column.image_where.substr(0, colon);
  for (const char c : column.image_where.substr(std::min(colon + 1, column.image_where.size()))) {
    edit.line = is_digit(c) ? edit.line * 10 + static_cast<uint64_t>(c - '0') : 0;
  }
  edit.from = column.image;
  edit.to = to;
  edit.why = std::move(why);
  return edit;
}

void add_edit(std::vector<AlignmentEdit>& edits, AlignmentEdit edit) {
  const auto same = [&](const AlignmentEdit& other) {
    return other.file == edit.file && other.line == edit.line && other.from == edit.from &&
           other.to == edit.to;
  };
  // Columns share files: a line is changed once.
  if (edit.from != edit.to && std::ranges::none_of(edits, same)) {
    edits.push_back(std::move(edit));
  }
}

void apply_edits(std::vector<Recipe>& recipes, std::span<const AlignmentEdit> edits) {
  for (const AlignmentEdit& edit : edits) {
    for (Recipe& recipe : recipes) {
      // What a project's tables say pip does not read.
      const bool by_table = edit.to.starts_with(kSourceOfTorch) || edit.to.starts_with(kExtraIndex);
      const bool by_pip = is_project_reading(recipe) && recipe.target == kByPip;
      if (recipe.path != edit.file || (by_table && by_pip)) {
        continue;
      }
      if (edit.of_image) {
        apply_image(recipe, edit);
      } else if (edit.to.starts_with(kSourceOfTorch)) {
        apply_source(recipe, std::string_view(edit.to).substr(kSourceOfTorch.size()));
      } else if (edit.to.starts_with(kExtraIndex)) {
        IndexLine& index = recipe.indexes.emplace_back();
        index.url = edit.to.substr(kExtraIndex.size());
        index.extra = true;
        index.file = edit.file;
      } else if (is_address(edit.from)) {
        apply_index(recipe, edit);
      } else {
        apply_requirement(recipe, edit);
      }
    }
  }
}

std::string edit_command(const AlignmentEdit& edit) {
  const auto plain = [](std::string_view text) {
    return text.find_first_of("'\n|\\&") == std::string_view::npos;
  };
  if (is_lock(edit.file)) {
    return lock_step(std::span(&edit, 1)).command;
  }
  if (!edit.literal || !plain(edit.file) || !plain(edit.from) || !plain(edit.to)) {
    return {};
  }
  if (edit.to.starts_with(kSourceOfTorch)) {
    return fmt::format(
        "sed -i '/^\\[tool\\.uv\\.sources\\]/,/^\\[/s|^torch\\( *= *{{.*}}\\)$|&\\n{}\\1|' '{}'",
        edit.to.substr(kSourceOfTorch.size()), edit.file);
  }
  if (edit.from.empty()) {
    if (names_project_index(edit)) {
      return project_index_command(edit);
    }
    if (is_dockerfile(edit.file) && edit.line != 0 && edit.to.starts_with(kExtraIndex)) {
      return fmt::format("sed -i '{}i ENV PIP_EXTRA_INDEX_URL={} UV_EXTRA_INDEX_URL={}' '{}'",
                         edit.line, edit.to.substr(kExtraIndex.size()),
                         edit.to.substr(kExtraIndex.size()), edit.file);
    }
    return is_text_of_requirements(edit.file)
               ? fmt::format("sed -i '$a {}' '{}'", edit.to, edit.file)
               : std::string();
  }
  if (edit.line == 0) {
    return {};
  }
  if (edit.to.empty()) {
    return is_text_of_requirements(edit.file)
               ? fmt::format("sed -i '{}{{/{}/d}}' '{}'", edit.line,
                             pattern_of(edit.from.substr(0, edit.from.find_first_of("=<>!~"))),
                             edit.file)
               : std::string();
  }
  // In a Dockerfile the text was seen as it is. Elsewhere blanks may stand between a name and its
  // version: only what differs is changed, "2\.1\.2+cu121" of a pin however it is written.
  size_t begin = 0;
  if (is_text_of_requirements(edit.file) || has_fields(edit.file)) {
    const auto differ = std::ranges::mismatch(edit.from, edit.to);
    const auto at = static_cast<size_t>(differ.in1 - edit.from.begin());
    begin = at == 0 ? 0 : edit.from.find_last_of("=<>~!/:", at - 1) + 1;
    // Another sign, or the first: all behind the name.
    const size_t sign = edit.from.find_first_of("=<>~!");
    begin = begin == 0 && sign != std::string::npos ? std::min(sign, at) : begin;
  }
  const std::string from = edit.from.substr(begin);
  // A bare name may be the beginning of another: torch of torchaudio.
  const bool bare = begin == 0 && from.find_first_of("=<>~!/:") == std::string::npos;
  if (from.empty() || (bare && !is_text_of_requirements(edit.file))) {
    return {};
  }
  const bool several = edit.to.contains(' ');
  const bool signs = edit.to.find_first_of("<>") != std::string::npos;
  const bool quoted = from.find_first_of("<>") != std::string::npos;
  if (is_dockerfile(edit.file) && (several || (signs && !quoted))) {
    return word_command(edit, several);
  }
  return fmt::format("sed -i '{}s|{}|{}|' '{}'", edit.line, pattern_of(from),
                     edit.to.substr(std::min(begin, edit.to.size())), edit.file);
}

std::string edit_text(const AlignmentEdit& edit) {
  if (is_lock(edit.file)) {
    return lock_step(std::span(&edit, 1)).text;
  }
  const std::string place = place_text(edit.file, edit.line);
  const std::string why = edit.why.empty() ? "" : ": " + edit.why;
  if (edit.to.starts_with(kSourceOfTorch)) {
    return fmt::format("{} is to name torch's index for {}, too, in [tool.uv.sources]{}", edit.file,
                       edit.to.substr(kSourceOfTorch.size()), why);
  }
  if (names_project_index(edit)) {
    return project_index_text(edit) + why;
  }
  if (edit.from.empty() && edit.to.starts_with(kExtraIndex) &&
      !is_text_of_requirements(edit.file)) {
    return fmt::format("{} is to name the index {}{}", place, edit.to.substr(kExtraIndex.size()),
                       why);
  }
  if (edit.from.empty()) {
    return fmt::format("{} is to {} {}{}", edit.file,
                       edit.to.starts_with('-') ? "have a line" : "ask for", edit.to, why);
  }
  if (edit.to.empty()) {
    return fmt::format("{} is to leave out {}{}", place, edit.from, why);
  }
  return fmt::format("{} is to read {}, not {}{}", place, edit.to, edit.from, why);
}

}  // namespace mynah::doctor
