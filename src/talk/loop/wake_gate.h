// WakeGate: between what is captured and a conversation, which hears nothing of it until a word is
// said, and all of it for a while from then on.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "speech/sample_buffer.h"
#include "talk/loop/conversation.h"
#include "talk/loop/wake_ear.h"

namespace mynah::talk {

struct WakeSettings {
  int played_hz = 24000;  // the mouth's
  // Awake so long after the word, what was said last and the end of a reply, if nobody says
  // anything: a follow-up needs no word. As long as assistants of others wait.
  double window_s = 8;
};

// One thread drives it, as it would the conversation. While it is asleep the conversation is behind
// by kWakeLate_s: what is said behind the word in one breath, and what is said until the word is
// known, is heard from the word's end on. Its clock stays that of what is captured.
class WakeGate {
 public:
  // `ear`: null where it is always awake.
  WakeGate(Conversation& conversation, std::unique_ptr<WakeEar> ear, const WakeSettings& settings);

  // Conversation::step().
  void step(std::span<const float> captured, std::vector<float>& played);

  // Conversation::take_events(), with Woke and Sleeps.
  [[nodiscard]] std::vector<TalkEvent> take_events();

  [[nodiscard]] bool is_awake() const { return ear_ == nullptr || awake_; }

  // Conversation::is_working() and is_at_rest(). Asleep it rests once a second of digital silence
  // was captured: a word that was heard before is known by then.
  [[nodiscard]] bool is_working() const;
  [[nodiscard]] bool is_at_rest() const;

 private:
  static constexpr int64_t kNothing = std::numeric_limits<int64_t>::max();

  void wake(const WakeHit& hit);
  void follow();
  void sleep();
  // Has the conversation hear what is held up to that sample.
  void pass_on(int64_t until);
  void fit_played();

  Conversation& conversation_;
  std::unique_ptr<WakeEar> ear_;
  WakeSettings settings_;
  bool awake_ = false;
  int64_t now_ = 0;                // samples that were captured
  int64_t slept_at_ = 0;           // where the ear began to listen
  int64_t heard_from_ = kNothing;  // what was captured before is silence to the conversation
  int64_t stirred_at_ = 0;         // awake: when something was last said
  int64_t silent_since_ = 0;       // digital silence
  SampleBuffer held_;              // from the conversation's clock on
  std::vector<float> made_;        // by the conversation, to be played
  int64_t played_ = 0;             // samples
  std::vector<TalkEvent> events_;
};

}  // namespace mynah::talk
