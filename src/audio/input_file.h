// InputFile: the bytes of a recording, or of a text, opened once, with what the readers need to
// know of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
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
  // Ends the wait for what cannot be sought in.
  std::stop_token stop{};
};

// Opens `path` ("-": standard input). A folder, an empty file, a missing or an unreadable one are
// errors that say so, and what was `wanted`. A named pipe is open at once, before anybody writes to
// it.
Result<InputFile> open_input_file(const std::string& path, const std::stop_token& stop = {},
                                  std::string_view wanted = "a recording");

// Another descriptor of the same file, for another reader of it: they share their place in it.
Result<InputFile> duplicate(const InputFile& input);

// Reads what `input` gives next, its head first; 0 at the end. Waits for what is still to come;
// Cancelled where a stop is requested meanwhile.
Result<size_t> read_some(InputFile& input, std::span<std::byte> out);

}  // namespace mynah
