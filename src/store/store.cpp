#include "store/store.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/nearest_name.h"
#include "store/json_fields.h"
#include "store/packed_cache.h"
#include "store/sha256.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Names that a mistyped one may have meant: what is here and what can be pulled.
std::vector<std::string> known_names(const Store& store) {
  std::vector<std::string> names;
  for (const StoredModel& model : store.list()) {
    names.push_back(model.name);
  }
  for (const CatalogueEntry& entry : catalogue()) {
    names.push_back(entry.name);
  }
  return names;
}

std::unexpected<Error> not_here(const Store& store, std::string_view name) {
  if (const CatalogueEntry* entry = find_in_catalogue(name)) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("the model {} is not on this machine; bring it with `mynah pull {}` "
                    "({}, licence {})",
                    entry->name, entry->name, human_bytes(entry->download_bytes), entry->licence));
  }
  const std::string hint = suggestion(name, known_names(store));
  return fail(ErrorCode::NotFound,
              fmt::format("there is no model '{}'{}; `mynah models list --all` shows what there is",
                          name, hint));
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

}  // namespace

bool is_model_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::ranges::all_of(
             name, [](char c) { return is_ascii_alnum(c) || c == '.' || c == '_' || c == '-'; });
}

std::vector<StoredFile> StoredModel::stored_files() const {
  return set.empty()
             ? std::vector<StoredFile>{{.name = "model.gguf", .sha256 = sha256, .size = size}}
             : set;
}

bool is_whole(const StoredModel& model) {
  return std::ranges::all_of(model.stored_files(), [&](const StoredFile& file) {
    return bytes_on_disk(fmt::format("{}/{}", model.folder, file.name)) == file.size;
  });
}

bool is_import(const StoredModel& model) {
  return model.source.starts_with("import: ");
}

void describe_set(StoredModel& model) {
  std::string digests;
  model.size = 0;
  for (const StoredFile& file : model.set) {
    digests += fmt::format("{}  {}\n", file.sha256, file.name);
    model.size += file.size;
  }
  model.sha256 = sha256_hex(std::as_bytes(std::span(digests)));
}

std::string Store::model_folder(std::string_view name) const {
  return fmt::format("{}/models/{}", folders_.home, name);
}

Result<FileLock> Store::lock(std::string_view name) const {
  // Not beside the model, so that a folder of models holds nothing else.
  const std::string locks = folders_.cache + "/locks";
  MYNAH_TRY_STATUS(make_folders(locks));
  return FileLock::take(fmt::format("{}/{}", locks, name));
}

std::vector<StoredModel> Store::list(std::vector<std::string>* damaged) const {
  std::vector<StoredModel> models;
  std::error_code error;
  const std::string root = folders_.home + "/models";
  for (auto item = fs::directory_iterator(root, error); !error && item != fs::directory_iterator();
       item.increment(error)) {
    const std::string name = item->path().filename().string();
    std::error_code ignored;
    if (!is_model_name(name) || !item->is_directory(ignored)) {
      continue;
    }
    if (auto model = read_source_json(item->path().string())) {
      models.push_back(std::move(*model));
    } else if (damaged != nullptr) {
      damaged->push_back(name);
    }
  }
  std::ranges::sort(models, {}, &StoredModel::name);
  return models;
}

Result<std::string> Store::own_name(std::string_view name) const {
  if (is_model_name(name) && exists(model_folder(name))) {
    return std::string(name);
  }
  const CatalogueEntry* entry = find_in_catalogue(name);
  if (entry == nullptr || !exists(model_folder(entry->name))) {
    return not_here(*this, name);
  }
  return entry->name;
}

Result<StoredModel> Store::find(std::string_view name) const {
  MYNAH_TRY(const std::string wanted, own_name(name));
  auto model = read_source_json(model_folder(wanted));
  if (!model) {
    return fail(model.error().code,
                fmt::format("the model {} is damaged ({}); remove it with `mynah models remove {}` "
                            "and pull it again",
                            wanted, model.error().message, wanted));
  }
  return model;
}

Result<ResolvedModel> Store::resolve(const std::string& name_or_path) const {
  const bool is_path = name_or_path.contains('/');
  if (is_path && exists(name_or_path)) {
    return ResolvedModel{.path = name_or_path, .name = {}};
  }
  auto model = find(name_or_path);
  if (model) {
    return ResolvedModel{.path = model->path(), .name = model->name};
  }
  if (model.error().code != ErrorCode::NotFound) {
    return std::unexpected(std::move(model).error());
  }
  if (exists(name_or_path)) {
    return ResolvedModel{.path = name_or_path, .name = {}};
  }
  if (is_path && find_in_catalogue(name_or_path) == nullptr) {
    return fail(ErrorCode::NotFound,
                fmt::format("wanted a model's name or path, found nothing at {}", name_or_path));
  }
  return std::unexpected(std::move(model).error());
}

