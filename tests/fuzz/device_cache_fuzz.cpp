// The cache of what the driver told: any bytes are an answer that is written as it was read, or
// none.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "base/check.h"
#include "place/discovery/device_cache.h"

namespace mynah::place {

namespace {

void check(std::string_view bytes) {
  const auto cached = read_answer(bytes);
  if (!cached) {
    return;
  }
  MYNAH_CHECK(!cached->answer.devices.empty(), "an answer without devices");
  const auto again = read_answer(write_answer(*cached));
  MYNAH_CHECK(again && again->answer == cached->answer && again->key == cached->key,
              "not written as it was read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  // With the head that fits: else nothing gets past the checksum.
  const std::string_view body = bytes.substr(bytes.find('\n') + 1);
  const auto sum =
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
  check(fmt::format("mynah devices 1 {:08x}\n{}", sum, body));
  return 0;
}

}  // namespace mynah::place
