#include "server/models/chat_service.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/installed.h"
#include "engine/store_folders.h"
#include "server/models/keep_as_asked.h"
#include "server/models/named_models.h"
#include "store/families.h"

namespace mynah::server {
namespace {

// Ollama's clients have a tag behind each name, and this one where none was chosen.
constexpr std::string_view kUsualTag = ":latest";

WritingModel of_store(const StoredModel& model) {
  return {.name = model.name,
          .path = model.path(),
          .digest = model.sha256,
          .storage = model.storage,
          .licence = model.licence,
          .changed = model.created,
          .size = model.size};
}

// One that whoever started the server named by its file.
WritingModel of_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;  // what went away meanwhile has no size
  const auto size = fs::file_size(path, error);
  WritingModel model;
  model.name = fs::path(path).stem().string();
  model.path = path;
  model.size = error ? 0 : size;
  return model;
}

}  // namespace

Store ChatService::store() const {
  return Store(engine::store_folders(environment_));
}

std::vector<WritingModel> ChatService::models() const {
  std::vector<WritingModel> models;
  const Store here = store();
  for (const StoredModel& model : here.list()) {
    if (is_for(model.family, FamilyKind::Language)) {
      models.push_back(of_store(model));
    }
  }
  std::string first = options_.chat_model;
  if (const auto newest = engine::newest_language_model(here); first == "auto" && newest) {
    first = newest->name;
  } else if (first.contains('/')) {
    models.push_back(of_file(first));
    first = models.back().name;
  } else if (const auto own = here.own_name(first)) {
    first = *own;
  }
  std::ranges::stable_partition(
      models, [&first](const WritingModel& model) { return model.name == first; });
  return models;
}

std::string ChatService::meant_by(const std::string& name) const {
  const auto alias = std::ranges::find(options_.aliases, name, &Alias::name);
  const std::string& called = alias == options_.aliases.end() ? name : alias->model;
  const Store here = store();
  const auto of = [&](const std::string& wanted) -> std::string {
    const bool is_file = options_.chat_model.contains('/');
    if (is_file && wanted == of_file(options_.chat_model).name) {
      return options_.chat_model;
    }
    const auto own = here.find(wanted);
    return own && is_for(own->family, FamilyKind::Language) ? own->name : std::string();
  };
  std::string meant = called.empty() ? std::string() : of(called);
  if (meant.empty() && called.ends_with(kUsualTag)) {
    meant = of(called.substr(0, called.size() - kUsualTag.size()));
  }
  return meant;
}

Result<Writing> ChatService::writing(const std::string& name) const {
  if (const auto work = RequestWork::here()) {
    work->want(RequestWork::Does::Write);
  }
  const std::string meant = meant_by(name);
  const bool unknown = is_unknown(name, meant);
  if (unknown && options_.strict) {
    return no_model_called(name);
  }
  engine::ChatWish wish;
  wish.model = meant.empty() ? options_.chat_model : meant;
  wish.context = options_.chat_context;
  MYNAH_TRY(auto lease, as_chosen(engine_.chat(std::move(wish), engine::Engine::Warm::Yes),
                                  !name.empty() && meant == name));
  keep_as_asked(lease);
  std::string called = lease->name;
  return Writing{.lease = std::move(lease),
                 .name = std::move(called),
                 .model_passed_over = unknown,
                 .metrics = &metrics_};
}

Result<WritingModel> ChatService::model(const std::string& name) const {
  const std::string meant = meant_by(name);
  if (is_unknown(name, meant) && options_.strict) {
    return no_model_called(name);
  }
  std::vector<WritingModel> all = models();
  const auto found = std::ranges::find_if(all, [&meant](const WritingModel& model) {
    return meant.empty() || model.name == meant || model.path == meant;
  });
  if (found == all.end()) {
    return fail(ErrorCode::NotFound,
                "no language model is here; GET /v1/registry lists what can be pulled");
  }
  return std::move(*found);
}

}  // namespace mynah::server
