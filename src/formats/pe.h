// Reads Windows' programs and libraries (PE32 and PE32+): what they are and which DLLs they import.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace mynah {

// Machine of the COFF header.
inline constexpr uint16_t kPeX86 = 0x014C;
inline constexpr uint16_t kPeX86_64 = 0x8664;
inline constexpr uint16_t kPeArm64 = 0xAA64;

struct PeSection {
  std::string_view name;  // at most 8 bytes: ".nv_fatb"
  uint32_t address = 0;   // relative to the image
  bool code = false;
  std::span<const std::byte> bytes;  // in the file
};

// A PE file ("PE Format" of Microsoft's documentation). Views live as long as the file that was
// passed in. Refused: other files, headers, sections or tables of imports outside of the file.
class PeFile {
 public:
  static Result<PeFile> parse(std::shared_ptr<const MappedFile> file);

  // Whether the bytes begin as one does ("MZ"), which a program of DOS does as well.
  [[nodiscard]] static bool is_pe(std::span<const std::byte> bytes);

  uint16_t machine = 0;
  bool dll = false;   // else a program
  bool wide = false;  // PE32+, of 64 bits
  std::vector<PeSection> sections;
  std::vector<std::string_view> imports;        // DLLs, in the order of the table
  std::vector<std::string_view> delay_imports;  // loaded when first called
  std::string_view export_name;                 // the DLL's own name; empty: it exports nothing

  [[nodiscard]] const std::string& path() const { return file_->path(); }

 private:
  struct Directories;

  explicit PeFile(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  Result<Directories> read_directories(std::span<const std::byte> optional, uint64_t offset);
  Status read_sections(uint64_t offset, uint16_t count);
  Status read_imports(uint64_t address);
  Status read_delay_imports(uint64_t address, uint64_t image_base);
  Status read_export_name(uint64_t address);
  // The bytes of the section that an address is in, from there on; none where it is in no section.
  [[nodiscard]] std::span<const std::byte> at_address(uint64_t address) const;
  [[nodiscard]] Result<std::string_view> name_at(uint64_t address, std::string_view what) const;

  std::shared_ptr<const MappedFile> file_;
};

}  // namespace mynah
