#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "formats/zip.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto archive = ZipArchive::open(MappedFile::from_bytes(bytes, "fuzz"));
  if (!archive) {
    return 0;
  }
  for (const ZipMember& member : archive->members()) {
    MYNAH_CHECK(archive->find(member.name) == &member, "a member that is not found");
    if (const auto unpacked = archive->read(member)) {
      MYNAH_CHECK(unpacked->bytes.size() == member.bytes, "wrong size");
    }
  }
  return 0;
}

}  // namespace mynah
