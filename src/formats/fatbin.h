// Finds NVIDIA's fat binaries, the containers of device code, inside of libraries and programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace mynah {

enum class FatbinKind : uint16_t {
  Ptx = 1,    // text for the driver's compiler
  Cubin = 2,  // machine code: an ELF file
  LtoIr = 8,  // for the linker of device code alone
};

enum class FatbinCompression : uint8_t { None, Lz4, Zstd };

// One image of a fat binary.
struct FatbinEntry {
  FatbinKind kind = FatbinKind::Cubin;  // or a number that is none of the above
  FatbinCompression compression = FatbinCompression::None;
  char variant = ' ';         // 'a': that architecture alone; 'f': its family; ' ': no variant
  uint32_t architecture = 0;  // 75 of sm_75
  uint16_t ptx_major = 0;     // of the PTX language, where kind is Ptx
  uint16_t ptx_minor = 0;
  uint64_t unpacked_bytes = 0;         // 0: not compressed, or not known
  std::span<const std::byte> payload;  // as stored; its last bytes may be padding
};

// One fat binary, which is one translation unit's device code.
struct Fatbin {
  uint64_t offset = 0;       // in the file
  std::string_view section;  // that it was found in; empty: none has it
  std::vector<FatbinEntry> entries;
};

// The fat binaries of an ELF or PE file, in the file's order; of another file (an archive, a fat
// binary by itself) those anywhere in it. The format is not documented: it was read off what
// compilers of CUDA 11 to 13 write and off NVIDIA's libraries, and checked against cuobjdump.
//
// Where they lie: `.nv_fatbin` and `__nv_relfatbin`, one behind the other, of which only headers
// are touched; for the rest of a file that has device code, in any section of data, which is
// searched for the magic. A file is taken to have none where it has no section of those two, and
// none that NVIDIA's libraries are known to use instead. Views live as long as `file`. Fails where
// the file is an ELF or PE file that cannot be read.
Result<std::vector<Fatbin>> read_fatbins(const std::shared_ptr<const MappedFile>& file);

// How many fat binaries the table `.nvFatBinSegment` of a library counts, 0 where there is none:
// as many as there are in `.nv_fatbin` and `__nv_relfatbin`.
Result<uint64_t> count_declared_fatbins(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
