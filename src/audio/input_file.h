// InputFile: a recording's bytes, opened once, with what the readers need to know of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mynah {

// An open descriptor of a file, a pipe or a device.
struct InputFile {
  UniqueFd fd;
  std::string name;  // for messages: the path, or "standard input"
  bool seekable = false;
  int64_t size_bytes = 0;  // of a regular file
  // Of what cannot be sought in: bytes that were read already, to find out what it is. They come
  // before what the descriptor gives.
  std::vector<std::byte> head{};
};

// Opens `path` ("-": standard input). A folder, an empty file, a missing or an unreadable one are
// errors that say so.
Result<InputFile> open_input_file(const std::string& path);

// Reads what `input` gives next, its head first; 0 at the end.
Result<size_t> read_some(InputFile& input, std::span<std::byte> out);

}  // namespace mynah
