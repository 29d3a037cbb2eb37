#include "talk/turns/interruption.h"

#include <algorithm>

namespace mynah::talk {

Interruption::Act Interruption::look(const OverSpeech& speech) {
  const bool says_words = speech.said == SaidOver::Words || speech.said == SaidOver::Stop;
  const int64_t voiced = speech.voiced - std::max(passed_over_, speech.listened);
  if (says_words || (speech.voice_counts && voiced >= times_.stop)) {
    held_since_.reset();
    return Act::Stop;
  }
  const bool was_nothing = speech.said_all && !speech.is_voice;
  if (was_nothing) {
    const bool held = holds();
    held_since_.reset();
    return held ? Act::GoOn : Act::Forget;
  }
  if (!holds()) {
    if (speech.voice_counts && speech.is_voice && voiced >= times_.hold) {
      held_since_ = speech.now;
      return Act::Hold;
    }
    return Act::None;
  }
  if (speech.now - *held_since_ >= times_.longest_hold) {
    held_since_.reset();
    if (speech.is_voice && 2 * voiced >= times_.stop) {
      return Act::Stop;  // with a pause in it
    }
    passed_over_ = speech.voiced;
    return Act::GoOn;
  }
  return Act::None;
}

}  // namespace mynah::talk
