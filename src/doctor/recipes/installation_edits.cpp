#include "doctor/recipes/installation_edits.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

constexpr std::string_view kAnd = " && ";
constexpr std::string_view kPath = "export LD_LIBRARY_PATH=\"";
// uv asks nobody before it removes something.
constexpr std::pair<std::string_view, std::string_view> kCommandsOfUv[] = {
    {"pip install", "uv pip install"}, {"pip uninstall -y", "uv pip uninstall"}};
constexpr std::string_view kOldPath = "${LD_LIBRARY_PATH";

// What shows the loader the way: a line of an image where the folders are known, else a command.
RemedyStep way_step(const std::string& rest, const RecipeColumn& column) {
  const std::string_view behind =
      rest.starts_with(kPath) ? std::string_view(rest).substr(kPath.size()) : "";
  const std::string_view folders = behind.substr(0, behind.find(kOldPath));
  if (!column.image.empty() && !folders.empty() && !folders.contains('$')) {
    return {.command = fmt::format("ENV LD_LIBRARY_PATH={}", folders),
            .text = fmt::format("Add this line below {}", column.image_where)};
  }
  return {.command = rest,
          .text =
              "Show the loader where the wheels lie, where the program is started and before "
              "Python is"};
}

// "onnxruntime-gpu[cuda,cudnn]==1.23.2" where a requirement stands.
AlignmentEdit package_edit(const RecipeColumn& column, const Asked& there,
                           const Requirement& wanted, const std::string& text) {
  AlignmentEdit edit = pin_edit(column, there, wanted.specifier, "");
  if (!wanted.extras.empty() && !is_lock(edit.file)) {
    edit.to = text;
  }
  return edit;
}

// What nobody asks for yet: behind the package in a command of an image, else in lines of its own.
void add_packages(std::vector<AlignmentEdit>& edits, const Asked& by,
                  const std::vector<std::string>& added) {
  const auto beside = std::ranges::find_if(edits, [&](const AlignmentEdit& edit) {
    return by.recipe->kind == "dockerfile" && edit.file == by.recipe->path &&
           edit.line == by.requirement->line;
  });
  for (const std::string& text : added) {
    if (beside != edits.end()) {
      beside->to += text.find_first_of("<>*") == std::string::npos ? " " + text
                                                                   : fmt::format(" \"{}\"", text);
    }
  }
  for (const std::string& text : beside == edits.end() ? added : std::vector<std::string>()) {
    edits.push_back({.file = by.recipe->path, .line = 0, .from = {}, .to = text, .why = {}});
  }
}

}  // namespace

InstallationEdits installation_edits(const std::string& command, const RecipeColumn& column,
                                     const Asked& by, const Knowledge& knowledge) {
  const size_t end = command.find(kAnd);
  const std::vector<std::string> words = words_of(command.substr(0, end));
  if (words.size() < 3 || words[0] != "pip" || words[1] != "install") {
    return {};
  }
  InstallationEdits found;
  if (end != std::string::npos) {
    found.more.push_back(way_step(command.substr(end + kAnd.size()), column));
  }
  bool own = false;
  std::vector<std::string> added;
  for (const std::string& text : read_pip_words(std::span(words).subspan(2)).requirements) {
    const auto wanted = parse_requirement(text);
    if (!wanted) {
      return {};
    }
    const auto set = SpecifierSet::parse(wanted->specifier);
    const auto version = set ? set->pinned() : std::nullopt;
    own |= wanted->name == by.requirement->name;
    if (wanted->name == "torch" && version) {
      found.edits =
          own ? torch_edits(column, *version, "", knowledge) : std::vector<AlignmentEdit>();
      return found;
    }
    const Resolved there = resolve(column, wanted->name);
    if (there.by != nullptr) {
      found.edits.push_back(package_edit(column, *there.by, *wanted, text));
    } else {
      added.push_back(text);
    }
  }
  add_packages(found.edits, by, added);
  if (!own) {
    found.edits.clear();
  }
  return found;
}

std::string installer_command(const Asked& asked, std::string command) {
  if (asked.how == nullptr || !asked.how->uv) {
    return command;
  }
  const std::string& environment = asked.how->environment;
  const std::string where = environment.empty()            ? " --system"
                            : environment.starts_with('/') ? " --python " + environment
                                                           : "";
  for (const auto& [pip, uv] : kCommandsOfUv) {
    for (size_t at = command.find(pip); at != std::string::npos; at = command.find(pip, at)) {
      command.replace(at, pip.size(), fmt::format("{}{}", uv, where));
      at += uv.size() + where.size();
    }
  }
  return command;
}

std::string add_command(const Asked& asked, std::string_view packages) {
  const std::string& file = asked.recipe->path;
  return last_name(file) == "uv.lock" ? beside_lock(file, fmt::format("uv add{}", packages))
                                      : std::string();
}

AlignmentEdit removal_edit(const Asked& asked, std::string why) {
  const Requirement& requirement = *asked.requirement;
  return {.file = asked.recipe->path,
          .line = requirement.line,
          .from = requirement.name + requirement.specifier,
          .to = {},
          .why = std::move(why),
          .row = requirement.name,
          .literal = requirement.literal && requirement.extras.empty() && requirement.line != 0};
}

}  // namespace mynah::doctor
