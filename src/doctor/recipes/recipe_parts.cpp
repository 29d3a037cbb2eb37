#include "doctor/recipes/recipe_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/torch_index.h"
#include "doctor/versions.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostDoubts = 100;

// "%2B" of an address as "+".
std::string decoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      plain += static_cast<char>(byte);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// The last part of a path or address, without what follows '#' or '?'.
std::string file_name(std::string_view text) {
  text = text.substr(0, text.find_first_of("#?"));
  const size_t slash = text.find_last_of("/\\");
  return decoded(slash == std::string_view::npos ? text : text.substr(slash + 1));
}

// A file's name without the ending of a wheel or a source archive, and what stands in it before the
// version.
struct PackageFile {
  std::string_view stem;
  size_t dash = 0;
};

std::optional<PackageFile> package_file(std::string_view file) {
  std::string_view stem = file;
  bool wheel = false;
  for (const std::string_view ending : {".whl", ".tar.gz", ".zip", ".tar.bz2"}) {
    if (stem.ends_with(ending)) {
      stem.remove_suffix(ending.size());
      wheel = ending == ".whl";
      break;
    }
  }
  const size_t dash = wheel ? stem.find('-') : stem.rfind('-');
  if (stem.size() == file.size() || dash == std::string_view::npos || dash == 0) {
    return std::nullopt;
  }
  return PackageFile{.stem = stem, .dash = dash};
}

// The package and version that a wheel's or source archive's name says:
// "torch-2.5.1+cu124-cp311-...".
std::optional<Requirement> named_by_file(const std::string& file) {
  const auto parts = package_file(file);
  if (!parts) {
    return std::nullopt;
  }
  std::string_view version = parts->stem.substr(parts->dash + 1);
  version = version.substr(0, version.find('-'));
  const auto parsed = Version::parse(version);
  if (!parsed) {
    return std::nullopt;
  }
  Requirement requirement;
  requirement.name = normal_name(parts->stem.substr(0, parts->dash));
  requirement.specifier = "==" + parsed->text();
  return requirement;
}

// The package that a pattern of files' names says, of whichever version the file is that it finds:
// "ctranslate2-*-cp312-*.whl".
std::optional<Requirement> named_by_pattern(const std::string& pattern) {
  const auto parts = package_file(pattern);
  const std::string_view name = parts ? parts->stem.substr(0, parts->dash) : std::string_view();
  auto requirement = parse_requirement(name);
  if (!requirement || !requirement->specifier.empty() || pattern.find('*') == std::string::npos) {
    return std::nullopt;
  }
  return *std::move(requirement);
}

// "#egg=name[extra]" of an address.
std::string egg_of(std::string_view text) {
  constexpr std::string_view kEgg = "egg=";
  const size_t hash = text.find('#');
  const size_t egg = hash == std::string_view::npos ? hash : text.find(kEgg, hash);
  if (egg == std::string_view::npos) {
    return {};
  }
  const std::string_view name = text.substr(egg + kEgg.size());
  return std::string(name.substr(0, name.find_first_of("&[")));
}

bool is_path(std::string_view word) {
  return word.starts_with('.') || word.starts_with('/') ||
         word.find('/') != std::string_view::npos || word.find('\\') != std::string_view::npos ||
         word.ends_with(".whl") || word.ends_with(".tar.gz") || word.ends_with(".zip");
}

// Options of pip and uv that take a value, and which.
struct ValueOption {
  std::string_view name;
  char letter = '\0';  // of its short form
};

