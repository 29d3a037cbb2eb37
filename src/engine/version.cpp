#include "engine/version.h"

#include <fmt/format.h>

// Set by src/engine/CMakeLists.txt.
#ifndef MYNAH_VERSION
#error "MYNAH_VERSION is not set"
#endif

namespace mynah::engine {

namespace {

std::string_view compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

ProgramVersion program_version() {
  return {.version = MYNAH_VERSION,
          .commit = commit(),
          .build = MYNAH_BUILD_TYPE,
          .compiler = compiler(),
          .processor = MYNAH_PROCESSOR};
}

std::string version_line() {
  const ProgramVersion program = program_version();
  return fmt::format("mynah {} (commit {}, {} build, {}, {})", program.version, program.commit,
                     program.build, program.compiler, program.processor);
}

}  // namespace mynah::engine
