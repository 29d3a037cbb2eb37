#include "doctor/recipes/install_commands.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/package_name.h"
#include "doctor/recipes/device_architectures.h"
#include "doctor/recipes/installer_words.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/torch_index.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

using Words = std::span<const std::string>;

// "pip", "pip3", "pip3.11".
bool is_pip(std::string_view word) {
  word = program_name(word);
  return word.starts_with("pip") &&
         std::ranges::all_of(word.substr(3), [](char c) { return is_digit(c) || c == '.'; });
}

bool is_conda(std::string_view word) {
  word = program_name(word);
  return word == "conda" || word == "mamba" || word == "micromamba";
}

// The words behind a verb that comes first in `words`, but for options.
std::optional<Words> behind_verb(Words words, std::string_view verb) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == verb) {
      return words.subspan(i + 1);
    }
    if (!words[i].starts_with('-')) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// Indexes that variables of pip and uv name: the first, or one more.
struct IndexVariable {
  std::string_view name;
  bool extra;
};

constexpr IndexVariable kIndexVariables[] = {
    {"PIP_INDEX_URL", false},      {"UV_INDEX_URL", false},      {"UV_DEFAULT_INDEX", false},
    {"PIP_EXTRA_INDEX_URL", true}, {"UV_EXTRA_INDEX_URL", true}, {"UV_INDEX", true},
    {"PIP_FIND_LINKS", true},      {"UV_FIND_LINKS", true}};

