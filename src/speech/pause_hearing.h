// PauseHearing: what a live session may do besides: it hears a turn up to each of its pauses as it
// would at its end, so that what was said can be acted on before the turn is over.
#pragma once

#include <cstdint>
#include <string>

namespace mynah {

// What is known of what is being said and not committed yet.
struct PauseDraft {
  std::string text;      // LiveText::agreed and partial
  int64_t until = 0;     // sample up to which that is what was said; 0: nothing was heard
  std::string language;  // ISO 639-1, that it was heard in; "": unknown, or as it was given
};

// Of a Recognizer::Session; by its thread.
class PauseHearing {
 public:
  virtual ~PauseHearing() = default;

  // It does so from now on. Then no other drafts are made in pauses.
  virtual void hear_pauses() = 0;

  // As of its last call.
  [[nodiscard]] virtual PauseDraft pause_draft() const = 0;
};

}  // namespace mynah
