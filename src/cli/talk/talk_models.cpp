#include "cli/talk/talk_models.h"

#include <utility>

#include <fmt/format.h>

#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "speech/languages.h"
#include "speech/window_queue.h"
#include "talk/turns/sounded_end.h"
#include "text/languages.h"
#include "text/phonemes/user_lexicon.h"

namespace mynah::cli {

namespace {

using Warm = engine::Engine::Warm;

// Silence that ends a turn where nothing hears how it sounds.
constexpr double kUsualPause_s = 0.7;

// Listens on a thread of its own: among the models' operations each frame would wait for its turn,
// and the conversation's clock with it.
Result<std::shared_ptr<const VoiceDetector>> open_own_detector(const Context& context,
                                                               const std::string& model) {
  engine::DetectorWish wish;
  wish.model = model;
  wish.placement.device = "cpu";
  wish.placement.threads = 1;
  wish.placement.quiet = true;
  MYNAH_TRY(engine::OpenedDetector opened, engine::open_detector(wish, surroundings_of(context)));
  MYNAH_TRY_STATUS(opened.warm_up());
  const auto kept = std::make_shared<const engine::OpenedDetector>(std::move(opened));
  return std::shared_ptr<const VoiceDetector>(kept, kept->detector.get());
}

Result<std::string> language_code(const engine::OpenedRecognizer& opened,
                                  const std::string& language) {
  if (language.empty()) {
    return std::string();
  }
  // Voices are of a region ("en-GB"), hearing is of a language.
  const std::string heard = language.contains('-') ? primary_language(language) : language;
  RecognizerOptions options;
  options.decoding.language = heard;
  MYNAH_TRY_STATUS(opened.recognizer->check(options));
  const auto windows = opened.recognizer->windows();
  return windows == nullptr ? heard : windows->model().header()->facts().language_asked(heard);
}

Status open_end(const Context& context, const TalkWish& wish, TalkModels& models) {
  if (!wish.pause_s) {
    MYNAH_TRY(models.turns, engine::open_turn_scorer(surroundings_of(context)));
  }
  if (models.turns.scorer != nullptr) {
    models.end =
        std::make_unique<talk::SoundedEnd>(models.turns.scorer, end_of_turn_rule(wish.eagerness));
  } else {
    models.end = std::make_unique<talk::SilenceRule>(wish.pause_s.value_or(kUsualPause_s));
  }
  return {};
}

// The organs that are wanted elsewhere.
Status open_services(const Context& context, const TalkWish& wish, TalkModels& models) {
  const TalkServices& services = wish.services;
  if (services.mind.is_wanted()) {
    MYNAH_TRY(models.mind, services.open_mind(context, wish.chat.model));
  }
  if (services.ear.is_wanted()) {
    MYNAH_TRY(models.ear, services.open_ear(context, wish.hear.model, models.words));
    const auto known = find_language(wish.language);
    models.language =
        known ? std::string(languages()[*known].code) : primary_language(wish.language);
  }
  if (services.mouth.is_wanted()) {
    const VoiceSettings& voice = wish.spoken.voice;
    MYNAH_TRY(models.mouth, services.open_mouth(context, wish.speak.model,
                                                {.name = voice.voice, .speed = voice.speed}));
  }
  return {};
}

Status open_mind(const TalkWish& wish, TalkModels& models) {
  MYNAH_TRY(auto chat, models.engine->chat(wish.chat, Warm::Yes));
  if (!chat->chat->prompt().has_template()) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{} was not taught to converse: its file has no chat template; wanted "
                            "an instruct model (--model)",
                            chat->name));
  }
  models.placer = chat->placer;
  models.writes = chat->chat;
  models.mind = talk::local_mind(std::move(chat));
  return {};
}

Status open_ear(const TalkWish& wish, TalkModels& models) {
  MYNAH_TRY(auto recognizer, models.engine->recognizer(wish.hear, Warm::Yes));
  MYNAH_TRY(models.language, language_code(*recognizer, wish.language));
  models.hears = recognizer->model;
  MYNAH_TRY(models.ear, talk::local_ear(std::move(recognizer), {}, models.words));
  return {};
}

Status open_mouth(const Context& context, const TalkWish& wish, TalkModels& models) {
  engine::SynthesizerWish speak = wish.speak;
  speak.voice = wish.spoken.voice.voice;
  MYNAH_TRY(const engine::SpeakingModel model, engine::speaking_model(speak, context.environment));
  MYNAH_TRY(auto synthesizer, models.engine->synthesizer(speak, model, Warm::Yes));
  MYNAH_TRY(models.mouth, talk::local_mouth(std::move(synthesizer), wish.spoken));
  return {};
}

}  // namespace

void TalkWish::fields(Fields& fields) {
  fields.section("Models and devices");
  fields
      .option("model", "NAME", chat.model,
              "The language model that replies: " + std::string(kWritingModel))
      .shorter('m')
      .completes(Complete::Models);
  fields
      .option("asr-model", "NAME", hear.model,
              "The model that hears; auto: the newest of those here.")
      .completes(Complete::Models);
  fields
      .option("voice-model", "NAME", speak.model,
              "The model that speaks; auto: whichever has the voice.")
      .completes(Complete::Models);
  vad_model_field(fields, hear.vad_model);
  context_field(fields, chat.context);
  device_field(fields, placement.device, std::string(kDeviceHelp));
  limit_fields(fields, placement);
  arithmetic_fields(fields, placement);
  lexicon_field(fields, speak.lexicon);
}

Result<TalkModels> open_talk_models(const Context& context, const TalkWish& wish) {
  TalkModels models;
  MYNAH_TRY(models.words, read_lexicon_words(wish.speak.lexicon));
  // Those elsewhere first: who cannot be reached is told before anything is loaded.
  MYNAH_TRY_STATUS(open_services(context, wish, models));
  if (!wish.services.are_all()) {
    MYNAH_TRY(models.engine, engine::Engine::create(wish.placement, surroundings_of(context)));
  }
  if (models.mind == nullptr) {
    MYNAH_TRY_STATUS(open_mind(wish, models));
  }
  if (models.ear == nullptr) {
    MYNAH_TRY_STATUS(open_ear(wish, models));
  }
  MYNAH_TRY_STATUS(open_end(context, wish, models));
  MYNAH_TRY(models.voice, open_own_detector(context, wish.hear.vad_model));
  if (models.mouth == nullptr) {
    MYNAH_TRY_STATUS(open_mouth(context, wish, models));
  }
  return models;
}

}  // namespace mynah::cli
