#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "formats/pe.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto pe =
      PeFile::parse(MappedFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz"));
  if (!pe) {
    MYNAH_CHECK(!pe.error().message.empty(), "an error without a message");
    return 0;
  }
  for (const PeSection& section : pe->sections) {
    MYNAH_CHECK(section.bytes.size() <= size, "a section larger than the file");
  }
  MYNAH_CHECK(pe->imports.size() <= size / 20, "more imports than the file has room for");
  return 0;
}

}  // namespace mynah
