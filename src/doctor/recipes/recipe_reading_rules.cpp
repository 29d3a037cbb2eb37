#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/package_name.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

std::string plain_path(const std::string& path) {
  return fs::path(path).lexically_normal().string();
}

uint64_t line_of(const Recipe& recipe, const std::string& include) {
  const auto found = std::ranges::find(recipe.include_lines, include, &IncludeLine::path);
  return found == recipe.include_lines.end() ? 0 : found->line;
}

// What stands in a file is not known, and with it what is installed.
void judge_missing(Diagnosis& diagnosis, const Recipe& recipe, const std::string& include) {
  const std::string name = fs::path(include).filename().string();
  const bool image = name.find("ockerfile") != std::string::npos || recipe.kind == "compose";
  const bool program = name == "setup.py";  // it is there, and was not to be read
  const bool project = name == "pyproject.toml" || program;
  Finding& finding = add_finding(
      diagnosis, "recipe is missing", Level::Unknown, Certainty::Certain, recipe.path,
      project ? fmt::format("{} installs a project, and no {} of it was to be read: what it asks "
                            "for is not known. A setup.py is a program, and is not run.",
                            recipe.path,
                            program ? "plain list of requirements" : "pyproject.toml or setup.cfg")
              : fmt::format("{} names {}, and there is no such file that could be read: {}.",
                            recipe.path, include,
                            image ? "what the image holds is not known"
                                  : "what it asks for is not known, and an installer stops at it"));
  finding.evidence.push_back({include, place_text(recipe.path, line_of(recipe, include))});
  if (!project && !image) {
    if (name.ends_with(".txt") || name.ends_with(".in")) {
      finding.error = fmt::format(
          "Could not open requirements file: [Errno 2] No such file or directory: '{}'", name);
    }
    finding.remedies.push_back(
        {.command = {},
         .text = recipe.kind == "dockerfile"
                     ? "Put it into the folder that the image is built from, or name the one that "
                       "is copied"
                     : "Put it there, or take the line out: a path is seen from the folder of the "
                       "file that names it",
         .cost = {}});
  }
}

// "torch==2.5" of a doubt about "torch=2.5", which is how conda writes it.
std::string with_two_signs(std::string_view written) {
  const size_t sign = written.find('=');
  if (sign == std::string_view::npos || sign == 0 || sign + 1 == written.size() ||
      !is_digit(written[sign + 1])) {
    return {};
  }
  const std::string text = fmt::format("{}=={}", written.substr(0, sign), written.substr(sign + 1));
  return parse_requirement(text) ? text : std::string();
}

void judge_doubts(Diagnosis& diagnosis, const Recipe& recipe) {
  if (recipe.doubts.empty()) {
    return;
  }
  // What a compose file leaves open are variables and where services come from.
  const bool decides = recipe.kind != "compose";
  Finding& finding = add_finding(
      diagnosis, "recipe not understood", decides ? Level::Unknown : Level::Note,
      Certainty::Certain, recipe.path,
      fmt::format("{} of {} could not be read for sure: what {} is not part of this judgement.",
                  recipe.doubts.size() == 1 ? std::string("One thing")
                                            : fmt::format("{} things", recipe.doubts.size()),
                  recipe.path, recipe.doubts.size() == 1 ? "it says" : "they say"));
  for (const std::string& text : recipe.doubts) {
    const Doubt doubt = doubt_of(text);
    finding.evidence.push_back({std::string(doubt.what), place_text(recipe.path, doubt.line)});
    constexpr std::string_view kRefused = "\" is no requirement";
    if (!doubt.what.starts_with('"') || !doubt.what.ends_with(kRefused)) {
      continue;
    }
    const std::string_view written = doubt.what.substr(1, doubt.what.size() - kRefused.size() - 1);
    if (finding.error.empty()) {  // an installer stops at the first
      finding.error = fmt::format("Invalid requirement: '{}'", written);
    }
    if (const std::string right = with_two_signs(written); !right.empty()) {
      const AlignmentEdit edit{.file = recipe.path,
                               .line = doubt.line,
                               .from = std::string(written),
                               .to = right,
                               .why = {},
                               .literal = recipe.kind != "dockerfile"};  // on a line of several
      finding.remedies.push_back(
          {.command = edit_command(edit),
           .text = fmt::format("Write {} in {}", right, place_text(recipe.path, doubt.line)),
           .cost = {}});
    }
  }
}

// What services build of each Dockerfile.
using Builds = std::map<std::string, std::vector<const Service*>>;

Builds builds_of(const Facts& facts) {
  Builds builds;
  for (const Recipe& recipe : facts.recipes) {
    for (const Service& service : recipe.services) {
      if (!service.build.empty()) {
        builds[plain_path(service.build)].push_back(&service);
      }
    }
  }
  return builds;
}

// Whether an image is made of it: of a Dockerfile that services build it is as they build it.
bool is_made(const Builds& builds, const Recipe& recipe) {
  const auto found = builds.find(plain_path(recipe.path));
  return found == builds.end() || std::ranges::any_of(found->second, [&](const Service* service) {
           return service->target == recipe.target && service->arguments == recipe.arguments;
         });
}

bool is_edited(const Recipe& recipe, const std::string& include) {
  const auto found = std::ranges::find(recipe.include_lines, include, &IncludeLine::path);
  return found != recipe.include_lines.end() && found->edited;
}

