#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "formats/elf.h"
#include "formats/ld_cache.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto entries = read_ld_cache(std::as_bytes(std::span(data, size)), "fuzz");
  if (!entries) {
    MYNAH_CHECK(!entries.error().message.empty(), "an error without a message");
    return 0;
  }
  MYNAH_CHECK(entries->size() <= size / 24, "more entries than the file has room for");
  for (const LdCacheEntry& entry : *entries) {
    MYNAH_CHECK(entry.name.size() + entry.path.size() <= 2 * size, "a name beyond the file");
    (void)entry.is_for(kElfX86_64);
  }
  return 0;
}

}  // namespace mynah
