// Reads the dynamic loader's cache, /etc/ld.so.cache.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

struct LdCacheEntry {
  std::string_view name;   // "libcuda.so.1"
  std::string_view path;   // "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
  uint32_t flags = 0;      // kind and architecture
  bool for_wider = false;  // in a folder glibc-hwcaps/*, for processors that can do more

  // Whether it is for programs of this e_machine; other machines than x86 and Arm: false.
  [[nodiscard]] bool is_for(uint16_t elf_machine) const;
};

// The entries in the loader's order, where the last of a name comes first. Format: glibc's
// sysdeps/generic/dl-cache.h, "glibc-ld.so.cache1.1", with or without the older
// "ld.so-1.7.0" in front. Views live as long as `bytes`. Refused: other files, names outside of
// the file. `name` is for messages.
Result<std::vector<LdCacheEntry>> read_ld_cache(std::span<const std::byte> bytes,
                                                const std::string& name);

}  // namespace mynah
