#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/docker_copies.h"
#include "doctor/recipes/docker_stages.h"
#include "doctor/recipes/dockerfile.h"
#include "doctor/recipes/install_commands.h"
#include "doctor/recipes/install_environment.h"
#include "doctor/recipes/installer_settings.h"
#include "doctor/recipes/installer_words.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/shell_text.h"
#include "doctor/recipes/shell_variables.h"
#include "doctor/recipes/written_files.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostInstructions = 5000;
constexpr size_t kMostStages = 100;
constexpr size_t kLongestValue = 1024;  // of a variable; longer ones are not followed

using Variables = std::map<std::string, std::string>;

class DockerfileReader {
 public:
  // Docker itself sets what an image is built for: here the machine that most have.
  explicit DockerfileReader(Recipe& recipe)
      : recipe_(recipe),
        copies_(recipe.path),
        global_({{"TARGETPLATFORM", "linux/amd64"},
                 {"TARGETOS", "linux"},
                 {"TARGETARCH", "amd64"},
                 {"TARGETVARIANT", ""}}) {
    before_.path = recipe.path;
    for (auto& [name, value] : global_) {
      const auto given = recipe.arguments.find(name);
      value = given != recipe.arguments.end() ? given->second : value;
    }
  }

  void read(std::string_view text) {
    const std::vector<DockerInstruction> instructions = docker_instructions(text);
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (i == kMostInstructions) {
        add_doubt(part(), instructions[i].line, "there are more instructions than are read");
        break;
      }
      instruction(instructions[i]);
    }
    recipe_.variables = before_.variables;
    recipe_.doubts = before_.doubts;
    if (!stages_.empty()) {
      compose_image(stages_, target(), recipe_);
    }
  }

 private:
  // What a stage begins with where it is built on another.
  struct State {
    Variables variables;
    InstallPlace place;
    // That were made, and the line of the FROM whose Python they run; 0: not known.
    std::map<std::string, uint64_t> environments;
    std::map<std::string, std::string> pythons;  // that those were made with, where it is named
    uint64_t base = 0;                           // line of the FROM that all begins with
    WrittenFiles written;
    bool other_python = false;  // uv was told of one
    bool freed = false;         // pip may change the system's Python from some line on
  };

  size_t target() {
    if (const auto stage = stage_of(stages_, recipe_.target, stages_.size());
        stage && !recipe_.target.empty()) {
      return *stage;
    }
    if (!recipe_.target.empty()) {
      add_doubt(recipe_, 0, fmt::format("there is no stage {}", in_quotes(recipe_.target)));
    }
    return stages_.size() - 1;
  }

  // What the lines of this stage say.
  Recipe& part() { return stages_.empty() ? before_ : stages_.back().part; }

  void instruction(const DockerInstruction& read) {
    if (read.keyword == "FROM") {
      from(read);
    } else if (read.keyword == "ARG") {
      argument(read);
    } else if (read.keyword == "ENV") {
      environment(read);
    } else if (read.keyword == "COPY" || read.keyword == "ADD") {
      copy(read);
    } else if (read.keyword == "RUN") {
      run(read);
    } else if (read.keyword == "WORKDIR") {
      state_.place.folder =
          inside(state_.place.folder, substituted(trimmed(read.arguments), state_.variables));
    } else if (read.keyword == "ONBUILD") {
      add_doubt(part(), read.line, "ONBUILD was not followed");
    }
  }

  void from(const DockerInstruction& read) {
    const std::vector<std::string> words = words_of(substituted(read.arguments, global_));
    if (words.empty()) {
      add_doubt(part(), read.line, "FROM without an image");
      return;
    }
    keep_state();
    DockerStage stage;
    stage.image = docker_image(words.front());
    stage.image.line = read.line;
    stage.image.literal = holds_word(read.arguments, words.front()) && !words.front().contains('@');
    constexpr std::string_view kPlatform = "--platform=";
    for (const std::string& flag : read.flags) {
      if (flag.starts_with(kPlatform)) {
        stage.image.platform = substituted(flag.substr(kPlatform.size()), global_);
      }
    }
    stage.part.path = recipe_.path;
    if (words.size() >= 3 && small_letters(words[1]) == "as") {
      stage.image.stage = words[2];
    }
    // A stage built on an earlier one has that one's variables.
    stage.parent = stage_of(stages_, stage.image.image, stages_.size());
    state_ = stage.parent ? states_[*stage.parent] : State();
    state_.base = stage.parent ? state_.base : read.line;
    if (stages_.size() >= kMostStages) {
      add_doubt(part(), read.line, "there are more stages than are read");
      stages_.pop_back();
    }
    stages_.push_back(std::move(stage));
    if (words.front().find('$') != std::string::npos) {
      add_doubt(part(), read.line,
                fmt::format("{} holds a variable without a value", in_quotes(words.front())));
    }
  }

  void keep_state() {
    if (!stages_.empty()) {
      states_.resize(stages_.size());
      states_.back() = state_;
    }
  }

  void set(const std::string& name, std::string value) {
    constexpr size_t kMostVariables = 1000;
    Variables& variables = stages_.empty() ? global_ : state_.variables;
    if (value.size() > kLongestValue || variables.size() >= kMostVariables) {
      variables.erase(name);
      return;
    }
    variables.insert_or_assign(name, value);
    part().variables.insert_or_assign(name, std::move(value));
  }

  void argument(const DockerInstruction& read) {
    for (const std::string& word : words_of(read.arguments)) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      if (const auto given = recipe_.arguments.find(name); given != recipe_.arguments.end()) {
        set(name, given->second);
        read_index_variable(name, given->second, read.line, part());
      } else if (equals != std::string::npos) {
        const std::string value =
            substituted(word.substr(equals + 1), stages_.empty() ? global_ : state_.variables);
        set(name, value);
        read_index_variable(name, value, read.line, part());
      } else if (const auto known = global_.find(name);
                 !stages_.empty() && known != global_.end()) {
        set(name, known->second);
      } else if (names_index(name)) {
        add_doubt(part(), read.line, fmt::format("{} is said when the image is built", name));
      }
    }
  }

  void environment(const DockerInstruction& read) {
    const std::string_view text = read.arguments;
    const size_t name_end = text.find_first_of("= \t");
    if (name_end == std::string_view::npos) {
      return;
    }
    if (text[name_end] != '=') {
      // The old form: one name, and all behind the blank is its value.
      value_of_environment(std::string(text.substr(0, name_end)),
                           std::string(trimmed(text.substr(name_end))), read.line,
                           state_.variables);
      return;
    }
    const Variables before = state_.variables;  // values of one line do not see each other
    for (const std::string& word : words_of(text)) {
      const size_t equals = word.find('=');
      if (equals != std::string::npos) {
        value_of_environment(word.substr(0, equals), word.substr(equals + 1), read.line, before);
      }
    }
  }

  void value_of_environment(const std::string& name, const std::string& written, uint64_t line,
                            const Variables& variables) {
    const std::string value = substituted(written, variables);
    set(name, value);
    read_index_variable(name, value, line, part());
    if (name == "VIRTUAL_ENV") {
      state_.environments.try_emplace(environment_of_program("", value), 0);
      state_.place.environment = environment_of_program("", value);
    } else if (name == "PATH") {
      enter_path(value);
    } else if (name == "PIP_CONFIG_FILE" && value != "/dev/null") {
      add_unread_settings(part(), line, "pip.conf", copies_.place_of(value));
    }
  }

  // The first folder of PATH that is an environment's decides which "pip" is meant.
  void enter_path(std::string_view path) {
    while (!path.empty()) {
      const std::string folder(path.substr(0, path.find(':')));
      path.remove_prefix(std::min(folder.size() + 1, path.size()));
      const std::string environment = environment_of_program("", folder + "/python");
      if (folder.ends_with("/bin") && !environment.empty() &&
          (state_.environments.contains(environment) || environment.starts_with("conda ") ||
           environment.find("env") != std::string::npos)) {
        state_.place.environment = environment;
        return;
      }
    }
  }

  void copy(const DockerInstruction& read) {
    state_.freed |= frees_pip(read.arguments);
    const std::vector<std::string> words =
        docker_words(substituted(read.arguments, state_.variables), recipe_.path);
    const std::string target = words.empty() ? "" : words.back();
    const auto elsewhere = std::ranges::find_if(
        read.flags, [](const std::string& flag) { return flag.starts_with("--from="); });
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (elsewhere != read.flags.end()) {
        const std::string stage = substituted(elsewhere->substr(7), state_.variables);
        take({.stage = stage,
              .source = inside("", words[i]),
              .target = inside(state_.place.folder, target)});
        doubt_settings(words[i] + " " + target, read.line);
      } else if (words[i].starts_with("<<")) {
        state_.written.add(inside(state_.place.folder, target), read.line);
        write_settings(target, read.documents.empty() ? "" : read.documents[0], read.line);
      } else {
        bring(words[i], target, read.line);
      }
    }
  }

  void take(FromStage from) {
    constexpr size_t kMostTaken = 500;
    if (!stages_.empty() && stages_.back().taken.size() < kMostTaken) {
      from.step = part().steps.size();
      stages_.back().taken.push_back(std::move(from));
    }
  }

  // Settings of an installer may name indexes.
  void doubt_settings(std::string_view text, uint64_t line, const std::string& file = {}) {
    if (const std::string_view name = settings_in(text); !name.empty()) {
      add_unread_settings(part(), line, name, file);
    }
  }

  void write_settings(std::string_view target, std::string_view text, uint64_t line) {
    auto said = pip_settings(text, recipe_.path, line);
    if (said && !has_installed(part()) &&
        is_pip_settings(inside(state_.place.folder, target), state_.variables)) {
      std::ranges::move(*said, std::back_inserter(part().indexes));
    } else {
      doubt_settings(target, line);
    }
  }

  // What is copied or mounted from beside the Dockerfile.
  void bring(const std::string& source, const std::string& target, uint64_t line) {
    copies_.add(source, target);
    std::string path = inside(state_.place.folder, target);
    path = last_name(path) == "pip.conf" ? path : inside(path, last_name(source));
    const bool read = is_pip_settings(path, state_.variables);
    doubt_settings(source + " " + target, line, read ? copies_.place_of(path) : "");
  }

  void mount(std::string_view flag, uint64_t line) {
    const DockerMount read = docker_mount(flag);
    if (!read.from.empty()) {
      take({.stage = read.from, .source = {}, .target = {}});
      doubt_settings(flag, line);
    } else if (read.type == "bind" && !read.source.empty()) {
      bring(read.source, read.target, line);
    } else {
      doubt_settings(flag, line);
    }
  }

  void run(const DockerInstruction& read) {
    const size_t before = part().requirements.size();
    install(read);
    find_lines(read, std::span(part().requirements).subspan(before));
  }

  void install(const DockerInstruction& read) {
    state_.freed |= frees_pip(read.arguments);
    for (const std::string& flag : read.flags) {
      state_.freed |= frees_pip(flag);
      if (flag.starts_with("--mount=")) {
        mount(flag, read.line);
      }
    }
    const InstallPlace outside = state_.place;
    // "[ -f x ] && pip install y" is for a shell.
    if (read.arguments.starts_with('[') && trimmed(read.arguments).ends_with(']')) {
      ShellCommand command;
      command.words = docker_words(read.arguments, recipe_.path);
      shell(command, read.line, 0);
    } else {
      commands(read.arguments, read.line, false, 0);
      for (const std::string& document : read.documents) {
        if (runs_documents(read.arguments)) {
          commands(document, read.line, false, 0);
        }
      }
    }
    // What a shell went into ends with it.
    state_.place.environment = outside.environment;
    state_.place.folder = outside.folder;
  }

  void commands(const std::string& text, uint64_t line, bool doubtful, int depth) {
    for (ShellCommand& read : shell_commands(text, state_.variables)) {
      read.doubtful |= doubtful;
      for (const std::string& file : take_substituted(read)) {
        state_.written.add(inside(state_.place.folder, file), line, {file});
      }
      shell(read, line, depth);
    }
  }

  void shell(const ShellCommand& command, uint64_t line, int depth) {
    constexpr int kDeepest = 4;
    const std::vector<std::string>& words = command.words;
    const bool scripted = words.size() >= 3 && is_shell(words[0]) && words[1].starts_with('-') &&
                          words[1].ends_with('c');
    if (scripted && depth < kDeepest) {
      commands(words[2], line, command.doubtful, depth + 1);
    } else if (!words.empty() && words[0] == "cd" && words.size() == 2) {
      state_.place.folder = inside(state_.place.folder, words[1]);
    } else if (auto environment = activated(words, state_.place)) {
      state_.place.environment = *environment;
    } else if (const auto file = script_of(command); file && is_to_follow(command, *file)) {
      script(command, *file, line);
    } else {
      step(command, line);
      settings(command, line);
      state_.written.note(command, state_.place.folder, line);
      if (const auto made_one = made(words, state_.place)) {
        const bool uv = !words.empty() && last_name(words[0]) == "uv";
        state_.environments[*made_one] = uv ? 0 : state_.base;  // uv may take a Python of its own
        if (std::string python = named_python(words); !python.empty()) {
          state_.pythons[*made_one] = std::move(python);
        }
        state_.place.uv = uv ? *made_one : state_.place.uv;
      }
    }
  }

  void settings(const ShellCommand& command, uint64_t line) {
    const auto text = printed_text(command);
    if (text && command.written.size() == 1) {
      write_settings(command.written[0], *text, line);
    } else {
      doubt_settings(settings_in(command), line);
    }
  }

  // What one command does is read apart, and is a step where it installs or removes something.
  void step(const ShellCommand& command, uint64_t line) {
    Recipe one;
    one.path = recipe_.path;
    InstallStep step;
    std::vector<std::string> edited;
    const auto place_of = [&](std::string_view path) {
      const WrittenFile* const found = state_.written.at(inside(state_.place.folder, path));
      const bool cloned = found != nullptr && !found->cloned.empty();
      const bool own = cloned && copies_.is_own(found->cloned);
      std::string place =
          cloned && !own ? fmt::format("{}/{}", found->cloned, path) : copies_.place_of(path);
      if (found != nullptr && !own) {
        edited.push_back(place);
        add_doubt(one, line,
                  fmt::format("{} is written or changed by a command at line {}: what it asks for "
                              "then is not known",
                              in_quotes(path), found->line));
        for (const std::string& source : found->from) {
          add_include(one, one.includes, copies_.place_of(source), line);
          edited.push_back(one.includes.back());
        }
      }
      return place;
    };
    const CommandSetting setting{
        .variables = state_.variables, .place_of = place_of, .place = state_.place};
    read_command(command, line, setting, one, step);
    state_.other_python |= names_python(command, setting);
    // A file of conda's names its environment: any of those that commands name may be meant.
    const bool conda = step.environment.starts_with("conda ");
    conda_by_file_ |= step.environment.empty() && !one.includes.empty() && is_by_conda(command);
    if (conda && conda_by_file_) {
      step.environment.clear();
    }
    keep(std::move(one), std::move(step), command, line, edited);
  }

  // What goes into a shell's own settings is not looked at, but for files of the project.
  bool is_to_follow(const ShellCommand& command, const std::string& file) const {
    const std::string& first = command.words.front();
    return copies_.copied_from(file).has_value() || (first != "." && first != "source");
  }

  // A script is read as a file that the command installs from, where it was copied as it is.
  void script(const ShellCommand& command, const std::string& file, uint64_t line) {
    Recipe one;
    one.path = recipe_.path;
    const std::string place = copies_.place_of(file);
    const bool whole = copies_.copied_from(file) &&
                       state_.written.at(inside(state_.place.folder, file)) == nullptr;
    if (whole) {
      add_include(one, one.includes, place, line);
    } else {
      one.include_lines.push_back({.path = place, .line = line});
      add_doubt(one, line,
                fmt::format("what the script {} installs is not known", in_quotes(file)));
    }
    InstallStep step;
    step.environment = state_.place.environment;
    keep(std::move(one), std::move(step), command, line,
         whole ? std::vector<std::string>() : std::vector<std::string>{place});
  }

  // `edited`: files that were written by commands, or are not known.
  void keep(Recipe one, InstallStep step, const ShellCommand& command, uint64_t line,
            const std::vector<std::string>& edited) {
    step.unknown = !one.doubts.empty();
    step.line = line;
    step.doubtful |= command.doubtful;
    step.found &= !state_.other_python;
    step.python = named_python(command.words);
    if (const auto made = state_.pythons.find(step.environment);
        step.python.empty() && made != state_.pythons.end()) {
      step.python = made->second;
    }
    step.managed &= !state_.freed;
    if (const auto made = state_.environments.find(step.environment);
        made != state_.environments.end()) {
      step.image = made->second;
    }
    for (DeviceBuild& build : one.device_builds) {
      build.image = state_.base;
    }
    add_step(part(), std::move(one), std::move(step), edited);
  }

  Recipe& recipe_;
  DockerCopies copies_;
  Recipe before_;     // what stands before the first FROM
  Variables global_;  // ARG there
  State state_;
  std::vector<DockerStage> stages_;
  std::vector<State> states_;  // at the ends of stages
  bool conda_by_file_ = false;
};

}  // namespace

void read_dockerfile(std::string_view text, Recipe& recipe) {
  recipe.kind = "dockerfile";
  DockerfileReader(recipe).read(text);
  recipe.python = python_of_image(recipe);
}

}  // namespace mynah::doctor
