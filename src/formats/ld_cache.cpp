#include "formats/ld_cache.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/elf.h"

namespace mynah {
namespace {

constexpr std::string_view kOldMagic = "ld.so-1.7.0";
constexpr uint64_t kOldHeaderBytes = 16;
constexpr uint64_t kOldEntryBytes = 12;
constexpr uint64_t kAlignment = 8;  // of the new header behind the old format
constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";
constexpr uint64_t kHeaderBytes = 48;
constexpr uint64_t kEntryBytes = 24;
constexpr size_t kLongestPath = 4096;

// Low three bits of the header's flags: 2 says little-endian, 0 that nobody wrote it.
constexpr uint8_t kOrderBits = 3;
constexpr uint8_t kOrderUnset = 0;
constexpr uint8_t kOrderLittle = 2;

// Flags of an entry: the low byte is its kind, the next one its architecture.
constexpr uint32_t kKindBits = 0xFF;
constexpr uint32_t kLibc6 = 3;  // FLAG_ELF_LIBC6
constexpr uint32_t kArchitectureBits = 0xFF00;
constexpr uint32_t kX86 = 0;
constexpr uint32_t kX86_64 = 0x0300;
constexpr uint32_t kAarch64 = 0x0A00;

bool begins_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), magic.size()) == magic;
}

// Where the new format begins.
Result<uint64_t> find_new_format(std::span<const std::byte> bytes, const std::string& name) {
  if (!begins_with(bytes, kOldMagic)) {
    return 0;
  }
  ByteReader reader(bytes, name);
  MYNAH_TRY_STATUS(reader.take(12, "the old header"));
  MYNAH_TRY(const auto count, reader.read<uint32_t>("the number of old entries"));
  const uint64_t end = kOldHeaderBytes + count * kOldEntryBytes;
  return std::min<uint64_t>((end + kAlignment - 1) / kAlignment * kAlignment, bytes.size());
}

}  // namespace

bool LdCacheEntry::is_for(uint16_t elf_machine) const {
  const uint32_t architecture = flags & kArchitectureBits;
  if ((flags & kKindBits) != kLibc6) {
    return false;
  }
  switch (elf_machine) {
    case kElfX86:
      return architecture == kX86;
    case kElfX86_64:
      return architecture == kX86_64;
    case kElfAarch64:
      return architecture == kAarch64;
    default:
      return false;
  }
}

Result<std::vector<LdCacheEntry>> read_ld_cache(std::span<const std::byte> bytes,
                                                const std::string& name) {
  MYNAH_TRY(const uint64_t begin, find_new_format(bytes, name));
  const auto cache = bytes.subspan(begin);
  ByteReader reader(cache, name, begin);
  if (!begins_with(cache, kCacheMagic)) {
    return reader.fail_here(fmt::format("wanted {}, found something else", in_quotes(kCacheMagic)));
  }
  MYNAH_TRY_STATUS(reader.take(kCacheMagic.size(), "the magic"));
  MYNAH_TRY(const auto count, reader.read<uint32_t>("the number of entries"));
  MYNAH_TRY_STATUS(reader.read<uint32_t>("the names' size"));
  MYNAH_TRY(const auto order, reader.read<uint8_t>("the byte order"));
  if ((order & kOrderBits) != kOrderUnset && (order & kOrderBits) != kOrderLittle) {
    return reader.fail_here("wanted a little-endian cache, found another", ErrorCode::Unsupported);
  }
  MYNAH_TRY_STATUS(reader.take(kHeaderBytes - kCacheMagic.size() - 9, "the header"));
  MYNAH_TRY(const auto table, reader.take(count * kEntryBytes, "the entries"));
  ByteReader fields(table, name, begin + kHeaderBytes);
  std::vector<LdCacheEntry> entries;
  entries.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    LdCacheEntry entry;
    MYNAH_TRY(entry.flags, fields.read<uint32_t>("an entry's flags"));
    MYNAH_TRY(const auto library, fields.read<uint32_t>("an entry's name"));
    MYNAH_TRY(const auto path, fields.read<uint32_t>("an entry's path"));
    MYNAH_TRY_STATUS(fields.read<uint32_t>("an entry's system"));
    MYNAH_TRY(const auto capabilities, fields.read<uint64_t>("an entry's capabilities"));
    // Offsets count from the new header, in a file with both formats as well.
    const auto library_text = text_to_zero(cache, library, kLongestPath);
    const auto path_text = text_to_zero(cache, path, kLongestPath);
    if (!library_text || !path_text) {
      return fields.fail_here("an entry's name or path does not end within the file");
    }
    entry.name = *library_text;
    entry.path = *path_text;
    entry.for_wider = capabilities != 0;
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace mynah
