// Reads safetensors: a JSON table of tensors, then their bytes.
#pragma once

#include <memory>

#include "formats/tensor_file.h"

namespace mynah {

// Views of the file's tensors, in the order of their bytes; __metadata__ as strings. The bytes must
// be described without gaps and without overlaps, as the format demands
// (huggingface/safetensors README, section Format).
[[nodiscard]] Result<TensorFile> read_safetensors(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
