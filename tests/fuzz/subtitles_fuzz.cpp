// Any bytes as subtitles: what is read has text, an order and times.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/documents/subtitles.h"
#include "text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mynah;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const SubtitleSign whole = look_for_subtitles(text, true);
  MYNAH_CHECK(whole != SubtitleSign::NeedsMore, "a whole text is told");
  // A piece never says otherwise than the whole.
  for (size_t bytes = 0; bytes < size && bytes < 64; ++bytes) {
    const SubtitleSign sign = look_for_subtitles(text.substr(0, bytes), false);
    MYNAH_CHECK(sign == SubtitleSign::NeedsMore || sign == look_for_subtitles(text, false) ||
                    look_for_subtitles(text, false) == SubtitleSign::NeedsMore,
                "pieces are told as the whole");
  }
  const auto subtitles = read_subtitles(text);
  if (!subtitles) {
    return 0;
  }
  double before_s = 0;
  for (const SubtitleCue& cue : subtitles->cues) {
    MYNAH_CHECK(!cue.text.empty() && replace_invalid_utf8(cue.text) == cue.text, "a cue has text");
    MYNAH_CHECK(cue.start_s >= before_s && cue.end_s >= cue.start_s, "cues are in order");
    before_s = cue.start_s;
  }
  for (const Chapter& chapter : document_of(*subtitles).chapters) {
    MYNAH_CHECK(!chapter.text.empty(), "a chapter has text");
  }
  return 0;
}
