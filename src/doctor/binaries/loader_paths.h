// Paths as a loader follows them, inside of a tree that need not be this machine's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::doctor {

// The path without links, as seen inside of `root`, or nothing where it leads nowhere. Links are
// followed as they would be there: an absolute one begins at `root`, and none leads out of it.
// `root` is empty for this machine; `path` is absolute.
[[nodiscard]] std::optional<std::string> real_path(const std::string& root, std::string_view path);

// The parts of a list of folders, the empty ones too; none of an empty list.
[[nodiscard]] std::vector<std::string> split_folders(std::string_view list,
                                                     std::string_view separators);

// What a name in `$` stands for in the paths of a file (ld.so(8), "Dynamic string tokens").
struct LoaderTokens {
  std::string origin;    // the folder of the file, links not followed
  std::string lib;       // "lib/x86_64-linux-gnu"
  std::string platform;  // "x86_64"
};

// The folder with $ORIGIN, $LIB and $PLATFORM (or ${ORIGIN} ...) put in; nothing where it names
// something else.
[[nodiscard]] std::optional<std::string> expand_tokens(std::string_view folder,
                                                       const LoaderTokens& tokens);

// "/a/b" of "/a/b/c"; "/" of "/c".
[[nodiscard]] std::string folder_of(std::string_view path);

// "c" of "/a/b/c".
[[nodiscard]] std::string_view file_name_of(std::string_view path);

}  // namespace mynah::doctor
