// UserTurn: what is known of what a user is saying.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "speech/open_clause.h"
#include "talk/loop/talk_event.h"
#include "talk/organs/organs.h"
#include "talk/turns/interruption.h"

namespace mynah::talk {

// What was asked of the ear.
struct AskedText {
  uint64_t number = 0;
  int64_t until = 0;   // sample
  int64_t voiced = 0;  // samples with a voice until then
  std::stop_source stop;
};

// The user's turn, from its first voice until it is decided what becomes of it.
struct UserTurn {
  std::optional<AskedText> hearing;  // under way
  int64_t heard_until = 0;           // of what `heard` is the text
  int64_t heard_voiced = 0;          // samples with a voice until then
  std::optional<HeardText> heard;
  ClauseState clause = ClauseState::Unknown;  // of that
  int64_t asked_until = 0;                    // of what a text was asked for last
  int64_t went_on_seen = 0;                   // VoiceWatch::went_on() that was looked at
  std::optional<int64_t> decided;             // at that sample
  // It ends at that sample though somebody speaks: it is as long as a turn may be, or who speaks is
  // another.
  std::optional<int64_t> cut;
  bool another_voice = false;
  std::optional<float> score;  // of the pause
  int64_t scored_at = 0;
  std::stop_source scores;
  bool scoring = false;
  std::optional<Interruption> over;  // it began over the assistant's speech
  bool stopped_reply = false;        // and stopped that
  bool is_echo = false;              // `heard` is what the assistant says itself
  TurnTimes times;
};

}  // namespace mynah::talk