Status Store::verify(const StoredModel& model, StoreObserver& observer,
                     const std::stop_token& stop) const {
  const std::string remedy = fmt::format("remove it with `mynah models remove {}` and {} it again",
                                         model.name, is_import(model) ? "import" : "pull");
  const std::string what = "verifying " + model.name;
  uint64_t done = 0;
  observer.on_progress(what, done, model.size);
  for (const StoredFile& file : model.stored_files()) {
    const std::string path = fmt::format("{}/{}", model.folder, file.name);
    const uint64_t size = bytes_on_disk(path);
    if (size != file.size) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted {} bytes, found {}; {}", path, file.size, size, remedy));
    }
    MYNAH_TRY(const std::string found, sha256_of_file(path, stop));
    done += size;
    observer.on_progress(what, done, model.size);
    if (found != file.sha256) {
      return fail(ErrorCode::InvalidInput, fmt::format("{}: wanted SHA-256 {}, found {}; {}", path,
                                                       file.sha256, found, remedy));
    }
  }
  return {};
}

uint64_t remove_packed_of(const std::string& cache_folder, const StoredModel& model) {
  uint64_t bytes = remove_packed_files(cache_folder, model.sha256);
  for (const StoredFile& file : model.set) {
    bytes += remove_packed_files(cache_folder, file.sha256);
  }
  return bytes;
}

Result<FreedBytes> Store::remove(std::string_view name) const {
  MYNAH_TRY(const std::string own, own_name(name));
  const std::string folder = model_folder(own);
  MYNAH_TRY(const FileLock held, lock(own));
  FreedBytes freed = {.model = bytes_on_disk(folder), .packed = 0};
  if (const auto model = read_source_json(folder)) {
    freed.packed = remove_packed_of(folders_.cache, *model);
  }
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot remove {}: {}", folder, error.message()));
  }
  return freed;
}

Result<StoredModel> read_source_json(const std::string& folder) {
  const std::string path = folder + "/source.json";
  MYNAH_TRY(const std::string text, read_text_file(path));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto file = json.is_object() ? json.find("file") : json.end();
  if (file == json.end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a JSON object with 'file', found something else", path));
  }
  StoredModel model{.name = text_field(json, "name"),
                    .family = text_field(json, "family"),
                    .storage = text_field(json, "storage"),
                    .converses = json.value("converses", nlohmann::json(true)) != false,
                    .licence = text_field(json, "licence"),
                    .licence_url = text_field(json, "licence_url"),
                    .source = text_field(json, "source"),
                    .created = text_field(json, "created"),
                    .sha256 = text_field(*file, "sha256"),
                    .size = size_field(*file, "size"),
                    .files = {},
                    .set = {},
                    .folder = folder};
  if (!is_model_name(model.name) || !is_sha256(model.sha256)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a model's 'name' and 'file.sha256', found others", path));
  }
  if (const auto set = json.find("set"); set != json.end() && set->is_array()) {
    for (const auto& item : *set) {
      model.set.push_back({.name = text_field(item, "name"),
                           .sha256 = text_field(item, "sha256"),
                           .size = size_field(item, "size")});
      // Names stay in the folder.
      if (!is_model_name(model.set.back().name) || !is_sha256(model.set.back().sha256)) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("{}: wanted 'name' and 'sha256' of a set's files, found others", path));
      }
    }
  }
  if (const auto origin = json.find("origin"); origin != json.end() && origin->is_array()) {
    for (const auto& item : *origin) {
      model.files.push_back({.name = text_field(item, "name"),
                             .from = text_field(item, "from"),
                             .sha256 = text_field(item, "sha256"),
                             .size = size_field(item, "size"),
                             .proof = text_field(item, "proof")});
    }
  }
  return model;
}

Status write_source_json(const StoredModel& model) {
  Json origin = Json::array();
  for (const OriginFile& file : model.files) {
    origin.push_back({{"name", file.name},
                      {"from", file.from},
                      {"sha256", file.sha256},
                      {"size", file.size},
                      {"proof", file.proof}});
  }
  Json set = Json::array();
  for (const StoredFile& file : model.set) {
    set.push_back({{"name", file.name}, {"sha256", file.sha256}, {"size", file.size}});
  }
  Json json = {{"name", model.name},
               {"family", model.family},
               {"storage", model.storage},
               {"licence", model.licence},
               {"licence_url", model.licence_url},
               {"source", model.source},
               {"created", model.created},
               {"file", {{"name", "model.gguf"}, {"sha256", model.sha256}, {"size", model.size}}},
               {"origin", origin}};
  if (!model.converses) {
    json["converses"] = false;
  }
  if (!model.set.empty()) {
    json["file"]["name"] = "";
    json["set"] = set;
  }
  return write_text_file(model.folder + "/source.json",
                         json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace mynah
