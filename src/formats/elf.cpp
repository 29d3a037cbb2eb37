#include "formats/elf.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

// System V ABI, figures 4-3 to 4-6 and 5-1.
constexpr std::string_view kMagic =
    "\x7F"
    "ELF";
constexpr uint8_t kClass32 = 1;
constexpr uint8_t kClass64 = 2;
constexpr uint8_t kLittleEndian = 1;
constexpr uint8_t kBigEndian = 2;
constexpr uint16_t kManyProgramHeaders = 0xFFFF;  // PN_XNUM: section 0 has the number
constexpr uint16_t kManySections = 0xFFFF;        // SHN_XINDEX: section 0 has the index
constexpr uint32_t kLoad = 1;                     // PT_LOAD
constexpr uint32_t kDynamicTable = 2;             // PT_DYNAMIC
constexpr uint32_t kInterpreter = 3;              // PT_INTERP
constexpr uint32_t kExecutable = 1;               // PF_X
constexpr size_t kLongestSectionName = 4096;
constexpr size_t kLongestPath = 4096;

// More than any linker writes; they bound what names at the same place and segments over one
// another can cost.
constexpr uint64_t kMostSections = 1 << 20;
constexpr uint64_t kMostSegments = 4096;

using Bytes = std::span<const std::byte>;

// An address, an offset or a size: 32 or 64 bits, by the file's class.
Result<uint64_t> read_word(ByteReader& reader, int bits, std::string_view what) {
  if (bits == 64) {
    return reader.read<uint64_t>(what);
  }
  MYNAH_TRY(const auto word, reader.read<uint32_t>(what));
  return word;
}

struct RawSection {
  uint32_t name = 0;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
};

Result<RawSection> read_section(ByteReader& reader, int bits) {
  RawSection section;
  MYNAH_TRY(section.name, reader.read<uint32_t>("a section's name"));
  MYNAH_TRY(section.type, reader.read<uint32_t>("a section's type"));
  MYNAH_TRY(section.flags, read_word(reader, bits, "a section's flags"));
  MYNAH_TRY(section.address, read_word(reader, bits, "a section's address"));
  MYNAH_TRY(section.offset, read_word(reader, bits, "a section's offset"));
  MYNAH_TRY(section.size, read_word(reader, bits, "a section's size"));
  MYNAH_TRY(section.link, reader.read<uint32_t>("a section's link"));
  MYNAH_TRY(section.info, reader.read<uint32_t>("a section's info"));
  MYNAH_TRY_STATUS(read_word(reader, bits, "a section's alignment"));
  MYNAH_TRY_STATUS(read_word(reader, bits, "a section's entry size"));
  return section;
}

struct RawSegment {
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t file_size = 0;
};

Result<RawSegment> read_segment(ByteReader& reader, int bits) {
  RawSegment segment;
  MYNAH_TRY(segment.type, reader.read<uint32_t>("a program header's type"));
  if (bits == 64) {
    MYNAH_TRY(segment.flags, reader.read<uint32_t>("a program header's flags"));
  }
  MYNAH_TRY(segment.offset, read_word(reader, bits, "a program header's offset"));
  MYNAH_TRY(segment.address, read_word(reader, bits, "a program header's address"));
  MYNAH_TRY_STATUS(read_word(reader, bits, "a program header's physical address"));
  MYNAH_TRY(segment.file_size, read_word(reader, bits, "a program header's size"));
  MYNAH_TRY_STATUS(read_word(reader, bits, "a program header's size in memory"));
  if (bits == 32) {
    MYNAH_TRY(segment.flags, reader.read<uint32_t>("a program header's flags"));
  }
  MYNAH_TRY_STATUS(read_word(reader, bits, "a program header's alignment"));
  return segment;
}

}  // namespace

struct ElfFile::Header {
  uint64_t program_headers = 0;  // offset
  uint64_t program_count = 0;
  uint64_t section_headers = 0;  // offset
  uint64_t section_count = 0;
  uint32_t section_names = 0;  // index of the section that holds them
};

