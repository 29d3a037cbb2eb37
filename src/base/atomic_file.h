// AtomicFile: a file that appears under its name whole, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah {

// Writes to a temporary name beside the target, and renames when all is on disk. Destroyed without
// commit(), it leaves nothing behind; a process that is killed leaves a file ending in ".partial".
class AtomicFile {
 public:
  // The folder must exist. Where the name is a link, the file behind it is meant, even one that is
  // not there yet: the link stays. Io for a file that may not be written to and for a folder,
  // InvalidInput for a device or a pipe (is_device_or_pipe()), which no file may take the place of.
  static Result<AtomicFile> create(const std::string& path);

  // The same for its owner's eyes alone, from the first byte on.
  static Result<AtomicFile> create_private(const std::string& path);

  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Appends.
  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);

  // Writes over bytes from `offset` on, all of which were written before.
  Status overwrite(uint64_t offset, std::span<const std::byte> bytes);

  // Appends zeros until the size is a multiple of `multiple`.
  Status pad_to(uint64_t multiple);

  // For a child that writes the file itself.
  [[nodiscard]] int descriptor() const { return fd_; }

  // Bytes written so far.
  [[nodiscard]] uint64_t size() const { return size_; }

  // Syncs the bytes, renames over the target, syncs the folder.
  Status commit();

  // The same under another name, of the same folder: for what is not all that was wanted.
  Status commit_as(const std::string& path);

 private:
  AtomicFile(int fd, std::string path, std::string temporary);

  [[nodiscard]] std::unexpected<Error> fail_io(std::string_view what) const;

  int fd_ = -1;
  uint64_t size_ = 0;
  std::string path_;
  std::string temporary_;
};

// Whether a name leads to what bytes are written into as they come: a device, a pipe, a socket.
[[nodiscard]] bool is_device_or_pipe(const std::string& path);

}  // namespace mynah
