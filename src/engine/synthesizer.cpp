#include "engine/synthesizer.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/nearest_name.h"
#include "engine/installed.h"
#include "engine/model_files.h"
#include "engine/store_folders.h"
#include "place/terms/stage.h"
#include "place/workers/open_device.h"
#include "speech/languages.h"
#include "speech/voice_phonemizers.h"
#include "store/families.h"
#include "store/file_sets.h"
#include "store/speech_models.h"
#include "store/store.h"
#include "store/voice_levels.h"
#include "text/phonemes/written_words.h"

namespace mynah::engine {

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

// Nothing of it is placed: what is asked for of devices is looked at all the same.
Result<OpenedSynthesizer> open_builtin(std::string why, std::string voice, PlacementWish placement,
                                       const Surroundings& surroundings) {
  placement.pinned = false;
  MYNAH_TRY(const auto placer, open_placer(placement, surroundings));
  MYNAH_TRY_STATUS(placer->check_processor(place::speaking_group(), "the built-in voice"));
  OpenedSynthesizer opened;
  opened.voice = std::move(voice);
  const Store store(store_folders(surroundings.environment));
  opened.synthesizer = std::make_unique<Synthesizer>(
      builtin_voice(), builtin_phonemizer,
      std::make_shared<VoiceLevels>(store,
                                    SpeechModel{.name = {}, .path = {}, .family = "builtin"}));
  opened.explanation.push_back("model " + std::move(why));
  return opened;
}

bool is_called(const SpeechModel& model, const std::string& voice) {
  return has_config(model.family) && std::filesystem::path(model.path).stem() == voice;
}

// Of a model with a config (Piper's) the file's name counts too, which people know it by.
bool has_voice(const SpeechModel& model, const std::string& voice) {
  return model.name == voice || is_called(model, voice) ||
         std::ranges::find(model.voices, voice, &InstalledVoice::name) != model.voices.end();
}

const InstalledVoice* voice_of_language(const SpeechModel& model, const std::string& language) {
  const ModelFamily* const family = find_family(model.family);
  const auto preferred =
      family == nullptr ? std::span<const std::string_view>() : family->best_voices;
  const InstalledVoice* first = nullptr;
  for (const InstalledVoice& voice : model.voices) {
    const bool best = std::ranges::find(preferred, voice.name) != preferred.end();
    if (speaks(voice.language, language) && (first == nullptr || best)) {
      first = &voice;
      if (best) {
        break;
      }
    }
  }
  return first;
}

// "": the voice's own. Words of other languages within a text are read all the same.
bool is_taught(const ModelFamily& family, const std::string& language) {
  return language.empty() || family.taught.empty() ||
         std::ranges::find(family.taught, primary_language(language), &TaughtLanguage::tag) !=
             family.taught.end();
}

// A model and a voice of it; of neither a name where the built-in voices are to speak.
struct Choice {
  std::optional<SpeechModel> model;
  std::string voice;
  std::string why;
};

// A mix names voices, and how much of each: "af_bella(2)+af_sky(1)". Whether one is the model's.
bool has_voice_of_mix(const SpeechModel& model, std::string_view mix) {
  constexpr std::string_view kBetween = "+-,():*=";
  if (mix.find_first_of(kBetween) == std::string_view::npos) {
    return false;
  }
  while (!mix.empty()) {
    const size_t end = std::min(mix.find_first_of(kBetween), mix.size());
    if (has_voice(model, std::string(trimmed(mix.substr(0, end))))) {
      return true;
    }
    mix.remove_prefix(std::min(end + 1, mix.size()));
  }
  return false;
}

// A voice that no model has, nor one of a mix: a path or a number, which the best model reads, or a
// slip, which is told here with the voices of all.
Status check_voice(std::span<const SpeechModel> models, const VoiceModel& builtin,
                   const std::string& voice) {
  std::vector<std::string> names;
  for (const SpeechModel& model : models) {
    std::ranges::transform(model.voices, std::back_inserter(names), &InstalledVoice::name);
  }
  std::ranges::transform(builtin.voices(), std::back_inserter(names), &VoiceFacts::name);
  const bool file = voice.contains('/') || std::filesystem::path(voice).has_extension();
  const bool number = voice.find_first_not_of("0123456789") == std::string::npos;
  if (file || number) {
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("no model here has a voice '{}'{}; `mynah voices` lists "
                          "all, `mynah pull` and `mynah import` bring more",
                          voice, suggestion(voice, names)));
}

// The best model that has the voice, or one for the language, that was asked for.
Result<Choice> best_choice(const Store& store, const SynthesizerWish& wish) {
  std::vector<SpeechModel> models = installed_speech_models(store);
  if (!wish.voice.empty()) {
    for (SpeechModel& model : models) {
      if (has_voice(model, wish.voice)) {
        std::string voice = is_called(model, wish.voice) ? std::string() : wish.voice;
        return Choice{.model = std::move(model),
                      .voice = std::move(voice),
                      .why = fmt::format("it has the voice {}", wish.voice)};
      }
    }
    for (SpeechModel& model : models) {
      if (has_voice_of_mix(model, wish.voice)) {
        return Choice{.model = std::move(model), .voice = wish.voice, .why = "it has the voices"};
      }
    }
    const auto builtin = builtin_voice();
    if (models.empty() || builtin->find_voice(wish.voice)) {
      return Choice{.model = {}, .voice = wish.voice, .why = "it has the voice"};
    }
    MYNAH_TRY_STATUS(check_voice(models, *builtin, wish.voice));
    return Choice{.model = std::move(models.front()), .voice = wish.voice, .why = "the best here"};
  }
  for (SpeechModel& model : models) {
    if (wish.language.empty()) {
      break;
    }
    if (const InstalledVoice* voice = voice_of_language(model, wish.language)) {
      std::string name = voice->name;
      return Choice{.model = std::move(model),
                    .voice = std::move(name),
                    .why = "the best here that speaks " + wish.language};
    }
  }
  if (models.empty()) {
    return Choice{.model = {}, .voice = {}, .why = "no voice was pulled"};
  }
  return Choice{.model = std::move(models.front()), .voice = {}, .why = "the best here"};
}

// A voice that the model has not, and that another has.
Status check_not_of_another(const Store& store, const SpeechModel& model,
                            const std::string& voice) {
  std::vector<SpeechModel> models = installed_speech_models(store);
  const auto other = std::ranges::find_if(models, [&](const SpeechModel& one) {
    return one.name != model.name && has_voice(one, voice);
  });
  const bool builtin = builtin_voice()->find_voice(voice).has_value();
  if (other == models.end() && !builtin) {
    return {};
  }
  const std::string name = other == models.end() ? "builtin" : other->name;
  return fail(
      ErrorCode::Usage,
      fmt::format("the model {} has no voice '{}', the model {} has: --model {} --voice {}, "
                  "or --voice {} without --model",
                  model.name.empty() ? model.path : model.name, voice, name, name, voice, voice));
}

Result<Choice> choose(const Store& store, const SynthesizerWish& wish) {
  if (wish.model == "builtin") {
    return Choice{.model = {}, .voice = wish.voice, .why = "asked for by name"};
  }
  if (wish.model == "auto") {
    return best_choice(store, wish);
  }
  auto model = installed_speech_model(store, wish.model);
  if (!model) {
    return std::unexpected(as_named(model.error(), wish.model));
  }
  if (!wish.voice.empty() && !has_voice(*model, wish.voice)) {
    MYNAH_TRY_STATUS(check_not_of_another(store, *model, wish.voice));
  }
  Choice choice{.model = std::move(*model), .voice = wish.voice, .why = "asked for by name"};
  if (choice.voice.empty() && !wish.language.empty()) {
    if (const InstalledVoice* voice = voice_of_language(*choice.model, wish.language)) {
      choice.voice = voice->name;
    }
  }
  return choice;
}

// Whether a text is read as English that does not say what it is in; false where only the model,
// once it is loaded, can tell.
bool reads_english(const SpeechModel& model, const std::string& voice,
                   const std::string& language) {
  if (!language.empty()) {
    return is_english(language);
  }
  if (voice.empty()) {
    return voice_of_language(model, "en") != nullptr;  // it is preferred
  }
  const auto found = std::ranges::find(model.voices, voice, &InstalledVoice::name);
  return found != model.voices.end() && is_english(found->language);
}

// Words that a voice reads from letters cannot be given as phonemes.
Status refuse_lexicon(const SynthesizerWish& wish, std::string_view voice) {
  if (wish.lexicon.empty() || wish.lexicon_if_taken) {
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("--lexicon {}: {} reads letters and takes no phonemes; wanted another "
                          "voice, such as those of `mynah pull kokoro`",
                          wish.lexicon, voice));
}

}  // namespace

