// What PT_DYNAMIC leads to: names, versions, symbols.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/elf.h"

namespace mynah {
namespace {

using Bytes = std::span<const std::byte>;

// d_tag: System V ABI, figure 5-10; the GNU ones as in glibc's elf/elf.h.
enum Tag : uint64_t {
  kEnd = 0,
  kNeeded = 1,
  kHash = 4,
  kStrings = 5,
  kSymbols = 6,
  kStringBytes = 10,
  kSoname = 14,
  kRpath = 15,
  kRunpath = 29,
  kFlags = 30,
  kGnuHash = 0x6FFFFEF5,
  kSymbolVersions = 0x6FFFFFF0,
  kFlags1 = 0x6FFFFFFB,
  kVersionDefinitions = 0x6FFFFFFC,
  kVersionNeeds = 0x6FFFFFFE,
};

// An index of .gnu.version has 15 bits, so no file has more versions than this.
constexpr size_t kMostVersions = 0x7FFF;
constexpr uint16_t kVersionIndex = 0x7FFF;
constexpr uint16_t kOwnName = 1;      // VER_FLG_BASE
constexpr uint16_t kWeakVersion = 2;  // VER_FLG_WEAK

// Longest name of a library or list of folders that is taken for one: glibc has no limit, paths
// have 4096 bytes. Symbols of C++ are longer.
constexpr size_t kLongestName = 64 << 10;
constexpr size_t kLongestSymbol = 1 << 20;

// More libraries than any program links; it also bounds what overlapping names can cost.
constexpr size_t kMostNeeded = 4096;

constexpr uint8_t kWeakBinding = 2;  // STB_WEAK
constexpr uint8_t kFunction = 2;     // STT_FUNC
constexpr uint8_t kIndirect = 10;    // STT_GNU_IFUNC

// The best of a table's functions for an address, or `best` where none is better.
std::optional<ElfFunction> nearer(std::optional<ElfFunction> best, Bytes table, Bytes strings,
                                  bool wide, uint64_t address) {
  const size_t each = wide ? 24 : 16;
  const std::byte* found = nullptr;
  for (size_t i = 1; i < table.size() / each; ++i) {  // entry 0 is none
    const std::byte* entry = table.data() + i * each;
    const auto kind = static_cast<uint8_t>(entry[wide ? 4 : 12]) & 0xFU;
    uint16_t section = 0;
    std::memcpy(&section, entry + (wide ? 6 : 14), sizeof(section));
    if ((kind != kFunction && kind != kIndirect) || section == 0) {
      continue;
    }
    uint64_t begin = 0;
    uint64_t bytes = 0;
    std::memcpy(&begin, entry + (wide ? 8 : 4), wide ? 8 : 4);
    std::memcpy(&bytes, entry + (wide ? 16 : 8), wide ? 8 : 4);
    const bool inside = begin <= address && address - begin < bytes;
    if (begin > address || (best && best->inside && !inside) ||
        (best && best->inside == inside && begin <= best->address)) {
      continue;
    }
    found = entry;
    best = ElfFunction{.name = {}, .address = begin, .inside = inside};
  }
  if (found != nullptr) {
    uint32_t name = 0;
    std::memcpy(&name, found, sizeof(name));
    best->name = text_to_zero(strings, name, kLongestSymbol).value_or("");
  }
  return best;
}

}  // namespace

Result<std::string_view> ElfFile::dynamic_string(uint64_t offset, std::string_view what) const {
  const Bytes rest = tables_.strings ? at_address(*tables_.strings) : Bytes();
  const Bytes strings = rest.first(std::min<uint64_t>(rest.size(), tables_.string_bytes));
  if (const auto text = text_to_zero(strings, offset, kLongestName)) {
    return *text;
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: {} should be at byte {} of a string table of {} bytes, found no "
                          "text that ends there",
                          path(), what, offset, strings.size()));
}

