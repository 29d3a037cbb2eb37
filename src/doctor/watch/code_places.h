// Which library and function an address of a running program is in: by /proc/PID/maps and the
// symbols of the files that it names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/elf.h"

namespace mynah::doctor {

// A part of a process's memory: a line of /proc/PID/maps, see proc_pid_maps(5).
struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool code = false;
  uint64_t offset = 0;  // in the file
  std::string path;     // "[vdso]", "[stack]"; empty: anonymous
};

// In their order, which is that of addresses; lines that are none are left out.
[[nodiscard]] std::vector<Mapping> parse_maps(std::string_view text);

// Where a program stands.
struct CodePlace {
  std::string library;  // a path, "[vdso]", or "code made at run time"; empty: not known
  std::string symbol;   // of the function; empty: none is near
  uint64_t offset = 0;  // from the symbol, or where there is none from the library's beginning
  bool inside = false;  // it is this function, else one after it that has no name

  bool operator==(const CodePlace&) const = default;
};

// "libtorch_cpu.so, in gemm_f32", "libcuda.so.1, behind cuInit (0x1f40 bytes)".
[[nodiscard]] std::string place_words(const CodePlace& place);

// The code of one process. Files are mapped once.
class CodePlaces {
 public:
  explicit CodePlaces(std::vector<Mapping> mappings);

  [[nodiscard]] CodePlace at(uint64_t address);
  [[nodiscard]] bool is_code(uint64_t address) const;

 private:
  [[nodiscard]] const Mapping* mapping(uint64_t address) const;

  std::vector<Mapping> mappings_;
  std::map<std::string, std::optional<ElfFile>> files_;
};

}  // namespace mynah::doctor
