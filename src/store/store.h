// Store: the models on this machine. HOME/models/NAME/ holds model.gguf, or the files of a set, and
// source.json, which says where they came from, under which licence and with which digests.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/catalogue.h"
#include "store/download.h"
#include "store/files.h"

namespace mynah {

// Where things are kept; read from the environment by cli/ and handed down.
struct StoreFolders {
  std::string home;   // MYNAH_HOME, or $XDG_DATA_HOME/mynah, or ~/.local/share/mynah
  std::string cache;  // $XDG_CACHE_HOME/mynah, or ~/.cache/mynah
};

// A file that a model was made from.
struct OriginFile {
  std::string name;
  std::string from;  // an address, "package NAME VERSION: path", or a path
  std::string sha256;
  uint64_t size = 0;
  std::string proof;  // "pinned", "server", "transport", "none"
};

// A file of a model that is a set of files: phonemes' data, voices, networks kept as they came.
struct StoredFile {
  std::string name;  // in the model's folder
  std::string sha256;
  uint64_t size = 0;
};

// One model of the store: what source.json says.
struct StoredModel {
  std::string name;
  std::string family;
  // name(DType) of its matrices, or what its file calls a mixture of types ("q4_k_m"); "files"
  // where they are kept as they came.
  std::string storage;
  // Of a language model: whether its file has a chat template, without which it goes on with texts
  // and takes part in no conversation.
  bool converses = true;
  std::string licence;
  std::string licence_url;
  std::string source;   // describe(ModelSource), or "import: PATH"
  std::string created;  // ISO 8601, UTC
  std::string sha256;  // of model.gguf; of a set, of its names and digests as sha256sum prints them
  uint64_t size = 0;   // bytes of model.gguf, or of all files of a set
  std::vector<OriginFile> files;
  std::vector<StoredFile> set;  // empty where the model is model.gguf
  std::string folder;

  // What loaders open: the file, or the folder of a set.
  [[nodiscard]] std::string path() const { return set.empty() ? folder + "/model.gguf" : folder; }

  // All files with their digests: model.gguf alone, or the set.
  [[nodiscard]] std::vector<StoredFile> stored_files() const;
};

// Whether every file of the model is there and as long as it should be.
[[nodiscard]] bool is_whole(const StoredModel& model);

// Whether it was imported, and not pulled.
[[nodiscard]] bool is_import(const StoredModel& model);

// Removes what was packed of a model, and of each file of a set; returns how many bytes that were.
uint64_t remove_packed_of(const std::string& cache_folder, const StoredModel& model);

// Fills in a set's digest and size from its files.
void describe_set(StoredModel& model);

// Says whether a model's file, written but not yet in its place, can be used. Loaders are above
// this folder, so it comes from whoever has them.
using ModelCheck = std::function<Status(const StoredModel&)>;

// What a name or path of the user's leads to.
struct ResolvedModel {
  std::string path;
  std::string name;  // of the store or the catalogue; empty for a path
};

// Bytes that were on the disk before a model was removed.
struct FreedBytes {
  uint64_t model = 0;
  uint64_t packed = 0;  // what was cached for it
};

// Only letters, digits, '.', '_', '-', not '.' first: safe as a folder's name.
[[nodiscard]] bool is_model_name(std::string_view name);

class Store {
 public:
  explicit Store(StoreFolders folders) : folders_(std::move(folders)) {}

  [[nodiscard]] const StoreFolders& folders() const { return folders_; }

  // HOME/models/NAME.
  [[nodiscard]] std::string model_folder(std::string_view name) const;

  // Keeps others from changing a model as long as it lives. Busy where another process does.
  [[nodiscard]] Result<FileLock> lock(std::string_view name) const;

  // All models, by name. Folders whose source.json is missing or damaged are left out and named in
  // `damaged` where that is given.
  [[nodiscard]] std::vector<StoredModel> list(std::vector<std::string>* damaged = nullptr) const;

  // The name that a model of the store has by that name or alias, damaged ones too. NotFound as of
  // find().
  [[nodiscard]] Result<std::string> own_name(std::string_view name) const;

  // The model of that name or alias. NotFound, with what to pull or the nearest name, where it is
  // not in the store.
  [[nodiscard]] Result<StoredModel> find(std::string_view name) const;

  // For `--model`: a model of the store by its name or by what others call it; a path, which wins
  // where there is one and it has a '/'; whisper.cpp's file names where no such file is.
  [[nodiscard]] Result<ResolvedModel> resolve(const std::string& name_or_path) const;

  // Compares the model's files with the digests taken when they were written.
  Status verify(const StoredModel& model, StoreObserver& observer,
                const std::stop_token& stop) const;

  // Removes a model and what was cached for it. Takes damaged ones too. Busy while another process
  // pulls it.
  Result<FreedBytes> remove(std::string_view name) const;

 private:
  StoreFolders folders_;
};

// source.json of a model's folder.
Result<StoredModel> read_source_json(const std::string& folder);
Status write_source_json(const StoredModel& model);

}  // namespace mynah
