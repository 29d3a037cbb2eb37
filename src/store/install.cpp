#include "store/install.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "formats/gguf_writer.h"
#include "models/kokoro/voice_pack.h"
#include "store/convert.h"
#include "store/files.h"
#include "store/sha256.h"
#include "text/phonemes/pronouncing_table.h"

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

// A name with a dot first: no model's name, so list() passes over what a kill leaves behind.
std::string work_folder(const Store& store, const std::string& name) {
  return temporary_name(fs::path(store.model_folder(name)).parent_path() / ("." + name));
}

// Describes what lies in the work folder, and puts it in the model's place.
Result<StoredModel> finish(const Store& store, const WorkFolder& work, StoredModel model) {
  const std::string place = store.model_folder(model.name);
  model.folder = work.path();
  model.created = now_text();
  MYNAH_TRY_STATUS(write_source_json(model));
  if (const auto older = read_source_json(place); older && older->sha256 != model.sha256) {
    remove_packed_of(store.folders().cache, *older);
  }
  MYNAH_TRY_STATUS(put_in_place(work.path(), place));
  model.folder = place;
  return model;
}

// A folder holds each name once: two sources of one name are an error.
Status copy_file(const std::string& from, const std::string& to) {
  std::error_code error;
  if (fs::exists(to, error)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted files of different names, found {} twice",
                            fs::path(to).filename().string()));
  }
  fs::copy_file(from, to, error);
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot copy {} to {}: {}", from, to, error.message()));
  }
  return {};
}

// A file of the work folder as one of the set's.
Status add_to_set(StoredModel& model, const std::string& folder, const std::string& name,
                  const std::stop_token& stop) {
  const std::string path = fmt::format("{}/{}", folder, name);
  if (!is_model_name(name)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a file's name of letters, digits, '.', '_' and '-'", path));
  }
  MYNAH_TRY(std::string digest, sha256_of_file(path, stop));
  model.set.push_back({.name = name, .sha256 = std::move(digest), .size = bytes_on_disk(path)});
  return {};
}

// Names of the regular files in a folder, sorted.
Result<std::vector<std::string>> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto item = fs::directory_iterator(folder, error);
       !error && item != fs::directory_iterator(); item.increment(error)) {
    std::error_code ignored;
    if (item->is_regular_file(ignored)) {
      names.push_back(item->path().filename().string());
    }
  }
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot read {}: {}", folder, error.message()));
  }
  std::ranges::sort(names);
  return names;
}

std::string voice_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || !is_model_name(std::string{'a', c}); }, '_');
  return is_model_name(name) ? name : "voice" + name;
}

Status write_voice(const kokoro::VoicePack& pack, const std::string& name,
                   const std::string& licence, const std::string& path) {
  TensorFile file;
  file.metadata = {{"general.architecture", std::string("kokoro-voice")}, {"general.name", name}};
  if (!licence.empty()) {
    file.metadata.emplace("general.license", licence);
  }
  const auto rows = static_cast<int64_t>(pack.rows);
  file.tensors.push_back({.name = "voice",
                          .dtype = DType::F32,
                          .shape = {rows, 1, std::ssize(pack.styles) / rows},
                          .bytes = std::as_bytes(std::span(pack.styles)),
                          .row_scales = {}});
  return write_gguf(path, file);
}

// Links or copies the voices that are in `place` and not in `work`, and adds where they came from.
Status keep_older_voices(const std::string& place, const std::string& work, StoredModel& model) {
  std::error_code error;
  if (!fs::exists(place, error)) {
    return {};
  }
  MYNAH_TRY(const std::vector<std::string> names, files_in(place));
  for (const std::string& name : names) {
    const fs::path newer = fs::path(work) / (fs::path(name).stem().string() + ".gguf");
    if (name == "source.json" || fs::exists(newer, error)) {
      continue;
    }
    const fs::path from = fs::path(place) / name;
    const fs::path to = fs::path(work) / name;
    fs::create_hard_link(from, to, error);
    if (error) {
      MYNAH_TRY_STATUS(copy_file(from.string(), to.string()));
    }
  }
  const auto older = read_source_json(place);
  if (!older) {
    return {};
  }
  for (const OriginFile& file : older->files) {
    if (std::ranges::find(model.files, file.name, &OriginFile::name) == model.files.end()) {
      model.files.push_back(file);
    }
  }
  // "Apache-2.0 and unknown": of some voices the one, of some the other.
  if (!older->licence.contains(model.licence)) {
    model.licence = model.licence == "unknown"
                        ? fmt::format("{} and {}", older->licence, model.licence)
                        : fmt::format("{} and {}", model.licence, older->licence);
  } else {
    model.licence = older->licence;
  }
  if (model.licence_url.empty()) {
    model.licence_url = older->licence_url;
  }
  // A set that was pulled stays one to which others were added.
  if (is_import(model) && !is_import(*older)) {
    model.source = older->source;
  }
  return {};
}

}  // namespace

