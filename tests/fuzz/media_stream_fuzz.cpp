// mynah-media's answer as a hostile decoder could write it. The first byte sets the size of the
// pieces in which it comes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../audio/memory_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  mynah::MediaStream stream(
      std::make_unique<mynah::test::MemoryBytes>(std::move(bytes), size_t{data[0]} + 1));
  const auto format = stream.read_format();
  if (!format) {
    return 0;
  }
  std::vector<float> block(3 * size_t{format->channels});
  while (const auto got = stream.read_frames(block)) {
    if (*got == 0) {
      break;
    }
  }
  return 0;
}
