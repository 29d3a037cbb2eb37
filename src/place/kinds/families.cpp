#include "place/kinds/families.h"

#include <algorithm>
#include <array>

#include "chat/embedding_model.h"
#include "chat/language_model.h"
#include "speech/hibari/load_hibari.h"
#include "speech/kokoro/load_kokoro.h"
#include "speech/kokoro_phonemizers.h"
#include "speech/piper/load_piper.h"
#include "speech/turn_scorer.h"
#include "speech/wake/wake_word.h"
#include "speech/window_model.h"
#include "store/catalogue.h"
#include "store/catalogue_embeddings.h"
#include "store/catalogue_language.h"
#include "store/catalogue_wake.h"
#include "store/speech_models.h"

namespace mynah::place {
namespace {

using LoadedVoice = Result<std::unique_ptr<const VoiceModel>>;

LoadedVoice load_kokoro_voice(const VoiceModelFile& file, const VoiceLoadOptions& options,
                              Backend& backend) {
  return load_kokoro(file.path, file.voices, options, backend);
}

LoadedVoice load_piper_voice(const VoiceModelFile& file, const VoiceLoadOptions& options,
                             Backend& backend) {
  return load_piper({.network = file.path, .config = file.config}, options, backend);
}

LoadedVoice load_hibari_voice(const VoiceModelFile& file, const VoiceLoadOptions& options,
                              Backend& backend) {
  return load_hibari(file.path, options, backend);
}

Status check_whisper(const StoredModel& model, Backend& backend) {
  MYNAH_TRY_STATUS(load_recognizer(
      model.path(), {.storage = DType::I8, .precision = Precision::Fast, .cache_folder = {}},
      backend, nullptr));
  return {};
}

Status check_kokoro_model(const StoredModel& model, Backend& backend) {
  return check_kokoro(model.path(), backend);
}

Status check_embeddings(const StoredModel& model, Backend& backend) {
  MYNAH_TRY_STATUS(load_embedding_model(
      model.path(), {.storage = {}, .precision = Precision::Fast, .cache_folder = {}}, backend));
  return {};
}

// Its head alone, as the weights may be many gigabytes and are not touched by opening it.
Status check_language(const StoredModel& model, Backend& /*backend*/) {
  MYNAH_TRY_STATUS(open_writing(model.path()));
  return {};
}

// It scores a moment of silence, so that what cannot be computed is told at the import.
Status check_turns(const StoredModel& model, Backend& backend) {
  MYNAH_TRY(
      const auto scorer,
      load_turn_scorer(network_of(model),
                       {.storage = {}, .precision = Precision::Fast, .cache_folder = {}}, backend));
  MYNAH_TRY_STATUS(scorer->score({}));
  return {};
}

template <auto kLoad>
Status check_voice(const StoredModel& model, Backend& backend) {
  VoiceModelFile file;
  file.path = network_of(model);
  MYNAH_TRY_STATUS(kLoad(
      file, {.name = {}, .storage = DType::I8, .precision = Precision::Fast, .cache_folder = {}},
      backend));
  return {};
}

Status check_english_phonemes(const StoredModel& model, Backend& backend) {
  const PhonemizerSource english =
      kokoro_phonemizers({.phonemes = model.path(), .dictionary = {}, .cache = {}}, "", backend);
  for (const char* language : {"en-US", "en-GB"}) {
    MYNAH_TRY_STATUS(english(language));
  }
  return {};
}

// It computes beside everything else, on no device that is placed.
Status check_wake_word(const StoredModel& model, Backend& /*backend*/) {
  MYNAH_TRY_STATUS(WakeWord::load(model.path()));
  return {};
}

constexpr std::array<FamilyLoader, 9> kLoaders = {
    {{.name = "whisper", .voice = nullptr, .check = check_whisper},
     {.name = "kokoro", .voice = load_kokoro_voice, .check = check_kokoro_model},
     {.name = kTurnFamily, .voice = nullptr, .check = check_turns},
     {.name = kEnglishPhonemes, .voice = nullptr, .check = check_english_phonemes},
     {.name = kEmbeddingFamily, .voice = nullptr, .check = check_embeddings},
     {.name = kLanguageFamily, .voice = nullptr, .check = check_language},
     {.name = kWakeFamily, .voice = nullptr, .check = check_wake_word},
     {.name = "hibari", .voice = load_hibari_voice, .check = check_voice<load_hibari_voice>},
     {.name = "piper", .voice = load_piper_voice, .check = check_voice<load_piper_voice>}}};

}  // namespace

const FamilyLoader* find_loader(std::string_view family) {
  const auto* const found = std::ranges::find(kLoaders, family, &FamilyLoader::name);
  return found == kLoaders.end() ? nullptr : found;
}

}  // namespace mynah::place