Result<FileLock> lock_for_import(const Store& store, const std::string& name, bool force) {
  if (!is_model_name(name)) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("wanted a name of letters, digits, '.', '_' and '-', found '{}'", name));
  }
  MYNAH_TRY_STATUS(make_folders(store.folders().home + "/models"));
  MYNAH_TRY(FileLock held, store.lock(name));
  std::error_code ignored;
  if (!force && fs::exists(store.model_folder(name), ignored)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("there is a model {} already; give another --name, or replace it with "
                            "--force",
                            name));
  }
  return held;
}

OriginFile own_file(const std::string& path, std::string digest) {
  return {.name = fs::path(path).filename().string(),
          .from = path,
          .sha256 = std::move(digest),
          .size = bytes_on_disk(path),
          .proof = "none"};
}

Result<StoredModel> install_model(const Store& store, const std::string& source, StoredModel model,
                                  std::optional<DType> storage, StoreObserver& observer,
                                  const std::stop_token& stop, const ModelCheck& check) {
  const WorkFolder work(work_folder(store, model.name));
  MYNAH_TRY_STATUS(make_folders(work.path()));
  model.folder = work.path();
  MYNAH_TRY(const Converted converted,
            convert_model(source, model.path(),
                          {.name = model.name, .storage = storage, .licence = model.licence},
                          observer, stop));
  model.family = converted.family;
  model.storage = converted.storage;
  model.converses = converted.converses;
  model.licence = converted.licence.empty() ? "unknown" : converted.licence;
  if (check) {
    MYNAH_TRY_STATUS(check(model));
  }
  model.size = bytes_on_disk(model.path());
  MYNAH_TRY(model.sha256, sha256_of_file(model.path(), stop));
  return finish(store, work, std::move(model));
}

Result<StoredModel> install_files(const Store& store, const std::vector<std::string>& paths,
                                  StoredModel model, const std::stop_token& stop,
                                  const ModelCheck& check) {
  const WorkFolder work(work_folder(store, model.name));
  MYNAH_TRY_STATUS(make_folders(work.path()));
  model.folder = work.path();
  model.storage = "files";
  for (const std::string& path : paths) {
    MYNAH_TRY_STATUS(check_disk_space(work.path(), bytes_on_disk(path)));
    const std::string name = fs::path(path).filename().string();
    MYNAH_TRY_STATUS(copy_file(path, fmt::format("{}/{}", work.path(), name)));
    MYNAH_TRY_STATUS(add_to_set(model, work.path(), name, stop));
  }
  describe_set(model);
  if (check) {
    MYNAH_TRY_STATUS(check(model));
  }
  return finish(store, work, std::move(model));
}

Result<StoredModel> install_dictionary(const Store& store, const std::string& path,
                                       StoredModel model, const std::stop_token& stop,
                                       const ModelCheck& check) {
  const WorkFolder work(work_folder(store, model.name));
  MYNAH_TRY_STATUS(make_folders(work.path()));
  model.folder = work.path();
  model.storage = "files";
  MYNAH_TRY(const auto file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  MYNAH_TRY(const std::string table, pack_pronouncing_dictionary(text, path));
  MYNAH_TRY(AtomicFile written,
            AtomicFile::create(fmt::format("{}/{}", work.path(), kDictionaryFile)));
  MYNAH_TRY_STATUS(written.write(table));
  MYNAH_TRY_STATUS(written.commit());
  MYNAH_TRY_STATUS(add_to_set(model, work.path(), std::string(kDictionaryFile), stop));
  describe_set(model);
  if (check) {
    MYNAH_TRY_STATUS(check(model));
  }
  return finish(store, work, std::move(model));
}

Result<StoredModel> install_voices(const Store& store, const std::vector<std::string>& paths,
                                   StoredModel model, StoreObserver& observer,
                                   const std::stop_token& stop) {
  const WorkFolder work(work_folder(store, model.name));
  MYNAH_TRY_STATUS(make_folders(work.path()));
  model.family = kKokoroVoices;
  model.storage = "f32";
  model.licence = model.licence.empty() ? "unknown" : model.licence;
  const std::string licence = model.licence == "unknown" ? "" : model.licence;
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    MYNAH_TRY(const std::vector<kokoro::NamedVoice> voices, kokoro::read_voice_packs(path));
    for (const kokoro::NamedVoice& voice : voices) {
      if (stop.stop_requested()) {
        return fail(ErrorCode::Cancelled, "stopped");
      }
      names.push_back(voice_name(voice.name));
      MYNAH_TRY_STATUS(write_voice(voice.pack, names.back(), licence,
                                   fmt::format("{}/{}.gguf", work.path(), names.back())));
    }
  }
  std::ranges::sort(names);
  observer.on_message(names.size() == 1
                          ? fmt::format("voice: {}", names.front())
                          : fmt::format("{} voices: {}", names.size(), fmt::join(names, ", ")));
  MYNAH_TRY_STATUS(keep_older_voices(store.model_folder(model.name), work.path(), model));
  MYNAH_TRY(const std::vector<std::string> files, files_in(work.path()));
  for (const std::string& file : files) {
    // Others are a user's own, and kept as they are.
    if (is_model_name(file)) {
      MYNAH_TRY_STATUS(add_to_set(model, work.path(), file, stop));
    }
  }
  describe_set(model);
  return finish(store, work, std::move(model));
}

}  // namespace mynah
