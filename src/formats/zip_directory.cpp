#include "formats/zip_directory.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

// Signatures and sizes: APPNOTE.TXT 4.3.7 (local header), 4.3.12 (directory), 4.3.14 to 4.3.16
// (ends).
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kEnd64LocatorSignature = 0x07064b50;
constexpr size_t kEndBytes = 22;
constexpr size_t kEnd64LocatorBytes = 20;
constexpr size_t kMaxCommentBytes = 0xFFFF;
constexpr uint16_t kEncrypted = 1;  // general purpose bit 0
constexpr uint16_t kZip64Extra = 1;
constexpr uint16_t kDeflateMethod = 8;

// A 16- or 32-bit field that is full says that zip64 has the value.
constexpr uint32_t kFull32 = 0xFFFFFFFF;
constexpr uint16_t kFull16 = 0xFFFF;

struct Directory {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
};

struct Entry {
  ZipMember member;
  uint64_t packed_bytes = 0;
  uint64_t local_offset = 0;
};

using Bytes = std::span<const std::byte>;

// Where the end record begins: the last place whose comment ends with the file.
std::optional<size_t> find_end(Bytes bytes) {
  if (bytes.size() < kEndBytes) {
    return std::nullopt;
  }
  const size_t last = bytes.size() - kEndBytes;
  const size_t first = last > kMaxCommentBytes ? last - kMaxCommentBytes : 0;
  for (size_t at = last + 1; at-- > first;) {
    uint32_t signature = 0;
    uint16_t comment_bytes = 0;
    std::memcpy(&signature, bytes.data() + at, sizeof(signature));
    std::memcpy(&comment_bytes, bytes.data() + at + kEndBytes - 2, sizeof(comment_bytes));
    if (signature == kEndSignature && at + kEndBytes + comment_bytes == bytes.size()) {
      return at;
    }
  }
  return std::nullopt;
}

// The zip64 end record that a locator just before the end record points at.
Result<Directory> read_end64(const MappedFile& file, size_t end_at) {
  const Bytes bytes = file.bytes();
  const size_t locator_at = end_at < kEnd64LocatorBytes ? 0 : end_at - kEnd64LocatorBytes;
  ByteReader locator(bytes.subspan(locator_at, end_at - locator_at), file.path(), locator_at);
  MYNAH_TRY(const auto signature, locator.read<uint32_t>("the zip64 locator"));
  if (signature != kEnd64LocatorSignature) {
    return locator.fail_here("wanted the zip64 locator before the end record");
  }
  MYNAH_TRY_STATUS(locator.read<uint32_t>("a disk number"));
  MYNAH_TRY(const auto offset, locator.read<uint64_t>("the zip64 end record's offset"));
  ByteReader reader(bytes.subspan(std::min<uint64_t>(offset, locator_at)), file.path(),
                    std::min<uint64_t>(offset, locator_at));
  MYNAH_TRY(const auto end_signature, reader.read<uint32_t>("the zip64 end record"));
  if (end_signature != kEnd64Signature) {
    return reader.fail_here("wanted the zip64 end record where its locator points");
  }
  // Its own size, two versions, two disk numbers, entries on this disk.
  MYNAH_TRY_STATUS(reader.take(8 + 2 + 2 + 4 + 4 + 8, "the zip64 end record"));
  Directory directory;
  MYNAH_TRY(directory.entries, reader.read<uint64_t>("the number of members"));
  MYNAH_TRY(directory.bytes, reader.read<uint64_t>("the directory's size"));
  MYNAH_TRY(directory.offset, reader.read<uint64_t>("the directory's offset"));
  return directory;
}

Result<Directory> read_end(const MappedFile& file) {
  const auto end_at = find_end(file.bytes());
  if (!end_at) {
    return fail(ErrorCode::InvalidInput,
                file.path() +
                    ": wanted a zip archive's end record, found none; the file is cut "
                    "short or not a zip archive");
  }
  ByteReader reader(file.bytes().subspan(*end_at), file.path(), *end_at);
  MYNAH_TRY_STATUS(reader.read<uint32_t>("the signature"));
  MYNAH_TRY(const auto disk, reader.read<uint16_t>("the disk"));
  MYNAH_TRY(const auto directory_disk, reader.read<uint16_t>("the directory's disk"));
  MYNAH_TRY_STATUS(reader.read<uint16_t>("the members on this disk"));
  MYNAH_TRY(const auto entries, reader.read<uint16_t>("the number of members"));
  MYNAH_TRY(const auto bytes, reader.read<uint32_t>("the directory's size"));
  MYNAH_TRY(const auto offset, reader.read<uint32_t>("the directory's offset"));
  if (entries == kFull16 || bytes == kFull32 || offset == kFull32) {
    return read_end64(file, *end_at);
  }
  if (disk != 0 || directory_disk != 0) {
    return reader.fail_here("wanted an archive in one file, found one over several disks",
                            ErrorCode::Unsupported);
  }
  return Directory{entries, bytes, offset};
}

// Fields that are full in the entry stand in the zip64 extra, in this order (APPNOTE 4.5.3).
Status read_zip64_extra(ByteReader extra, Entry& entry) {
  while (extra.remaining() >= 4) {
    MYNAH_TRY(const auto id, extra.read<uint16_t>("an extra field's id"));
    MYNAH_TRY(const auto size, extra.read<uint16_t>("an extra field's size"));
    MYNAH_TRY(const Bytes body, extra.take(size, "an extra field"));
    if (id != kZip64Extra) {
      continue;
    }
    ByteReader fields(body, extra.file(), extra.offset() - size);
    for (uint64_t* field : {&entry.member.bytes, &entry.packed_bytes, &entry.local_offset}) {
      if (*field == kFull32) {
        MYNAH_TRY(*field, fields.read<uint64_t>("a zip64 size"));
      }
    }
    return {};
  }
  return {};
}

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    return false;
  }
  while (!name.empty()) {
    const size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") {
      return false;
    }
    name.remove_prefix(slash == std::string_view::npos ? name.size() : slash + 1);
  }
  return true;
}

