// InputFile: a recording's bytes, opened once, with what the readers need to know of them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mynah {

// An open descriptor of a file, a pipe or a device.
struct InputFile {
  UniqueFd fd;
  std::string name;  // for messages: the path, or "standard input"
  bool seekable = false;
  int64_t size_bytes = 0;  // of a regular file
};

// Opens `path` ("-": standard input). A folder, an empty file, a missing or an unreadable one are
// errors that say so.
Result<InputFile> open_input_file(const std::string& path);

}  // namespace mynah
