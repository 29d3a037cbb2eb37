#include "cli/models/measure_voices.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/models/store_access.h"
#include "cli/models/surroundings.h"
#include "engine/store_folders.h"
#include "engine/synthesizer.h"
#include "store/families.h"
#include "store/speech_models.h"
#include "store/voice_levels.h"

namespace mynah::cli {

namespace {

// A voice takes half a second to two. Of a model with more speakers (there are some with 900) each
// is measured where it first speaks.
constexpr size_t kMostVoices = 64;

std::vector<std::string> not_measured(const Store& store, const SpeechModel& model) {
  const VoiceLevels levels(store, model);
  std::vector<std::string> names;
  for (const InstalledVoice& voice : model.voices) {
    if (!levels.find(voice.name)) {
      names.push_back(voice.name);
    }
  }
  return names;
}

}  // namespace

bool brings_voices(std::string_view family) {
  const ModelFamily* const known = find_family(family);
  return known != nullptr && known->brings_voices;
}

void measure_voices(Context& context) {
  const Store store(engine::store_folders(context.environment));
  for (const SpeechModel& model : installed_speech_models(store)) {
    const std::vector<std::string> names = not_measured(store, model);
    // Its sentences are English, which is read by lexicons that may come later.
    const bool readable = has_config(model.family) || !model.english_phonemes.empty();
    if (names.empty() || names.size() > kMostVoices || !readable) {
      continue;
    }
    engine::SynthesizerWish options;
    options.model = model.name;
    options.placement.device = "cpu";
    options.placement.quiet = true;
    const auto engine = engine::open_synthesizer(options, surroundings_of(context));
    if (engine && !context.json) {
      context.say(fmt::format(
          "{}: measuring how loud {} is", model.name,
          names.size() == 1 ? names.front() : fmt::format("each of {} voices", names.size())));
    }
    for (size_t i = 0; engine && i < names.size() && !context.stop.stop_requested(); ++i) {
      if (!engine->synthesizer->measure(names[i])) {
        break;
      }
    }
  }
}

}  // namespace mynah::cli
