#include "engine/installed.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/store_folders.h"

namespace mynah::engine {

std::optional<StoredModel> newest_model_for(const Store& store, FamilyKind kind) {
  std::vector<StoredModel> models = store.list();
  std::erase_if(models, [kind](const StoredModel& model) { return !is_for(model.family, kind); });
  // One that can converse comes first, however old it is.
  const auto newest = std::ranges::max_element(models, {}, [](const StoredModel& model) {
    return std::pair<bool, const std::string&>(model.converses, model.created);
  });
  return newest == models.end() ? std::nullopt : std::optional(std::move(*newest));
}

std::string name_of_path(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path named = fs::path(path).lexically_normal();
  if (!named.has_filename()) {
    return named.parent_path().filename().string();  // "models/minilm/"
  }
  std::error_code ignored;
  // A folder's dots are no suffix: bge-small-en-v1.5.
  return (fs::is_directory(named, ignored) ? named.filename() : named.stem()).string();
}

std::optional<StoredModel> newest_recogniser(const Store& store) {
  return newest_model_for(store, FamilyKind::SpeechToText);
}

std::optional<StoredModel> newest_language_model(const Store& store) {
  return newest_model_for(store, FamilyKind::Language);
}

const CatalogueEntry& detector_entry() {
  return *std::ranges::find_if(catalogue(), [](const CatalogueEntry& entry) {
    return is_for(entry.family, FamilyKind::VoiceActivity);
  });
}

std::optional<StoredModel> default_detector(const Store& store) {
  auto pulled = store.find(detector_entry().name);
  return pulled && is_for(pulled->family, FamilyKind::VoiceActivity)
             ? std::optional(*std::move(pulled))
             : newest_model_for(store, FamilyKind::VoiceActivity);
}

Result<ResolvedModel> resolve_detector(const Store& store, const std::string& name) {
  if (name != "auto") {
    return store.resolve(name);
  }
  if (const auto found = default_detector(store)) {
    return ResolvedModel{.path = found->path(), .name = found->name};
  }
  return store.resolve(detector_entry().name);  // why there is none
}

Error as_named(Error error, const std::string& name) {
  if (error.code == ErrorCode::NotFound) {
    const bool known = find_in_catalogue(name) != nullptr;
    const bool path = name.contains('/');
    error.code = known ? ErrorCode::Environment : path ? ErrorCode::NotFound : ErrorCode::Usage;
  }
  return error;
}

Error as_stored(Error error, const std::string& name, std::string_view flag) {
  const bool of_the_file = error.code == ErrorCode::InvalidInput ||
                           error.code == ErrorCode::Unsupported ||
                           error.code == ErrorCode::NotFound || error.code == ErrorCode::Io;
  if (of_the_file && !name.empty()) {
    error.message = fmt::format(
        "the model {0} cannot be used: {1}; remove it with `mynah models remove {0}`, or name "
        "another with {2}",
        name, error.message, flag);
  }
  return error;
}

Status check_finds_speech(const Store& store, const ResolvedModel& model) {
  if (model.name.empty()) {
    return {};
  }
  const auto stored = store.find(model.name);
  if (stored && is_for(stored->family, FamilyKind::SpeechToText)) {
    return fail(ErrorCode::Usage,
                fmt::format("{0} is a {1} model, which writes what is said (transcribe --model "
                            "takes it); --vad-model wants a voice detector: {2}, or builtin",
                            model.name, find_family(stored->family)->title, detector_entry().name));
  }
  return {};
}

Status check_writes(const Store& store, const std::string& name, std::string_view example) {
  if (name.empty()) {
    return {};
  }
  const auto model = store.find(name);
  if (model && is_for(model->family, FamilyKind::VoiceActivity)) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is a voice detector, which finds speech but does not write it "
                            "(--vad-model takes it); wanted a Whisper model, such as {}",
                            name, example));
  }
  return {};
}

std::vector<const CatalogueEntry*> missing_companions(const Store& store,
                                                      const CatalogueEntry& entry) {
  std::vector<const CatalogueEntry*> missing;
  for (const std::string& name : entry.companions) {
    const CatalogueEntry* const companion = find_in_catalogue(name);
    const auto model = store.find(name);
    const bool here = model && !(is_for(model->family, FamilyKind::Voices) && is_import(*model));
    if (companion != nullptr && !here) {
      missing.push_back(companion);
    }
  }
  return missing;
}

Result<StoredModel> pull_from_catalogue(const Surroundings& surroundings,
                                        const CatalogueEntry& entry, PullOptions options) {
  options.download.http.proxies = proxies(surroundings.environment);
  const auto watcher =
      surroundings.watch_pull ? surroundings.watch_pull() : std::make_unique<StoreObserver>();
  return pull_model(Store(store_folders(surroundings.environment)), entry, options, *watcher,
                    surroundings.stop);
}

}  // namespace mynah::engine
