// PlayedText: where in a text its speech has come to, of a voice that tells no times of words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "speech/synthesizer.h"

namespace mynah::talk {

// Hands sound on as clauses, each with the words that it is likely to hold: all take time by their
// bytes. The last clause has the rest of the text.
class PlayedText {
 public:
  // `bytes_per_s`: of this voice, as far as it is known.
  PlayedText(std::string_view text, double bytes_per_s, int rate_hz, SpeechObserver& observer)
      : text_(text), bytes_per_s_(bytes_per_s), rate_hz_(rate_hz), observer_(observer) {}

  // All but the last moment of what there is.
  [[nodiscard]] Status push(std::span<const float> samples);

  // The sound is over.
  [[nodiscard]] Status finish();

  [[nodiscard]] double seconds() const {
    return static_cast<double>(told_ + held_.size()) / rate_hz_;
  }

 private:
  [[nodiscard]] Status tell(size_t samples, bool last);
  // Where the last word ends that is over after so many seconds.
  [[nodiscard]] size_t text_until(double seconds) const;

  std::string text_;
  double bytes_per_s_;
  int rate_hz_;
  SpeechObserver& observer_;
  std::vector<float> held_;
  size_t told_ = 0;  // samples
  size_t at_ = 0;    // bytes of the text
};

}  // namespace mynah::talk
