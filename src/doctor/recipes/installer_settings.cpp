#include "doctor/recipes/installer_settings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/mapped_file.h"
#include "doctor/characters.h"
#include "doctor/recipes/install_commands.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_parts.h"

namespace mynah::doctor {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 2> kSettings = {"pip.conf", "uv.toml"};
constexpr std::string_view kDevcontainer = "devcontainer.json";
constexpr std::string_view kMayName = " was not read: it may name an index";

// The variable that says the same as a key of pip.conf; empty: none that names indexes.
std::string variable_of(std::string_view key) {
  std::string name(trimmed(key));
  std::ranges::replace(name, '_', '-');
  return name == "index-url"         ? "PIP_INDEX_URL"
         : name == "extra-index-url" ? "PIP_EXTRA_INDEX_URL"
         : name == "find-links"      ? "PIP_FIND_LINKS"
                                     : "";
}

// Whether a file's text may name an index, far enough to be in doubt.
bool names_some_index(const std::string& path) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  const auto file = MappedFile::open(path);
  if (!file || (*file)->bytes().size() > kMostBytes) {
    return false;
  }
  const std::span<const std::byte> bytes = (*file)->bytes();
  const std::string text =
      small_letters({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return text.contains("index") || text.contains("find-links") || text.contains("find_links") ||
         text.contains("torch-backend") || text.contains("torch_backend");
}

}  // namespace

std::string_view settings_in(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kSettings, [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
  return found == kSettings.end() ? std::string_view() : *found;
}

std::string_view settings_in(const ShellCommand& command) {
  for (const std::vector<std::string>* list : {&command.words, &command.written}) {
    for (const std::string& word : *list) {
      if (const std::string_view name = settings_in(word); !name.empty()) {
        return name;
      }
    }
  }
  return {};
}

bool frees_pip(std::string_view text) {
  return text.contains("EXTERNALLY-MANAGED") || text.contains("pip.conf") ||
         text.contains("global.break-system-packages");
}

bool is_pip_settings(std::string_view path, const std::map<std::string, std::string>& variables) {
  const auto told = variables.find("PIP_CONFIG_FILE");
  if (told != variables.end() && told->second == path) {
    return true;
  }
  return path == "/etc/pip.conf" || path == "/etc/xdg/pip/pip.conf" ||
         path.ends_with("/.config/pip/pip.conf") || path.ends_with("/.pip/pip.conf");
}

bool has_installed(const Recipe& part) {
  static constexpr std::array<std::string_view, 4> kTools = {"pip", "setuptools", "wheel", "uv"};
  return !part.includes.empty() ||
         std::ranges::any_of(part.requirements, [](const Requirement& requirement) {
           return std::ranges::find(kTools, requirement.name) == kTools.end();
         });
}

std::optional<std::vector<IndexLine>> pip_settings(std::string_view text, const std::string& path,
                                                   uint64_t line) {
  Recipe read;
  read.path = path;
  std::string variable;
  bool installs = true;  // what holds for installing: [global], [install]
  uint64_t number = 0;
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    ++number;
    const std::string_view said = trimmed(whole);
    if (said.empty() || said.front() == '#' || said.front() == ';') {
      continue;
    }
    // What only a shell knows.
    if (said.find_first_of("$\\") != std::string_view::npos) {
      return std::nullopt;
    }
    std::string_view value = said;  // one more of the key above, where the line is set in
    if (!is_blank(whole.front())) {
      if (said.front() == '[') {
        if (said.back() != ']') {
          return std::nullopt;
        }
        installs = said == "[global]" || said == "[install]";
        variable.clear();
        continue;
      }
      const size_t end = said.find_first_of("=:");
      if (end == std::string_view::npos) {
        return std::nullopt;
      }
      variable = variable_of(said.substr(0, end));
      value = trimmed(said.substr(end + 1));
    }
    if (installs && !variable.empty()) {
      read_index_variable(variable, std::string(value), line == 0 ? number : line, read);
    }
  }
  return std::move(read.indexes);
}

std::optional<std::string> printed_text(const ShellCommand& command) {
  const std::vector<std::string>& words = command.words;
  const bool prints = !words.empty() && words[0] == "printf";
  const bool plain = !command.doubtful && !command.piped && words.size() > 1 &&
                     (prints ? words.size() == 2 : words[0] == "echo");
  if (!plain || (prints && words[1].contains('%'))) {
    return std::nullopt;
  }
  const bool option = words[1] == "-e" || words[1] == "-n";
  std::string text =
      fmt::format("{}", fmt::join(words.begin() + (option ? 2 : 1), words.end(), " "));
  constexpr std::string_view kNewLine = "\\n";
  for (size_t at = text.find(kNewLine); at != std::string::npos; at = text.find(kNewLine, at)) {
    text.replace(at, kNewLine.size(), "\n");
  }
  return text;
}

void add_unread_settings(Recipe& recipe, uint64_t line, std::string_view name,
                         const std::string& file) {
  IndexLine index;
  index.url = name;
  index.extra = true;
  index.file = file.empty() || has_installed(recipe) ? recipe.path : file;
  index.line = line;
  recipe.indexes.push_back(std::move(index));
  add_doubt(recipe, line,
            fmt::format("{}{}{}", name, names_index(name) ? " of a service" : "", kMayName));
}

void doubt_settings_around(Facts& facts) {
  const auto folder_of = [](const std::string& path) {
    return fs::path(path).lexically_normal().parent_path();
  };
  std::set<fs::path> taken;  // by an image or a script, which say how
  std::map<fs::path, std::set<std::string>> named;
  for (const Recipe& recipe : facts.recipes) {
    for (const IncludeLine& include : recipe.include_lines) {
      taken.insert(fs::path(include.path).lexically_normal());
    }
    for (const Service& service : recipe.services) {
      for (const auto& [name, value] : service.variables) {
        if (service.build.empty() && names_index(name)) {
          named[folder_of(recipe.path)].insert(name);
        }
      }
    }
  }
  for (Recipe& recipe : facts.recipes) {
    if (recipe.kind != "requirements" || taken.contains(fs::path(recipe.path).lexically_normal())) {
      continue;
    }
    const fs::path folder = folder_of(recipe.path);
    std::set<std::string> names = named[folder];
    for (const char* file : {".devcontainer/devcontainer.json", ".devcontainer.json"}) {
      if (names_some_index((folder / file).string())) {
        names.emplace(kDevcontainer);
      }
    }
    for (const std::string& name : names) {
      if (std::ranges::find(recipe.indexes, name, &IndexLine::url) == recipe.indexes.end()) {
        add_unread_settings(recipe, 0, name);
      }
    }
  }
}

void doubt_settings_beside(Recipe& recipe) {
  constexpr std::string_view kName = "uv.toml";
  // pip reads none of it.
  if (recipe.kind == "pyproject" && recipe.target != kByPip &&
      names_some_index(beside(recipe.path, kName))) {
    add_unread_settings(recipe, 0, kName);
  }
}

bool is_unread_settings(std::string_view url) {
  return names_index(url) || url == kDevcontainer ||
         std::ranges::find(kSettings, url) != kSettings.end();
}

std::string unread_settings(const IndexLine& index, const Recipe& recipe) {
  return is_unread_settings(index.url) && index.file != recipe.path ? index.file : std::string();
}

void put_settings(Recipe& recipe, const IndexLine& unread, std::vector<IndexLine> indexes) {
  std::erase_if(recipe.doubts, [&](const std::string& text) {
    const Doubt doubt = doubt_of(text);
    return doubt.line == unread.line && doubt.what == unread.url + std::string(kMayName);
  });
  std::erase(recipe.indexes, IndexLine(unread));  // `unread` may be one of them
  std::ranges::move(indexes, std::back_inserter(recipe.indexes));
}

}  // namespace mynah::doctor
