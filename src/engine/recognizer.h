// The recogniser that a front asks for, with the devices it runs on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/open_placer.h"
#include "engine/surroundings.h"
#include "place/placer.h"
#include "speech/recognizer.h"
#include "speech/window_model.h"

namespace mynah::engine {

// Which model, where.
struct RecognizerWish {
  // A name of the store, a path, "builtin"; auto: the newest of the store, else what the user lets
  // be pulled, else the built-in one.
  std::string model = "auto";
  std::string vad_model = "auto";  // the voice detector that it hears with, named the same way
  PlacementWish placement;
  bool offline = false;  // never asks the network
  bool yes = false;      // pulls a missing model without asking
  bool cuts = true;      // recordings are cut at silence: without Silero worse, which is then noted
};

// The recogniser and what it stands on, in the order that they must be destroyed from the end.
struct OpenedRecognizer {
  std::shared_ptr<place::Placer> placer;  // null: the built-in one, which is of the processor
  place::ModelId id{};                    // of the placer's
  std::shared_ptr<const Recognizer> recognizer;
  std::shared_ptr<const VoiceDetector> voice;  // that it hears with; null: the built-in one
  std::string model_path;                      // empty: the built-in one
  std::string architecture;  // what the encoder is compiled for: "avx512_vnni"; "": built-in
  std::vector<std::string> explanation;      // what was chosen and why, a line each
  std::shared_ptr<const WindowModel> model;  // the recogniser's; null: the built-in one

  // Computes once, by all stages, as the first request would.
  [[nodiscard]] Status warm_up() const;

  // Where it hears now: "cuda:0", "cuda:0,cpu".
  [[nodiscard]] std::string device() const;
};

// Opens it, pulling the model where Surroundings::may_pull agrees. Without weights and network it
// is the built-in recogniser, which is noted. A device that is not there is refused with the
// reason.
Result<OpenedRecognizer> open_recognizer(const RecognizerWish& wish,
                                         const Surroundings& surroundings);

// The file of the model that open_recognizer() takes; "": the built-in one, or one that it pulls.
[[nodiscard]] std::string hearing_model(const RecognizerWish& wish, const Environment& environment);

// hearing_model() of a file that is here and hears, or why open_recognizer() would refuse: nothing
// is opened or pulled.
[[nodiscard]] Result<std::string> check_hearing_model(const RecognizerWish& wish,
                                                      const Environment& environment);

// What fronts take, so that a test can hand in a recogniser of its own.
using RecognizerOpener =
    std::function<Result<OpenedRecognizer>(const RecognizerWish&, const Surroundings&)>;

}  // namespace mynah::engine