bool ElfFile::is_elf(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), kMagic.size()) == kMagic;
}

Result<ElfFile> ElfFile::parse(std::shared_ptr<const MappedFile> file) {
  ElfFile elf(std::move(file));
  MYNAH_TRY(const Header header, elf.read_header());
  MYNAH_TRY_STATUS(elf.read_sections(header));
  MYNAH_TRY_STATUS(elf.read_segments(header));
  return elf;
}

// The first 16 bytes, e_ident.
Status ElfFile::read_identity(ByteReader& reader) {
  if (!is_elf(bytes())) {
    return reader.fail_here("wanted an ELF file, found another beginning");
  }
  MYNAH_TRY_STATUS(reader.take(kMagic.size(), "the magic"));
  MYNAH_TRY(const auto file_class, reader.read<uint8_t>("the class"));
  MYNAH_TRY(const auto order, reader.read<uint8_t>("the byte order"));
  if (order == kBigEndian) {
    return reader.fail_here("big-endian ELF files are not read", ErrorCode::Unsupported);
  }
  if ((file_class != kClass32 && file_class != kClass64) || order != kLittleEndian) {
    return reader.fail_here(fmt::format(
        "wanted an ELF file of class 1 or 2 and byte order 1, found {} and {}", file_class, order));
  }
  bits = file_class == kClass64 ? 64 : 32;
  MYNAH_TRY_STATUS(reader.read<uint8_t>("the version"));
  MYNAH_TRY(os_abi, reader.read<uint8_t>("the system"));
  MYNAH_TRY(abi_version, reader.read<uint8_t>("the system's version"));
  MYNAH_TRY_STATUS(reader.take(7, "padding"));
  return {};
}

Result<ElfFile::Header> ElfFile::read_header() {
  ByteReader reader(bytes(), path());
  MYNAH_TRY_STATUS(read_identity(reader));
  MYNAH_TRY(type, reader.read<uint16_t>("the type"));
  MYNAH_TRY(machine, reader.read<uint16_t>("the machine"));
  MYNAH_TRY_STATUS(reader.read<uint32_t>("the version"));
  MYNAH_TRY_STATUS(read_word(reader, bits, "the entry point"));
  Header header;
  MYNAH_TRY(header.program_headers, read_word(reader, bits, "the program headers' offset"));
  MYNAH_TRY(header.section_headers, read_word(reader, bits, "the section headers' offset"));
  MYNAH_TRY(flags, reader.read<uint32_t>("the flags"));
  MYNAH_TRY_STATUS(reader.read<uint16_t>("the header's size"));
  MYNAH_TRY(const auto program_bytes, reader.read<uint16_t>("a program header's size"));
  MYNAH_TRY(header.program_count, reader.read<uint16_t>("the number of program headers"));
  MYNAH_TRY(const auto section_bytes, reader.read<uint16_t>("a section header's size"));
  MYNAH_TRY(header.section_count, reader.read<uint16_t>("the number of sections"));
  MYNAH_TRY(header.section_names, reader.read<uint16_t>("the index of the sections' names"));
  const int wanted_program = bits == 64 ? 56 : 32;
  const int wanted_section = bits == 64 ? 64 : 40;
  if (header.program_count != 0 && program_bytes != wanted_program) {
    return reader.fail_here(
        fmt::format("wanted program headers of {} bytes, found {}", wanted_program, program_bytes));
  }
  if (header.section_headers != 0 && section_bytes != wanted_section) {
    return reader.fail_here(
        fmt::format("wanted section headers of {} bytes, found {}", wanted_section, section_bytes));
  }
  return header;
}