// Packages that come from an address whose name says no version: a source tree, an archive.
void judge_addresses(Diagnosis& diagnosis, const Recipe& recipe) {
  constexpr size_t kMostNamed = 20;
  std::vector<Evidence> named;
  for (const Requirement& requirement : recipe.requirements) {
    if (is_address(requirement.url) && requirement.specifier.empty() && !requirement.locked &&
        named.size() < kMostNamed) {
      named.push_back({fmt::format("{} from {}", requirement.name, requirement.url),
                       place_text(recipe.path, requirement.line)});
    }
  }
  if (named.empty()) {
    return;
  }
  Finding& finding = add_finding(
      diagnosis, "source not looked at", Level::Unknown, Certainty::Certain, recipe.path,
      fmt::format("{} takes packages from addresses that were not looked at: of which version they "
                  "are, and what they ask for, is not known.",
                  recipe.path));
  finding.evidence = std::move(named);
}

// An index that a requirement's own line was to name, and what the requirement was to read.
struct MeantLines {
  std::string index;  // its address; empty: it names none, or one for some machines
  std::string requirement;
};

MeantLines meant_lines(const Requirement& requirement) {
  const std::string_view passed = requirement.passed_over;
  const size_t end = std::min(passed.find(';'), passed.size());
  const std::vector<std::string> words = words_of(passed.substr(0, end));
  MeantLines meant;
  if (words.size() == 2 && is_address(words[1])) {
    meant.index = words[1];
  }
  Requirement right = requirement;
  const std::string_view marker = trimmed(passed.substr(std::min(end + 1, passed.size())));
  if (!marker.empty()) {
    right.marker = marker;
    meant.index.clear();  // on a line of its own it would be for the other machines, too
  }
  meant.requirement = requirement_text(right);
  return meant;
}

// What stands behind a requirement on its line and pip takes no heed of.
void judge_passed_over(Diagnosis& diagnosis, const Recipe& recipe) {
  constexpr size_t kMostFindings = 20;  // of a recipe
  size_t count = 0;
  for (const Requirement& requirement : recipe.requirements) {
    const std::string& passed = requirement.passed_over;
    if (passed.empty() || ++count > kMostFindings) {
      continue;
    }
    const bool options = passed != ";";
    const MeantLines meant = meant_lines(requirement);
    const bool marker = passed.find(';') + 1 < passed.size() && passed.contains(';');
    Finding& finding = add_finding(
        diagnosis, "options passed over", options ? Level::Warning : Level::Note,
        Certainty::Certain, fmt::format("{} in {}", requirement.name, recipe.path),
        options ? fmt::format("pip reads {} behind {} and does nothing with it: that comes from "
                              "where all else does{}. uv refuses the file.",
                              passed, requirement.name, marker ? ", and on every machine" : "")
                : fmt::format("Behind {} stands a ';' and no marker: pip passes over it, and uv "
                              "refuses the file.",
                              requirement.name));
    const std::string place = place_text(recipe.path, requirement.line);
    finding.evidence.push_back({requirement_text(requirement) + (options ? "" : ";"), place});
    finding.evidence.push_back(
        {options ? "options for the whole file, behind a requirement" : "a ';' without a marker",
         "pip 23.0.1 and 26.3 and uv 0.13.9 themselves, run"});
    if (passed.contains(';')) {
      finding.error = fmt::format("error: Couldn't parse requirement in `{}`", recipe.path);
    }
    const std::string lines = meant.index.empty() ? meant.requirement
                                                  : fmt::format("--extra-index-url {}\\n{}",
                                                                meant.index, meant.requirement);
    const bool plain =
        (lines + recipe.path).find_first_of("'|&\n") == std::string::npos && requirement.line != 0;
    if (!options || marker || !meant.index.empty()) {
      finding.remedies.push_back(
          {.command =
               plain ? fmt::format("sed -i '{}s|.*|{}|' '{}'", requirement.line, lines, recipe.path)
                     : std::string(),
           .text = meant.index.empty()
                       ? fmt::format("Write {} in {}", meant.requirement, place)
                       : fmt::format("Name {} on a line of its own, and {} on another", meant.index,
                                     meant.requirement),
           .cost = !meant.index.empty() ? "all other lines of the file look there, too"
                   : marker && options  ? "it comes from where all else does: an index for one "
                                          "package is a file of its own to pip"
                                        : ""});
    } else {
      finding.remedies.push_back({.command = {},
                                  .text = fmt::format("Write {} on a line of its own", passed),
                                  .cost = {}});
    }
  }
}

}  // namespace

void judge_reading(Diagnosis& diagnosis) {
  std::set<std::string> read;
  for (const Recipe& recipe : diagnosis.facts.recipes) {
    read.insert(plain_path(recipe.path));
  }
  const Builds builds = builds_of(diagnosis.facts);
  constexpr size_t kMostMissing = 20;  // of a recipe: more say no more
  for (const Recipe& recipe : diagnosis.facts.recipes) {
    if (!is_made(builds, recipe) || is_project_reading(recipe)) {
      continue;
    }
    size_t missing = 0;
    for (const std::vector<std::string>* list : {&recipe.includes, &recipe.constraints}) {
      for (const std::string& include : *list) {
        if (!read.contains(plain_path(include)) && !is_edited(recipe, include) &&
            ++missing <= kMostMissing) {
          judge_missing(diagnosis, recipe, include);
        }
      }
    }
    judge_doubts(diagnosis, recipe);
    judge_passed_over(diagnosis, recipe);
    judge_addresses(diagnosis, recipe);
  }
}

}  // namespace mynah::doctor
