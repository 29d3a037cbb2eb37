// Long texts to audio books: chapter by chapter, taken up where a run before ended.
#pragma once

#include <optional>
#include <string>

#include "audio/sound_format.h"
#include "cli/command/verb.h"
#include "cli/hear/captions.h"
#include "speech/synthesizer.h"
#include "text/documents/document.h"

namespace mynah::cli {

// Between two chapters, in seconds; a paragraph's silence is half of it.
inline constexpr double kChapterSilence_s = 1.2;

struct BookOptions {
  std::string name;  // of the text, for messages
  std::string out;   // a file, or a folder for a file a chapter
  bool m4b = false;  // AAC in MP4 with chapters; else `format`
  SoundFormat format = SoundFormat::Wav;
  std::optional<int> rate_hz;
  CaptionOptions captions;
  SpeakOptions speak;
  std::string voice;  // what speaks, in words: a book is begun anew where it differs
  bool progress = true;
};

// What became of a book.
struct SpokenBook {
  double duration_s = 0;
  double resumed_s = 0;  // of it, that runs before had spoken
  double spent_s = 0;
  size_t chapters = 0;
  std::vector<std::string> files;
  std::vector<std::string> warnings;  // of the text, as it was read; already told
};

// Speaks it to the end. What is done stands in OUT.parts until then, so that a run that is killed
// is taken up by the next one. Cancelled where it is stopped.
Result<SpokenBook> speak_book(const Document& document, const BookOptions& options,
                              const Synthesizer& synthesizer, Context& context);

}  // namespace mynah::cli
