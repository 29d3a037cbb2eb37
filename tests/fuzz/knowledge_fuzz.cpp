// A newer knowledge base: any bytes are one, or an error that names the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Knowledge kNone;
  const auto knowledge =
      newer_knowledge(kNone, {reinterpret_cast<const char*>(data), size}, "new.json");
  MYNAH_CHECK(knowledge || knowledge.error().message.starts_with("new.json: "),
              "the error names no file");
  return 0;
}

}  // namespace mynah::doctor
