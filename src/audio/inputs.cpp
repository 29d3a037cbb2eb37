#include "audio/inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include <glob.h>

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr auto kExtensions = std::to_array<std::string_view>(
    {"3ga",  "3gp", "aac",  "ac3", "aif",  "aifc", "aiff", "amr",  "ape",  "asf", "au",  "avi",
     "caf",  "dts", "eac3", "f4v", "flac", "flv",  "gsm",  "m2ts", "m4a",  "m4b", "m4v", "mka",
     "mkv",  "mov", "mp2",  "mp3", "mp4",  "mpeg", "mpg",  "mts",  "oga",  "ogg", "ogv", "opus",
     "rf64", "snd", "spx",  "ts",  "tta",  "voc",  "w64",  "wav",  "webm", "wma", "wmv", "wv"});

using Found = std::vector<Result<std::string>>;

void add_sorted(std::vector<std::string> paths, Found& found) {
  std::ranges::sort(paths);
  for (std::string& path : paths) {
    found.emplace_back(std::move(path));
  }
}

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

void add_folder(const std::string& folder, Found& found) {
  std::error_code error;
  std::vector<std::string> paths;
  fs::recursive_directory_iterator entry(folder, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    std::error_code vanished;
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(vanished) && has_audio_extension(entry->path())) {
      paths.push_back(entry->path());
    }
    entry.increment(error);
  }
  if (error) {
    found.push_back(fail(ErrorCode::Io, folder + ": cannot list the folder: " + error.message()));
  } else if (paths.empty()) {
    found.push_back(
        fail(ErrorCode::NotFound, folder + " is a folder without recordings (wav, mp3, m4a, ...): "
                                           "name files of other kinds one by one"));
  }
  add_sorted(std::move(paths), found);
}

bool is_pattern(std::string_view word) {
  const size_t brace = word.find('{');
  return word.find_first_of("*?[") != std::string_view::npos ||
         (brace != std::string_view::npos && word.find('}', brace) != std::string_view::npos);
}

std::vector<std::string> match(const std::string& pattern) {
  glob_t matches{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_BRACE, nullptr, &matches) == 0) {
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  ::globfree(&matches);
  return paths;
}

// A path as a pattern that matches it alone.
std::string as_pattern(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    if (std::string_view("*?[]{},\\").contains(c)) {
      pattern += '\\';
    }
    pattern += c;
  }
  return pattern;
}

// The folder and those below it, hidden ones left out.
std::vector<std::string> folders_from(const std::string& folder) {
  std::vector<std::string> folders = {folder};
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    std::error_code vanished;
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_directory(vanished)) {
      folders.push_back(entry->path());
    }
    entry.increment(error);
  }
  return folders;
}

// What a pattern matches, where "**" between slashes stands for folders of any depth, or none.
std::vector<std::string> match_deep(const std::string& pattern) {
  const bool first = pattern.starts_with("**/") || pattern == "**";
  const size_t stars = first ? 0 : pattern.find("/**/");
  const bool last = stars == std::string::npos && pattern.ends_with("/**");
  if (stars == std::string::npos && !last) {
    return match(pattern);
  }
  if (pattern == "**") {
    return {"."};  // a folder stands for all that is below it
  }
  const std::string above = first ? "." : pattern.substr(0, last ? pattern.size() - 3 : stars);
  std::vector<std::string> roots = match(above.empty() ? "/" : above);
  if (last) {
    return roots;
  }
  const std::string below = pattern.substr(stars + (first ? 3 : 4));
  std::vector<std::string> paths;
  for (const std::string& root : roots) {
    for (const std::string& folder : folders_from(root)) {
      std::ranges::move(match_deep(as_pattern(folder) + "/" + below), std::back_inserter(paths));
    }
  }
  if (first) {
    for (std::string& path : paths) {
      path.erase(0, 2);  // "./": named as a shell does
    }
  }
  std::ranges::sort(paths);
  paths.erase(std::ranges::unique(paths).begin(), paths.end());
  return paths;
}

void add_pattern(const std::string& pattern, Found& found) {
  const std::vector<std::string> paths = match_deep(pattern);
  if (paths.empty()) {
    found.push_back(fail(ErrorCode::NotFound, pattern + " matches no file (patterns have *, ?, "
                                                        "[abc], {a,b} and **/ for any folders)"));
  }
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      add_folder(path, found);
    } else {
      found.emplace_back(path);
    }
  }
}

}  // namespace

bool has_audio_extension(const std::string& path) {
  std::string extension = fs::path(path).extension();
  if (extension.empty()) {
    return false;
  }
  extension.erase(0, 1);
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

std::vector<Result<std::string>> expand_inputs(std::span<const std::string> words) {
  Found found;
  for (const std::string& word : words) {
    std::error_code ignored;
    if (word != "-" && fs::is_directory(word, ignored)) {
      add_folder(word, found);
    } else if (word.contains("://") && !fs::exists(word, ignored)) {
      found.push_back(
          fail(ErrorCode::NotFound,
               word + " is an address, and mynah reads files and pipes: fetch it first"));
    } else if (is_pattern(word) && !fs::exists(word, ignored)) {
      add_pattern(word, found);
    } else {
      found.emplace_back(word);  // a missing file is told when it is opened
    }
  }
  return found;
}

}  // namespace mynah
