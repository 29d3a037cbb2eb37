// Any bytes as text with inline marks: parts whose marks and sources lie in the text, and no byte
// that was not there.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/spoken/inline_marks.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  InlineMarks marks;
  size_t last = 0;
  for (const SpeakPart& part : marks.read(text).parts) {
    MYNAH_CHECK(part.rate >= kLeastRate && part.rate <= kMostRate, "a rate out of range");
    MYNAH_CHECK(part.pause_s >= 0.0 && part.pause_s <= kLongestPause_s, "a pause out of range");
    for (size_t i = 0; i < part.text.size() && i < 1000; ++i) {
      const ByteRange source = part.source.source_of({i, i + 1});
      MYNAH_CHECK(source.end == source.begin + 1 && source.end <= size && source.begin >= last,
                  "a source out of order");
      MYNAH_CHECK(text[source.begin] == part.text[i], "a byte that was not there");
      last = source.begin;
    }
    for (const TextMark& mark : part.marks) {
      MYNAH_CHECK(mark.begin < mark.end && mark.end <= part.text.size() && !mark.value.empty(),
                  "a mark of nothing");
    }
  }
  return 0;
}

}  // namespace mynah
