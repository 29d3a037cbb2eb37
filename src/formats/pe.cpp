#include "formats/pe.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

// "PE Format", sections "MS-DOS Stub", "COFF File Header", "Optional Header", "Section Table".
constexpr std::string_view kDosMagic = "MZ";
constexpr uint64_t kNewHeaderAt = 0x3C;
constexpr uint32_t kSignature = 0x00004550;  // "PE\0\0"
constexpr uint16_t kNarrowMagic = 0x10B;
constexpr uint16_t kWideMagic = 0x20B;
constexpr uint16_t kDllFlag = 0x2000;       // IMAGE_FILE_DLL
constexpr uint32_t kCodeFlag = 0x20000000;  // IMAGE_SCN_MEM_EXECUTE
constexpr uint32_t kExportDirectory = 0;
constexpr uint32_t kImportDirectory = 1;
constexpr uint32_t kDelayImportDirectory = 13;
constexpr uint32_t kDirectories = 16;
constexpr uint32_t kDelayRelative = 1;  // addresses are relative to the image, not absolute

// Of a DLL's name: MAX_PATH.
constexpr size_t kLongestName = 260;

// More DLLs than any program imports; it also bounds what names at the same place can cost.
constexpr size_t kMostImports = 4096;

}  // namespace

// Addresses of the data directories, relative to the image; 0: there is none.
struct PeFile::Directories {
  uint64_t image_base = 0;
  uint64_t exports = 0;
  uint64_t imports = 0;
  uint64_t delay_imports = 0;
};

bool PeFile::is_pe(std::span<const std::byte> bytes) {
  return bytes.size() >= kDosMagic.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), kDosMagic.size()) ==
             kDosMagic;
}

Result<PeFile> PeFile::parse(std::shared_ptr<const MappedFile> file) {
  PeFile pe(std::move(file));
  const auto bytes = pe.file_->bytes();
  ByteReader dos(bytes, pe.path());
  if (!is_pe(bytes)) {
    return dos.fail_here("wanted a PE file, found another beginning");
  }
  MYNAH_TRY_STATUS(dos.take(kNewHeaderAt, "the DOS header"));
  MYNAH_TRY(const auto header_at, dos.read<uint32_t>("the header's offset"));
  const uint64_t begin = std::min<uint64_t>(header_at, bytes.size());
  ByteReader reader(bytes.subspan(begin), pe.path(), begin);
  MYNAH_TRY(const auto signature, reader.read<uint32_t>("the signature"));
  if (signature != kSignature) {
    return reader.fail_here("wanted the signature PE, found another; a program of DOS?");
  }
  MYNAH_TRY(pe.machine, reader.read<uint16_t>("the machine"));
  MYNAH_TRY(const auto section_count, reader.read<uint16_t>("the number of sections"));
  MYNAH_TRY_STATUS(reader.take(12, "a time and the symbols"));
  MYNAH_TRY(const auto optional_bytes, reader.read<uint16_t>("the optional header's size"));
  MYNAH_TRY(const auto flags, reader.read<uint16_t>("the flags"));
  pe.dll = (flags & kDllFlag) != 0;
  const uint64_t optional_at = reader.offset();
  MYNAH_TRY(const auto optional, reader.take(optional_bytes, "the optional header"));
  MYNAH_TRY_STATUS(pe.read_sections(reader.offset(), section_count));
  MYNAH_TRY(const Directories directories, pe.read_directories(optional, optional_at));
  if (directories.imports != 0) {
    MYNAH_TRY_STATUS(pe.read_imports(directories.imports));
  }
  if (directories.delay_imports != 0) {
    MYNAH_TRY_STATUS(pe.read_delay_imports(directories.delay_imports, directories.image_base));
  }
  if (directories.exports != 0) {
    MYNAH_TRY_STATUS(pe.read_export_name(directories.exports));
  }
  return pe;
}

Result<PeFile::Directories> PeFile::read_directories(std::span<const std::byte> optional,
                                                     uint64_t offset) {
  ByteReader fields(optional, path(), offset);
  MYNAH_TRY(const auto magic, fields.read<uint16_t>("the optional header's magic"));
  if (magic != kNarrowMagic && magic != kWideMagic) {
    return fields.fail_here(fmt::format("wanted magic 0x10b or 0x20b, found {:#x}", magic));
  }
  wide = magic == kWideMagic;
  Directories directories;
  MYNAH_TRY_STATUS(fields.take(wide ? 22 : 26, "sizes of code and data"));
  if (wide) {
    MYNAH_TRY(directories.image_base, fields.read<uint64_t>("the image's address"));
  } else {
    MYNAH_TRY(directories.image_base, fields.read<uint32_t>("the image's address"));
  }
  MYNAH_TRY_STATUS(fields.take(wide ? 76 : 60, "alignments, versions and sizes"));
  MYNAH_TRY(const auto directory_count, fields.read<uint32_t>("the number of directories"));
  for (uint32_t i = 0; i < std::min(directory_count, kDirectories); ++i) {
    MYNAH_TRY(const auto address, fields.read<uint32_t>("a directory's address"));
    MYNAH_TRY_STATUS(fields.read<uint32_t>("a directory's size"));
    if (i == kExportDirectory) {
      directories.exports = address;
    } else if (i == kImportDirectory) {
      directories.imports = address;
    } else if (i == kDelayImportDirectory) {
      directories.delay_imports = address;
    }
  }
  return directories;
}