constexpr ValueOption kValueOptions[] = {{"--requirement", 'r'},
                                         {"--constraint", 'c'},
                                         {"--editable", 'e'},
                                         {"--index-url", 'i'},
                                         {"--find-links", 'f'},
                                         {"--target", 't'},
                                         {"--requirements", '\0'},
                                         {"--constraints", '\0'},
                                         {"--default-index", '\0'},
                                         {"--index", '\0'},
                                         {"--extra-index-url", '\0'},
                                         {"--pypi-url", '\0'},
                                         {"--platform", '\0'},
                                         {"--python-version", '\0'},
                                         {"--implementation", '\0'},
                                         {"--abi", '\0'},
                                         {"--root", '\0'},
                                         {"--prefix", '\0'},
                                         {"--upgrade-strategy", '\0'},
                                         {"--config-settings", 'C'},
                                         {"--global-option", '\0'},
                                         {"--no-binary", '\0'},
                                         {"--only-binary", '\0'},
                                         {"--progress-bar", '\0'},
                                         {"--root-user-action", '\0'},
                                         {"--report", '\0'},
                                         {"--src", '\0'},
                                         {"--trusted-host", '\0'},
                                         {"--cert", '\0'},
                                         {"--client-cert", '\0'},
                                         {"--cache-dir", '\0'},
                                         {"--timeout", '\0'},
                                         {"--retries", '\0'},
                                         {"--proxy", '\0'},
                                         {"--exists-action", '\0'},
                                         {"--log", '\0'},
                                         {"--use-feature", '\0'},
                                         {"--use-deprecated", '\0'},
                                         {"--python", 'p'},
                                         {"--hash", '\0'},
                                         {"--torch-backend", '\0'},
                                         {"--index-strategy", '\0'},
                                         {"--link-mode", '\0'},
                                         {"--prerelease", '\0'},
                                         {"--resolution", '\0'},
                                         {"--override", '\0'},
                                         {"--extra", '\0'},
                                         {"--group", '\0'},
                                         {"--exclude-newer", '\0'},
                                         {"--keyring-provider", '\0'},
                                         {"--python-platform", '\0'},
                                         {"--no-build-isolation-package", '\0'},
                                         {"--build-constraint", 'b'},
                                         {"--allow-insecure-host", '\0'},
                                         {"--project", '\0'},
                                         {"--directory", '\0'},
                                         {"--refresh-package", '\0'}};

// Those without a value that change nothing of what is installed.
constexpr std::array<std::string_view, 33> kFlags = {"--upgrade",
                                                     "-U",
                                                     "--user",
                                                     "--no-cache-dir",
                                                     "--no-cache",
                                                     "-n",
                                                     "--quiet",
                                                     "-q",
                                                     "-qq",
                                                     "--verbose",
                                                     "-v",
                                                     "-vv",
                                                     "-vvv",
                                                     "--pre",
                                                     "--system",
                                                     "--no-input",
                                                     "--force-reinstall",
                                                     "--ignore-installed",
                                                     "-I",
                                                     "--no-warn-script-location",
                                                     "--break-system-packages",
                                                     "--no-build-isolation",
                                                     "--disable-pip-version-check",
                                                     "--prefer-binary",
                                                     "--require-hashes",
                                                     "--compile",
                                                     "--no-compile",
                                                     "--compile-bytecode",
                                                     "--isolated",
                                                     "--no-color",
                                                     "--ignore-requires-python",
                                                     "--reinstall",
                                                     "--no-progress"};

void take_option(PipWords& read, const ValueOption& option, const std::string& value) {
  const auto index = [&](bool extra) {
    IndexLine line;
    line.url = value;
    line.extra = extra;
    read.indexes.push_back(std::move(line));
  };
  const std::string_view name = option.name;
  if (name == "--requirement" || name == "--requirements") {
    read.includes.push_back(value);
  } else if (name == "--constraint" || name == "--constraints" || name == "--override") {
    read.constraints.push_back(value);
  } else if (name == "--extra" || name == "--group") {
    read.groups.push_back(value);
  } else if (name == "--editable") {
    read.requirements.push_back(value);
  } else if (name == "--index-url" || name == "--pypi-url" || name == "--default-index") {
    index(false);
  } else if (name == "--extra-index-url" || name == "--find-links" || name == "--index") {
    index(true);
  } else if (name == "--torch-backend") {
    // uv takes PyTorch and its companions from that index, whatever else is named.
    IndexLine line;
    line.url = torch_index(value == "auto" ? "" : value);
    line.extra = true;
    read.indexes.push_back(std::move(line));
  }
}

}  // namespace

