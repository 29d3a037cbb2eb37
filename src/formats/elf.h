// Reads ELF files as the dynamic loader does: what they are, what they need, what they define.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace mynah {

class ByteReader;

// e_machine, of the System V ABI's list.
inline constexpr uint16_t kElfX86 = 3;
inline constexpr uint16_t kElfX86_64 = 62;
inline constexpr uint16_t kElfAarch64 = 183;
inline constexpr uint16_t kElfCuda = 190;

// e_type.
inline constexpr uint16_t kElfRelocatable = 1;
inline constexpr uint16_t kElfExecutable = 2;
inline constexpr uint16_t kElfShared = 3;

// sh_type and sh_flags that readers ask for.
inline constexpr uint32_t kElfProgramBits = 1;    // SHT_PROGBITS
inline constexpr uint32_t kElfNoBits = 8;         // SHT_NOBITS
inline constexpr uint32_t kElfDynamicNames = 11;  // SHT_DYNSYM
inline constexpr uint64_t kElfAllocated = 2;      // SHF_ALLOC
inline constexpr uint64_t kElfCode = 4;           // SHF_EXECINSTR

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  // In the file; none where the section has no content there, or says it lies outside of it.
  std::span<const std::byte> bytes;
};

// A part of the file that the loader maps (PT_LOAD).
struct ElfSegment {
  uint64_t address = 0;
  bool code = false;
  std::span<const std::byte> bytes;
};

// Versions of symbols that a file needs of another one (.gnu.version_r).
struct ElfVersion {
  std::string_view name;  // "GLIBC_2.34"
  uint16_t index = 0;     // by which symbols refer to it
  bool weak = false;      // the loader does without it
};

struct ElfVersionNeed {
  std::string_view file;  // "libc.so.6"
  std::vector<ElfVersion> versions;
};

// What PT_DYNAMIC says.
struct ElfDynamic {
  std::vector<std::string_view> needed;     // in the order in which they are loaded
  std::optional<std::string_view> rpath;    // unexpanded, ':' between folders
  std::optional<std::string_view> runpath;  // where there is one, rpath does not count
  std::string_view soname;
  uint64_t flags = 0;                           // DT_FLAGS
  uint64_t flags_1 = 0;                         // DT_FLAGS_1
  std::vector<ElfVersionNeed> version_needs;    // .gnu.version_r
  std::vector<ElfVersion> version_definitions;  // .gnu.version_d, the file's own name left out
};

// A name of the dynamic symbol table.
struct ElfSymbol {
  std::string_view name;
  uint16_t version = 0;  // of .gnu.version, without its hidden bit; 0 and 1: none
  bool defined = false;
  bool weak = false;
};

// A function of a symbol table.
struct ElfFunction {
  std::string_view name;
  uint64_t address = 0;
  bool inside = false;  // by its size, the address that was asked for lies in it
};

// An ELF file of 32 or 64 bits, little-endian (System V ABI, chapters 4 and 5; the GNU versioning
// and hash tables as the Linux Standard Base and glibc have them). Nothing is copied: views live as
// long as the file that was passed in, and only headers and tables are touched, never the content
// of a section. Refused: other files, big-endian ones, tables or segments outside of the file, a
// dynamic table whose names lie outside of it.
class ElfFile {
 public:
  static Result<ElfFile> parse(std::shared_ptr<const MappedFile> file);

  // Whether the bytes begin as an ELF file does.
  [[nodiscard]] static bool is_elf(std::span<const std::byte> bytes);

  int bits = 64;  // 32 or 64
  uint16_t type = 0;
  uint16_t machine = 0;
  uint8_t os_abi = 0;
  uint8_t abi_version = 0;
  uint32_t flags = 0;
  std::string_view interpreter;      // PT_INTERP; empty: none
  std::vector<ElfSection> sections;  // none where they were stripped
  std::vector<ElfSegment> segments;
  bool is_dynamic = false;  // there is a PT_DYNAMIC
  ElfDynamic dynamic;

  // The first section of that name, or null.
  [[nodiscard]] const ElfSection* section(std::string_view name) const;

  // The dynamic symbols, by DT_SYMTAB; the table's length is that of its section, of DT_HASH or of
  // DT_GNU_HASH. Touches the whole table and its names.
  [[nodiscard]] Result<std::vector<ElfSymbol>> symbols() const;

  // The function that an address lies in, else the nearest one before it, of the dynamic symbols
  // and of those that strip would remove. None where there is none, or its name cannot be read.
  [[nodiscard]] std::optional<ElfFunction> function_at(uint64_t address) const;

  [[nodiscard]] const std::string& path() const { return file_->path(); }

  [[nodiscard]] std::span<const std::byte> bytes() const { return file_->bytes(); }

 private:
  // Addresses and counts of the dynamic table that are followed later.
  struct Tables {
    std::optional<uint64_t> strings, symbols, hash, gnu_hash, symbol_versions;
    std::optional<uint64_t> version_needs, version_definitions;
    uint64_t string_bytes = 0;
  };

  explicit ElfFile(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  struct Header;
  Status read_identity(ByteReader& reader);
  Result<Header> read_header();
  Status read_sections(const Header& header);
  Status read_segments(const Header& header);
  Status read_dynamic(std::span<const std::byte> table);
  Status read_version_needs(uint64_t address);
  Status read_version_definitions(uint64_t address);
  [[nodiscard]] std::span<const std::byte> at_address(uint64_t address) const;
  [[nodiscard]] Result<std::string_view> dynamic_string(uint64_t offset,
                                                        std::string_view what) const;
  [[nodiscard]] Result<uint64_t> symbol_count() const;
  [[nodiscard]] Result<uint64_t> gnu_hash_count(uint64_t address) const;

  std::shared_ptr<const MappedFile> file_;
  Tables tables_;
};

}  // namespace mynah