Status OpenedSynthesizer::warm_up() const {
  class Nobody final : public SpeechObserver {
    Status on_clause(const SpokenClause& /*clause*/) override { return {}; }
  };

  Nobody nobody;
  SpeakOptions options;
  options.voice.voice = voice;
  return synthesizer->speak("a", options, nobody, {});
}

std::string OpenedSynthesizer::device() const {
  return placer ? placer->device(id) : "cpu";
}

void OpenedSynthesizer::name_work(const std::vector<std::string>& names) const {
  if (placer) {
    placer->name_work(id, names);
  }
}

Result<SpeakingModel> speaking_model(const SynthesizerWish& wish, const Environment& environment) {
  MYNAH_TRY(Choice choice, choose(Store(store_folders(environment)), wish));
  return SpeakingModel{.path = choice.model ? std::move(choice.model->path) : std::string(),
                       .voice = std::move(choice.voice)};
}

Status check_speaking_model(const SynthesizerWish& wish, const Environment& environment) {
  MYNAH_TRY(const Choice choice, choose(Store(store_folders(environment)), wish));
  if (wish.voice.empty()) {
    return {};
  }
  const auto builtin = builtin_voice();
  if (!choice.model) {
    if (builtin->find_voice(wish.voice)) {
      return {};
    }
    MYNAH_TRY_STATUS(check_voice({}, *builtin, wish.voice));
    return fail(ErrorCode::Usage, fmt::format("the built-in voice takes no '{}'", wish.voice));
  }
  const bool has = choice.model->voices.empty() || has_voice(*choice.model, wish.voice) ||
                   has_voice_of_mix(*choice.model, wish.voice);
  return has ? Status() : check_voice(std::span(&*choice.model, 1), *builtin, wish.voice);
}

