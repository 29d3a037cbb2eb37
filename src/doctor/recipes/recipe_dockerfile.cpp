#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/dockerfile.h"
#include "doctor/recipes/install_commands.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/recipes/shell_text.h"
#include "formats/byte_reader.h"
#include "formats/text_tree.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostInstructions = 5000;
constexpr size_t kLongestValue = 1024;  // of a variable; longer ones are not followed

using Variables = std::map<std::string, std::string>;

std::string file_name(std::string_view path) {
  return std::filesystem::path(path).filename().string();
}

// Whether a line holds a word of a command, not a part of a longer one.
bool holds_word(std::string_view line, std::string_view word) {
  constexpr std::string_view kBefore = " \t\"'=";
  constexpr std::string_view kBehind = " \t\"'\\;&\r";
  for (size_t at = line.find(word); !word.empty() && at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || kBefore.contains(line[at - 1])) &&
        (end == line.size() || kBehind.contains(line[end]))) {
      return true;
    }
  }
  return false;
}

class DockerfileReader {
 public:
  // Docker itself sets what an image is built for: here the machine that most have.
  explicit DockerfileReader(Recipe& recipe)
      : recipe_(recipe),
        global_({{"TARGETPLATFORM", "linux/amd64"},
                 {"TARGETOS", "linux"},
                 {"TARGETARCH", "amd64"},
                 {"TARGETVARIANT", ""}}) {}

