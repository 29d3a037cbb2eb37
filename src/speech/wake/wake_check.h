// WakeCheck: a second look at what may be a wake word. A recogniser that is told to expect it hears
// the two seconds around it, and one that is not.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "speech/wake/wake_phrase.h"
#include "speech/window_model.h"

namespace mynah {

struct WakeVerdict {
  // WakePhrase::nearest() of what was heard, or of what is heard without being told the word, less
  // what the telling helps: the greater one. Who is told a word hears it in a murmur, too.
  double distance = kFar;
  std::string heard;   // told the word
  std::string untold;  // not told it
  double end_s = 0;    // of the word, from the first sample on

  [[nodiscard]] bool is_word() const { return distance <= kMostDistance; }

  static constexpr double kFar = 2;
  // Chosen on the shared clips and 68 utterances of "Okay Nabu" (docs/wake.md).
  static constexpr double kMostDistance = 0.25;
  static constexpr double kToldHelps = 0.2;
};

// Thread-safe; who looks waits for who looks already.
class WakeCheck {
 public:
  // Refused as WindowModel::decoder() refuses.
  static Result<std::shared_ptr<WakeCheck>> create(std::shared_ptr<const WindowModel> model);

  // `samples`: 16 kHz mono. `language`: ISO 639-1 code, of the word; one that the model does not
  // know is found out.
  // Errors: the device's; Cancelled once stop is requested.
  [[nodiscard]] Result<WakeVerdict> look(std::span<const float> samples, const WakePhrase& phrase,
                                         const std::string& language, const std::stop_token& stop);

 private:
  WakeCheck(std::shared_ptr<const WindowModel> model, std::unique_ptr<WindowDecoder> decoder)
      : model_(std::move(model)), decoder_(std::move(decoder)) {}

  std::shared_ptr<const WindowModel> model_;
  std::mutex mutex_;
  std::unique_ptr<WindowDecoder> decoder_;
};

}  // namespace mynah
