// The wake words that a front asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recognizer.h"
#include "engine/surroundings.h"
#include "speech/wake/wake_check.h"
#include "speech/wake/wake_word.h"

namespace mynah::engine {

// Names of the store ("okay-nabu"), what their makers call them ("okay_nabu") or paths; empty: all
// that are on this machine, by name.
using WakeWish = std::vector<std::string>;

// Opens them; each once, however often it is named. Environment, with what to pull, where none is
// here; Usage for a name that nobody knows and for a model that is no wake word.
Result<std::vector<std::shared_ptr<const WakeWord>>> open_wake_words(
    const WakeWish& wish, const Environment& environment);

// Whether a recogniser looks again at what may be a word.
enum class WakeConfirm : uint8_t {
  Auto,  // where one is on this machine
  Yes,
  No,
};

// What looks again, and what it stands on, in the order that they must be destroyed from the end.
struct OpenedWakeCheck {
  OpenedRecognizer recognizer;
  std::shared_ptr<WakeCheck> check;  // null: nobody looks
};

// Refused as open_recognizer() refuses; Unsupported, with Yes, for one that hears in no windows.
[[nodiscard]] Result<OpenedWakeCheck> open_wake_check(WakeConfirm confirm,
                                                      const RecognizerWish& wish,
                                                      const Surroundings& surroundings);

// For messages: the names of those that are here, or what to pull where none is.
[[nodiscard]] std::string wake_words_here(const Environment& environment);

// All that are here and can be opened, by name.
[[nodiscard]] std::vector<std::shared_ptr<const WakeWord>> installed_wake_words(
    const Environment& environment);

}  // namespace mynah::engine
