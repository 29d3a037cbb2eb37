#include "engine/model_files.h"

#include <filesystem>
#include <utility>

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

NamedModel voice(const SpeechModel& model, const Store& store) {
  place::VoiceModelFile file = voice_model_file(model, store.folders().cache);
  std::string name = file.name;
  return {.name = std::move(name), .file = std::move(file)};
}

// Whether the file is a detector of speech: it is one where it can be loaded as one.
bool detects_speech(const std::string& path) {
  place::DeviceSettings alone;
  alone.threads = 1;
  const auto here = place::open_device("cpu", alone);
  return here && load_silero(path, kDetectorRate_hz, *here->backend).has_value();
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
  // Of a path every file could be a voice's: what it is its own header tells.
  const bool listens = resolved->name.empty() && open_hearing(resolved->path).has_value();
  if (resolved->name.empty() && !listens && detects_speech(resolved->path)) {
    return detector(std::filesystem::path(name).stem().string(), resolved->path);
  }
  if (auto speaking = installed_speech_model(store, name); speaking && !listens) {
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
  return models;
}

}  // namespace mynah::engine
