#include "store/install.h"

#include <chrono>
#include <filesystem>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "store/convert.h"
#include "store/files.h"
#include "store/packed_cache.h"
#include "store/sha256.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

std::string now_text() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

// A folder that is removed unless it was renamed away.
class WorkFolder {
 public:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}

  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Renames a folder to its place. One that is there is moved aside first, since a rename replaces
// only an empty folder.
Status put_in_place(const std::string& made, const std::string& place) {
  const WorkFolder old(temporary_name(fs::path(place).parent_path() / ".old"));
  std::error_code error;
  if (fs::exists(place, error)) {
    fs::rename(place, old.path(), error);
  }
  if (!error) {
    fs::rename(made, place, error);
  }
  if (error) {
    return fail(ErrorCode::Io,
                fmt::format("cannot put the model at {}: {}", place, error.message()));
  }
  return {};
}

}  // namespace

Result<StoredModel> install_model(const Store& store, const std::string& source, StoredModel model,
                                  std::optional<DType> storage, StoreObserver& observer,
                                  const std::stop_token& stop, const ModelCheck& check) {
  const std::string place = store.model_folder(model.name);
  // A name with a dot first: no model's name, so list() passes over what a kill leaves behind.
  const WorkFolder work(temporary_name(fs::path(place).parent_path() / ("." + model.name)));
  MYNAH_TRY_STATUS(make_folders(work.path()));
  model.folder = work.path();
  MYNAH_TRY(const Converted converted,
            convert_model(source, model.path(),
                          {.name = model.name, .storage = storage, .licence = model.licence},
                          observer, stop));
  model.family = converted.family;
  model.storage = converted.storage;
  model.licence = converted.licence.empty() ? "unknown" : converted.licence;
  if (check) {
    MYNAH_TRY_STATUS(check(model));
  }
  model.created = now_text();
  model.size = bytes_on_disk(model.path());
  MYNAH_TRY(model.sha256, sha256_of_file(model.path(), stop));
  MYNAH_TRY_STATUS(write_source_json(model));
  if (const auto older = read_source_json(place); older && older->sha256 != model.sha256) {
    remove_packed_files(store.folders().cache, older->sha256);
  }
  MYNAH_TRY_STATUS(put_in_place(work.path(), place));
  model.folder = place;
  return model;
}

}  // namespace mynah