void add_doubt(Recipe& recipe, uint64_t line, std::string_view what) {
  if (recipe.doubts.size() < kMostDoubts) {
    recipe.doubts.push_back(line == 0 ? std::string(what) : fmt::format("line {}: {}", line, what));
  }
}

Doubt doubt_of(std::string_view text) {
  constexpr std::string_view kLine = "line ";
  Doubt doubt{.line = 0, .what = text};
  const size_t colon = text.find(": ");
  if (text.starts_with(kLine) && colon != std::string_view::npos) {
    uint64_t line = 0;
    const char* const end = text.data() + colon;
    if (std::from_chars(text.data() + kLine.size(), end, line).ptr == end) {
      doubt = {.line = line, .what = text.substr(colon + 2)};
    }
  }
  return doubt;
}

void add_include(Recipe& recipe, std::vector<std::string>& to, std::string path, uint64_t line) {
  if (to.size() >= kMostOfARecipe) {
    add_doubt(recipe, line, "more files are named than are read");
    return;
  }
  if (line != 0) {
    recipe.include_lines.push_back({.path = path, .line = line});
  }
  to.push_back(std::move(path));
}

void add_requirement(Recipe& recipe, Requirement requirement) {
  if (recipe.requirements.size() == kMostOfARecipe) {
    add_doubt(recipe, requirement.line, "there are more requirements than are read");
  }
  if (recipe.requirements.size() <= kMostOfARecipe) {
    requirement.file = recipe.path;
    recipe.requirements.push_back(std::move(requirement));
  }
}

