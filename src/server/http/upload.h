// Upload: bytes that a client sent, in memory as long as they are few, then in a file that has no
// name and goes with the process.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "audio/input_file.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "base/unique_fd.h"

namespace mynah::server {

class Upload {
 public:
  // `folder`: where a long one is kept. Io where the system gives no memory for it.
  static Result<Upload> create(const std::string& folder);

  // Io where there is no room.
  Status append(std::string_view bytes);

  [[nodiscard]] uint64_t size_bytes() const { return size_; }

  [[nodiscard]] bool starts_with(std::string_view beginning) const;

  // Tells all bytes, piece by piece. Io where they cannot be read; Cancelled.
  Status read(FunctionRef<void(std::string_view)> take, const std::stop_token& stop) const;

  // The bytes as a recording called `name`, to be read from the start. One reader at a time.
  [[nodiscard]] Result<InputFile> open(std::string name) const;

 private:
  explicit Upload(std::string folder) : folder_(std::move(folder)) {}

  // From memory to a file.
  Status move_to_disk();

  std::string folder_;
  UniqueFd fd_;
  uint64_t size_ = 0;
  bool on_disk_ = false;
};

}  // namespace mynah::server
