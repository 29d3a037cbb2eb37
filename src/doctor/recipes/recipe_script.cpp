// A file of commands for a shell, read for what it installs: what it does for sure, in the order of
// its commands; the rest is a doubt.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "doctor/recipes/docker_stages.h"
#include "doctor/recipes/dockerfile.h"
#include "doctor/recipes/install_commands.h"
#include "doctor/recipes/install_environment.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/recipes/shell_text.h"
#include "doctor/recipes/shell_variables.h"

namespace mynah::doctor {

namespace {

class ScriptReader {
 public:
  ScriptReader(std::string_view text, Recipe& recipe) : text_(text), recipe_(recipe) {}

  void read() {
    for (ShellCommand& command : shell_commands(text_)) {
      for (std::string& word : command.words) {
        word = substituted(word, variables_);
      }
      this->command(command);
    }
    recipe_.target = programs_.size() == 1 ? std::string(*programs_.begin()) : std::string();
  }

 private:
  // The first line that holds a word, from 1; 0: none does as it is.
  [[nodiscard]] uint64_t line_of(std::string_view word) const {
    uint64_t number = 0;
    for (std::string_view left = text_; !left.empty();) {
      const std::string_view line = left.substr(0, left.find('\n'));
      left.remove_prefix(std::min(line.size() + 1, left.size()));
      ++number;
      if (holds_word(line, word)) {
        return number;
      }
    }
    return 0;
  }

  void set(const std::string& name, const std::string& value) {
    constexpr size_t kMostVariables = 1000;
    constexpr size_t kLongestValue = 1024;
    if (variables_.size() < kMostVariables && value.size() <= kLongestValue) {
      variables_.insert_or_assign(name, substituted(value, variables_));
      read_index_variable(name, variables_.at(name), 0, recipe_);
    }
  }

  void command(const ShellCommand& command) {
    const std::vector<std::string>& words = command.words;
    const bool sets = words.empty() || words.front() == "export";
    if (sets && !command.doubtful) {
      for (const auto& [name, value] : command.variables) {
        set(name, value);
      }
      for (size_t i = 1; i < words.size(); ++i) {
        const size_t equals = words[i].find('=');
        if (equals != std::string::npos) {
          set(words[i].substr(0, equals), words[i].substr(equals + 1));
        }
      }
    }
    if (const auto other = activated(words, place_)) {
      place_.environment = *other;
      return;
    }
    Recipe one;
    one.path = recipe_.path;
    InstallStep step;
    if (const auto script = script_of(command)) {
      add_include(one, one.includes, beside(recipe_.path, *script), 0);
    } else {
      read_command(command, 0,
                   {.variables = variables_,
                    .place_of = [this](auto path) { return beside(recipe_.path, path); },
                    .place = place_},
                   one, step);
      if (!one.includes.empty()) {
        programs_.insert(installer_of(step, is_lock(one.includes.front())));
      }
    }
    keep(std::move(one), step, command.doubtful);
  }

  void keep(Recipe one, const InstallStep& step, bool doubtful) {
    const bool installs = !one.requirements.empty() || !one.includes.empty() ||
                          !one.constraints.empty() || !step.removes.empty();
    if (installs &&
        (doubtful || step.alone || !step.removes.empty() || !step.environment.empty())) {
      const uint64_t line =
          one.requirements.empty() ? 0 : line_of(requirement_text(one.requirements.front()));
      add_doubt(recipe_, line,
                "a command of the script may run or not, removes something, or installs into an "
                "environment of its own: what there is then is not known");
      return;
    }
    for (Requirement& requirement : one.requirements) {
      requirement.line = line_of(requirement_text(requirement));
      requirement.literal = requirement.line != 0;
      add_requirement(recipe_, std::move(requirement));
    }
    std::ranges::move(one.include_lines, std::back_inserter(recipe_.include_lines));
    std::ranges::move(one.doubts, std::back_inserter(recipe_.doubts));
    take_lists(one, recipe_);
  }

  std::string_view text_;
  Recipe& recipe_;
  std::map<std::string, std::string> variables_;
  InstallPlace place_;
  std::set<std::string_view> programs_;  // that install what it takes in
};

}  // namespace

void read_script(std::string_view text, Recipe& recipe) {
  recipe.kind = "script";
  ScriptReader(text, recipe).read();
}

}  // namespace mynah::doctor