Result<Entry> read_entry(ByteReader& reader) {
  MYNAH_TRY(const auto signature, reader.read<uint32_t>("a directory entry"));
  if (signature != kEntrySignature) {
    return reader.fail_here("wanted a directory entry of the zip archive");
  }
  MYNAH_TRY_STATUS(reader.take(4, "two versions"));
  MYNAH_TRY(const auto flags, reader.read<uint16_t>("flags"));
  MYNAH_TRY(const auto method, reader.read<uint16_t>("the method"));
  MYNAH_TRY_STATUS(reader.take(4, "time and date"));
  Entry entry;
  MYNAH_TRY(entry.member.crc32, reader.read<uint32_t>("the CRC-32"));
  MYNAH_TRY(entry.packed_bytes, reader.read<uint32_t>("the packed size"));
  MYNAH_TRY(entry.member.bytes, reader.read<uint32_t>("the size"));
  MYNAH_TRY(const auto name_bytes, reader.read<uint16_t>("the name's length"));
  MYNAH_TRY(const auto extra_bytes, reader.read<uint16_t>("the extra fields' length"));
  MYNAH_TRY(const auto comment_bytes, reader.read<uint16_t>("the comment's length"));
  MYNAH_TRY_STATUS(reader.take(8, "disk and attributes"));
  MYNAH_TRY(entry.local_offset, reader.read<uint32_t>("the member's offset"));
  MYNAH_TRY(const std::string_view name, reader.text(name_bytes, "a member's name"));
  MYNAH_TRY(const Bytes extra, reader.take(extra_bytes, "the extra fields"));
  MYNAH_TRY_STATUS(reader.take(comment_bytes, "a member's comment"));
  MYNAH_TRY_STATUS(read_zip64_extra(ByteReader(extra, reader.file(), reader.offset()), entry));
  entry.member.name = name;
  const auto complain = [&](std::string_view message, ErrorCode code) {
    return reader.fail_here(fmt::format("member {}: {}", in_quotes(name), message), code);
  };
  if (!is_safe_name(name)) {
    return complain("wanted a relative name that stays inside its folder", ErrorCode::InvalidInput);
  }
  if ((flags & kEncrypted) != 0) {
    return complain("encrypted members are not read; unpack it first", ErrorCode::Unsupported);
  }
  if (method != 0 && method != kDeflateMethod) {
    return complain(fmt::format("wanted method 0 (stored) or 8 (deflate), found {}", method),
                    ErrorCode::Unsupported);
  }
  entry.member.method = method == 0 ? ZipMethod::Stored : ZipMethod::Deflate;
  if (method == 0 && entry.packed_bytes != entry.member.bytes) {
    return complain("a stored member's two sizes differ", ErrorCode::InvalidInput);
  }
  return entry;
}

// Finds the member's bytes behind its local header; returns where they end.
Result<uint64_t> locate(const MappedFile& file, uint64_t data_limit, Entry& entry) {
  const uint64_t begin = std::min(entry.local_offset, data_limit);
  ByteReader reader(file.bytes().subspan(begin, data_limit - begin), file.path(), begin);
  MYNAH_TRY(const auto signature,
            reader.read<uint32_t>("the local header of " + in_quotes(entry.member.name)));
  if (signature != kLocalSignature) {
    return reader.fail_here("wanted the local header of " + in_quotes(entry.member.name));
  }
  MYNAH_TRY_STATUS(reader.take(22, "a local header"));
  MYNAH_TRY(const auto name_bytes, reader.read<uint16_t>("a name's length"));
  MYNAH_TRY(const auto extra_bytes, reader.read<uint16_t>("the extra fields' length"));
  MYNAH_TRY(const std::string_view name, reader.text(name_bytes, "a member's name"));
  if (name != entry.member.name) {
    return reader.fail_here(fmt::format("the directory calls it {}, the local header {}",
                                        in_quotes(entry.member.name), in_quotes(name)));
  }
  MYNAH_TRY_STATUS(reader.take(extra_bytes, "the extra fields"));
  MYNAH_TRY(entry.member.packed,
            reader.take(entry.packed_bytes, "member " + in_quotes(entry.member.name)));
  return reader.offset();
}

}  // namespace

Result<std::vector<ZipMember>> read_zip_directory(const MappedFile& file) {
  MYNAH_TRY(const Directory directory, read_end(file));
  const auto end = checked_add(directory.offset, directory.bytes);
  if (!end || *end > file.bytes().size()) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("{}: the zip directory should be {} bytes at byte {}, found {} bytes in "
                    "all; the file is cut short",
                    file.path(), directory.bytes, directory.offset, file.bytes().size()));
  }
  ByteReader reader(file.bytes().subspan(directory.offset, directory.bytes), file.path(),
                    directory.offset);
  std::vector<ZipMember> members;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    MYNAH_TRY(Entry entry, read_entry(reader));
    MYNAH_TRY(const uint64_t range_end, locate(file, directory.offset, entry));
    ranges.emplace_back(entry.local_offset, range_end);
    members.push_back(std::move(entry.member));
  }
  if (!reader.at_end()) {
    return reader.fail_here("wanted the directory's end after its last entry");
  }
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}, byte {}: members overlap", file.path(), ranges[i].first));
    }
  }
  return members;
}

}  // namespace mynah