Status ElfFile::read_dynamic(std::span<const std::byte> table) {
  is_dynamic = true;
  const size_t word = bits == 64 ? 8 : 4;
  // Names are offsets into a string table that another entry points at, so they are read behind it.
  std::vector<uint64_t> needed;
  std::optional<uint64_t> rpath;
  std::optional<uint64_t> runpath;
  std::optional<uint64_t> soname;
  for (size_t at = 0; at + 2 * word <= table.size(); at += 2 * word) {
    uint64_t tag = 0;
    uint64_t value = 0;
    std::memcpy(&tag, table.data() + at, word);
    std::memcpy(&value, table.data() + at + word, word);
    if (tag == kEnd) {
      break;
    }
    switch (tag) {
      case kNeeded:
        needed.push_back(value);
        break;
      case kHash:
        tables_.hash = value;
        break;
      case kStrings:
        tables_.strings = value;
        break;
      case kSymbols:
        tables_.symbols = value;
        break;
      case kStringBytes:
        tables_.string_bytes = value;
        break;
      case kSoname:
        soname = value;
        break;
      case kRpath:
        rpath = value;
        break;
      case kRunpath:
        runpath = value;
        break;
      case kFlags:
        dynamic.flags = value;
        break;
      case kGnuHash:
        tables_.gnu_hash = value;
        break;
      case kSymbolVersions:
        tables_.symbol_versions = value;
        break;
      case kFlags1:
        dynamic.flags_1 = value;
        break;
      case kVersionDefinitions:
        tables_.version_definitions = value;
        break;
      case kVersionNeeds:
        tables_.version_needs = value;
        break;
      default:
        break;
    }
    if (needed.size() > kMostNeeded) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: more than {} needed libraries", path(), kMostNeeded));
    }
  }
  for (const uint64_t name : needed) {
    MYNAH_TRY(const std::string_view library, dynamic_string(name, "a needed library's name"));
    dynamic.needed.push_back(library);
  }
  if (rpath) {
    MYNAH_TRY(dynamic.rpath, dynamic_string(*rpath, "RPATH"));
  }
  if (runpath) {
    MYNAH_TRY(dynamic.runpath, dynamic_string(*runpath, "RUNPATH"));
  }
  if (soname) {
    MYNAH_TRY(dynamic.soname, dynamic_string(*soname, "SONAME"));
  }
  if (tables_.version_needs) {
    MYNAH_TRY_STATUS(read_version_needs(*tables_.version_needs));
  }
  if (tables_.version_definitions) {
    MYNAH_TRY_STATUS(read_version_definitions(*tables_.version_definitions));
  }
  return {};
}

// Records of needs (Elf_Verneed, 16 bytes) are a chain by offsets from each to the next, and each
// has a chain of versions (Elf_Vernaux, 16 bytes): Linux Standard Base 5.0, "Symbol Versioning".
Status ElfFile::read_version_needs(uint64_t address) {
  const Bytes table = at_address(address);
  size_t versions = 0;
  uint64_t at = 0;
  for (bool more = true; more;) {
    ByteReader record(table.subspan(std::min<uint64_t>(at, table.size())), path());
    MYNAH_TRY_STATUS(record.read<uint16_t>("the version of a version need"));
    MYNAH_TRY(const auto count, record.read<uint16_t>("the number of versions"));
    MYNAH_TRY(const auto file, record.read<uint32_t>("a version need's file"));
    MYNAH_TRY(const auto first, record.read<uint32_t>("the offset of the first version"));
    MYNAH_TRY(const auto next, record.read<uint32_t>("the offset of the next version need"));
    ElfVersionNeed& need = dynamic.version_needs.emplace_back();
    MYNAH_TRY(need.file, dynamic_string(file, "a version need's file"));
    uint64_t version_at = at + first;
    for (uint16_t i = 0; i < count; ++i) {
      if (++versions > kMostVersions) {
        return fail(ErrorCode::InvalidInput, path() + ": the version needs do not end");
      }
      ByteReader entry(table.subspan(std::min<uint64_t>(version_at, table.size())), path());
      MYNAH_TRY_STATUS(entry.read<uint32_t>("a version's hash"));
      MYNAH_TRY(const auto version_flags, entry.read<uint16_t>("a version's flags"));
      MYNAH_TRY(const auto index, entry.read<uint16_t>("a version's index"));
      MYNAH_TRY(const auto name, entry.read<uint32_t>("a version's name"));
      MYNAH_TRY(const auto step, entry.read<uint32_t>("the offset of the next version"));
      ElfVersion& version = need.versions.emplace_back();
      MYNAH_TRY(version.name, dynamic_string(name, "a version's name"));
      version.index = index & kVersionIndex;
      version.weak = (version_flags & kWeakVersion) != 0;
      version_at += step;
    }
    at += next;
    more = next != 0;
    if (dynamic.version_needs.size() > kMostVersions) {
      return fail(ErrorCode::InvalidInput, path() + ": the version needs do not end");
    }
  }
  return {};
}

