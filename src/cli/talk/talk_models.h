// The models of a conversation out loud: which are wanted, and those that are open.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/command/verb.h"
#include "speech/synthesizer.h"
#include "talk/organs/local_organs.h"

namespace mynah::cli {

struct TalkWish {
  engine::PlacementWish placement;
  engine::ChatWish chat;
  engine::RecognizerWish hear;
  engine::SynthesizerWish speak;
  SpeakOptions spoken;
  std::string language;  // that is heard, by code or name; "": each turn's own

  void fields(Fields& fields);
};

// The organs on one placer, loaded and warm; kept as long as it lives.
struct TalkModels {
  std::unique_ptr<engine::Engine> engine;
  std::shared_ptr<const VoiceDetector> voice;
  std::unique_ptr<talk::Ear> ear;
  std::unique_ptr<talk::Mind> mind;
  std::unique_ptr<talk::Mouth> mouth;
  std::string language;  // TalkWish's as a code
};

// Refused as the engine refuses each of them, and a language that the model does not hear;
// Unsupported for a language model without a chat template.
[[nodiscard]] Result<TalkModels> open_talk_models(const Context& context, const TalkWish& wish);

}  // namespace mynah::cli