void add_groups(Recipe& recipe, std::string_view names) {
  while (!names.empty()) {
    const size_t end = std::min(names.find_first_of(", \t"), names.size());
    std::string name = normal_name(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
    if (!name.empty() && recipe.groups.size() < kMostOfARecipe &&
        std::ranges::find(recipe.groups, name) == recipe.groups.end()) {
      recipe.groups.push_back(std::move(name));
    }
  }
}

std::string_view extras_of(std::string_view word) {
  const size_t open = word.rfind('[');
  return open != std::string_view::npos && word.ends_with(']')
             ? word.substr(open + 1, word.size() - open - 2)
             : std::string_view();
}

void add_requirement(Recipe& recipe, std::string_view text, uint64_t line,
                     std::span<const std::string> indexes, const std::string& group) {
  text = trimmed(text);
  const auto add = [&](Requirement requirement) {
    requirement.line = line;
    requirement.indexes.assign(indexes.begin(), indexes.end());
    requirement.group = group;
    add_requirement(recipe, std::move(requirement));
  };
  if (text.find('$') != std::string_view::npos) {
    add_doubt(recipe, line, fmt::format("{} holds a variable", in_quotes(text)));
    return;
  }
  if (auto requirement = parse_requirement(text)) {
    if (auto named = named_by_file(file_name(requirement->url)); named) {
      requirement->specifier = named->name == requirement->name ? named->specifier : "";
    }
    add(std::move(*requirement));
    return;
  }
  const std::string_view address =
      text.substr(0, std::min(text.find_first_of(" \t;"), text.size()));
  if (is_address(address) || is_path(address)) {
    const std::string egg = egg_of(address);
    if (auto named = named_by_file(file_name(address))) {
      named->url = std::string(address);
      add(std::move(*named));
    } else if (auto any = named_by_pattern(file_name(address)); any && !is_address(address)) {
      any->url = std::string(address);
      add(std::move(*any));
    } else if (!egg.empty()) {
      Requirement requirement;
      requirement.name = normal_name(egg);
      requirement.url = std::string(address);
      add(std::move(requirement));
    } else if (is_address(address) || address.find('*') != std::string_view::npos) {
      add_doubt(recipe, line, fmt::format("what {} asks for is not known", in_quotes(address)));
    } else {
      // A source tree: ".[dev]".
      const std::string folder = beside(recipe.path, address.substr(0, address.find('[')));
      add_include(recipe, recipe.includes,
                  (std::filesystem::path(folder) / "pyproject.toml").string(), line);
      add_groups(recipe, extras_of(address));
    }
    return;
  }
  add_doubt(recipe, line, fmt::format("{} is no requirement", in_quotes(text)));
}

std::string beside(const std::string& recipe, std::string_view path) {
  return (std::filesystem::path(recipe).parent_path() / path).lexically_normal().string();
}

std::string last_name(std::string_view path) {
  return std::filesystem::path(path).filename().string();
}

bool is_address(std::string_view word) {
  const size_t colon = word.find("://");
  return colon != std::string_view::npos && colon > 0 &&
         std::ranges::all_of(word.substr(0, colon), [](char c) {
           return is_small_letter(small_letter(c)) || is_digit(c) || c == '+' || c == '.' ||
                  c == '-';
         });
}

const BaseImage* final_image(const Recipe& recipe) {
  constexpr size_t kMostSteps = 100;
  const BaseImage* image = recipe.images.empty() ? nullptr : &recipe.images.back();
  for (size_t steps = 0; image != nullptr && steps < kMostSteps; ++steps) {
    const auto stage = std::ranges::find_if(recipe.images, [&](const BaseImage& other) {
      return &other < image && !other.stage.empty() &&
             small_letters(other.stage) == small_letters(image->image);
    });
    if (stage == recipe.images.end()) {
      break;
    }
    image = &*stage;
  }
  return image;
}

std::string python_of_image(const Recipe& recipe) {
  const BaseImage* image = final_image(recipe);
  if (image == nullptr || last_name(image->image) != "python") {
    return {};
  }
  const std::string version = image->tag.substr(0, image->tag.find_first_not_of("0123456789."));
  const auto dots = std::ranges::count(version, '.');
  return dots == 0 ? "" : fmt::format("=={}{}", version, dots == 1 ? ".*" : "");
}

PipWords read_pip_words(std::span<const std::string> words) {
  PipWords read;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with('-') || word == "-") {
      read.requirements.push_back(word);
      continue;
    }
    if (word == "--all-extras" || word == "--all-groups") {
      read.groups.emplace_back("*");
      continue;
    }
    if (word == "--no-index" || word == "--no-deps") {
      read.no_index |= word == "--no-index";
      read.no_dependencies |= word == "--no-deps";
      continue;
    }
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string_view name = std::string_view(word).substr(0, equals);
    const auto* const option = std::ranges::find_if(kValueOptions, [&](const ValueOption& known) {
      return word.starts_with("--") ? known.name == name
                                    : known.letter != '\0' && word[1] == known.letter;
    });
    if (option == std::end(kValueOptions)) {
      if (std::ranges::find(kFlags, name) == kFlags.end()) {
        read.unknown.push_back(word);
      }
    } else if (equals != std::string::npos) {
      take_option(read, *option, word.substr(equals + 1));
    } else if (!word.starts_with("--") && word.size() > 2) {
      take_option(read, *option, word.substr(word[2] == '=' ? 3 : 2));
    } else if (i + 1 < words.size()) {
      take_option(read, *option, words[++i]);
    } else {
      read.unknown.push_back(word);
    }
  }
  return read;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = '\0';
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\0' && is_blank(c)) {
      if (begun) {
        words.push_back(std::move(word));
      }
      word.clear();
      begun = false;
      continue;
    }
    begun = true;
    if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
    } else {
      word += c;
    }
  }
  if (begun) {
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace mynah::doctor