// A chain of Elf_Verdef (20 bytes), whose first Elf_Verdaux (8 bytes) has the name.
Status ElfFile::read_version_definitions(uint64_t address) {
  const Bytes table = at_address(address);
  uint64_t at = 0;
  size_t records = 0;
  for (bool more = true; more;) {
    if (++records > kMostVersions) {
      return fail(ErrorCode::InvalidInput, path() + ": the version definitions do not end");
    }
    ByteReader record(table.subspan(std::min<uint64_t>(at, table.size())), path());
    MYNAH_TRY_STATUS(record.read<uint16_t>("the version of a version definition"));
    MYNAH_TRY(const auto version_flags, record.read<uint16_t>("a version definition's flags"));
    MYNAH_TRY(const auto index, record.read<uint16_t>("a version definition's index"));
    MYNAH_TRY(const auto names, record.read<uint16_t>("the number of names"));
    MYNAH_TRY_STATUS(record.read<uint32_t>("a version definition's hash"));
    MYNAH_TRY(const auto first, record.read<uint32_t>("the offset of the name"));
    MYNAH_TRY(const auto next, record.read<uint32_t>("the offset of the next definition"));
    if (names != 0 && (version_flags & kOwnName) == 0) {
      ByteReader entry(table.subspan(std::min<uint64_t>(at + first, table.size())), path());
      MYNAH_TRY(const auto name, entry.read<uint32_t>("a version definition's name"));
      ElfVersion version;
      MYNAH_TRY(version.name, dynamic_string(name, "a version definition's name"));
      version.index = index & kVersionIndex;
      version.weak = (version_flags & kWeakVersion) != 0;
      dynamic.version_definitions.push_back(version);
    }
    at += next;
    more = next != 0;
  }
  return {};
}

// DT_GNU_HASH: the buckets and chains cover all symbols from the first hashed one to the last, and
// a chain ends at an odd hash.
Result<uint64_t> ElfFile::gnu_hash_count(uint64_t address) const {
  const Bytes table = at_address(address);
  ByteReader reader(table, path());
  MYNAH_TRY(const auto bucket_count, reader.read<uint32_t>("the number of hash buckets"));
  MYNAH_TRY(const auto first_symbol, reader.read<uint32_t>("the first hashed symbol"));
  MYNAH_TRY(const auto filter_words, reader.read<uint32_t>("the number of filter words"));
  MYNAH_TRY_STATUS(reader.read<uint32_t>("the filter's shift"));
  const uint64_t word = bits == 64 ? 8 : 4;
  MYNAH_TRY_STATUS(reader.take(filter_words * word, "the filter"));
  MYNAH_TRY(const Bytes buckets, reader.take(uint64_t{bucket_count} * 4, "the hash buckets"));
  uint32_t last = 0;
  for (size_t i = 0; i < bucket_count; ++i) {
    uint32_t bucket = 0;
    std::memcpy(&bucket, buckets.data() + 4 * i, sizeof(bucket));
    last = std::max(last, bucket);
  }
  if (last < first_symbol) {
    return first_symbol;
  }
  MYNAH_TRY_STATUS(reader.take(uint64_t{last - first_symbol} * 4, "the hash chains"));
  uint64_t count = last;
  for (uint32_t hash = 0; (hash & 1) == 0; ++count) {
    MYNAH_TRY(hash, reader.read<uint32_t>("a hash chain"));
  }
  return count;
}

