#include "models/whisper/stored_form.h"

#include <algorithm>
#include <utility>

#include "models/whisper/names.h"

namespace mynah {

Result<StoredWhisper> read_stored_whisper(const TensorFile& file, std::string_view name) {
  MYNAH_TRY(whisper::Checkpoint checkpoint, whisper::read_checkpoint(file, name));
  return StoredWhisper{.tensors = std::move(checkpoint.tensors),
                       .metadata = whisper::to_metadata(checkpoint.config)};
}

bool looks_like_whisper(const TensorFile& file) {
  return std::ranges::any_of(file.tensors, [](const StoredTensor& tensor) {
    return whisper::canonical_name(tensor.name).starts_with("encoder.conv1");
  });
}

}  // namespace mynah