Status PeFile::read_sections(uint64_t offset, uint16_t count) {
  constexpr size_t kNameBytes = 8;
  ByteReader reader(file_->bytes().subspan(offset), path(), offset);
  for (uint16_t i = 0; i < count; ++i) {
    PeSection section;
    MYNAH_TRY(const std::string_view name, reader.text(kNameBytes, "a section's name"));
    section.name = name.substr(0, name.find('\0'));
    MYNAH_TRY(const auto memory_bytes, reader.read<uint32_t>("a section's size in memory"));
    MYNAH_TRY(section.address, reader.read<uint32_t>("a section's address"));
    MYNAH_TRY(const auto file_bytes, reader.read<uint32_t>("a section's size"));
    MYNAH_TRY(const auto file_offset, reader.read<uint32_t>("a section's offset"));
    MYNAH_TRY_STATUS(reader.take(12, "relocations and line numbers"));
    MYNAH_TRY(const auto flags, reader.read<uint32_t>("a section's flags"));
    section.code = (flags & kCodeFlag) != 0;
    // What the file has beyond the section's size in memory is padding.
    const uint64_t size =
        memory_bytes == 0 ? file_bytes : std::min<uint64_t>(file_bytes, memory_bytes);
    const auto content = part_of(file_->bytes(), file_offset, size);
    if (!content && size != 0) {
      return reader.fail_here(
          fmt::format("section {} of {} bytes at byte {} lies outside of the file, which is cut "
                      "short or not what it says it is",
                      in_quotes(section.name), size, file_offset));
    }
    section.bytes = content.value_or(std::span<const std::byte>());
    sections.push_back(section);
  }
  return {};
}

std::span<const std::byte> PeFile::at_address(uint64_t address) const {
  for (const PeSection& section : sections) {
    if (address >= section.address && address - section.address < section.bytes.size()) {
      return section.bytes.subspan(address - section.address);
    }
  }
  return {};
}

Result<std::string_view> PeFile::name_at(uint64_t address, std::string_view what) const {
  if (const auto name = text_to_zero(at_address(address), 0, kLongestName)) {
    return *name;
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: {} should be at address {:#x}, found no text that ends there",
                          path(), what, address));
}

// Import directory table: 20 bytes for each DLL, up to one without a name.
Status PeFile::read_imports(uint64_t address) {
  ByteReader reader(at_address(address), path());
  while (true) {
    MYNAH_TRY_STATUS(reader.take(12, "an imported DLL's entry"));
    MYNAH_TRY(const auto name, reader.read<uint32_t>("an imported DLL's name"));
    MYNAH_TRY_STATUS(reader.read<uint32_t>("an imported DLL's addresses"));
    if (name == 0) {
      return {};
    }
    MYNAH_TRY(const std::string_view import, name_at(name, "an imported DLL's name"));
    imports.push_back(import);
    if (imports.size() > kMostImports) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: more than {} imported DLLs", path(), kMostImports));
    }
  }
}

// Delay-load directory table: 32 bytes for each DLL, up to one without a name.
Status PeFile::read_delay_imports(uint64_t address, uint64_t image_base) {
  ByteReader reader(at_address(address), path());
  while (true) {
    MYNAH_TRY(const auto attributes, reader.read<uint32_t>("a delayed DLL's attributes"));
    MYNAH_TRY(const auto name, reader.read<uint32_t>("a delayed DLL's name"));
    MYNAH_TRY_STATUS(reader.take(24, "a delayed DLL's entry"));
    if (name == 0) {
      return {};
    }
    const bool relative = (attributes & kDelayRelative) != 0;
    MYNAH_TRY(const std::string_view import,
              name_at(relative ? name : name - image_base, "a delayed DLL's name"));
    delay_imports.push_back(import);
    if (delay_imports.size() > kMostImports) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: more than {} delayed DLLs", path(), kMostImports));
    }
  }
}

Status PeFile::read_export_name(uint64_t address) {
  ByteReader reader(at_address(address), path());
  MYNAH_TRY_STATUS(reader.take(12, "the export directory"));
  MYNAH_TRY(const auto name, reader.read<uint32_t>("the address of the DLL's own name"));
  if (name != 0) {
    MYNAH_TRY(export_name, name_at(name, "the DLL's own name"));
  }
  return {};
}

}  // namespace mynah
