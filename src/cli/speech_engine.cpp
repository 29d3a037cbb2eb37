#include "cli/speech_engine.h"

#include <fmt/format.h>

#include "cli/device_name.h"
#include "cli/open_device.h"
#include "cli/store_access.h"
#include "speech/kokoro_phonemizers.h"
#include "speech/languages.h"
#include "store/speech_models.h"
#include "store/store.h"
#include "text/phonemes/written_words.h"

namespace mynah::cli {

namespace {

Result<std::shared_ptr<const Phonemizer>> builtin_phonemizer(const std::string& language) {
  if (!is_english(language)) {
    return fail(ErrorCode::Unsupported,
                fmt::format("the built-in voices speak English; for '{}' bring another model, such "
                            "as `mynah pull kokoro`",
                            language));
  }
  return std::make_shared<const WrittenWords>();
}

SpeechEngine open_builtin(std::string why) {
  SpeechEngine engine;
  engine.synthesizer = std::make_unique<Synthesizer>(builtin_voice(), builtin_phonemizer);
  engine.explanation.push_back("model " + std::move(why));
  return engine;
}

}  // namespace

void SpeechEngineOptions::fields(Fields& fields) {
  fields.section("Model and device");
  fields
      .option("model", "NAME", model,
              "A voice model that was pulled or imported, or a path; auto: the best that is here.")
      .shorter('m')
      .completes(Complete::Models);
  fields
      .option("device", "DEVICE", device,
              "auto, cpu, cuda or cuda:N (a card), ref or simt:0 (plain loops and a simulated "
              "card, to check against).")
      .offering(device_names());
  fields
      .option("lexicon", "FILE", lexicon,
              "Your own words: lines of word, tab, phonemes (Kokoro's or IPA).")
      .completes(Complete::Files);
  fields.option("threads", "N", threads, "Threads to compute with; 0: the physical cores.")
      .shorter('t');
  fields.choice("precision", "HOW", precision,
                {{"fast", Precision::Fast}, {"exact", Precision::Exact}},
                "Arithmetic: as fast as the weights' type allows, or in f32.");
}

Result<SpeechEngine> open_speech_engine(const SpeechEngineOptions& options, Context& context) {
  SpeechEngine engine;
  const Store store(store_folders(context.environment));
  if (options.model == "builtin") {
    return open_builtin("builtin: asked for by name");
  }
  const bool any = options.model == "auto";
  auto model = installed_speech_model(store, any ? std::string() : options.model);
  if (!model && any && model.error().code == ErrorCode::Environment) {
    if (!options.quiet) {
      context.say(
          "no voice was pulled: using a built-in one, which sounds like a machine; 'mynah pull "
          "kokoro' brings better ones");
    }
    return open_builtin("builtin: no voice was pulled");
  }
  if (!model) {
    return std::unexpected(any ? model.error() : as_named(model.error(), options.model));
  }
  engine.explanation.push_back(fmt::format("model {}: {}",
                                           model->name.empty() ? model->path : model->name,
                                           any ? "the newest here" : "asked for by name"));
  MYNAH_TRY(OpenedDevice device, open_device(options.device, options.threads, context.environment));
  engine.pool = std::move(device.pool);
  engine.backend = std::move(device.backend);
  engine.explanation.push_back(std::move(device.why));
  std::vector<VoiceFile> voices;
  for (const InstalledVoice& voice : model->voices) {
    voices.push_back({.facts = {.name = voice.name, .language = voice.language, .sex = voice.sex},
                      .path = voice.path});
  }
  MYNAH_TRY(auto loaded, load_kokoro(model->path, std::move(voices),
                                     {.name = model->name.empty() ? "kokoro" : model->name,
                                      .storage = {},
                                      .precision = options.precision,
                                      .cache_folder = store.folders().cache},
                                     *engine.backend));
  engine.synthesizer = std::make_unique<Synthesizer>(
      std::move(loaded),
      kokoro_phonemizers(model->english_phonemes, options.lexicon, *engine.backend));
  return engine;
}

}  // namespace mynah::cli
