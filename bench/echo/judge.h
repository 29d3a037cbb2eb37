// Judge: a conversation through the canceller and the detector of voice, and what came of it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "audio/echo/echo_canceller.h"
#include "base/result.h"
#include "conversation.h"
#include "speech/near_voice.h"
#include "speech/voice_detector.h"

namespace mynah::bench {

struct JudgeOptions {
  echo::MakeEchoFilter make_filter;
  NearVoiceOptions near_voice;
  bool stops = false;  // whether the loudspeaker stops for the rest of a reply that is interrupted
  bool echo = true;    // false: the same without anything that is played
  std::string folder{};  // where what is heard of everybody is written; empty: nowhere
  std::string trace{};   // a file for what the decision saw; empty: none
};

// What was found of the conversation: delay, drift, echo return loss enhancement, who interrupted.
Result<nlohmann::ordered_json> judge(const nlohmann::json& line, const VoiceDetector& voice,
                                     const JudgeOptions& options);

}  // namespace mynah::bench
