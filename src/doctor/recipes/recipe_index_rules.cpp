#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/installation_edits.h"
#include "doctor/recipes/installer_settings.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/recipe_runs.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/torch_index.h"

namespace mynah::doctor {

namespace {

// What PyTorch publishes in builds for each CUDA version.
constexpr std::array<std::string_view, 5> kBuilds = {"torch", "torchaudio", "torchvision",
                                                     "torchcodec", "torchtext"};

// The build that a pin asks for: "cu124" of "torch==2.5.1+cu124". Empty: it asks for none.
std::string build_of(const Asked& asked) {
  const Requirement& requirement = *asked.requirement;
  if (!requirement.url.empty() || asked.recipe->kind == "lock" ||
      std::ranges::find(kBuilds, requirement.name) == kBuilds.end()) {
    return {};
  }
  const auto set = SpecifierSet::parse(requirement.specifier);
  const auto version = set ? set->pinned() : std::nullopt;
  const std::string local = version ? version->local_text() : "";
  return local == "cpu" || !cuda_of_variant(local).empty() ? local : "";
}

// Whether an index that a run looks at may have a build: of indexes that nobody knows all may.
bool may_have(const std::string& url, const std::string& build, const Knowledge& knowledge) {
  const std::string variant = variant_of_index(url);
  if (is_unread_settings(url)) {
    return false;  // they name none for all that is known
  }
  return known_index(url, knowledge) == nullptr || variant.empty() || variant == build;
}

bool is_plain(std::string_view path) {
  return path.find('\'') == std::string_view::npos;
}

// The line that names an index, in front of a requirements file or of an image's command.
std::string insertion(const RecipeColumn& column, const Asked& asked, const std::string& url) {
  const Recipe& recipe = *asked.recipe;
  if (!is_plain(recipe.path) || !is_plain(url)) {
    return {};
  }
  if (recipe.kind == "requirements") {
    return fmt::format("sed -i '1i --extra-index-url {}' '{}'", url, recipe.path);
  }
  const CommandPlace command = command_place(column, asked);
  return edit_command({.file = command.file.empty() ? recipe.path : command.file,
                       .line = command.line,
                       .from = {},
                       .to = std::string(kExtraIndex) + url,
                       .why = {}});
}

void add_index_remedies(Finding& finding, const RecipeColumn& column, const InstallRun& run,
                        const Asked& asked, const std::string& build, const Knowledge& knowledge) {
  const std::string url = torch_index(build);
  const std::string text = requirement_text(*asked.requirement);
  // Another build's index, where one is named: its line is changed.
  for (const IndexLine* index : run.indexes) {
    const std::string variant = variant_of_index(index->url);
    const bool others = std::ranges::any_of(
        run.asked, [&](const Asked* other) { return build_of(*other) == variant; });
    if (known_index(index->url, knowledge) != nullptr && !variant.empty() && !others &&
        !index->one_command) {
      const bool in_dockerfile = std::ranges::any_of(column.recipes, [&](const Recipe* recipe) {
        return recipe->path == index->file && recipe->kind == "dockerfile";
      });
      // In a Dockerfile the line is the one that the instruction begins at.
      const AlignmentEdit edit{.file = index->file,
                               .line = index->line,
                               .from = index->url,
                               .to = url,
                               .why = {},
                               .literal = !in_dockerfile};
      finding.remedies.push_back({.command = edit_command(edit),
                                  .text = fmt::format("Name the index of {} in {}", build,
                                                      place_text(index->file, index->line)),
                                  .cost = "what is pinned to another build is no longer found"});
      return;
    }
  }
  const std::string command = insertion(column, asked, url);
  const std::string where = place_text(asked.recipe->path, asked.requirement->line);
  if (!command.empty()) {
    finding.remedies.push_back(
        {.command = command, .text = "Name the index that has it", .cost = {}});
  } else if (asked.recipe->kind == "pyproject" && !asked.requirement->group.empty()) {
    // What adds it would add it to what the project always asks for, too.
    const auto source = std::ranges::find(asked.recipe->indexes, url, &IndexLine::url);
    const std::string& name = asked.requirement->name;
    const std::string& group = asked.requirement->group;
    finding.remedies.push_back(
        {.command = {},
         .text = fmt::format(
             "{} {} in [[tool.uv.index]] of {}, and that index for {} of \"{}\" in "
             "[tool.uv.sources]; with Poetry it is a [[tool.poetry.source]], and in "
             "[tool.poetry.dependencies] stands {} = [{{ source = \"its name\", markers = \"extra "
             "== '{}'\" }}]",
             source != asked.recipe->indexes.end() ? "Have" : "Name", url, asked.recipe->path, name,
             group, name, group),
         .cost = {}});
  } else if (asked.recipe->kind == "pyproject") {
    const bool poetry = std::ranges::any_of(
        column.recipes, [](const Recipe* recipe) { return recipe->path.ends_with("poetry.lock"); });
    finding.remedies.push_back(
        {.command = poetry ? fmt::format("poetry source add --priority=explicit pytorch {0} && "
                                         "poetry add --source pytorch '{1}'",
                                         url, text)
                           : fmt::format("uv add --index pytorch={} '{}'", url, text),
         .text = fmt::format("Name the index that has it in {}", asked.recipe->path),
         .cost = {}});
  } else {
    finding.remedies.push_back(
        {.command = {},
         .text = fmt::format("Add --extra-index-url {} to what installs {}", url, where),
         .cost = {}});
  }
}

// Builds of PyTorch that the Python index does not have: its versions have no '+'.
void judge_builds(Diagnosis& diagnosis, const RecipeColumn& column, const InstallRun& run,
                  Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  std::map<std::string, std::vector<const Asked*>> missing;
  for (const Asked* asked : run.asked) {
    const std::string build = build_of(*asked);
    if (build.empty()) {
      continue;
    }
    const auto urls = run.urls(*asked->requirement);
    if (std::ranges::none_of(urls,
                             [&](const auto& url) { return may_have(url, build, knowledge); })) {
      missing[build].push_back(asked);
    }
  }
  for (const auto& [build, all] : missing) {
    const Asked& first = *all.front();
    std::set<std::string> named;
    for (const std::string& url : run.urls(*first.requirement)) {
      named.insert(variant_of_index(url));
    }
    named.erase("");
    const bool certain =
        run.in_image && says_all(column) && std::ranges::all_of(all, [](const Asked* asked) {
          return asked->holds == Truth::Yes && !asked->bound;
        });
    const std::string pin = first.requirement->name + first.requirement->specifier;
    const auto version = resolve(column, "torch").version;
    const TorchRelease* release =
        version && first.requirement->name == "torch" ? knowledge.torch_release(*version) : nullptr;
    const bool no_build =
        release != nullptr && build != "cpu" && release->variant(build) == nullptr;
    if (no_build && !certain) {
      continue;  // that there is no such build is said (judge_torch_build)
    }
    Finding& finding = add_finding(
        diagnosis, "index is not named", failing(certain), sure(certain),
        fmt::format("{} in {}", pin, first.recipe->path),
        named.empty()
            ? fmt::format("The Python index has no versions with a '+': {} is on PyTorch's index "
                          "of {} alone, which nothing here names.",
                          pin, build)
            : fmt::format("{} is on PyTorch's index of {} alone, and the one that is named is of "
                          "{}.",
                          pin, build, fmt::join(named, ", ")));
    for (const Asked* asked : all) {
      finding.evidence.push_back(evidence_of(*asked));
    }
    finding.error = fmt::format("Could not find a version that satisfies the requirement {}", pin);
    if (no_build) {
      propose_torch_builds(diagnosis, column, *version, proposals);
      continue;
    }
    add_index_remedies(finding, column, run, first, build, knowledge);
  }
}

// A word as a shell takes it.
std::string quoted(const std::string& word) {
  return word.find_first_of("<>;&|*?[]()$ ") == std::string::npos ? word
                                                                  : fmt::format("'{}'", word);
}

std::string words_of_all(const std::vector<const Asked*>& all) {
  std::vector<std::string> words;
  words.reserve(all.size());
  for (const Asked* asked : all) {
    words.push_back(quoted(requirement_text(*asked->requirement)));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// What a run asks of PyTorch's index alone.
struct Alone {
  const PackageIndex* index = nullptr;
  std::string url;
  std::vector<const Asked*> there;
  std::vector<const Asked*> lacking;    // the index is known not to have them
  std::vector<const Asked*> not_known;  // nothing is known of them
};

Alone asked_alone(const InstallRun& run, const Knowledge& knowledge) {
  Alone alone;
  for (const Asked* asked : run.asked) {
    const Requirement& requirement = *asked->requirement;
    const auto urls = run.urls(requirement);
    const bool elsewhere = std::ranges::any_of(
        urls, [&](const auto& url) { return known_index(url, knowledge) == nullptr; });
    if (run.keeps_python_index(requirement) || elsewhere || asked->bound ||
        !requirement.url.empty() || asked->recipe->kind == "lock" || urls.empty()) {
      continue;
    }
    alone.url = urls.front();
    alone.index = known_index(alone.url, knowledge);
    const auto among = [&](const std::vector<std::string>& names) {
      return std::ranges::find(names, requirement.name) != names.end();
    };
    (among(alone.index->has)     ? alone.there
     : among(alone.index->lacks) ? alone.lacking
                                 : alone.not_known)
        .push_back(asked);
  }
  return alone;
}

void add_alone_remedies(Finding& finding, const InstallRun& run, const Alone& alone,
                        const std::vector<const Asked*>& others) {
  const auto line = std::ranges::find_if(run.indexes, [&](const IndexLine* index) {
    return !index->extra && index->url == alone.url;
  });
  const bool pinned = std::ranges::all_of(alone.there, [](const Asked* asked) {
    return asked->requirement->specifier.starts_with("==");
  });
  const std::string cost =
      pinned ? "" : "what is not pinned is then taken from whichever index has the newest";
  if (line == run.indexes.end()) {
    // A command names both: two commands do.
    finding.remedies.push_back(
        {.command =
             "RUN " +
             installer_command(
                 *others.front(),
                 alone.there.empty()
                     ? fmt::format("pip install {}", words_of_all(others))
                     : fmt::format("pip install {} --index-url {} && pip install {}",
                                   words_of_all(alone.there), alone.url, words_of_all(others))),
         .text = fmt::format(
             "Write this in place of the command at {}",
             place_text(others.front()->recipe->path, others.front()->requirement->command_line())),
         .cost = {}});
    return;
  }
  const IndexLine& index = **line;
  const bool file = index.file.ends_with(".txt") || index.file.ends_with(".in");
  finding.remedies.push_back(
      {.command = file && index.line != 0 && is_plain(index.file) && is_plain(index.url)
                      ? fmt::format("sed -i '{}s|.*|--extra-index-url {}|' '{}'", index.line,
                                    index.url, index.file)
                      : "",
       .text = fmt::format("Write --extra-index-url in place of --index-url in {}",
                           place_text(index.file, index.line)),
       .cost = cost});
}

// PyTorch's index in place of the Python index, for packages that it does not have.
void judge_alone(Diagnosis& diagnosis, const RecipeColumn& column, const InstallRun& run) {
  const Alone alone = asked_alone(run, diagnosis.knowledge);
  const bool lacks = !alone.lacking.empty();
  std::vector<const Asked*> others = alone.lacking;
  others.insert(others.end(), alone.not_known.begin(), alone.not_known.end());
  if (others.empty()) {
    return;
  }
  const bool certain =
      lacks && alone.index->verified &&
      std::ranges::any_of(alone.lacking,
                          [](const Asked* asked) { return asked->holds == Truth::Yes; }) &&
      std::ranges::all_of(column.recipes,
                          [](const Recipe* recipe) { return recipe->doubts.empty(); });
  std::vector<std::string> names;
  for (const Asked* asked : lacks ? alone.lacking : others) {
    names.push_back(asked->requirement->name);
  }
  const Asked& first = *others.front();
  Finding& finding = add_finding(
      diagnosis, "index is replaced", failing(certain), sure(certain),
      fmt::format("{} in {}", names.front(), first.recipe->path),
      lacks ? fmt::format("--index-url takes the place of the Python index, and PyTorch's does not "
                          "have {}.",
                          fmt::join(names, ", "))
            : fmt::format("--index-url takes the place of the Python index, and whether PyTorch's "
                          "has {} is not known.",
                          fmt::join(names, ", ")));
  if (first.requirement->replaces_index) {
    finding.evidence.push_back({"--index-url " + alone.url,
                                place_text(first.recipe->path, first.requirement->command_line())});
  }
  for (const IndexLine* index : run.indexes) {
    if (!index->extra) {
      finding.evidence.push_back(
          {"--index-url " + index->url, place_text(index->file, index->line)});
    }
  }
  for (const Asked* asked : lacks ? alone.lacking : others) {
    finding.evidence.push_back(evidence_of(*asked));
  }
  finding.evidence.push_back({fmt::format("what {} has", alone.index->index), alone.index->source});
  finding.error = fmt::format("No matching distribution found for {}", names.front());
  add_alone_remedies(finding, run, alone, others);
}

}  // namespace

void judge_indexes(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  constexpr size_t kMostFindings = 50;  // of a column
  const size_t before = diagnosis.report.findings.size();
  for (const InstallRun& run : install_runs(column)) {
    if (diagnosis.report.findings.size() - before >= kMostFindings) {
      return;
    }
    judge_builds(diagnosis, column, run, proposals);
    judge_alone(diagnosis, column, run);
  }
}

}  // namespace mynah::doctor
