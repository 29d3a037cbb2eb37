// Engine: the recogniser that the user's options ask for, with the device it runs on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/open_placer.h"
#include "cli/verb.h"
#include "place/placer.h"
#include "speech/recognizer.h"

namespace mynah::cli {

// Which model, where.
struct EngineOptions {
  std::string model = "auto";  // a name of the store, a path, "builtin"; auto: see find_model
  std::string vad_model = "auto";
  PlacementWish wish;
  bool offline = false;  // never asks the network
  bool yes = false;      // pulls a missing model without asking
  bool cuts = true;      // recordings are cut at silence: without Silero worse, which is then said

  void fields(Fields& fields);
};

// The recogniser and what it stands on, in the order that they must be destroyed from the end.
struct Engine {
  std::unique_ptr<place::Placer> placer;  // null: the built-in one, which is of the processor
  std::shared_ptr<const Recognizer> recognizer;
  std::shared_ptr<const VoiceDetector> voice;  // that it hears with; null: the built-in one
  std::string model_path;                      // empty: the built-in one
  std::string architecture;  // what the encoder is compiled for: "avx512_vnni"; "": built-in
  std::vector<std::string> explanation;  // what was chosen and why, a line each
};

// Opens it, pulling the model where the user agrees. Without weights and network it is the built-in
// recogniser, and says so on stderr. A device that is not there is refused with the reason.
Result<Engine> open_engine(const EngineOptions& options, Context& context);

// What verbs take, so that a test can hand in a recogniser of its own.
using EngineOpener = std::function<Result<Engine>(const EngineOptions&, Context&)>;

}  // namespace mynah::cli