std::vector<IndexLine> indexes_of(const std::string& name, const std::string& value) {
  std::vector<IndexLine> lines;
  const auto* const known = std::ranges::find(kIndexVariables, name, &IndexVariable::name);
  if (name == "UV_TORCH_BACKEND" && !value.empty()) {
    IndexLine line;
    line.url = torch_index(value == "auto" ? "" : value);
    line.extra = true;
    lines.push_back(std::move(line));
  } else if (known != std::end(kIndexVariables)) {
    for (std::string& url : words_of(value)) {
      IndexLine line;
      line.url = std::move(url);
      line.extra = known->extra;
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

void follow(const std::vector<std::string>& files, uint64_t line, const PlaceOf& place_of,
            Recipe& recipe, std::vector<std::string>& to) {
  for (const std::string& file : files) {
    if (file.find('$') != std::string::npos || is_address(file) || file == "-") {
      add_doubt(recipe, line, fmt::format("{} was not read", in_quotes(file)));
    } else {
      add_include(recipe, to, place_of(file), line);
    }
  }
}

void read_pip_install(Words words, const ShellCommand& command, uint64_t line,
                      const CommandSetting& setting, Recipe& recipe) {
  const PipWords read = read_pip_words(words);
  std::vector<IndexLine> indexes = read.indexes;
  for (const auto& [name, value] : command.variables) {
    std::ranges::move(indexes_of(name, value), std::back_inserter(indexes));
  }
  std::vector<std::string> own;
  own.reserve(indexes.size());
  for (const IndexLine& index : indexes) {
    own.push_back(index.url);
  }
  for (const std::string& group : read.groups) {
    add_groups(recipe, group);
  }
  const size_t before = recipe.requirements.size();
  for (const std::string& requirement : read.requirements) {
    if (const std::string_view folder = project_folder(requirement); !folder.empty()) {
      add_include(recipe, recipe.includes, project_file(folder, setting), line);
      add_groups(recipe, extras_of(requirement));
    } else {
      add_requirement(recipe, requirement, line, own);
    }
  }
  const bool replaces = std::ranges::any_of(indexes, std::logical_not(), &IndexLine::extra);
  for (size_t i = before; i < recipe.requirements.size(); ++i) {
    recipe.requirements[i].replaces_index = replaces;
  }
  follow(read.includes, line, setting.place_of, recipe, recipe.includes);
  follow(read.constraints, line, setting.place_of, recipe, recipe.constraints);
  if (!recipe.includes.empty()) {
    // What holds for a file that this command reads holds for the recipe: the file says no index.
    for (IndexLine& index : indexes) {
      index.one_command = true;
      index.file = recipe.path;
      index.line = line;
      recipe.indexes.push_back(std::move(index));
    }
  }
  for (const std::string& option : read.unknown) {
    add_doubt(recipe, line, fmt::format("the option {} is not known", in_quotes(option)));
  }
}

// pip config set global.extra-index-url ADDRESS: from then on every command of pip knows it.
void read_pip_settings(Words words, uint64_t line, Recipe& recipe) {
  if (words.size() < 2) {
    return;
  }
  const std::string_view key = std::string_view(words[0]).substr(words[0].find('.') + 1);
  if (key == "index-url" || key == "extra-index-url" || key == "find-links") {
    read_index_variable(key == "index-url"         ? "PIP_INDEX_URL"
                        : key == "extra-index-url" ? "PIP_EXTRA_INDEX_URL"
                                                   : "PIP_FIND_LINKS",
                        words[1], line, recipe);
  }
}

// apt-get install libcudnn9-cuda-12=9.1.0.70-1.
void read_apt(Words words, Recipe& recipe) {
  for (const std::string& word : words) {
    if (!word.starts_with('-') && recipe.system_packages.size() < kMostOfARecipe) {
      recipe.system_packages.push_back(word.substr(0, word.find('=')));
    }
  }
}

// conda install and create: packages, "--file FILE" of requirements, and "-f" of an environment.
void read_conda(Words words, uint64_t line, const PlaceOf& place_of, Recipe& recipe) {
  static constexpr std::array<std::string_view, 9> kWithValue = {
      "-n",         "--name",   "-p",
      "--prefix",   "-c",       "--channel",
      "--platform", "--solver", "--override-channels-file"};
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if ((word == "-f" || word == "--file") && i + 1 < words.size()) {
      follow({words[++i]}, line, place_of, recipe, recipe.includes);
    } else if (word.starts_with("--file=")) {
      follow({word.substr(7)}, line, place_of, recipe, recipe.includes);
    } else if (std::ranges::find(kWithValue, word) != kWithValue.end()) {
      ++i;
    } else if (!word.starts_with('-')) {
      add_conda_requirement(recipe, word, line);
    }
  }
}

// Verbs that install what a project's own files say.
struct ProjectVerb {
  std::string_view program;
  std::string_view verb;
  std::string_view lock;
  // The project that the lock is made of where there is none; empty: the verb stops there.
  std::string_view project;
};

constexpr ProjectVerb kProjectVerbs[] = {{"uv", "sync", "uv.lock", "pyproject.toml"},
                                         {"uv", "run", "uv.lock", "pyproject.toml"},
                                         {"poetry", "install", "poetry.lock", "pyproject.toml"},
                                         {"poetry", "sync", "poetry.lock", "pyproject.toml"},
                                         {"pdm", "install", "pdm.lock", "pyproject.toml"},
                                         {"pdm", "sync", "pdm.lock", ""},
                                         {"pipenv", "install", "Pipfile.lock", "Pipfile"},
                                         {"pipenv", "sync", "Pipfile.lock", ""}};

// Extras and groups that such a verb's options name. Those that a program installs by default, but
// for uv's "dev", are left out: they are for developers.
void read_groups(std::string_view program, Words words, Recipe& recipe) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "--extra", "--group", "--only-group", "--extras", "-E", "--with", "--only", "-G"};
  bool dev = program == "uv";
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const size_t equals =
        word.starts_with("--") ? std::min(word.find('='), word.size()) : word.size();
    const std::string_view name = word.substr(0, equals);
    if (name == "--all-extras" || name == "--all-groups") {
      add_groups(recipe, "*");
    } else if (name == "--dev" || name == "-d") {
      add_groups(recipe, "dev");
    } else if (name == "--no-dev" || name == "--no-default-groups" || name == "--only-group") {
      dev = false;
    }
    if (std::ranges::find(kNames, name) == kNames.end()) {
      continue;
    }
    if (equals < word.size()) {
      add_groups(recipe, word.substr(equals + 1));
    } else if (i + 1 < words.size()) {
      add_groups(recipe, words[++i]);
    }
  }
  if (dev) {
    add_groups(recipe, "dev");
  }
}

// Whether groups come without what the project asks for itself.
bool installs_group_alone(Words words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : "";
    if (word.starts_with("--only-group") || word == "--only-dev" ||
        (word.starts_with("--only=") && word != "--only=main") ||
        (word == "--only" && next != "main")) {
      return true;
    }
  }
  return false;
}

bool says_cuda(std::string_view text) {
  const std::string small = small_letters(text);
  return small.find("cuda") != std::string::npos || small.find("cublas") != std::string::npos;
}

