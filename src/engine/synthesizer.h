// The synthesizer that a front asks for, with the devices it runs on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/open_placer.h"
#include "engine/surroundings.h"
#include "place/placer.h"
#include "speech/synthesizer.h"

namespace mynah::engine {

// Which model, where.
struct SynthesizerWish {
  std::string model = "auto";  // a name of the store or a path; auto: the best that is here
  std::string voice_config;    // of a Piper voice; "": beside it
  PlacementWish placement;
  std::string lexicon;            // the user's own; "": none
  bool lexicon_if_taken = false;  // a voice that takes no phonemes speaks without it
  std::string voice;              // that will be asked for; "": any
  std::string language;           // the same
  bool reads = false;  // a text will be read: what that needs is looked for before all else
};

// The synthesizer and what it stands on, in the order that they must be destroyed from the end.
struct OpenedSynthesizer {
  std::shared_ptr<place::Placer> placer;  // null: a built-in voice, which is of the processor
  place::ModelId id{};                    // of the placer's
  // What reads text: one thread of the processor. The products of a word are so small that another
  // thread, or a card, costs ten times what it saves.
  std::shared_ptr<ThreadPool> reading_pool;
  std::unique_ptr<Backend> reading_backend;
  std::unique_ptr<Synthesizer> synthesizer;
  std::string model_path;  // "": the built-in voices
  // The voice that was asked for, or one that speaks the language; "": the model's own choice.
  std::string voice;
  std::vector<std::string> explanation;  // what was chosen and why, a line each

  // Speaks a word to nobody, as the first request would.
  [[nodiscard]] Status warm_up() const;

  // Where it speaks now: "cuda:0", "cuda:0,cpu".
  [[nodiscard]] std::string device() const;

  // Of what the work is from now on: files, by which it is named where a device computed wrongly.
  void name_work(const std::vector<std::string>& names) const;
};

// Opens it; that it is a built-in voice is noted where nobody asked for one. A device that is not
// there is refused with the reason.
Result<OpenedSynthesizer> open_synthesizer(const SynthesizerWish& wish,
                                           const Surroundings& surroundings);

// The model that open_synthesizer() takes.
struct SpeakingModel {
  std::string path;   // OpenedSynthesizer::model_path
  std::string voice;  // OpenedSynthesizer::voice
};

// Refused where nothing can be taken.
[[nodiscard]] Result<SpeakingModel> speaking_model(const SynthesizerWish& wish,
                                                   const Environment& environment);

// Whether that model and voice are here, as far as it can be told of files that are not opened.
[[nodiscard]] Status check_speaking_model(const SynthesizerWish& wish,
                                          const Environment& environment);

// Whether what would be opened reads that language: a voice of it is here, or the one that is asked
// for is of a model that was taught it.
[[nodiscard]] bool speaks_language(const SynthesizerWish& wish, const std::string& language,
                                   const Environment& environment);

// What fronts take, so that a test can hand in a synthesizer of its own.
using SynthesizerOpener =
    std::function<Result<OpenedSynthesizer>(const SynthesizerWish&, const Surroundings&)>;

}  // namespace mynah::engine
