#include "server/models/kind_models.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "engine/installed.h"
#include "engine/store_folders.h"
#include "server/models/named_models.h"

namespace mynah::server {
namespace {

// Ollama's clients have a tag behind each name, and this one where none was chosen.
constexpr std::string_view kUsualTag = ":latest";

HereModel of_store(const StoredModel& model) {
  return {.name = model.name,
          .path = model.path(),
          .digest = model.sha256,
          .storage = model.storage,
          .licence = model.licence,
          .changed = model.created,
          .size = model.size};
}

// One that whoever started the server named by its file or folder.
HereModel of_path(const std::string& path) {
  HereModel model;
  model.name = engine::name_of_path(path);
  model.path = path;
  model.size = bytes_on_disk(path);  // what went away meanwhile has no size
  return model;
}

}  // namespace

Store KindModels::store() const {
  return Store(engine::store_folders(environment_));
}

std::vector<HereModel> KindModels::all() const {
  std::vector<HereModel> models;
  const Store here = store();
  for (const StoredModel& model : here.list()) {
    if (is_for(model.family, kind_)) {
      models.push_back(of_store(model));
    }
  }
  std::string first = chosen_;
  if (const auto newest = engine::newest_model_for(here, kind_); first == "auto" && newest) {
    first = newest->name;
  } else if (first.contains('/')) {
    models.push_back(of_path(first));
    first = models.back().name;
  } else if (const auto own = here.own_name(first)) {
    first = *own;
  }
  std::ranges::stable_partition(models,
                                [&first](const HereModel& model) { return model.name == first; });
  return models;
}

std::string KindModels::meant_by(const std::string& name) const {
  const auto alias = std::ranges::find(options_.aliases, name, &Alias::name);
  const std::string& called = alias == options_.aliases.end() ? name : alias->model;
  const Store here = store();
  const auto of = [&](const std::string& wanted) -> std::string {
    if (chosen_.contains('/') && wanted == of_path(chosen_).name) {
      return chosen_;
    }
    const auto own = here.find(wanted);
    return own && is_for(own->family, kind_) ? own->name : std::string();
  };
  std::string meant = called.empty() ? std::string() : of(called);
  if (meant.empty() && called.ends_with(kUsualTag)) {
    meant = of(called.substr(0, called.size() - kUsualTag.size()));
  }
  return meant;
}

Result<KindModels::Meant> KindModels::choose(const std::string& name) const {
  std::string meant = meant_by(name);
  const bool unknown = is_unknown(name, meant);
  if (unknown && options_.strict) {
    return no_model_called(name);
  }
  const bool by_name = !name.empty() && meant == name;
  return Meant{.model = meant.empty() ? chosen_ : std::move(meant),
               .passed_over = unknown,
               .by_name = by_name};
}

Result<HereModel> KindModels::model(const std::string& name) const {
  const std::string meant = meant_by(name);
  if (is_unknown(name, meant) && options_.strict) {
    return no_model_called(name);
  }
  std::vector<HereModel> models = all();
  const auto found = std::ranges::find_if(models, [&meant](const HereModel& model) {
    return meant.empty() || model.name == meant || model.path == meant;
  });
  if (found == models.end()) {
    return fail(ErrorCode::NotFound,
                fmt::format("no {} is here; GET /v1/registry lists what can be pulled", called_));
  }
  return std::move(*found);
}

}  // namespace mynah::server