// Whether it compiles device code: nvcc itself, CMake told to, or a package that has no wheels for
// cards and is told by CMAKE_ARGS.
bool compiles(const ShellCommand& command, const std::map<std::string, std::string>& variables,
              const std::string& written) {
  const std::string_view program = program_name(command.words.front());
  if (program == "nvcc") {
    return true;
  }
  if (program == "cmake") {
    return says_cuda(written) && written.find("-D") != std::string::npos;
  }
  const auto from_source = [&](const std::map<std::string, std::string>& set) {
    const auto found = set.find("CMAKE_ARGS");
    return found != set.end() && says_cuda(found->second);
  };
  const bool builds_itself = written.find("llama-cpp-python") != std::string::npos ||
                             written.find("setup.py") != std::string::npos ||
                             written.find("--no-binary") != std::string::npos;
  const bool with_torch = written.find("setup.py") != std::string::npos ||
                          written.find("--no-build-isolation") != std::string::npos;
  return (builds_itself && (from_source(command.variables) || from_source(variables))) ||
         command.variables.contains("TORCH_CUDA_ARCH_LIST") ||
         (with_torch && variables.contains("TORCH_CUDA_ARCH_LIST"));
}

}  // namespace

bool names_index(std::string_view variable) {
  return variable == "UV_TORCH_BACKEND" ||
         std::ranges::find(kIndexVariables, variable, &IndexVariable::name) !=
             std::end(kIndexVariables);
}

void read_index_variable(const std::string& name, const std::string& value, uint64_t line,
                         Recipe& recipe) {
  for (IndexLine index : indexes_of(name, value)) {
    index.file = recipe.path;
    index.line = line;
    recipe.indexes.push_back(std::move(index));
  }
}

namespace {

// Programs whose words are texts and patterns, whatever they say.
constexpr std::array<std::string_view, 9> kTextPrograms = {"echo", "printf", "cat",   "grep", "sed",
                                                           "awk",  "find",   "alias", "rm"};

// uv's environment of a project, and that of others that make one beside it.
std::string project_environment(std::string_view program, Words words,
                                const CommandSetting& setting) {
  const auto variable = [&](const char* name) {
    const auto found = setting.variables.find(name);
    return found == setting.variables.end() ? std::string() : found->second;
  };
  const bool active = std::ranges::find(words, "--active") != words.end();
  if (program == "uv" && !active) {
    const std::string named = variable("UV_PROJECT_ENVIRONMENT");
    return environment_of_program(setting.place.folder, named.empty() ? ".venv" : named);
  }
  const std::string beside = variable("POETRY_VIRTUALENVS_IN_PROJECT");
  if (program == "pdm" || (program == "poetry" && (beside == "1" || beside == "true"))) {
    return setting.place.environment.empty() ? inside(setting.place.folder, ".venv")
                                             : setting.place.environment;
  }
  return setting.place.environment;
}

// Whether an installer puts another in place of what is there and would do.
bool renews(Words words) {
  static constexpr std::array<std::string_view, 10> kOptions = {
      "-U",  "--upgrade", "--force-reinstall", "-I", "--ignore-installed", "--reinstall", "--exact",
      "-UI", "-IU",       "--upgrade-package"};
  return std::ranges::any_of(words, [](const std::string& word) {
    return std::ranges::find(kOptions, word) != kOptions.end();
  });
}

void remove_packages(Words words, InstallStep& step) {
  for (const std::string& word : words) {
    if (!word.starts_with('-') && step.removes.size() < kMostOfARecipe) {
      step.removes.push_back(normal_name(word.substr(0, word.find_first_of("=<>~![;"))));
    }
  }
}

// Reads pip or uv standing at `at`; false: it does nothing of interest.
bool read_installer(const ShellCommand& command, size_t at, uint64_t line,
                    const CommandSetting& setting, Recipe& recipe, InstallStep& step) {
  const Words words = command.words;
  const std::string_view program = program_name(words[at]);
  const Words behind = words.subspan(at + 1);
  const auto rest = behind_verb(behind, program == "uv" ? "add" : "install");
  const auto removed = behind_verb(behind, program == "uv" ? "remove" : "uninstall");
  if (rest || removed) {
    step.environment = program == "uv" ? project_environment("uv", behind, setting)
                                       : environment_of_pip(words, at, setting.place);
    step.renews = rest && renews(*rest);
    step.alone = rest && read_pip_words(*rest).no_dependencies;
    step.uv = is_by_uv(words, at);
    step.legacy = is_legacy(command, setting);
    step.joined = is_joined(command, setting);
    step.managed =
        program != "uv" && step.environment.empty() && may_be_kept_out(command, at, setting);
  }
  if (rest) {
    read_pip_install(*rest, command, line, setting, recipe);
    return true;
  }
  if (removed) {
    remove_packages(*removed, step);
    return true;
  }
  if (program == "uv") {
    return false;
  }
  if (const auto settings = behind_verb(behind, "config")) {
    read_pip_settings(behind_verb(*settings, "set").value_or(Words()), line, recipe);
    return true;
  }
  if (const auto files = behind_verb(behind, "sync")) {
    step.environment = environment_of_pip(words, at, setting.place);
    follow(read_pip_words(*files).requirements, line, setting.place_of, recipe, recipe.includes);
    return true;
  }
  return false;
}

}  // namespace