bool speaks_language(const SynthesizerWish& wish, const std::string& language,
                     const Environment& environment) {
  const Store store(store_folders(environment));
  const std::string primary = primary_language(language);
  const auto has = [&](const SpeechModel& model) {
    return std::ranges::any_of(model.voices, [&](const InstalledVoice& voice) {
      return primary_language(voice.language) == primary;
    });
  };
  if (wish.voice.empty() && wish.model == "auto") {
    return is_english(language) || std::ranges::any_of(installed_speech_models(store), has);
  }
  const auto choice = choose(store, wish);
  if (!choice || !choice->model) {
    return is_english(language);
  }
  // Any voice of a model that was taught several languages reads them all.
  const ModelFamily* const family = find_family(choice->model->family);
  return family != nullptr && !family->taught.empty() ? is_taught(*family, language)
                                                      : has(*choice->model);
}

Result<OpenedSynthesizer> open_synthesizer(const SynthesizerWish& wish,
                                           const Surroundings& surroundings) {
  const Store store(store_folders(surroundings.environment));
  MYNAH_TRY(Choice choice, choose(store, wish));
  if (!choice.model) {
    if (wish.model == "auto" && wish.voice.empty() && !wish.placement.quiet) {
      surroundings.note(
          {.code = "builtin-voice",
           .text = "no voice was pulled: using a built-in one, which sounds like a machine",
           .remedy = "'mynah pull kokoro' brings better ones"});
    }
    MYNAH_TRY_STATUS(refuse_lexicon(wish, "the built-in voice"));
    return open_builtin("builtin: " + choice.why, std::move(choice.voice), wish.placement,
                        surroundings);
  }
  const SpeechModel& model = *choice.model;
  if (model.name.empty() && wish.voice_config.empty()) {
    MYNAH_TRY_STATUS(check_not_half_a_voice(model.path));
  }
  const ModelFamily* const family = find_family(model.family);
  if (family != nullptr && !is_taught(*family, wish.language)) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{} was not taught '{}', but {}; a Piper voice of that language can be "
                            "brought with `mynah import NAME.onnx`",
                            family->title, wish.language, taught_languages(*family)));
  }
  const bool configured = has_config(model.family) || !wish.voice_config.empty();
  if (wish.reads && !configured && reads_english(model, choice.voice, wish.language)) {
    MYNAH_TRY_STATUS(check_english_lexicons(model.english_phonemes));
  }
  OpenedSynthesizer opened;
  opened.voice = choice.voice;
  opened.model_path = model.path;
  opened.explanation.push_back(
      fmt::format("model {}: {}", model.name.empty() ? model.path : model.name, choice.why));
  MYNAH_TRY(opened.placer, open_placer(wish.placement, surroundings));
  place::VoiceModelFile file = voice_model_file(model, store.folders().cache);
  file.precision = wish.placement.precision;
  if (!wish.voice_config.empty()) {
    file.family = family_with_config().name;
    file.config = wish.voice_config;
  }
  MYNAH_TRY(auto loaded, opened.placer->voice(file));
  opened.id = opened.placer->id_of(file);
  const VoiceReading reading = loaded->reading();
  for (std::string& line : opened.placer->explain()) {
    opened.explanation.push_back(std::move(line));
  }
  auto levels = std::make_shared<VoiceLevels>(store, model);
  if (!reads_by_lexicons(reading)) {
    if (reading.by == ReadBy::Letters) {
      MYNAH_TRY_STATUS(refuse_lexicon(wish, file.name));
    }
    opened.synthesizer = std::make_unique<Synthesizer>(
        std::move(loaded), own_phonemizers(file.name, reading, wish.lexicon), std::move(levels));
    return opened;
  }
  MYNAH_TRY(place::OpenedDevice processor, place::open_device("cpu", place::DeviceSettings{}));
  opened.reading_pool = std::move(processor.pool);
  opened.reading_backend = std::move(processor.backend);
  PhonemizerSource phonemizers = lexicon_phonemizers(file.name, reading,
                                                     {.phonemes = model.english_phonemes,
                                                      .dictionary = model.dictionary,
                                                      .cache = store.folders().cache},
                                                     wish.lexicon, *opened.reading_backend);
  if (wish.reads && model.dictionary.empty() && !model.english_phonemes.empty()) {
    opened.explanation.emplace_back(
        "names: by the network for unknown words; `mynah pull cmudict` brings a dictionary of "
        "them");
  }
  opened.synthesizer =
      std::make_unique<Synthesizer>(std::move(loaded), std::move(phonemizers), std::move(levels));
  return opened;
}

}  // namespace mynah::engine
