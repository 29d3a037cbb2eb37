#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "formats/pickle.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static constexpr std::array<std::string_view, 2> kGlobals = {"collections OrderedDict",
                                                               "torch FloatStorage"};
  const auto pickle = read_pickle(std::as_bytes(std::span(data, size)), "fuzz", kGlobals);
  if (pickle) {
    MYNAH_CHECK(pickle->root < pickle->values.size(), "a root that is not there");
    for (const PickleValue& value : pickle->values) {
      for (const PickleIndex item : value.items) {
        MYNAH_CHECK(item < pickle->values.size(), "an item that is not there");
      }
    }
  }
  return 0;
}

}  // namespace mynah