  void read(std::string_view text) {
    const std::vector<DockerInstruction> instructions = docker_instructions(text);
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (i == kMostInstructions) {
        add_doubt(recipe_, instructions[i].line, "there are more instructions than are read");
        return;
      }
      instruction(instructions[i]);
    }
  }

 private:
  // A file or folder that COPY or a mount brings into the image.
  struct Copy {
    std::string source;
    std::string target;
  };

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
    } else if (read.keyword == "ONBUILD") {
      add_doubt(recipe_, read.line, "ONBUILD was not followed");
    }
  }

  void from(const DockerInstruction& read) {
    const std::vector<std::string> words = words_of(substituted(read.arguments, global_));
    if (words.empty()) {
      add_doubt(recipe_, read.line, "FROM without an image");
      return;
    }
    BaseImage image;
    image.line = read.line;
    std::string_view name = words.front();
    name = name.substr(0, name.find('@'));
    // A port of a registry stands before a slash, a tag behind the last one.
    const size_t colon = name.rfind(':');
    if (colon != std::string_view::npos && name.find('/', colon) == std::string_view::npos) {
      image.tag = std::string(name.substr(colon + 1));
      name = name.substr(0, colon);
    }
    image.image = std::string(name);
    if (words.size() >= 3 && small_letters(words[1]) == "as") {
      image.stage = words[2];
    }
    if (words.front().find('$') != std::string::npos) {
      add_doubt(recipe_, read.line,
                fmt::format("{} holds a variable without a value", in_quotes(words.front())));
    }
    // A stage built on an earlier one has that one's variables.
    const auto stage = stages_.find(small_letters(image.image));
    stage_ = stage == stages_.end() ? Variables() : stage->second;
    stage_name_ = small_letters(image.stage);
    keep_stage();
    in_stage_ = true;
    if (recipe_.images.size() < kMostOfARecipe) {
      recipe_.images.push_back(std::move(image));
    }
  }

  void keep_stage() {
    constexpr size_t kMostStages = 100;
    if (!stage_name_.empty() && (stages_.size() < kMostStages || stages_.contains(stage_name_))) {
      stages_.insert_or_assign(stage_name_, stage_);
    }
  }

  void set(const std::string& name, std::string value) {
    constexpr size_t kMostVariables = 1000;
    Variables& variables = in_stage_ ? stage_ : global_;
    if (value.size() > kLongestValue || variables.size() >= kMostVariables) {
      variables.erase(name);
      return;
    }
    variables.insert_or_assign(name, value);
    recipe_.variables.insert_or_assign(name, std::move(value));
    keep_stage();
  }

  void argument(const DockerInstruction& read) {
    for (const std::string& word : words_of(read.arguments)) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      if (equals != std::string::npos) {
        const std::string value =
            substituted(word.substr(equals + 1), in_stage_ ? stage_ : global_);
        set(name, value);
        read_index_variable(name, value, read.line, recipe_);
      } else if (const auto known = global_.find(name); in_stage_ && known != global_.end()) {
        set(name, known->second);
      } else if (names_index(name)) {
        add_doubt(recipe_, read.line, fmt::format("{} is said when the image is built", name));
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
                           std::string(trimmed(text.substr(name_end))), read.line, stage_);
      return;
    }
    const Variables before = stage_;  // values of one line do not see each other
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
    read_index_variable(name, value, line, recipe_);
  }

  // Sources and target of COPY, as words or as a JSON list.
  static std::vector<std::string> copied(const std::string& text, const std::string& file) {
    if (text.starts_with('[')) {
      if (const auto list = parse_yaml(text, file); list && list->is_list()) {
        std::vector<std::string> words;
        for (const TextTree::Member& member : list->members) {
          words.push_back(member.value.text);
        }
        return words;
      }
    }
    return words_of(text);
  }

  void copy(const DockerInstruction& read) {
    doubt_settings(read.arguments, read.line);
    const auto from_elsewhere = [](const std::string& flag) { return flag.starts_with("--from="); };
    if (std::ranges::any_of(read.flags, from_elsewhere)) {
      return;
    }
    const std::vector<std::string> words =
        copied(substituted(read.arguments, stage_), recipe_.path);
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      bring(words[i], words.back());
    }
  }

  // Settings of an installer may name indexes.
  void doubt_settings(const std::string& text, uint64_t line) {
    for (const std::string_view file : {"pip.conf", "uv.toml"}) {
      if (text.find(file) != std::string::npos) {
        add_doubt(recipe_, line, fmt::format("{} was not read: it may name an index", file));
      }
    }
  }

  void bring(const std::string& source, const std::string& target) {
    constexpr size_t kMostCopies = 500;
    if (copies_.size() < kMostCopies) {
      copies_.push_back({.source = source, .target = target});
    }
  }

  // "--mount=type=bind,source=uv.lock,target=uv.lock".
  void mount(std::string_view flag) {
    std::string source;
    std::string target;
    bool bind = true;
    flag.remove_prefix(std::min(flag.find('=') + 1, flag.size()));
    while (!flag.empty()) {
      const std::string_view part = flag.substr(0, flag.find(','));
      flag.remove_prefix(std::min(part.size() + 1, flag.size()));
      const size_t equals = std::min(part.find('='), part.size());
      const std::string_view key = part.substr(0, equals);
      const std::string value(part.substr(std::min(equals + 1, part.size())));
      if (key == "source" || key == "src") {
        source = value;
      } else if (key == "target" || key == "dst" || key == "destination") {
        target = value;
      } else if (key == "from" || (key == "type" && value != "bind")) {
        bind = false;
      }
    }
    if (bind && !source.empty()) {
      bring(source, target);
    }
  }

  // Where a path inside the image comes from: what was copied last under that name, a folder that
  // was copied and may hold it, or the same name beside the Dockerfile.
  [[nodiscard]] std::string place_of(std::string_view path) const {
    const std::string name = file_name(path);
    std::optional<std::string> folder;
    std::string target;
    for (auto copy = copies_.rbegin(); copy != copies_.rend(); ++copy) {
      const std::string source = file_name(copy->source);
      if (source == name || (!source.empty() && file_name(copy->target) == name)) {
        return beside(recipe_.path, relative(copy->source));
      }
      if (source.find('*') != std::string::npos &&
          name.starts_with(source.substr(0, source.find('*')))) {
        return beside(
            recipe_.path,
            (std::filesystem::path(relative(copy->source)).parent_path() / name).string());
      }
      if (!folder && std::filesystem::path(source).extension().empty()) {
        folder = relative(copy->source);
        target = relative(copy->target);
      }
    }
    std::string inside = path.starts_with('/') ? name : std::string(path);
    if (const std::string below = relative(target) + "/"; inside.starts_with(below)) {
      inside = inside.substr(below.size());
    }
    return beside(recipe_.path,
                  folder ? (std::filesystem::path(*folder) / inside).string() : inside);
  }

  static std::string relative(std::string_view source) {
    while (source.starts_with('/') || source.starts_with("./")) {
      source.remove_prefix(source.starts_with('/') ? 1 : 2);
    }
    while (source.ends_with('/')) {
      source.remove_suffix(1);
    }
    return source.empty() ? "." : std::string(source);
  }

  void run(const DockerInstruction& read) {
    const size_t before = recipe_.requirements.size();
    install(read);
    find_lines(read, before);
  }

  // On which of an instruction's lines stands what it asks for, where it stands there as it is: a
  // variable may hold it.
  void find_lines(const DockerInstruction& read, size_t before) {
    constexpr size_t kMostLines = 200;
    std::vector<std::string_view> lines;
    for (std::string_view left = read.source; !left.empty() && lines.size() < kMostLines;) {
      lines.push_back(left.substr(0, left.find('\n')));
      left.remove_prefix(std::min(lines.back().size() + 1, left.size()));
    }
    const auto line_of = [&](std::string_view text) -> uint64_t {
      const auto found = std::ranges::find_if(
          lines, [&](std::string_view line) { return holds_word(line, text); });
      return found == lines.end() ? 0 : read.line + static_cast<uint64_t>(found - lines.begin());
    };
    for (size_t i = before; i < recipe_.requirements.size(); ++i) {
      Requirement& requirement = recipe_.requirements[i];
      Requirement bare = requirement;
      bare.marker.clear();
      const uint64_t line = line_of(requirement_text(bare));
      requirement.literal = line != 0;
      requirement.line = line != 0 ? line : requirement.line;
      requirement.command = requirement.line != read.line ? read.line : 0;
      for (const std::string& index : requirement.indexes) {
        requirement.index_lines.push_back(line_of(index));
      }
    }
  }

  void install(const DockerInstruction& read) {
    doubt_settings(read.arguments, read.line);
    for (const std::string& flag : read.flags) {
      doubt_settings(flag, read.line);
      if (flag.starts_with("--mount=")) {
        mount(flag);
      }
    }
    if (read.arguments.starts_with('[')) {
      ShellCommand command;
      command.words = copied(read.arguments, recipe_.path);
      if (!command.words.empty()) {
        read_command(
            command, read.line, stage_, [this](auto path) { return place_of(path); }, recipe_);
      }
      return;
    }
    commands(read.arguments, read.line);
    for (const std::string& document : read.documents) {
      commands(document, read.line);
    }
  }

  void commands(const std::string& text, uint64_t line) {
    for (const ShellCommand& command : shell_commands(substituted(text, stage_))) {
      read_command(command, line, stage_, [this](auto path) { return place_of(path); }, recipe_);
    }
  }

  Recipe& recipe_;
  Variables global_;  // ARG before the first FROM
  Variables stage_;
  std::string stage_name_;
  std::map<std::string, Variables> stages_;
  std::vector<Copy> copies_;
  bool in_stage_ = false;
};

}  // namespace

void read_dockerfile(std::string_view text, Recipe& recipe) {
  recipe.kind = "dockerfile";
  DockerfileReader(recipe).read(text);
  // An image of Python says which one.
  if (const BaseImage* image = final_image(recipe)) {
    const std::string version = image->tag.substr(0, image->tag.find_first_not_of("0123456789."));
    if (file_name(image->image) == "python" && version.find('.') != std::string::npos) {
      recipe.python =
          fmt::format("=={}{}", version, std::ranges::count(version, '.') == 1 ? ".*" : "");
    }
  }
}

}  // namespace mynah::doctor
