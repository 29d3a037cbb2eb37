// `mynah version`: how the program was built.
#pragma once

#include <string_view>

#include "cli/verb.h"

namespace mynah::cli {

// The commit that was built, "-dirty" behind it where files had changed since; "unknown" outside a
// repository. Made by cmake/commit.cmake.
[[nodiscard]] std::string_view commit();

class VersionCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
};

}  // namespace mynah::cli
