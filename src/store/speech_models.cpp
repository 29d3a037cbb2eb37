#include "store/speech_models.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <system_error>

#include <fmt/core.h>

#include "base/nearest_name.h"
#include "store/catalogue.h"
#include "store/families.h"
#include "store/file_sets.h"

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

// What a network's file is by the files beside it.
std::string family_of(const fs::path& file) {
  FileSet set = file_set_of(file.string());
  if (is_for(set.family, FamilyKind::Speech)) {
    return std::move(set.family);
  }
  // One file alone.
  const auto family = std::ranges::find_if(families(), [](const ModelFamily& one) {
    return one.kind == FamilyKind::Speech && one.main_file.empty() && one.config_suffix.empty();
  });
  return std::string(family->name);
}

// The file of a model, which may be a folder of several.
std::string network_in(const std::string& path) {
  std::error_code error;
  for (auto item = fs::directory_iterator(path, error); !error && item != fs::directory_iterator();
       item.increment(error)) {
    if (item->path().extension() == ".onnx") {
      return item->path().string();
    }
  }
  return path;
}

SpeechModel with_voices(const Store& store, SpeechModel model) {
  const ModelFamily* const family = find_family(model.family);
  model.voices = family != nullptr && family->voices != nullptr ? family->voices(model)
                                                                : installed_voices(store);
  if (const auto phonemes = store.find(kEnglishPhonemes)) {
    model.english_phonemes = phonemes->path();
  }
  model.dictionary = installed_dictionary(store);
  return model;
}

SpeechModel described(const StoredModel& model) {
  return {.name = model.name, .path = network_of(model), .family = model.family};
}

// Of two that are as good the one that came last.
int rank(const SpeechModel& model) {
  const bool english = std::ranges::any_of(
      model.voices, [](const InstalledVoice& voice) { return voice.language.starts_with("en"); });
  const ModelFamily* const family = find_family(model.family);
  const VoiceRank rank = family == nullptr ? VoiceRank{} : family->rank;
  return english ? rank.of_english : rank.of_others;
}

Result<SpeechModel> chosen_model(const Store& store, const std::string& name_or_path) {
  MYNAH_TRY(const ResolvedModel resolved, store.resolve(name_or_path));
  if (resolved.name.empty()) {
    const std::string path = network_in(resolved.path);
    return SpeechModel{.name = {}, .path = path, .family = family_of(path)};
  }
  MYNAH_TRY(const StoredModel model, store.find(resolved.name));
  if (!is_for(model.family, FamilyKind::Speech)) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is for {}; wanted a model that speaks, such as kokoro", model.name,
                            kind_of_family(model.family)));
  }
  return described(model);
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

std::string installed_dictionary(const Store& store) {
  const auto dictionary = store.find(kPronouncingDictionary);
  return dictionary ? fmt::format("{}/{}", dictionary->path(), kDictionaryFile) : std::string();
}

std::string network_of(const StoredModel& model) {
  return network_in(model.path());
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

std::vector<SpeechModel> installed_speech_models(const Store& store) {
  std::vector<StoredModel> stored = store.list();
  std::erase_if(stored,
                [](const StoredModel& model) { return !is_for(model.family, FamilyKind::Speech); });
  std::ranges::stable_sort(stored, std::ranges::greater(), &StoredModel::created);
  std::vector<SpeechModel> models;
  models.reserve(stored.size());
  for (const StoredModel& model : stored) {
    models.push_back(with_voices(store, described(model)));
  }
  std::ranges::stable_sort(models, {}, rank);
  return models;
}

Result<SpeechModel> installed_speech_model(const Store& store, const std::string& name_or_path) {
  if (!name_or_path.empty()) {
    MYNAH_TRY(SpeechModel model, chosen_model(store, name_or_path));
    return with_voices(store, std::move(model));
  }
  std::vector<SpeechModel> models = installed_speech_models(store);
  if (models.empty()) {
    return fail(ErrorCode::Environment,
                "no model that speaks is on this machine; bring one with `mynah pull kokoro`");
  }
  return std::move(models.front());
}

}  // namespace mynah
