// Which program this is: its version, commit and build.
#pragma once

#include <string>
#include <string_view>

namespace mynah::engine {

// The commit that was built, "-dirty" behind it where files had changed since; "unknown" outside a
// repository. Made by cmake/commit.cmake.
[[nodiscard]] std::string_view commit();

struct ProgramVersion {
  std::string_view version;  // "0.1.0"
  std::string_view commit;
  std::string_view build;  // "release"
  std::string_view compiler;
  std::string_view processor;  // "x86_64"
};

[[nodiscard]] ProgramVersion program_version();

// All of it, as one line for people.
[[nodiscard]] std::string version_line();

}  // namespace mynah::engine
