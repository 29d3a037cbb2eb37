#include "engine/model_files.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "chat/embedding_model.h"
#include "chat/language_model.h"
#include "engine/chat.h"
#include "engine/installed.h"
#include "engine/open_placer.h"
#include "engine/store_folders.h"
#include "place/workers/open_device.h"
#include "speech/voice_detector.h"
#include "speech/window_model.h"
#include "store/families.h"

namespace mynah::engine {

namespace {

NamedModel recogniser(const std::string& name, const std::string& path, const Store& store) {
  return {.name = name,
          .file = place::WindowsFile{
              .path = path, .precision = Precision::Fast, .cache_folder = store.folders().cache}};
}

constexpr int kDetectorRate_hz = 16000;

NamedModel detector(std::string name, const std::string& path) {
  return {.name = std::move(name),
          .file = place::DetectorFile{.path = path, .rate_hz = kDetectorRate_hz}};
}

NamedModel writer(const std::string& name, const std::string& path, const Store& store) {
  return {.name = name,
          .file = place::LanguageFile{.path = path,
                                      .precision = Precision::Fast,
                                      .cache_folder = store.folders().cache,
                                      .context = ChatWish::kUsualContext,
                                      .least_context = ChatWish::kLeastContext}};
}

NamedModel vector_maker(const std::string& name, const std::string& path, const Store& store) {
  return {.name = name,
          .file = place::EmbeddingFile{
              .path = path, .precision = Precision::Fast, .cache_folder = store.folders().cache}};
}

NamedModel voice(const SpeechModel& model, const Store& store) {
  place::VoiceModelFile file = voice_model_file(model, store.folders().cache);
  std::string name = file.name;
  return {.name = std::move(name), .file = std::move(file)};
}

// Of what a file is by its path alone: it is what it can be loaded as. `load`: with a backend.
bool loads(const auto& load) {
  place::DeviceSettings alone;
  alone.threads = 1;
  const auto here = place::open_device("cpu", alone);
  return here && load(*here->backend).has_value();
}

// By a path; none: a voice's, or a recogniser's.
std::optional<NamedModel> model_at(const std::string& path, const Store& store) {
  const std::string name = std::filesystem::path(path).stem().string();
  if (open_hearing(path)) {
    return recogniser(name, path, store);
  }
  if (open_writing(path)) {
    return writer(name, path, store);
  }
  if (loads([&](Backend& backend) { return load_silero(path, kDetectorRate_hz, backend); })) {
    return detector(name, path);
  }
  if (loads([&](Backend& backend) {
        return load_embedding_model(
            path, {.storage = {}, .precision = Precision::Fast, .cache_folder = {}}, backend);
      })) {
    return vector_maker(name, path, store);
  }
  return std::nullopt;
}

Result<NamedModel> named_model(const Store& store, const std::string& name) {
  auto resolved = store.resolve(name);
  if (!resolved) {
    return std::unexpected(as_named(resolved.error(), name));
  }
  const auto stored = store.find(resolved->name);
  if (stored && is_for(stored->family, FamilyKind::VoiceActivity)) {
    return detector(stored->name, resolved->path);
  }
  if (stored && is_for(stored->family, FamilyKind::Language)) {
    return writer(stored->name, resolved->path, store);
  }
  if (stored && is_for(stored->family, FamilyKind::Embeddings)) {
    return vector_maker(stored->name, resolved->path, store);
  }
  // Of a path every file could be a voice's: what it is its own header tells.
  if (resolved->name.empty()) {
    if (auto known = model_at(resolved->path, store)) {
      return *std::move(known);
    }
  }
  if (auto speaking = installed_speech_model(store, name)) {
    return voice(*speaking, store);
  }
  return recogniser(
      resolved->name.empty() ? std::filesystem::path(name).stem().string() : resolved->name,
      resolved->path, store);
}

}  // namespace

void prepare_reference(const Surroundings& surroundings, const StoredModel& model) {
  const Store store(store_folders(surroundings.environment));
  const bool computes = is_for(model.family, FamilyKind::SpeechToText) ||
                        is_for(model.family, FamilyKind::VoiceActivity) ||
                        installed_speech_model(store, model.name).has_value();
  if (!computes) {
    return;  // voices, lexicons
  }
  const auto placer = open_placer({}, surroundings);
  const auto named = named_models(store, {model.name});
  if (placer && named) {
    (void)(*placer)->state().context().prover().reference(named->front().file);
  }
}

place::VoiceModelFile voice_model_file(const SpeechModel& model, const std::string& cache_folder) {
  place::VoiceModelFile file{
      .family = model.family,
      .path = model.path,
      .config = {},
      .voices = {},
      .name = model.name.empty() ? std::filesystem::path(model.path).stem().string() : model.name,
      .precision = Precision::Fast,
      .cache_folder = cache_folder};
  for (const InstalledVoice& one : model.voices) {
    if (!one.path.empty()) {  // others are in the model's own file
      file.voices.push_back({.facts = {.name = one.name, .language = one.language, .sex = one.sex},
                             .path = one.path});
    }
  }
  return file;
}

Result<std::vector<NamedModel>> named_models(const Store& store,
                                             const std::vector<std::string>& names) {
  std::vector<NamedModel> models;
  for (const std::string& name : names) {
    MYNAH_TRY(NamedModel model, named_model(store, name));
    models.push_back(std::move(model));
  }
  if (!names.empty()) {
    return models;
  }
  if (const auto found = default_detector(store)) {
    models.push_back(detector(found->name, found->path()));
  }
  if (const auto newest = newest_recogniser(store)) {
    models.push_back(recogniser(newest->name, newest->path(), store));
  }
  if (const auto speaking = installed_speech_models(store); !speaking.empty()) {
    models.push_back(voice(speaking.front(), store));
  }
  if (const auto newest = newest_language_model(store)) {
    models.push_back(writer(newest->name, newest->path(), store));
  }
  if (const auto newest = newest_model_for(store, FamilyKind::Embeddings)) {
    models.push_back(vector_maker(newest->name, newest->path(), store));
  }
  return models;
}

}  // namespace mynah::engine
