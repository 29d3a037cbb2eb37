// Files written whole or not at all, and folders made when first needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah {

// Makes a folder and its parents. "" is the one that the process is in.
Status make_folders(const std::string& path);

// The same of one that nobody else may look into. Environment where it is somebody else's or may
// not be written to.
Status make_private_folder(const std::string& path);

// The whole of a small text file. ErrorCode::NotFound where there is none.
Result<std::string> read_text_file(const std::string& path, uint64_t limit_bytes = 64U << 20U);

// Writes beside the target, syncs and renames, so that a reader sees the old text or the new.
Status write_text_file(const std::string& path, std::string_view text);

// Makes the bytes of a file durable, then renames it. Both paths are on one file system.
Status sync_and_rename(const std::string& from, const std::string& to);

// A name beside `path` that no other process uses.
[[nodiscard]] std::string temporary_name(const std::string& path);

// Bytes a user without privileges can still write where `path` is or would be.
Result<uint64_t> free_disk_bytes(const std::string& path);

// Fails with what is wanted and what is free where the disk has less than `wanted` and a reserve.
Status check_disk_space(const std::string& path, uint64_t wanted);

// Bytes of a file, or of all regular files below a folder; 0 where there is nothing.
[[nodiscard]] uint64_t bytes_on_disk(const std::string& path);

// "74.5 MB": decimal units, as disks and download pages have them.
[[nodiscard]] std::string human_bytes(uint64_t bytes);

// Holds an advisory lock on a file until destroyed, so that two processes do not pull one model at
// once. The lock ends with the process, however it ends; the empty file stays.
class FileLock {
 public:
  // ErrorCode::Busy where another process holds it.
  static Result<FileLock> take(const std::string& path);
  // Waits for whoever holds it. Only its user may open the file that is made for it.
  static Result<FileLock> wait_for(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace mynah
