// What is stored of a Whisper, whoever wrote its file: for who converts files and need not know the
// model.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"

namespace mynah {

struct StoredWhisper {
  std::vector<StoredTensor> tensors;  // under canonical names; views of the file's bytes
  std::map<std::string, MetadataValue, std::less<>> metadata;  // the configuration
};

// As whisper::read_checkpoint() reads it; `name` ("tiny.en") may be empty.
[[nodiscard]] Result<StoredWhisper> read_stored_whisper(const TensorFile& file,
                                                        std::string_view name);

// Judges by the names of its tensors; that it is whole is not looked at.
[[nodiscard]] bool looks_like_whisper(const TensorFile& file);

}  // namespace mynah
