// Where tests find files: their own in the repository, and two folders outside it that may be
// missing. A test whose file is missing skips with MYNAH_SKIP_WITHOUT, so that it is counted.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace mynah::test {

// A file of the repository, by its path from the root.
inline std::string source_path(const std::string& relative) {
  return (std::filesystem::path(MYNAH_SOURCE_DIR) / relative).string();
}

inline std::string folder_from(const char* variable, const std::string& fallback) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : source_path(fallback);
}

// A file of the shared folder: $MYNAH_SHARED, or ../shared beside the repository.
inline std::string shared_path(const std::string& relative) {
  return (std::filesystem::path(folder_from("MYNAH_SHARED", "../shared")) / relative).string();
}

// A file of the real weights: $MYNAH_WEIGHTS, or .cache/weights, which ./dev test fills.
inline std::string weights_path(const std::string& relative) {
  return (std::filesystem::path(folder_from("MYNAH_WEIGHTS", ".cache/weights")) / relative)
      .string();
}

}  // namespace mynah::test

#define MYNAH_SKIP_WITHOUT(path)              \
  do {                                        \
    if (!std::filesystem::exists(path)) {     \
      GTEST_SKIP() << "not here: " << (path); \
    }                                         \
  } while (false)
