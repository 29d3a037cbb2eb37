// Any bytes as SSML: parts whose marks, sources and numbers are within what is promised, or an
// error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/spoken/english_spoken.h"
#include "text/spoken/ssml.h"

namespace mynah {
namespace {

void check_part(const SpeakPart& part, size_t document) {
  MYNAH_CHECK(part.rate >= kLeastRate && part.rate <= kMostRate, "a rate out of range");
  MYNAH_CHECK(part.volume >= 0.0 && part.volume <= kMostVolume, "a volume out of range");
  MYNAH_CHECK(part.pause_s >= 0.0 && part.pause_s <= kLongestPause_s, "a pause out of range");
  size_t end = 0;
  for (const TextMark& mark : part.marks) {
    MYNAH_CHECK(mark.begin >= end && mark.end > mark.begin && mark.end <= part.text.size(),
                "a mark out of order");
    end = mark.end;
  }
  const ByteRange source = part.source.source_of({0, part.text.size()});
  MYNAH_CHECK(source.begin <= source.end && source.end <= document, "a source out of range");
  MYNAH_CHECK(
      spoken_english(part.text, {}, part.marks).pieces.size() <= 20 * (part.text.size() + 20) * 20,
      "too many pieces");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view document(reinterpret_cast<const char*>(data), size);
  const auto script = parse_ssml(document);
  if (!script) {
    MYNAH_CHECK(script.error().message.starts_with("SSML line "), "an error without a place");
    return 0;
  }
  MYNAH_CHECK(looks_like_ssml(document), "read, but not known as SSML");
  for (const SpeakPart& part : script->parts) {
    check_part(part, size);
  }
  return 0;
}

}  // namespace mynah