Result<uint64_t> ElfFile::symbol_count() const {
  const uint64_t each = bits == 64 ? 24 : 16;
  for (const ElfSection& section : sections) {
    if (section.type == kElfDynamicNames && section.address == tables_.symbols) {
      return section.bytes.size() / each;
    }
  }
  if (tables_.hash) {
    ByteReader reader(at_address(*tables_.hash), path());
    MYNAH_TRY_STATUS(reader.read<uint32_t>("the number of hash buckets"));
    MYNAH_TRY(const auto count, reader.read<uint32_t>("the number of symbols"));
    return count;
  }
  if (tables_.gnu_hash) {
    return gnu_hash_count(*tables_.gnu_hash);
  }
  return 0;
}

Result<std::vector<ElfSymbol>> ElfFile::symbols() const {
  std::vector<ElfSymbol> symbols;
  if (!tables_.symbols || !tables_.strings) {
    return symbols;
  }
  const uint64_t each = bits == 64 ? 24 : 16;
  MYNAH_TRY(const uint64_t count, symbol_count());
  ByteReader reader(at_address(*tables_.symbols), path());
  MYNAH_TRY(const Bytes table, reader.take(count * each, "the dynamic symbols"));
  const Bytes rest = at_address(*tables_.strings);
  const Bytes strings = rest.first(std::min<uint64_t>(rest.size(), tables_.string_bytes));
  const Bytes versions = tables_.symbol_versions ? at_address(*tables_.symbol_versions) : Bytes();
  // Names may share their ends, so that together they may be longer than the table. A file whose
  // names are many times as long wants to be read for ever.
  uint64_t names_left = 16 * uint64_t{strings.size()} + kLongestSymbol;
  symbols.reserve(count);
  for (uint64_t i = 1; i < count; ++i) {  // entry 0 is none
    const std::byte* entry = table.data() + i * each;
    uint32_t name = 0;
    uint16_t section = 0;
    std::memcpy(&name, entry, sizeof(name));
    std::memcpy(&section, entry + (bits == 64 ? 6 : 14), sizeof(section));
    const auto info = static_cast<uint8_t>(entry[bits == 64 ? 4 : 12]);
    const auto text = text_to_zero(strings, name, std::min<uint64_t>(names_left, kLongestSymbol));
    if (!text) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: symbol {} has no name within the string table", path(), i));
    }
    names_left -= text->size();
    ElfSymbol& symbol = symbols.emplace_back();
    symbol.name = *text;
    symbol.defined = section != 0;
    symbol.weak = (info >> 4) == kWeakBinding;
    if (2 * (i + 1) <= versions.size()) {
      std::memcpy(&symbol.version, versions.data() + 2 * i, sizeof(symbol.version));
      symbol.version &= kVersionIndex;
    }
  }
  return symbols;
}

std::optional<ElfFunction> ElfFile::function_at(uint64_t address) const {
  std::optional<ElfFunction> best;
  if (tables_.symbols && tables_.strings) {
    const uint64_t each = bits == 64 ? 24 : 16;
    const Bytes rest = at_address(*tables_.symbols);
    const uint64_t count = std::min(symbol_count().value_or(0), rest.size() / each);
    const Bytes strings = at_address(*tables_.strings);
    best = nearer(best, rest.first(count * each),
                  strings.first(std::min<uint64_t>(strings.size(), tables_.string_bytes)),
                  bits == 64, address);
  }
  const ElfSection* symbols = section(".symtab");
  const ElfSection* names = section(".strtab");
  if (symbols != nullptr && names != nullptr) {
    best = nearer(best, symbols->bytes, names->bytes, bits == 64, address);
  }
  return best && !best->name.empty() ? best : std::nullopt;
}

}  // namespace mynah
