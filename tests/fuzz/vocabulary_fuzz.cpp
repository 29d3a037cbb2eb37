#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/vocabulary.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto vocabulary = parse_vocabulary({reinterpret_cast<const char*>(data), size}, "fuzz");
  // A token needs a byte of the file at least, its line's end or its quotes.
  MYNAH_CHECK(!vocabulary || vocabulary->size() <= size, "more tokens than bytes");
  return 0;
}

}  // namespace mynah
