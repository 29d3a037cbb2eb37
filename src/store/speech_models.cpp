#include "store/speech_models.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/core.h>

#include "base/nearest_name.h"
#include "store/catalogue.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<char, std::string_view>, 9> kLanguages = {{{'a', "en-US"},
                                                                          {'b', "en-GB"},
                                                                          {'e', "es"},
                                                                          {'f', "fr-FR"},
                                                                          {'h', "hi"},
                                                                          {'i', "it"},
                                                                          {'j', "ja"},
                                                                          {'p', "pt-BR"},
                                                                          {'z', "zh"}}};

// mynah's own first: where two files have one name, it is taken.
constexpr std::array<std::string_view, 6> kVoiceExtensions = {".gguf", ".pt",  ".safetensors",
                                                              ".npy",  ".npz", ".bin"};

std::string language_of(char letter) {
  const auto* const found =
      std::ranges::find(kLanguages, letter, &std::pair<char, std::string_view>::first);
  return found == kLanguages.end() ? "" : std::string(found->second);
}

std::optional<StoredModel> newest_kokoro(const Store& store) {
  std::vector<StoredModel> models = store.list();
  std::erase_if(models, [](const StoredModel& model) { return model.family != "kokoro"; });
  const auto newest = std::ranges::max_element(models, {}, &StoredModel::created);
  return newest == models.end() ? std::nullopt : std::optional(std::move(*newest));
}

Result<SpeechModel> chosen_model(const Store& store, const std::string& name_or_path) {
  if (name_or_path.empty()) {
    const auto newest = newest_kokoro(store);
    if (!newest) {
      return fail(ErrorCode::Environment,
                  "no model that speaks is on this machine; bring one with `mynah pull kokoro`");
    }
    return SpeechModel{.name = newest->name, .path = newest->path(), .family = newest->family};
  }
  MYNAH_TRY(const ResolvedModel resolved, store.resolve(name_or_path));
  if (resolved.name.empty()) {
    return SpeechModel{.name = {}, .path = resolved.path, .family = {}};
  }
  MYNAH_TRY(const StoredModel model, store.find(resolved.name));
  const std::string_view kind = kind_of_family(model.family);
  if (kind != "speech") {
    return fail(
        ErrorCode::Usage,
        fmt::format("{} is for {}; wanted a model that speaks, such as kokoro", model.name, kind));
  }
  return SpeechModel{.name = model.name, .path = model.path(), .family = model.family};
}

}  // namespace

InstalledVoice describe_voice(std::string name, std::string path) {
  InstalledVoice voice{.name = std::move(name), .path = std::move(path), .language = {}, .sex = {}};
  if (voice.name.size() > 3 && voice.name[2] == '_') {
    const char sex = voice.name[1];
    voice.language = language_of(voice.name[0]);
    voice.sex = sex == 'f' ? "female" : sex == 'm' ? "male" : "";
  }
  return voice;
}

std::vector<InstalledVoice> installed_voices(const Store& store) {
  const std::string folder = store.model_folder(kKokoroVoices);
  std::map<std::string, fs::path> files;  // by the voices' names
  const auto rank = [](const fs::path& path) {
    return std::ranges::find(kVoiceExtensions, path.extension().string()) -
           kVoiceExtensions.begin();
  };
  std::error_code error;
  for (auto item = fs::directory_iterator(folder, error);
       !error && item != fs::directory_iterator(); item.increment(error)) {
    const fs::path& path = item->path();
    std::error_code ignored;
    if (!item->is_regular_file(ignored) || rank(path) == std::ssize(kVoiceExtensions)) {
      continue;
    }
    const auto [place, is_new] = files.emplace(path.stem().string(), path);
    if (!is_new && rank(path) < rank(place->second)) {
      place->second = path;
    }
  }
  std::vector<InstalledVoice> voices;
  voices.reserve(files.size());
  for (const auto& [name, path] : files) {
    voices.push_back(describe_voice(name, path.string()));
  }
  return voices;
}

Result<InstalledVoice> find_voice(std::span<const InstalledVoice> voices, std::string_view name) {
  if (voices.empty()) {
    return fail(ErrorCode::Environment,
                "no voices are on this machine; bring them with `mynah pull kokoro-voices`, or "
                "take in files that you have with `mynah import`");
  }
  const auto found = std::ranges::find(voices, name, &InstalledVoice::name);
  if (found != voices.end()) {
    return *found;
  }
  std::vector<std::string> names;
  names.reserve(voices.size());
  for (const InstalledVoice& voice : voices) {
    names.push_back(voice.name);
  }
  return fail(ErrorCode::Usage,
              fmt::format("there is no voice '{}'{}", name, suggestion(name, names)));
}

Result<SpeechModel> installed_speech_model(const Store& store, const std::string& name_or_path) {
  MYNAH_TRY(SpeechModel model, chosen_model(store, name_or_path));
  model.voices = installed_voices(store);
  if (const auto phonemes = store.find(kEnglishPhonemes)) {
    model.english_phonemes = phonemes->path();
  }
  return model;
}

}  // namespace mynah
