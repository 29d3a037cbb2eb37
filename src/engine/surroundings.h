// What a front hands to the engine: the process's environment, and whom to tell and to ask.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/environment.h"
#include "store/catalogue.h"
#include "store/download.h"

namespace mynah::engine {

// What the user should know and what is no error. Codes: builtin-recognizer, builtin-detector and
// builtin-voice (a better model was not pulled), pull-failed (something else is taken),
// profiles-unreadable, placement (where stages compute, and that one moved), context-lowered (a
// language model has room for shorter texts than usual).
struct Note {
  std::string code;    // for programs
  std::string text;    // for people, without a full stop
  std::string remedy;  // what to do about it; "": nothing
};

using NoteTaker = std::function<void(const Note& note)>;

struct Surroundings {
  Environment environment;
  std::stop_token stop = {};
  // Told each note when it is known, from any thread, also by what was opened. Empty: nobody.
  NoteTaker tell = {};
  // Whether a model that is not here may be pulled. Empty: no.
  std::function<bool(const CatalogueEntry& entry)> may_pull = {};
  // Makes what watches one pull. Empty: nobody does.
  std::function<std::unique_ptr<StoreObserver>()> watch_pull = {};

  // Tells it where somebody listens.
  void note(const Note& note) const {
    if (tell) {
      tell(note);
    }
  }
};

}  // namespace mynah::engine
