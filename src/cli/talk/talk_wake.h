// `mynah talk --wake`: the word that a conversation waits for.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/command/verb.h"
#include "cli/talk/talk_models.h"
#include "talk/loop/wake_ear.h"
#include "talk/loop/wake_gate.h"

namespace mynah::cli {

struct WakeChoice {
  std::string word;  // a model's name, its file, or a phrase of one's own; "": it is always awake
  double window_s = talk::WakeSettings{}.window_s;

  void fields(Fields& fields);
  [[nodiscard]] talk::WakeSettings settings(int played_hz) const;
};

// What is to be said of words of one's own, so that who meant a model sees that it is none, and
// which there are; "": a model is waited for, or nothing.
[[nodiscard]] std::string own_words_note(const Context& context, const WakeChoice& choice);

// Null where no word is waited for. A word that is a model's is that model; others are phrases.
// Refused as engine::open_wake_words() and WakePhrase::create() refuse; Unsupported for a phrase
// where what hears is not of a kind that can look for one.
[[nodiscard]] Result<std::unique_ptr<talk::WakeEar>> open_wake_ear(const Context& context,
                                                                   const WakeChoice& choice,
                                                                   const TalkModels& models,
                                                                   talk::Workers& workers);

}  // namespace mynah::cli
