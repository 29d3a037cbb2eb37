#include "cli/version.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

// Set by src/cli/CMakeLists.txt.
#ifndef MYNAH_VERSION
#error "MYNAH_VERSION is not set"
#endif

namespace mynah::cli {

namespace {

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

std::string version_text(bool json) {
  if (!json) {
    return fmt::format("mynah {} (commit {}, {} build, {}, {})", MYNAH_VERSION, commit(),
                       MYNAH_BUILD_TYPE, compiler(), MYNAH_PROCESSOR);
  }
  const nlohmann::ordered_json object = {{"version", MYNAH_VERSION},
                                         {"commit", commit()},
                                         {"build", MYNAH_BUILD_TYPE},
                                         {"compiler", compiler()},
                                         {"processor", MYNAH_PROCESSOR}};
  return object.dump();
}

void VersionCommand::fields(Fields& /*fields*/) {}

Result<int> VersionCommand::run(Context& context) {
  context.out.line(version_text(context.json));
  return 0;
}

}  // namespace mynah::cli
