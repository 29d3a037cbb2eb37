// The models of a conversation out loud: which are wanted, and those that are open.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command/verb.h"
#include "cli/talk/talk_services.h"
#include "engine/turn_scorer.h"
#include "speech/end_of_turn_rule.h"
#include "speech/synthesizer.h"
#include "speech/window_model.h"
#include "talk/organs/local_organs.h"
#include "talk/turns/end_rule.h"

namespace mynah::cli {

struct TalkWish {
  engine::PlacementWish placement;
  engine::ChatWish chat;
  engine::RecognizerWish hear;
  engine::SynthesizerWish speak;
  SpeakOptions spoken;
  std::string language;  // that is heard, by code or name; "": each turn's own
  Eagerness eagerness = Eagerness::Auto;
  std::optional<double> pause_s;  // silence that ends turns, however they sound
  TalkServices services;

  void fields(Fields& fields);
};

// The organs in this process on one placer, loaded and warm; kept as long as it lives.
struct TalkModels {
  std::unique_ptr<engine::Engine> engine;  // null: all are elsewhere
  std::shared_ptr<place::Placer> placer;   // the engine's, for what is opened beside it
  std::shared_ptr<const VoiceDetector> voice;
  std::unique_ptr<talk::Ear> ear;
  std::shared_ptr<const WindowModel> hears;  // the ear's, which keeps it; null: none of this kind
  std::unique_ptr<talk::Mind> mind;
  std::shared_ptr<const ChatModel> writes;  // the mind's; null: it is elsewhere
  std::unique_ptr<talk::Mouth> mouth;
  std::string language;            // TalkWish's as a code
  std::vector<std::string> words;  // of the lexicon, for the ear
  engine::OpenedTurnScorer turns;
  std::unique_ptr<talk::EndRule> end;
};

// Refused as the engine or the services refuse each of them, and a language that the model does not
// hear; Unsupported for a language model without a chat template.
[[nodiscard]] Result<TalkModels> open_talk_models(const Context& context, const TalkWish& wish);

}  // namespace mynah::cli
