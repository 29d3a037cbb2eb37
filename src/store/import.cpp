#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "base/mapped_file.h"
#include "formats/zip.h"
#include "store/files.h"
#include "store/install.h"
#include "store/pull.h"
#include "store/sha256.h"
#include "store/wheel.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// A name made of a path: "ggml-tiny.en.bin" is tiny.en, "folder/model.safetensors" is the folder's
// name, anything else its own without the suffix.
std::string name_from(const std::string& path) {
  std::error_code ignored;
  fs::path full = fs::absolute(path, ignored).lexically_normal();
  if (!full.has_filename()) {
    full = full.parent_path();
  }
  if (const CatalogueEntry* entry = find_in_catalogue(full.filename().string())) {
    return entry->name;
  }
  std::string name = full.stem().string();
  if (fs::is_directory(full, ignored)) {
    name = full.filename().string();
  } else if (name == "model" || name == "pytorch_model") {
    name = full.parent_path().filename().string();
  }
  std::ranges::replace_if(name, [](char c) { return !is_model_name(std::string{'a', c}); }, '-');
  return is_model_name(name) ? name : "model" + name;
}

std::vector<OriginFile> describe_origin(const std::string& path, const std::string& digest) {
  return {{.name = fs::path(path).filename().string(),
           .from = path,
           .sha256 = digest,
           .size = bytes_on_disk(path),
           .proof = "none"}};
}

// Unpacks a wheel into `folder`; returns what to convert.
Result<std::string> unpack(const std::string& path, const std::string& folder,
                           const std::stop_token& stop) {
  MYNAH_TRY_STATUS(make_folders(folder));
  MYNAH_TRY(const auto file, MappedFile::open(path));
  MYNAH_TRY(const ZipArchive archive, ZipArchive::open(file));
  return extract_model(archive, folder, stop);
}

}  // namespace

Result<StoredModel> import_model(const Store& store, const std::string& path,
                                 const ImportOptions& options, StoreObserver& observer,
                                 const std::stop_token& stop) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return fail(ErrorCode::NotFound,
                fmt::format("wanted a model's file or folder, found nothing at {}", path));
  }
  const std::string name = options.name.empty() ? name_from(path) : options.name;
  if (!is_model_name(name)) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("wanted a name of letters, digits, '.', '_' and '-', found '{}'", name));
  }
  MYNAH_TRY_STATUS(make_folders(store.folders().home + "/models"));
  MYNAH_TRY(const FileLock held, store.lock(name));
  if (!options.force && fs::exists(store.model_folder(name), ignored)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("there is a model {} already; give another --name, or replace it with "
                            "--force",
                            name));
  }
  observer.on_progress("reading", 0, bytes_on_disk(path));
  MYNAH_TRY(const std::string digest, model_digest(path, ""));
  StoredModel model;
  model.name = name;
  model.source = "import: " + path;
  model.files = describe_origin(path, digest);
  if (!path.ends_with(".whl")) {
    return install_model(store, path, std::move(model), options.storage, observer, stop,
                         options.check);
  }
  const std::string folder = temporary_name(store.folders().cache + "/unpacked");
  const auto source = unpack(path, folder, stop);
  auto result = source ? install_model(store, *source, std::move(model), options.storage, observer,
                                       stop, options.check)
                       : std::unexpected(source.error());
  fs::remove_all(folder, ignored);
  return result;
}

}  // namespace mynah
