#include "server/models/service.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "engine/idle_check.h"
#include "engine/installed.h"
#include "engine/model_files.h"
#include "engine/store_folders.h"
#include "place/elsewhere/shared_digest.h"
#include "server/models/keep_as_asked.h"
#include "server/models/named_models.h"
#include "server/models/openai_names.h"
#include "speech/synthesizer.h"
#include "speech/window_model.h"
#include "store/families.h"
#include "text/phonemes/user_lexicon.h"

namespace mynah::server {
namespace {

// What a client names goes no further than the store: it is no path.
Status check_is_no_path(const std::string& what, const std::string& name) {
  if (name.contains('/') || name.starts_with('.')) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a name, found the path '{}'", what, name));
  }
  return {};
}

// "tiny.en" of ".../models/tiny.en/model.gguf", of a folder ".../tiny.en" and of a file
// ".../tiny.en.gguf".
std::string name_of(const std::string& path) {
  const std::filesystem::path file(path);
  return file.filename() == "model.gguf" ? file.parent_path().filename().string()
                                         : engine::name_of_path(path);
}

// The store's models as far as their folders tell: another text where something came or went.
std::string state_of_models(const Store& store) {
  namespace fs = std::filesystem;
  const fs::path root(store.folders().home + "/models");
  std::string state;
  const auto add = [&state](const fs::path& folder) {
    std::error_code error;
    const auto changed = fs::last_write_time(folder, error);
    state += fmt::format("{} {}\n", folder.filename().string(),
                         error ? 0 : changed.time_since_epoch().count());
  };
  add(root);
  std::error_code error;
  for (auto item = fs::directory_iterator(root, error); !error && item != fs::directory_iterator();
       item.increment(error)) {
    add(item->path());
  }
  return state;
}

}  // namespace

Service::Service(ServiceOptions options, engine::Surroundings surroundings,
                 std::unique_ptr<engine::Engine> engine, std::vector<std::string> hotwords)
    : options_(std::move(options)),
      hotwords_(std::move(hotwords)),
      surroundings_(std::move(surroundings)),
      engine_(std::move(engine)),
      default_(options_.model) {}

Result<std::unique_ptr<Service>> Service::create(ServiceOptions options,
                                                 engine::Surroundings surroundings) {
  MYNAH_TRY_STATUS(check_named_models(options, surroundings.environment));
  MYNAH_TRY(std::vector<std::string> hotwords, read_lexicon_words(options.lexicon));
  MYNAH_TRY(auto engine, engine::Engine::create(options.placement, surroundings));
  note_missing_models(options, surroundings);
  return std::unique_ptr<Service>(new Service(std::move(options), std::move(surroundings),
                                              std::move(engine), std::move(hotwords)));
}

std::string Service::meant_by(const std::string& name) const {
  const auto alias = std::ranges::find(options_.aliases, name, &Alias::name);
  if (alias != options_.aliases.end()) {
    return alias->model;
  }
  const Store store = this->store();
  const auto own = store.find(name);
  return own && is_for(own->family, FamilyKind::SpeechToText) ? own->name
         : name == "builtin"                                  ? name
                                                              : std::string();
}

Result<Hearing> Service::hearing(const std::string& name) {
  if (const auto work = RequestWork::here()) {
    work->want(RequestWork::Does::Hear);
  }
  MYNAH_TRY_STATUS(check_is_no_path("model", name));
  std::string meant = name.empty() ? std::string() : meant_by(name);
  const bool unknown = is_unknown(name, meant);
  if (unknown && options_.strict) {
    return no_model_called(name, "hears");
  }
  const bool chosen = !name.empty() && meant == name;
  if (meant.empty()) {
    const std::lock_guard lock(mutex_);
    meant = default_;
  }
  MYNAH_TRY(Hearing hearing, as_chosen(open_model(std::move(meant)), chosen));
  hearing.model_passed_over = unknown;
  return hearing;
}

Result<Hearing> Service::open_model(std::string meant) {
  engine::RecognizerWish wish;
  wish.model = std::move(meant);
  wish.vad_model = options_.vad_model;
  wish.offline = options_.offline;
  MYNAH_TRY(auto lease, engine_->recognizer(std::move(wish), engine::Engine::Warm::Yes));
  keep_as_asked(lease);
  std::string called = lease->model_path.empty() ? "builtin" : name_of(lease->model_path);
  return Hearing{.lease = std::move(lease),
                 .name = std::move(called),
                 .under_way = &under_way_,
                 .hotwords = &hotwords_,
                 .metrics = &metrics_};
}

