// A profile's file, which users may edit and bring from other machines.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "place/plans/profile.h"

namespace mynah::place {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto profile =
      parse_profile({reinterpret_cast<const char*>(data), size}, "some", "some.json");
  if (!profile) {
    MYNAH_CHECK(profile.error().message.starts_with("some.json"), "the error names no file");
    return 0;
  }
  MYNAH_CHECK(!profile->stages.empty(), "a profile places nothing");
  // What was read is written and read as the same.
  const auto again = parse_profile(to_json(*profile).dump(), "some", "some.json");
  MYNAH_CHECK(again && *again == *profile, "reads differently when written");
  // On the machine that it was measured on it holds.
  MYNAH_CHECK(check_holds(*profile, {.build = profile->build,
                                     .model_sha256 = profile->model_sha256,
                                     .devices = profile->devices}),
              "does not hold where it was measured");
  return 0;
}

}  // namespace mynah::place
