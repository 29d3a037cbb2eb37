#include "doctor/recipes/written_files.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "doctor/recipes/install_environment.h"
#include "doctor/recipes/installer_words.h"
#include "doctor/recipes/recipe_parts.h"

namespace mynah::doctor {

namespace {

// "requirements.txt", "requirements.in", "pyproject.toml".
bool may_be_recipe(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kEndings = {".txt",  ".in",  ".toml",
                                                               ".lock", ".yml", ".sh"};
  return !word.starts_with('-') && std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return word.ends_with(ending);
  });
}

// "sed -i", "perl -pi", "ex": files are changed where they are.
bool changes_in_place(std::string_view program, const std::vector<std::string>& words) {
  return (program == "sed" || program == "perl") &&
         std::ranges::any_of(words, [](std::string_view word) {
           return word.starts_with("-i") || word.starts_with("--in-place") ||
                  (word.starts_with('-') && !word.starts_with("--") && word.ends_with('i'));
         });
}

bool writes_last(std::string_view program) {
  static constexpr std::array<std::string_view, 5> kPrograms = {"mv", "cp", "tee", "patch", "ex"};
  return std::ranges::find(kPrograms, program) != kPrograms.end();
}

}  // namespace

void WrittenFiles::add(const std::string& path, uint64_t line, std::vector<std::string> from) {
  constexpr size_t kMostFiles = 500;
  if (files_.size() < kMostFiles && may_be_recipe(path)) {
    files_.insert_or_assign(path, WrittenFile{.line = line, .from = std::move(from)});
  }
}

void WrittenFiles::note(const ShellCommand& command, const std::string& folder, uint64_t line) {
  const std::vector<std::string>& words = command.words;
  std::vector<std::string> files = std::exchange(piped_, {});
  std::ranges::copy_if(words, std::back_inserter(files), &may_be_recipe);
  const auto write = [&](const std::string& path) { add(inside(folder, path), line, files); };
  std::ranges::for_each(command.written, write);
  constexpr size_t kMostPiped = 100;
  if (command.piped && files.size() < kMostPiped) {
    piped_ = files;
  }
  if (words.empty()) {
    return;
  }
  note_clone(command, folder, line);
  const std::string_view program =
      std::string_view(words[0]).substr(words[0].find_last_of('/') + 1);
  if (changes_in_place(program, words)) {
    std::ranges::for_each(files, write);
  } else if (writes_last(program) && !files.empty()) {
    write(files.back());
  }
  // "pip-compile requirements.in" writes requirements.txt.
  for (const std::string& path : files) {
    if (program == "pip-compile" && path.ends_with(".in")) {
      write(path.substr(0, path.size() - 3) + ".txt");
    }
  }
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    static constexpr std::array<std::string_view, 4> kOutputs = {"-o", "-O", "--output",
                                                                 "--output-file"};
    if (std::ranges::find(kOutputs, words[i]) != kOutputs.end()) {
      write(words[i + 1]);
    }
  }
}

// "git clone --depth 1 https://host/owner/name.git folder".
void WrittenFiles::note_clone(const ShellCommand& command, const std::string& folder,
                              uint64_t line) {
  constexpr size_t kMostClones = 100;
  static constexpr std::array<std::string_view, 7> kWithValue = {
      "-b", "--branch", "--depth", "-o", "--origin", "-c", "--config"};
  const std::vector<std::string>& words = command.words;
  const auto verb = std::ranges::find(words, "clone");
  if (words[0] != "git" || verb == words.end() || clones_.size() == kMostClones) {
    return;
  }
  std::vector<std::string> named;
  for (auto word = verb + 1; word != words.end(); ++word) {
    if (std::ranges::find(kWithValue, *word) != kWithValue.end() && word + 1 != words.end()) {
      ++word;
    } else if (!word->starts_with('-')) {
      named.push_back(*word);
    }
  }
  if (!named.empty()) {
    const std::string into = named.size() > 1 ? named[1] : repository_name(named[0]);
    clones_.insert_or_assign(inside(folder, into),
                             WrittenFile{.line = line, .from = {}, .cloned = named[0]});
  }
}

const WrittenFile* WrittenFiles::at(const std::string& path) const {
  if (const auto found = files_.find(path); found != files_.end()) {
    return &found->second;
  }
  for (const auto& [folder, clone] : clones_) {
    if (path.starts_with(folder) && path.substr(folder.size()).starts_with('/')) {
      return &clone;
    }
  }
  return nullptr;
}

std::vector<std::string> take_substituted(ShellCommand& command) {
  std::vector<std::string> files;
  std::vector<std::string> words;
  bool within = false;
  for (const std::string& word : command.words) {
    const bool begins = word.starts_with("$(") || (!within && word.starts_with('`'));
    within |= begins;
    if (!within) {
      words.push_back(word);
      continue;
    }
    const bool ends = word.ends_with(')') || (word.size() > 1 && word.ends_with('`'));
    const std::string file = ends ? word.substr(0, word.size() - 1) : word;
    if (!begins && may_be_recipe(file)) {
      files.push_back(file);
      words.insert(words.end(), {"-r", file});
    }
    within = !ends;
  }
  // Another command's words are not files of requirements.
  const bool installs = std::ranges::any_of(words, [](const std::string& word) {
    return program_name(word).starts_with("pip") || program_name(word) == "uv";
  });
  if (files.empty() || (within && !command.piped) || !installs) {
    return {};
  }
  command.words = std::move(words);
  return files;
}

std::string repository_name(std::string_view address) {
  while (address.ends_with('/')) {
    address.remove_suffix(1);
  }
  std::string name = last_name(address);
  return name.ends_with(".git") ? name.substr(0, name.size() - 4) : name;
}

}  // namespace mynah::doctor
