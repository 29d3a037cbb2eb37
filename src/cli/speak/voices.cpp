#include "cli/speak/voices.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command/error_codes.h"
#include "cli/hear/language_codes.h"
#include "cli/models/store_access.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/placement_answer.h"
#include "cli/speak/sound_output.h"
#include "cli/speak/speak_options.h"
#include "engine/last_look.h"
#include "engine/store_folders.h"
#include "speech/languages.h"
#include "store/speech_models.h"
#include "store/store.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

// What a voice says of itself, in its own language.
const std::map<std::string, std::string>& sentences() {
  static const std::map<std::string, std::string> kSentences = {
      {"en", "Hello! This is how I sound. Shall I read something to you?"},
      {"es", "\xC2\xA1Hola! As\xC3\xAD sueno. \xC2\xBFQuiere que le lea algo?"},
      {"fr", "Bonjour ! Voici ma voix. Voulez-vous que je vous lise quelque chose ?"},
      {"it", "Ciao! Questa \xC3\xA8 la mia voce. Vuole che le legga qualcosa?"},
      {"pt", "Ol\xC3\xA1! \xC3\x89 assim que eu falo. Quer que eu leia alguma coisa?"},
      {"hi",
       "\xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D\xE0\xA4\xA4\xE0\xA5\x87! "
       "\xE0\xA4\xAF\xE0\xA4\xB9 \xE0\xA4\xAE\xE0\xA5\x87\xE0\xA4\xB0\xE0\xA5\x80 "
       "\xE0\xA4\x86\xE0\xA4\xB5\xE0\xA4\xBE\xE0\xA4\x9C\xE0\xA4\xBC "
       "\xE0\xA4\xB9\xE0\xA5\x88\xE0\xA5\xA4"},
  };
  return kSentences;
}

const std::string& sentence_in(const std::string& language) {
  const auto found = sentences().find(language.substr(0, language.find('-')));
  return found == sentences().end() ? sentences().at("en") : found->second;
}

// Takes a sample's clauses to where they are to be heard.
class SampleObserver final : public SpeechObserver {
 public:
  explicit SampleObserver(std::vector<std::unique_ptr<SoundOutput>>& outputs) : outputs_(outputs) {}

  Status on_clause(const SpokenClause& clause) override {
    for (const auto& output : outputs_) {
      MYNAH_TRY_STATUS(output->write(clause.samples));
    }
    return {};
  }

 private:
  std::vector<std::unique_ptr<SoundOutput>>& outputs_;
};

}  // namespace

void VoicesCommand::fields(Fields& fields) {
  fields.positional("VOICE", names_, "Voices to hear, with --play or --out; none: list them all.")
      .as_optional()
      .completes(Complete::Voices);
  fields.option("lang", "LANGUAGE", language_, "Only those that speak it, such as en or en-GB.")
      .also("language")
      .shorter('l')
      .once();
  fields.flag("play", play_, "Play a sample of each voice that is named.").once();
  fields.option("out", "FOLDER", out_, "Write a sample of each voice that is named, VOICE.wav.")
      .shorter('o')
      .completes(Complete::Folders)
      .once();
  fields.option(
      "player", "PROGRAM", player_,
      "What plays a WAV from its standard input; empty: pw-play, paplay, aplay or ffplay.");
  model_fields(fields, engine_);
}

std::string VoicesCommand::details() const {
  return "Voices of Kokoro come with `mynah pull kokoro`; `mynah import` takes voice packs that "
         "you\n"
         "have. `mynah speak --voice` takes their names, mixes of them, and paths of voice "
         "packs.\n\n" +
         device_details();
}

Result<int> VoicesCommand::list(Context& context) const {
  const Store store(engine::store_folders(context.environment));

  struct Row {
    std::string model;
    VoiceFacts facts;
  };

  std::vector<Row> rows;
  const std::vector<SpeechModel> models = installed_speech_models(store);
  for (const SpeechModel& model : models) {
    for (const InstalledVoice& voice : model.voices) {
      rows.push_back({.model = model.name,
                      .facts = {.name = voice.name, .language = voice.language, .sex = voice.sex}});
    }
  }
  const auto builtin = builtin_voice();
  for (const VoiceFacts& voice : builtin->voices()) {
    rows.push_back({.model = builtin->name(), .facts = voice});
  }
  std::erase_if(rows, [this](const Row& row) { return !speaks(row.facts.language, language_); });
  for (const Row& row : rows) {
    if (context.json) {
      context.out.line(Json{
          {"voice", row.facts.name},
          {"language", row.facts.language},
          {"sex", row.facts.sex},
          {"model",
           row.model}}.dump());
    } else {
      context.out.line(fmt::format("{:<20} {:<8} {:<8} {}", row.facts.name, row.facts.language,
                                   row.facts.sex, row.model));
    }
  }
  if (rows.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("no voice here speaks '{}'", language_));
  }
  return 0;
}

Result<int> VoicesCommand::sample(Context& context) const {
  for (const std::string& name : names_) {
    engine::SynthesizerWish wanted = engine_;
    wanted.voice = name;
    MYNAH_TRY(const engine::OpenedSynthesizer engine, open_(wanted, surroundings_of(context)));
    const Synthesizer& synthesizer = *engine.synthesizer;
    SpeakOptions options;
    options.voice.voice = name;
    options.loudness_lufs = kLoudness_lufs;
    const auto checked = synthesizer.check(options);
    if (!checked) {
      return std::unexpected(as_usage(checked.error()));
    }
    const VoiceFacts& voice = *checked;
    const int rate_hz = synthesizer.model().rate_hz();
    std::vector<std::unique_ptr<SoundOutput>> outputs;
    if (!out_.empty()) {
      std::error_code error;
      std::filesystem::create_directories(out_, error);
      const std::string file = std::filesystem::path(name).stem().string() + ".wav";
      MYNAH_TRY(auto output,
                open_sound_output((std::filesystem::path(out_) / file).string(), context.out,
                                  {.format = SoundFormat::Wav,
                                   .rate_hz = rate_hz,
                                   .file_rate_hz = {},
                                   .media_program = {}}));
      outputs.push_back(std::move(output));
    }
    if (play_) {
      MYNAH_TRY(auto output, open_player(player_, rate_hz));
      outputs.push_back(std::move(output));
    }
    SampleObserver observer(outputs);
    const Status spoken =
        synthesizer.speak(sentence_in(voice.language), options, observer, context.stop);
    const Status right = engine::LastLook(engine.placer.get()).take();
    MYNAH_TRY_STATUS(spoken);
    for (const auto& output : outputs) {
      MYNAH_TRY_STATUS(output->finish());
    }
    if (context.json) {
      context.out.line(Json{{"voice", voice.name},
                            {"language", voice.language},
                            {"file", out_.empty() ? Json(nullptr) : Json(outputs.front()->name())},
                            {"placement", placement_json(engine.placer.get())}}
                           .dump());
    } else if (!out_.empty()) {
      context.out.line(outputs.front()->name());
    }
    MYNAH_TRY_STATUS(right);
  }
  return 0;
}

Result<int> VoicesCommand::run(Context& context) {
  language_ = language_code_of_name(language_);
  if (names_.empty()) {
    if (play_ || !out_.empty()) {
      return fail(ErrorCode::Usage, "wanted the name of a voice to hear, such as af_heart");
    }
    return list(context);
  }
  if (!play_ && out_.empty()) {
    return fail(ErrorCode::Usage, "wanted --play, or --out FOLDER for the samples");
  }
  return sample(context);
}

}  // namespace mynah::cli