// The numbers that do not fit the header stand in section 0 (gABI, "Section header", e_shnum).
Status ElfFile::read_sections(const Header& header) {
  if (header.section_headers == 0) {
    return {};
  }
  const uint64_t each = bits == 64 ? 64 : 40;
  const auto first = part_of(bytes(), header.section_headers, each);
  if (!first) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: the section headers lie outside of the file, which is cut short "
                            "or not what it says it is",
                            path()));
  }
  ByteReader first_reader(*first, path(), header.section_headers);
  MYNAH_TRY(const RawSection zeroth, read_section(first_reader, bits));
  const uint64_t count = header.section_count != 0 ? header.section_count : zeroth.size;
  const auto table =
      part_of(bytes(), header.section_headers, std::min(count, kMostSections) * each);
  if (!table || count > kMostSections) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: {} section headers from byte {} are too many for the file, which "
                            "is cut short or not what it says it is",
                            path(), count, header.section_headers));
  }
  const uint64_t names_index =
      header.section_names == kManySections ? zeroth.link : header.section_names;
  Bytes names;
  if (names_index < count) {
    ByteReader reader(table->subspan(names_index * each, each), path(),
                      header.section_headers + names_index * each);
    MYNAH_TRY(const RawSection raw, read_section(reader, bits));
    names = part_of(bytes(), raw.offset, raw.size).value_or(Bytes());
  }
  ByteReader reader(*table, path(), header.section_headers);
  sections.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    MYNAH_TRY(const RawSection raw, read_section(reader, bits));
    ElfSection& section = sections.emplace_back();
    section.name = text_to_zero(names, raw.name, kLongestSectionName).value_or("");
    section.type = raw.type;
    section.flags = raw.flags;
    section.address = raw.address;
    if (i > 0 && raw.type != kElfNoBits) {
      section.bytes = part_of(bytes(), raw.offset, raw.size).value_or(Bytes());
    }
  }
  return {};
}

Status ElfFile::read_segments(const Header& header) {
  const uint64_t each = bits == 64 ? 56 : 32;
  uint64_t count = header.program_count;
  if (count == kManyProgramHeaders && !sections.empty()) {
    ByteReader reader(bytes().subspan(header.section_headers), path(), header.section_headers);
    MYNAH_TRY(const RawSection zeroth, read_section(reader, bits));
    count = zeroth.info;
  }
  const auto table =
      part_of(bytes(), header.program_headers, std::min(count, kMostSegments) * each);
  if (!table || count > kMostSegments) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: {} program headers from byte {} are too many for the file, which "
                            "is cut short or not what it says it is",
                            path(), count, header.program_headers));
  }
  ByteReader reader(*table, path(), header.program_headers);
  std::optional<Bytes> dynamic_table;
  for (uint64_t i = 0; i < count; ++i) {
    MYNAH_TRY(const RawSegment raw, read_segment(reader, bits));
    const auto content = part_of(bytes(), raw.offset, raw.file_size);
    if (raw.type != kLoad && raw.type != kDynamicTable && raw.type != kInterpreter) {
      continue;
    }
    if (!content) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: a segment of {} bytes at byte {} lies outside of the file, "
                              "which is cut short or not what it says it is",
                              path(), raw.file_size, raw.offset));
    }
    if (raw.type == kLoad) {
      segments.push_back({raw.address, (raw.flags & kExecutable) != 0, *content});
    } else if (raw.type == kDynamicTable) {
      dynamic_table = *content;
    } else {
      interpreter = text_to_zero(*content, 0, kLongestPath).value_or("");
    }
  }
  // A relocatable file or a separate file of debugging data has headers without content.
  if (dynamic_table && !dynamic_table->empty()) {
    return read_dynamic(*dynamic_table);
  }
  return {};
}

const ElfSection* ElfFile::section(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found == sections.end() ? nullptr : &*found;
}

std::span<const std::byte> ElfFile::at_address(uint64_t address) const {
  for (const ElfSegment& segment : segments) {
    if (address >= segment.address && address - segment.address < segment.bytes.size()) {
      return segment.bytes.subspan(address - segment.address);
    }
  }
  return {};
}

}  // namespace mynah
