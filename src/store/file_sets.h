// Models that are kept as the files they come in, and how they are known among a user's.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace mynah {

// Files that are one model together.
struct FileSet {
  std::string name;  // what it is called where nobody says otherwise
  std::string family;
  std::vector<std::string> paths;
};

// The set that a file is the main one of: a Piper voice is NAME.onnx with NAME.onnx.json beside it,
// hibari's is hibari.onnx, the dictionary of names is cmudict.dict, Smart Turn's any .onnx of its
// graph, a wake word NAME.tflite with NAME.json. None: an empty family.
[[nodiscard]] FileSet file_set_of(const std::string& path);

// InvalidInput where the file is the network of a Piper voice (its encoder's weights are called
// enc_p) and the file that says how it is used is not beside it.
[[nodiscard]] Status check_not_half_a_voice(const std::string& path);

// What English is put into phonemes with, where a folder has all of its files, as the package
// hibari-tts does. None: an empty family.
[[nodiscard]] FileSet phonemes_in(const std::string& folder);

// Copies them into the store. A model of that name is replaced where `force`, else an error.
// `check` as in import_model().
Result<StoredModel> import_file_set(const Store& store, const FileSet& set, bool force,
                                    const std::stop_token& stop, const ModelCheck& check);

}  // namespace mynah