std::vector<std::string> Service::languages_of(const std::string& path) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = languages_.find(path); known != languages_.end()) {
      return known->second;
    }
  }
  const auto file = open_hearing(path);
  std::vector<std::string> languages =
      file ? (*file)->header()->facts().languages : std::vector<std::string>();
  const std::lock_guard lock(mutex_);
  languages_.emplace(path, languages);
  return languages;
}

std::vector<HearingModel> Service::hearing_models() const {
  std::vector<HearingModel> models;
  const Store store = this->store();
  const auto add = [&](const std::string& name, const std::string& family,
                       const std::string& source, const std::string& path) {
    auto languages = languages_of(path);
    if (!languages.empty()) {
      models.push_back(
          {.name = name, .family = family, .source = source, .languages = std::move(languages)});
    }
  };
  for (const StoredModel& model : store.list()) {
    if (is_for(model.family, FamilyKind::SpeechToText)) {
      add(model.name, model.family, model.source, model.path());
    }
  }
  std::string first;
  {
    const std::lock_guard lock(mutex_);
    first = default_;
  }
  if (const auto newest = engine::newest_recogniser(store); first == "auto" && newest) {
    first = newest->name;
  } else if (first.contains('/')) {
    add(name_of(first), "", "", first);  // whoever started the server named a file
    first = name_of(first);
  }
  models.push_back({.name = "builtin", .family = "mynah", .source = {}, .languages = {"en"}});
  std::ranges::stable_partition(
      models, [&first](const HearingModel& model) { return model.name == first; });
  return models;
}

std::vector<SpeechModel> Service::speech_models() const {
  const Store here = store();
  std::vector<SpeechModel> models;
  const bool any = options_.voice_model == "auto";
  if (any) {
    models = installed_speech_models(here);
  } else if (options_.voice_model != "builtin") {
    if (auto named = installed_speech_model(here, options_.voice_model)) {
      named->name = name_of(options_.voice_model);  // of the store, or of the file that was named
      models.push_back(*std::move(named));
    }
  }
  if (any || models.empty()) {
    SpeechModel builtin{.name = "builtin", .path = {}, .family = "mynah"};
    const auto speaks = builtin_voice();
    for (const VoiceFacts& voice : speaks->voices()) {
      builtin.voices.push_back(
          {.name = voice.name, .path = {}, .language = voice.language, .sex = voice.sex});
    }
    models.push_back(std::move(builtin));
  }
  return models;
}

Store Service::store() const {
  return Store(engine::store_folders(surroundings_.environment));
}

size_t Service::unload(const std::string& name) {
  size_t count = 0;
  for (const engine::OpenModel& open : engine_->open_models()) {
    count += name_of_model(open.path) == name ? engine_->unload(open.path) : 0;
  }
  return count;
}

Status Service::remove(const std::string& name) {
  // Who computes with it has its files open, and goes on.
  static_cast<void>(unload(name));
  MYNAH_TRY_STATUS(store().remove(name));
  const std::lock_guard lock(mutex_);
  if (default_ == name) {
    default_ = options_.model;
  }
  return {};
}

std::string Service::name_of_model(const std::string& path) const {
  if (path.empty()) {
    return "builtin";
  }
  for (const StoredModel& model : store().list()) {
    if (path == model.folder || path.starts_with(model.folder + "/")) {
      return model.name;
    }
  }
  return name_of(path);  // whoever started the server named a file
}

Status Service::load(const std::string& name) {
  MYNAH_TRY_STATUS(check_is_no_path("model", name));
  if (!meant_by(name).empty()) {
    MYNAH_TRY(const Hearing hearing, this->hearing(name));
    return {};
  }
  if (chats_.has(name)) {
    MYNAH_TRY(const Writing writing, chats_.writing(name, UnknownName::Refused));
    return {};
  }
  if (embeddings_.has(name)) {
    MYNAH_TRY(const EmbeddingService::Opened opened, embeddings_.open(name));
    return {};
  }
  const auto model = store().find(name);
  if (!model || !is_for(model->family, FamilyKind::Speech)) {
    return fail(ErrorCode::NotFound,
                fmt::format("there is no model '{}' here that hears, speaks, writes or "
                            "makes vectors; GET "
                            "/v1/models lists what there is",
                            name));
  }
  engine::SynthesizerWish wish;
  wish.model = model->name;
  wish.reads = true;
  MYNAH_TRY(const Speaking speaking, open_voice(std::move(wish)));
  return {};
}

