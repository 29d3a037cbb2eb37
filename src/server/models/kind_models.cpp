#include "server/models/kind_models.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "engine/installed.h"
#include "engine/store_folders.h"
#include "server/models/openai_names.h"
#include "store/catalogue.h"
#include "store/files.h"
#include "store/sha256.h"

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
  struct stat state{};
  if (::stat(path.c_str(), &state) == 0) {
    model.changed = fmt::format("{:%FT%TZ}", fmt::gmtime(state.st_mtime));
  }
  // Reading all of it would take seconds: clients tell by it whether a model is still the same.
  const std::string state_text = fmt::format("{} {} {}", path, model.size, model.changed);
  model.digest = sha256_hex(std::as_bytes(std::span(state_text)));
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

const std::string& KindModels::aliased(const std::string& name) const {
  const auto alias = std::ranges::find(options_.aliases, name, &Alias::name);
  return alias == options_.aliases.end() ? name : alias->model;
}

std::string KindModels::meant_by(const std::string& name) const {
  const std::string& called = aliased(name);
  const Store here = store();
  const auto of = [&](const std::string& wanted) -> std::string {
    if (chosen_.contains('/') && wanted == engine::name_of_path(chosen_)) {
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

Error KindModels::refusal_of(const std::string& name, const std::vector<HereModel>& here) const {
  std::vector<std::string> names;
  std::ranges::transform(here, std::back_inserter(names), &HereModel::name);
  const std::string& meant = aliased(name);
  constexpr size_t kMostShown = 80;
  const std::string shown = meant == name ? fmt::format("'{}'", name.substr(0, kMostShown))
                                          : fmt::format("'{}', which means {} here,", name, meant);
  if (const auto other = store().find(meant)) {
    return {ErrorCode::InvalidInput,
            fmt::format("model: {} is of the kind '{}'; wanted one of the kind '{}', of which "
                        "there are: {}",
                        shown, kind_of_family(other->family), mynah::name(kind_),
                        fmt::join(names, ", "))};
  }
  return {ErrorCode::NotFound, fmt::format("model: there is no {} {} here; there are: {}", called_,
                                           shown, fmt::join(names, ", "))};
}

Result<KindModels::Meant> KindModels::choose(const std::string& name, UnknownName unknown) const {
  std::string meant = meant_by(name);
  const bool passed_over =
      meant.empty() && !name.empty() && kind_of_openai_model(name) != std::optional(kind_);
  if (passed_over && (unknown == UnknownName::Refused || options_.strict ||
                      store().find(aliased(name)).has_value())) {
    // Where there is none at all opening says what to pull.
    if (const std::vector<HereModel> here = all(); !here.empty()) {
      return std::unexpected(refusal_of(name, here));
    }
  }
  const bool by_name = !name.empty() && meant == name;
  if (meant.empty()) {
    meant = chosen_;
  }
  return Meant{.model = std::move(meant), .passed_over = passed_over, .by_name = by_name};
}

Result<HereModel> KindModels::model(const std::string& name, UnknownName unknown) const {
  MYNAH_TRY(const Meant meant, choose(name, unknown));
  std::vector<HereModel> models = all();
  const bool is_default = meant.model == chosen_;
  const auto found = std::ranges::find_if(models, [&](const HereModel& model) {
    return is_default || model.name == meant.model || model.path == meant.model;
  });
  if (found == models.end()) {
    return fail(ErrorCode::NotFound,
                fmt::format("no {} is here; GET /v1/registry lists what can be pulled", called_));
  }
  return std::move(*found);
}

}  // namespace mynah::server