bool is_shell(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "zsh", "dash", "ash"};
  return std::ranges::find(kShells, program_name(word)) != kShells.end();
}

std::optional<std::string> script_of(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 6> kPythons = {
      "miniconda", "miniforge", "mambaforge", "anaconda", "micromamba", "rustup"};
  Words words = command.words;
  if (!words.empty() && words.front() == "sudo") {
    words = words.subspan(1);
  }
  if (words.empty()) {
    return std::nullopt;
  }
  size_t at = 0;
  if (is_shell(words.front()) || words.front() == "." || words.front() == "source") {
    for (at = 1; at < words.size() && words[at].starts_with('-'); ++at) {
      if (!words[at].starts_with("--") && words[at].ends_with('c')) {
        return std::nullopt;
      }
    }
  }
  const std::string name = at < words.size() ? small_letters(program_name(words[at])) : "";
  const bool script = name.ends_with(".sh") || name.ends_with(".bash");
  const bool tools =
      std::ranges::any_of(kPythons, [&](std::string_view known) { return name.contains(known); });
  return script && !tools && !words[at].contains('$') ? std::optional(words[at]) : std::nullopt;
}

void read_command(const ShellCommand& command, uint64_t line, const CommandSetting& setting,
                  Recipe& recipe, InstallStep& step) {
  constexpr size_t kMostShown = 300;
  const Words words = command.words;
  if (words.empty() || std::ranges::find(kTextPrograms, words.front()) != kTextPrograms.end()) {
    return;
  }
  const std::string written = fmt::format("{}", fmt::join(words, " "));
  if (compiles(command, setting.variables, written) && recipe.builds.size() < kMostOfARecipe) {
    recipe.builds.push_back(written.substr(0, kMostShown));
    if (auto architectures = named_architectures(command, setting.variables);
        !architectures.empty()) {
      recipe.device_builds.push_back({.command = recipe.builds.back(),
                                      .line = line,
                                      .architectures = std::move(architectures),
                                      .doubtful = command.doubtful});
    }
  }
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view program = program_name(words[i]);
    const Words behind = words.subspan(i + 1);
    if (is_pip(program) || program == "uv") {
      if (read_installer(command, i, line, setting, recipe, step)) {
        return;
      }
    } else if (program == "apt-get" || program == "apt") {
      if (const auto rest = behind_verb(behind, "install")) {
        read_apt(*rest, recipe);
        return;
      }
    } else if (is_conda(program)) {
      const Words verbs = behind_verb(behind, "env").value_or(behind);
      for (const std::string_view verb : {"install", "create", "update", "remove", "uninstall"}) {
        const auto rest = behind_verb(verbs, verb);
        if (!rest) {
          continue;
        }
        step.environment = environment_of_conda(*rest);
        if (verb == "remove" || verb == "uninstall") {
          remove_packages(*rest, step);
        } else {
          read_conda(*rest, line, setting.place_of, recipe);
        }
        return;
      }
    }
    for (const ProjectVerb& known : kProjectVerbs) {
      const auto rest = program == known.program ? behind_verb(behind, known.verb) : std::nullopt;
      if (rest) {
        step.environment = project_environment(program, *rest, setting);
        step.uv = program == "uv";
        step.found = step.uv && !names_python(command, setting);
        const size_t doubts = recipe.doubts.size();
        add_include(recipe, recipe.includes, setting.place_of(known.lock), line);
        const bool makes = !known.project.empty() && !takes_lock_as_it_is(command, setting);
        if (makes && doubts == recipe.doubts.size() && !recipe.include_lines.empty()) {
          recipe.include_lines.back().made_of = setting.place_of(known.project);
        }
        // What a group brings without the project's own needs is not told apart.
        step.doubtful |= installs_group_alone(*rest);
        read_groups(program, *rest, recipe);
        return;
      }
    }
  }
}

}  // namespace mynah::doctor