std::vector<Service::SharedFile> Service::shared_files() const {
  const Store here = store();
  const std::string& cache = here.folders().cache;
  std::vector<SharedFile> files;
  const auto add = [&](const std::string& meant, const place::ModelFile& file, bool hears) {
    // What cannot be read is not offered.
    if (auto digest = place::shared_digest(file, cache)) {
      files.push_back({.name = name_of(place::path_of(file)),
                       .meant = meant,
                       .digest = *std::move(digest),
                       .hears = hears});
    }
  };
  const auto add_hearing = [&](const std::string& meant, const std::string& path) {
    add(meant, place::WindowsFile{.path = path, .cache_folder = cache}, true);
  };
  for (const StoredModel& model : here.list()) {
    if (is_for(model.family, FamilyKind::SpeechToText)) {
      add_hearing(model.name, model.path());
    }
  }
  std::string first;
  {
    const std::lock_guard lock(mutex_);
    first = default_;
  }
  if (first.contains('/')) {
    add_hearing(first, first);  // whoever started the server named a file
  }
  std::vector<SpeechModel> voices = installed_speech_models(here);
  if (options_.voice_model.contains('/')) {
    if (auto named = installed_speech_model(here, options_.voice_model)) {
      voices.push_back(*std::move(named));
    }
  }
  for (const SpeechModel& model : voices) {
    add(model.name.empty() ? options_.voice_model : model.name,
        engine::voice_model_file(model, cache), false);
  }
  return files;
}

Result<Service::SharedFile> Service::shared_file(const std::string& digest, bool hears) const {
  std::vector<SharedFile> files = shared_files();
  const auto found = std::ranges::find_if(
      files, [&](const SharedFile& file) { return file.digest == digest && file.hears == hears; });
  if (found == files.end()) {
    constexpr size_t kShort = 12;
    return fail(ErrorCode::NotFound, fmt::format("there is no model with the SHA-256 {}... here",
                                                 digest.substr(0, kShort)));
  }
  return std::move(*found);
}

Result<Hearing> Service::hearing_of(const std::string& digest) {
  if (const auto work = RequestWork::here()) {
    work->want(RequestWork::Does::Hear);
  }
  MYNAH_TRY(SharedFile file, shared_file(digest, true));
  return open_model(std::move(file.meant));
}

Result<Speaking> Service::speaking_of(const std::string& digest) {
  if (const auto work = RequestWork::here()) {
    work->want(RequestWork::Does::Speak);
  }
  MYNAH_TRY(SharedFile file, shared_file(digest, false));
  engine::SynthesizerWish wish;
  wish.model = std::move(file.meant);
  wish.reads = true;
  return open_voice(std::move(wish));
}

Status Service::take_as_default(const std::string& name) {
  MYNAH_TRY_STATUS(check_is_no_path("model", name));
  const std::string meant = meant_by(name);
  if (meant.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("model: there is no '{}' here that hears", name));
  }
  MYNAH_TRY(const Hearing hearing, this->hearing(name));
  const std::lock_guard lock(mutex_);
  default_ = meant;
  return {};
}

Status Service::check_could_open() const {
  engine::RecognizerWish wish;
  {
    const std::lock_guard lock(mutex_);
    wish.model = default_;
  }
  MYNAH_TRY(const std::string path, engine::check_hearing_model(wish, surroundings_.environment));
  return engine::check_could_open(engine_->placer(), path);
}

Service::WaitingWindows Service::waiting_windows() {
  WaitingWindows all;
  for (const HearingLoad& load : engine_->hearing_loads()) {
    all.urgent += load.urgent_windows;
    all.bulk += load.bulk_windows;
    all.left_ms += load.window_ms * static_cast<double>(load.urgent_windows + load.bulk_windows);
  }
  return all;
}

std::chrono::milliseconds Service::estimated_wait() {
  constexpr double kLeast_ms = 1000;
  constexpr double kMost_ms = 3'600'000;
  const double wait_ms = std::clamp(waiting_windows().left_ms, kLeast_ms, kMost_ms);
  return std::chrono::milliseconds(static_cast<int64_t>(wait_ms));
}

std::string Service::aliased(const std::string& name) const {
  const auto alias = std::ranges::find(options_.aliases, name, &Alias::name);
  return alias == options_.aliases.end() ? name : alias->model;
}

Result<std::string> Service::speaking_meant_by(const std::string& name) const {
  MYNAH_TRY_STATUS(check_is_no_path("model", name));
  std::string called = aliased(name);
  if (!called.empty()) {
    const auto own = store().find(called);
    if ((own && is_for(own->family, FamilyKind::Speech)) || called == "builtin") {
      return called;
    }
  }
  if (options_.strict && is_unknown(name, {})) {
    return no_model_called(name, "speaks");
  }
  return std::string();
}

