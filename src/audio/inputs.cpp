#include "audio/inputs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <glob.h>

#include "base/ascii.h"
#include "base/check.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"

MYNAH_EMBEDDED_FILE(recording_extensions, MYNAH_RECORDING_EXTENSIONS)

namespace mynah {
namespace {

namespace fs = std::filesystem;

// What files of an extension are.
struct Taken {
  FolderTakes takes = FolderTakes::Recordings;
  bool unless_text = false;  // programs and lists have this extension, too
};

// "wav" to what it is; rows are "EXTENSION KIND OF-WHAT", between tabs.
std::map<std::string_view, Taken> read_extensions() {
  std::map<std::string_view, Taken> extensions;
  std::string_view table = recording_extensions();
  table.remove_prefix(table.find('\n') + 1);  // the header
  for_each_tsv_line<2>(table, [&](const auto& fields) {
    const auto& [extension, kind] = fields;
    const bool unless_text = kind == "unless-text";
    MYNAH_CHECK(kind == "recording" || kind == "headerless" || unless_text,
                "recording_extensions.tsv: a kind");
    extensions.emplace(extension, Taken{.takes = kind == "headerless" ? FolderTakes::Headerless
                                                                      : FolderTakes::Recordings,
                                        .unless_text = unless_text});
  });
  return extensions;
}

// In small letters, with its dot; "" where there is none.
std::string extension_of(const fs::path& path) {
  return ascii_lower(path.extension().string());
}

// Whether a file begins as text does: something, and no control characters. The packets of a
// transport stream, and what else is behind names that programs have as well, have zeros soon.
bool begins_as_text(const fs::path& path) {
  constexpr size_t kHead = 512;
  std::array<char, kHead> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  const std::span<const char> begin(head.data(), static_cast<size_t>(file.gcount()));
  return !begin.empty() && std::ranges::none_of(begin, [](char c) {
    return c == 0x7F || (c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f');
  });
}

bool is_taken(const fs::path& path, const std::string& extension, FolderTakes takes) {
  static const std::map<std::string_view, Taken> extensions = read_extensions();
  const auto found = extensions.find(std::string_view(extension).substr(extension.empty() ? 0 : 1));
  return found != extensions.end() && found->second.takes == takes &&
         !(found->second.unless_text && begins_as_text(path));
}

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

// What a walk through folders meets; any may be empty.
struct Visitor {
  std::function<void(const fs::path& folder)> on_folder = {};
  std::function<void(const fs::directory_entry&)> on_other = {};  // files, links, devices
  std::function<void(const fs::path& folder, const std::error_code&)> on_error = {};
};

// The folder and those below it, hidden ones and links to folders left out. One that cannot be
// listed ends nothing but itself; one that has vanished since its name was read is none.
void walk(const std::string& root, const Visitor& visitor) {
  std::vector<fs::path> open = {root};
  while (!open.empty()) {
    const fs::path folder = std::move(open.back());
    open.pop_back();
    if (visitor.on_folder) {
      visitor.on_folder(folder);
    }
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    while (!error && entry != fs::directory_iterator()) {
      std::error_code vanished;
      if (!is_hidden(entry->path())) {
        if (entry->symlink_status(vanished).type() == fs::file_type::directory) {
          open.push_back(entry->path());
        } else if (!vanished && visitor.on_other) {
          visitor.on_other(*entry);
        }
      }
      entry.increment(error);
    }
    const bool gone = error == std::errc::no_such_file_or_directory && folder != root;
    if (error && !gone && visitor.on_error) {
      visitor.on_error(folder, error);
    }
  }
}

void add_folder(const std::string& folder, FolderTakes takes, Inputs& inputs) {
  std::vector<std::string> paths;
  PassedOver passed_over{.folder = folder, .files = {}};
  std::vector<Input> unreadable;
  walk(folder, {.on_other =
                    [&](const fs::directory_entry& entry) {
                      std::error_code error;
                      const fs::file_type type = entry.status(error).type();
                      const std::string extension = extension_of(entry.path());
                      if (type == fs::file_type::directory) {
                        ++passed_over.linked_folders;
                      } else if (type != fs::file_type::fifo && type != fs::file_type::socket &&
                                 is_taken(entry.path(), extension, takes)) {
                        paths.push_back(entry.path());  // a link to nothing too: opening it says so
                      } else {
                        ++passed_over.files[extension];
                      }
                    },
                .on_error =
                    [&](const fs::path& which, const std::error_code& error) {
                      unreadable.push_back(
                          {.name = which,
                           .status = fail(
                               ErrorCode::Io,
                               which.string() + ": cannot list the folder: " + error.message())});
                    }});
  if (paths.empty() && unreadable.empty()) {
    const std::string_view kinds =
        takes == FolderTakes::Recordings ? "wav, mp3, m4a, ..." : "with --raw: raw, pcm, ulaw, ...";
    inputs.found.push_back(
        {.name = folder,
         .status = fail(ErrorCode::NotFound,
                        fmt::format("{} is a folder without recordings ({}): name files of other "
                                    "kinds one by one",
                                    folder, kinds))});
  }
  std::ranges::sort(unreadable, {}, &Input::name);
  std::ranges::move(unreadable, std::back_inserter(inputs.found));
  std::ranges::sort(paths);
  for (std::string& path : paths) {
    inputs.found.push_back({.name = std::move(path)});
  }
  if (!passed_over.files.empty() || passed_over.linked_folders > 0) {
    inputs.passed_over.push_back(std::move(passed_over));
  }
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

// The folder and those below it; what cannot be listed is left out, as a shell does.
std::vector<std::string> folders_from(const std::string& folder) {
  std::vector<std::string> folders;
  walk(folder, {.on_folder = [&](const fs::path& path) { folders.push_back(path); }});
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

void add_pattern(const std::string& pattern, FolderTakes takes, Inputs& inputs) {
  const std::vector<std::string> paths = match_deep(pattern);
  if (paths.empty()) {
    inputs.found.push_back(
        {.name = pattern,
         .status = fail(ErrorCode::NotFound, pattern + " matches no file (patterns have *, ?, "
                                                       "[abc], {a,b} and **/ for any folders)")});
  }
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      add_folder(path, takes, inputs);
    } else {
      inputs.found.push_back({.name = path});
    }
  }
}

}  // namespace

Inputs expand_inputs(std::span<const std::string> words, FolderTakes takes) {
  Inputs inputs;
  for (const std::string& word : words) {
    std::error_code ignored;
    if (word != "-" && fs::is_directory(word, ignored)) {
      add_folder(word, takes, inputs);
    } else if (word.contains("://") && !fs::exists(word, ignored)) {
      inputs.found.push_back(
          {.name = word,
           .status =
               fail(ErrorCode::NotFound,
                    word + " is an address, and mynah reads files and pipes: fetch it first")});
    } else if (is_pattern(word) && !fs::exists(word, ignored)) {
      add_pattern(word, takes, inputs);
    } else {
      inputs.found.push_back({.name = word});  // a missing file is told when it is opened
    }
  }
  return inputs;
}

}  // namespace mynah
