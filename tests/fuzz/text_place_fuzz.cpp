// Any bytes as a text that is no JSON of a schema: where it went wrong is a place in it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/chat/text_place.h"

namespace mynah::cli {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TextPlace place = place_in_json(text);
  MYNAH_CHECK(place.line >= 1 && place.column >= 1 && place.word_begin <= size, "a place in it");
  MYNAH_CHECK(place.path.empty() || place.path.starts_with('/'), "a path of JSON");
  return 0;
}

}  // namespace mynah::cli