Result<Speaking> Service::speaking(const SpeakingAsk& asked) {
  if (const auto work = RequestWork::here()) {
    work->want(RequestWork::Does::Speak);
  }
  const std::string voice = aliased(asked.voice);
  if (is_voice_file(voice)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("voice: wanted a name, found the file '{}'", voice));
  }
  MYNAH_TRY(const std::string named, speaking_meant_by(asked.model));
  // OpenAI's voices, and Kokoro's where it is not here, are those of other models: each has some
  // that sound like it, or any will do.
  std::vector<std::string> wanted = {voice};
  const std::string any = named.empty() ? options_.voice : std::string();
  if (const auto like = voices_like(voice); !like.empty()) {
    wanted.insert(wanted.end(), like.begin(), like.end());
    wanted.push_back(any);
  } else if (voice.empty()) {
    wanted = {any};
  }
  const bool passed_over = is_unknown(asked.model, named);
  const auto by = [&](const std::string& model, const std::string& as) -> Result<Speaking> {
    MYNAH_TRY(Speaking speaking, speaking_by(model, as, asked.language));
    speaking.model_passed_over = passed_over;
    return speaking;
  };
  const std::string& model = named.empty() ? options_.voice_model : named;
  Result<Speaking> found = by(model, wanted.front());
  for (size_t i = 1; !found && i < wanted.size(); ++i) {
    if (auto other = by(model, wanted[i])) {
      return other;
    }
  }
  // Some of those names are what clients of other servers call whichever model there is.
  if (!found && !named.empty() && is_openai_model(asked.model)) {
    return by(options_.voice_model, voice);
  }
  // A language that no voice speaks is what the client asked for.
  const bool chosen = !named.empty() || (!voice.empty() && wanted.size() == 1) ||
                      (!found && found.error().code == ErrorCode::Unsupported);
  return as_chosen(std::move(found), chosen);
}

Result<Speaking> Service::speaking_by(const std::string& model, const std::string& voice,
                                      const std::string& language) {
  engine::SynthesizerWish wish;
  wish.model = model;
  wish.language = language;
  wish.reads = true;
  wish.voice = voice;
  return open_voice(std::move(wish));
}

Result<engine::SpeakingModel> Service::chosen_voice(const engine::SynthesizerWish& wish) {
  if (wish.model.contains('/')) {
    return engine::speaking_model(wish, surroundings_.environment);  // nobody watches that folder
  }
  const std::string state = state_of_models(store());
  const std::string wanted = fmt::format("{}\n{}\n{}", wish.model, wish.language, wish.voice);
  {
    const std::lock_guard lock(mutex_);
    const auto known = voices_.find(wanted);
    if (voices_state_ == state && known != voices_.end()) {
      return known->second;
    }
  }
  auto chosen = engine::speaking_model(wish, surroundings_.environment);
  constexpr size_t kMostKept = 256;  // clients name what they like
  const std::lock_guard lock(mutex_);
  if (voices_state_ != state || voices_.size() >= kMostKept) {
    voices_.clear();
    voices_state_ = state;
  }
  voices_.insert_or_assign(wanted, chosen);
  return chosen;
}

Result<Speaking> Service::open_voice(engine::SynthesizerWish wish) {
  wish.lexicon = options_.lexicon;
  wish.lexicon_if_taken = true;
  auto model = chosen_voice(wish);
  if (!model) {
    Error error = std::move(model).error();
    error.code = error.code == ErrorCode::Usage ? ErrorCode::NotFound : error.code;
    return std::unexpected(std::move(error));
  }
  MYNAH_TRY(auto lease, engine_->synthesizer(wish, *model, engine::Engine::Warm::Yes));
  keep_as_asked(lease);
  SpeakOptions options;
  options.voice.voice = model->voice;
  MYNAH_TRY_STATUS(lease->synthesizer->check(options));
  const VoiceModel& speaks = lease->synthesizer->model();
  std::string called = speaks.name();
  std::string voice = std::move(model->voice);
  if (const auto own = speaks.find_voice(""); voice.empty() && own) {
    voice = own->name;  // the one that a model of one voice, or of many, takes by itself
  }
  return Speaking{.lease = std::move(lease),
                  .name = std::move(called),
                  .voice = std::move(voice),
                  .metrics = &metrics_};
}

}  // namespace mynah::server
