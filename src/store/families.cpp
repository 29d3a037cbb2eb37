#include "store/families.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/piper/voice_config.h"
#include "models/turn/onnx_weights.h"
#include "store/catalogue.h"
#include "store/catalogue_embeddings.h"
#include "store/catalogue_language.h"
#include "store/catalogue_wake.h"
#include "store/files.h"
#include "store/speech_models.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// VOICES.md of hexgrad/Kokoro-82M.
constexpr std::array<TaughtLanguage, 8> kKokoroLanguages = {{{"en", "English"},
                                                             {"es", "Spanish"},
                                                             {"fr", "French"},
                                                             {"hi", "Hindi"},
                                                             {"it", "Italian"},
                                                             {"pt", "Portuguese"},
                                                             {"ja", "Japanese"},
                                                             {"zh", "Chinese"}}};

// Voices with the best grades there.
constexpr std::array<std::string_view, 2> kKokoroBest = {"af_heart", "bf_emma"};

std::vector<InstalledVoice> voices_of_hibari(const SpeechModel& /*model*/) {
  return {{.name = "heart", .path = {}, .language = "en-US", .sex = "female"}};
}

// What a Piper voice's own file says; none where it cannot be read, which loading then tells.
std::vector<InstalledVoice> voices_of_piper(const SpeechModel& model) {
  const std::string path = model.path + ".json";
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto config = piper::read_voice_config(text, path);
  std::vector<InstalledVoice> voices;
  if (config) {
    for (const std::string& speaker : config->speakers) {
      voices.push_back({.name = speaker, .path = {}, .language = config->language, .sex = {}});
    }
    if (voices.empty()) {
      const std::string own =
          model.name.empty() ? fs::path(model.path).stem().string() : model.name;
      voices.push_back({.name = config->dataset.empty() ? own : config->dataset,
                        .path = {},
                        .language = config->language,
                        .sex = {}});
    }
  }
  return voices;
}

// Exports are 9 MB quantised and 32 in f32: what is larger is not read for this.
constexpr uint64_t kMostTurnBytes = 64U << 20U;

bool is_turn_file(const std::string& path) {
  if (fs::path(path).extension() != ".onnx" || bytes_on_disk(path) > kMostTurnBytes) {
    return false;
  }
  const auto file = MappedFile::open(path);
  const auto graph = file ? read_onnx_model(*file) : std::unexpected(file.error());
  return graph && turn::is_turn_model(*graph);
}

constexpr std::array<ModelFamily, 12> kFamilies = {{
    {.name = "whisper", .title = "Whisper", .kind = FamilyKind::SpeechToText},
    {.name = "silero", .title = "Silero", .kind = FamilyKind::VoiceActivity},
    {.name = kTurnFamily,
     .title = "Smart Turn",
     .kind = FamilyKind::EndOfTurn,
     .recognises = is_turn_file},
    {.name = "kokoro",
     .title = "Kokoro",
     .kind = FamilyKind::Speech,
     .brings_voices = true,
     .rank = {.of_english = 0, .of_others = 3},
     .taught = kKokoroLanguages,
     .best_voices = kKokoroBest},
    {.name = kKokoroVoices,
     .title = "Kokoro's voices",
     .kind = FamilyKind::Voices,
     .brings_voices = true},
    {.name = kEnglishPhonemes,
     .title = "English phonemes",
     .kind = FamilyKind::Phonemes,
     .brings_voices = true},
    {.name = kPronouncingDictionary,
     .title = "CMU Pronouncing Dictionary",
     .kind = FamilyKind::Phonemes,
     .main_file = "cmudict.dict"},
    {.name = "hibari",
     .title = "Hibari",
     .kind = FamilyKind::Speech,
     .main_file = "hibari.onnx",
     .brings_voices = true,
     .rank = {.of_english = 1, .of_others = 1},
     .voices = voices_of_hibari},
    {.name = "piper",
     .title = "Piper",
     .kind = FamilyKind::Speech,
     .config_suffix = ".json",
     .brings_voices = true,
     .rank = {.of_english = 2, .of_others = 2},
     .voices = voices_of_piper},
    {.name = kLanguageFamily, .title = "Language model", .kind = FamilyKind::Language},
    {.name = kEmbeddingFamily, .title = "Embedding model", .kind = FamilyKind::Embeddings},
    {.name = kWakeFamily,
     .title = "microWakeWord",
     .kind = FamilyKind::WakeWord,
     .network_extension = ".tflite"},
}};

}  // namespace

std::string_view name(FamilyKind kind) {
  constexpr std::array<std::string_view, 9> kNames = {
      "speech to text", "voice activity", "end of turn", "speech",   "voices",
      "phonemes",       "language model", "embeddings",  "wake word"};
  return kNames[static_cast<size_t>(kind)];
}

std::span<const ModelFamily> families() {
  return kFamilies;
}

const ModelFamily* find_family(std::string_view name) {
  const auto* const found = std::ranges::find(kFamilies, name, &ModelFamily::name);
  return found == kFamilies.end() ? nullptr : found;
}

bool is_for(std::string_view family, FamilyKind kind) {
  const ModelFamily* const known = find_family(family);
  return known != nullptr && known->kind == kind;
}

bool has_config(std::string_view family) {
  const ModelFamily* const known = find_family(family);
  return known != nullptr && !known->config_suffix.empty();
}

const ModelFamily& family_with_config() {
  return *std::ranges::find_if(
      kFamilies, [](const ModelFamily& family) { return !family.config_suffix.empty(); });
}

std::string taught_languages(const ModelFamily& family) {
  std::string names;
  for (size_t i = 0; i < family.taught.size(); ++i) {
    names += i == 0 ? "" : i + 1 == family.taught.size() ? " and " : ", ";
    names += family.taught[i].name;
  }
  return names;
}

}  // namespace mynah
