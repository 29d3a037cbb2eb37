// `mynah wake --phrase`: words of one's own, heard by the recogniser.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "audio/open.h"
#include "base/result.h"
#include "engine/recognizer.h"
#include "speech/wake/wake_phrase.h"

namespace mynah::cli {

// Where somebody began a sentence with one.
struct PhraseDetection {
  double time_s = 0;  // of the recording, where the segment begins
  std::string phrase;
  double distance = 0;  // 0: as it is written
  std::string heard;    // the segment's text
};

// All phrases, or the first that is refused.
[[nodiscard]] Result<std::vector<WakePhrase>> make_phrases(const std::vector<std::string>& texts);

// Has a recording written down, and tells each phrase as its segment is known; returns the seconds
// that were heard. Errors: the recording's and the recogniser's.
[[nodiscard]] Result<double> hear_phrases(const Recognizer& recognizer,
                                          const std::vector<WakePhrase>& phrases,
                                          const std::string& file, const AudioOpenOptions& audio,
                                          const std::function<void(const PhraseDetection&)>& tell,
                                          const std::stop_token& stop);

}  // namespace mynah::cli
