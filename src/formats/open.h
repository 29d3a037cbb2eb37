// open_tensor_file: any model file or folder, recognised by what is in it.
#pragma once

#include <memory>
#include <string>

#include "formats/tensor_file.h"

namespace mynah {

// Reads safetensors, GGUF, ggml .bin, CTranslate2, PyTorch zip, ONNX or npz, whatever the name. A
// folder is CTranslate2 (model.bin) or Hugging Face (model.safetensors, its shards by
// model.safetensors.index.json, or pytorch_model.bin), with config.json's values as metadata
// under their own keys.
[[nodiscard]] Result<TensorFile> open_tensor_file(const std::string& path);

// The same for bytes already mapped or in memory.
[[nodiscard]] Result<TensorFile> read_tensor_file(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
