#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "formats/fatbin.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = MappedFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz");
  const auto fatbins = read_fatbins(file);
  if (!fatbins) {
    MYNAH_CHECK(!fatbins.error().message.empty(), "an error without a message");
    return 0;
  }
  uint64_t end = 0;
  size_t entries = 0;
  for (const Fatbin& fatbin : *fatbins) {
    MYNAH_CHECK(fatbin.offset >= end, "fat binaries over one another");
    for (const FatbinEntry& entry : fatbin.entries) {
      const auto begin = static_cast<uint64_t>(entry.payload.data() - file->bytes().data());
      MYNAH_CHECK(begin >= end && begin + entry.payload.size() <= size, "a payload out of place");
      end = begin + entry.payload.size();
    }
    entries += fatbin.entries.size();
  }
  MYNAH_CHECK(entries <= size / 64, "more entries than the file has room for");
  (void)count_declared_fatbins(file);
  return 0;
}

}  // namespace mynah
