// WakeSpotter: waits for words all day, and says what of it is to be looked at again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "speech/sample_buffer.h"
#include "speech/wake/wake_check.h"
#include "speech/wake/wake_word.h"

namespace mynah {

// What may be a word, and what was heard around it.
struct WakeLook {
  WakeDetection maybe;
  std::vector<float> samples;
  int64_t begin = 0;  // of the samples, in all that was heard
  WakePhrase phrase;
  std::string language;
};

// One stream of samples at 16 kHz; one thread at a time, but for looks, which are anybody's.
class WakeSpotter {
 public:
  // What was found in what came.
  struct Found {
    std::vector<WakeDetection> words;
    std::vector<WakeLook> looks;
  };

  // `looks`: whether somebody will look again; else a word is there above its own cutoff alone.
  WakeSpotter(std::vector<std::shared_ptr<const WakeWord>> words, WakeOptions options, bool looks);

  [[nodiscard]] Found push(std::span<const float> samples);

  // What came of a look: the word, told once.
  [[nodiscard]] std::optional<WakeDetection> take(const WakeLook& look, const WakeVerdict& verdict);

  // Whether there is something that will be looked at once more of it was heard.
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }

  void reset();

  // WakeListener::take_highest().
  [[nodiscard]] std::vector<double> take_highest() { return listener_.take_highest(); }

 private:
  // A word that has sounds enough to be looked for.
  struct Phrase {
    std::string name;
    WakePhrase phrase;
    std::string language;
  };

  static std::vector<Phrase> phrases_of(std::span<const std::shared_ptr<const WakeWord>> words);

  std::vector<Phrase> phrases_;
  WakeListener listener_;
  SampleBuffer heard_;
  std::vector<WakeDetection> waiting_;
};

// push(), with each look taken at once by `check` (null: there are none, and the spotter has none).
// `looked`: is told of each; may be null. Errors: WakeCheck::look().
[[nodiscard]] Result<std::vector<WakeDetection>> spot(
    WakeSpotter& spotter, WakeCheck* check, std::span<const float> samples,
    const std::stop_token& stop,
    const std::function<void(const WakeLook& look, const WakeVerdict& verdict)>& looked = nullptr);

}  // namespace mynah
