// Reads zip archives: wheels, PyTorch checkpoints, npz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "base/thread_pool.h"

namespace mynah {

enum class ZipMethod : uint8_t { Stored, Deflate };

struct ZipMember {
  std::string name;  // relative, with '/' between folders; a folder's ends with '/'
  ZipMethod method = ZipMethod::Stored;
  uint64_t bytes = 0;  // unpacked
  uint32_t crc32 = 0;  // of the unpacked bytes; 0 where the writer recorded none
  std::span<const std::byte> packed;
};

// Bytes and what keeps them alive.
struct ZipBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// The members of an archive, by its central directory (PKWARE APPNOTE.TXT 6.3.9), zip64 included.
// Refused: encryption, several disks, methods other than stored and deflate, names that lead out of
// a folder (absolute, "..", backslash), members that overlap or come twice, a local header that
// disagrees with the directory.
class ZipArchive {
 public:
  static Result<ZipArchive> open(std::shared_ptr<const MappedFile> file);

  // In the order of the directory.
  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }

  // The member of that name, or null.
  [[nodiscard]] const ZipMember* find(std::string_view name) const;

  [[nodiscard]] const std::string& path() const { return file_->path(); }

  // The whole member, checked against its CRC: a view of the file where it is stored, else
  // unpacked.
  [[nodiscard]] Result<ZipBytes> read(const ZipMember& member) const;

  // Calls `consume` with the member's bytes piece by piece and checks the CRC at the end. Memory
  // does not grow with the member.
  Status stream(const ZipMember& member,
                FunctionRef<Status(std::span<const std::byte>)> consume) const;

  // Unpacks the member to a file, which appears whole or not at all. Its folder must exist.
  Status extract(const ZipMember& member, const std::string& path) const;

 private:
  explicit ZipArchive(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipMember> members_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace mynah
