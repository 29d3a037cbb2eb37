// SpeechEngine: the synthesizer that the user's options ask for, with the device it runs on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "cli/open_placer.h"
#include "cli/verb.h"
#include "place/placer.h"
#include "speech/synthesizer.h"

namespace mynah::cli {

// Which model, where.
struct SpeechEngineOptions {
  std::string model = "auto";  // a name of the store or a path; auto: the best that is here
  std::string voice_config;    // of a Piper voice; "": beside it
  PlacementWish wish;
  std::string lexicon;   // the user's own; "": none
  std::string voice;     // that will be asked for; "": any
  std::string language;  // the same
  bool reads = false;    // a text will be read: what that needs is looked for before all else

  void fields(Fields& fields);
};

// The synthesizer and what it stands on, in the order that they must be destroyed from the end.
struct SpeechEngine {
  std::unique_ptr<place::Placer> placer;  // null: a built-in voice, which is of the processor
  // What reads text: one thread of the processor. The products of a word are so small that another
  // thread, or a card, costs ten times what it saves.
  std::unique_ptr<ThreadPool> reading_pool;
  std::unique_ptr<Backend> reading_backend;
  std::unique_ptr<Synthesizer> synthesizer;
  // The voice that was asked for, or one that speaks the language; "": the model's own choice.
  std::string voice;
  std::vector<std::string> explanation;  // what was chosen and why, a line each
};

// Opens it. A device that is not there is refused with the reason.
Result<SpeechEngine> open_speech_engine(const SpeechEngineOptions& options, Context& context);

// Whether what would be opened reads that language: a voice of it is here, or the one that is asked
// for is of a model that was taught it.
[[nodiscard]] bool speaks_language(const SpeechEngineOptions& options, const std::string& language,
                                   const Context& context);

// What verbs take, so that a test can hand in a synthesizer of its own.
using SpeechEngineOpener =
    std::function<Result<SpeechEngine>(const SpeechEngineOptions&, Context&)>;

}  // namespace mynah::cli
