#include "cli/speech_engine.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/device_name.h"
#include "cli/open_device.h"
#include "cli/storage_choice.h"
#include "cli/store_access.h"
#include "speech/kokoro_phonemizers.h"
#include "speech/languages.h"
#include "store/speech_models.h"
#include "store/store.h"
#include "text/phonemes/espeak/espeak_phonemizer.h"
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

// Kokoro where it has a voice for English or for what was asked for, else hibari's, else Kokoro all
// the same: without the model hub its voices are Japanese.
Result<SpeechModel> best_model(const Store& store, const std::string& voice) {
  auto kokoro = installed_speech_model(store);
  const bool serves =
      kokoro && (!voice.empty() || std::ranges::any_of(kokoro->voices, [](const InstalledVoice& v) {
        return is_english(v.language);
      }));
  if (!serves && voice.empty()) {
    for (const char* name : {"hibari", "joe"}) {
      if (store.find(name)) {
        return installed_speech_model(store, name);
      }
    }
  }
  return kokoro;
}

struct ModelFile {
  std::string path;
  std::string family;
};

// The file of a model, which may be a folder of several, and what it is: a path's own tells itself.
Result<ModelFile> file_of(const SpeechModel& model) {
  namespace fs = std::filesystem;
  std::error_code error;
  ModelFile file{.path = model.path, .family = model.family};
  if (fs::is_directory(model.path, error)) {
    for (const auto& entry : fs::directory_iterator(model.path, error)) {
      if (entry.path().extension() == ".onnx") {
        file.path = entry.path().string();
      }
    }
  }
  if (file.family.empty()) {
    file.family = fs::is_regular_file(file.path + ".json", error)   ? "piper"
                  : fs::path(file.path).filename() == "hibari.onnx" ? "hibari"
                                                                    : "kokoro";
  }
  return file;
}

PhonemizerSource piper_phonemizers(std::string espeak_voice) {
  return [voice = std::move(espeak_voice)](
             const std::string& /*language*/) -> Result<std::shared_ptr<const Phonemizer>> {
    if (voice.empty()) {
      return fail(ErrorCode::Unsupported,
                  "this Piper voice reads letters, which mynah does not give it yet; wanted one of "
                  "phoneme_type espeak");
    }
    return espeak_phonemizer({.voice = voice, .alphabet = espeak::Alphabet::Espeak});
  };
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
  fields.option(
      "storage", "TYPE", storage,
      "Compute with weights as f32, f16, bf16, int8 or a block type such as q8_0; default: int8.");
  fields.choice("precision", "HOW", precision,
                {{"fast", Precision::Fast}, {"exact", Precision::Exact}},
                "Arithmetic: as fast as the weights' type allows, or in f32.");
}

Result<SpeechEngine> open_speech_engine(const SpeechEngineOptions& options, Context& context) {
  const Store store(store_folders(context.environment));
  if (options.model == "builtin") {
    return open_builtin("builtin: asked for by name");
  }
  const bool any = options.model == "auto";
  auto model =
      any ? best_model(store, options.voice) : installed_speech_model(store, options.model);
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
  MYNAH_TRY(const std::optional<DType> storage, parse_storage(options.storage));
  SpeechEngine engine;
  engine.explanation.push_back(fmt::format("model {}: {}",
                                           model->name.empty() ? model->path : model->name,
                                           any ? "the best here" : "asked for by name"));
  MYNAH_TRY(OpenedDevice device, open_device(options.device, options.threads, context.environment));
  engine.pool = std::move(device.pool);
  engine.backend = std::move(device.backend);
  engine.explanation.push_back(std::move(device.why));
  const VoiceLoadOptions load{
      .name =
          model->name.empty() ? std::filesystem::path(model->path).stem().string() : model->name,
      .storage = storage ? storage : fast_storage(options.precision, *engine.backend),
      .precision = options.precision,
      .cache_folder = store.folders().cache};
  MYNAH_TRY(const ModelFile file, file_of(*model));
  std::unique_ptr<const VoiceModel> loaded;
  PhonemizerSource phonemizers =
      kokoro_phonemizers(model->english_phonemes, options.lexicon, *engine.backend);
  if (file.family == "piper") {
    std::string voice;
    MYNAH_TRY(loaded, load_piper(file.path, load, *engine.backend, &voice));
    phonemizers = piper_phonemizers(std::move(voice));
  } else if (file.family == "hibari") {
    MYNAH_TRY(loaded, load_hibari(file.path, load, *engine.backend));
  } else {
    std::vector<VoiceFile> voices;
    for (const InstalledVoice& voice : model->voices) {
      voices.push_back({.facts = {.name = voice.name, .language = voice.language, .sex = voice.sex},
                        .path = voice.path});
    }
    MYNAH_TRY(loaded, load_kokoro(file.path, std::move(voices), load, *engine.backend));
  }
  engine.synthesizer = std::make_unique<Synthesizer>(std::move(loaded), std::move(phonemizers));
  return engine;
}

}  // namespace mynah::cli
