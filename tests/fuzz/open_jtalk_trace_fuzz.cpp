// What the program open_jtalk may have written of a text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/phonemes/open_jtalk/kana.h"
#include "text/phonemes/open_jtalk/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trace = mynah::open_jtalk::parse_trace(text);
  if (!trace) {
    return 0;
  }
  for (const mynah::open_jtalk::Morpheme& morpheme : trace->morphemes) {
    MYNAH_CHECK(morpheme.moras >= 0, "a word of fewer moras than none");
    static_cast<void>(mynah::open_jtalk::kokoro_phonemes(morpheme.kana));
  }
  return 0;
}
