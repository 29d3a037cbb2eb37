// WindowText: what a Whisper wrote of a window, with its tokens and its doubts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/whisper/generate.h"
#include "speech/hearing.h"
#include "speech/whisper/window_segments.h"
#include "text/whisper_tokenizer.h"

namespace mynah {

struct WindowText {
  whisper::Generated generated;
  WindowSegments cut;
  std::vector<HeardWord> words;  // of the window, where asked for
  int32_t language_token = -1;   // -1: English model
  float language_probability = 1;
  float temperature = 0;
  float compression_ratio = 0;
  bool silent = false;         // nobody speaks: there is no text
  bool decoded_again = false;  // with full context, because the first text was in doubt
};

// The same for who does not know Whisper; `shorter` is left open.
[[nodiscard]] HeardWindow heard_window(const WhisperTokenizer& tokenizer, WindowText text);

}  // namespace mynah
