// The last step of every pull and import: convert or copy, describe, put in place.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"
#include "tensor/dtype.h"

namespace mynah {

// What a user's import of that name may begin with: the model's lock. InvalidInput for what is no
// name, and for a model that is there already unless `force`; Busy as of Store::lock().
Result<FileLock> lock_for_import(const Store& store, const std::string& name, bool force);

// A file of the user's own that a model is made from.
[[nodiscard]] OriginFile own_file(const std::string& path, std::string digest);

// Converts `source` into a folder of its own, writes source.json and renames the folder to the
// model's, replacing an older one. `model` brings name, licence, source and files; the rest is
// filled in. The caller holds the model's lock. What `check` refuses leaves nothing behind and
// replaces nothing.
Result<StoredModel> install_model(const Store& store, const std::string& source, StoredModel model,
                                  std::optional<DType> storage, StoreObserver& observer,
                                  const std::stop_token& stop, const ModelCheck& check = {});

// Keeps files as they came, under their own last names, as a set. `model` brings its family too.
Result<StoredModel> install_files(const Store& store, const std::vector<std::string>& paths,
                                  StoredModel model, const std::stop_token& stop,
                                  const ModelCheck& check = {});

// Writes the table of a dictionary's file, HOME/models/NAME/cmudict.bin
// (text/phonemes/pronouncing_table.h).
Result<StoredModel> install_dictionary(const Store& store, const std::string& path,
                                       StoredModel model, const std::stop_token& stop,
                                       const ModelCheck& check = {});

// Writes every voice of the files (kokoro::read_voice_packs) as one file NAME.gguf of a set. Voices
// that the set has already stay, unless one of that name comes; so do their origins. Names keep
// letters, digits, '_' and '.'; what else is in them becomes '_', since '+' and '-' mix voices.
Result<StoredModel> install_voices(const Store& store, const std::vector<std::string>& paths,
                                   StoredModel model, StoreObserver& observer,
                                   const std::stop_token& stop);

}  // namespace mynah
