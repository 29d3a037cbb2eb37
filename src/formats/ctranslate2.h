// Reads CTranslate2 models: model.bin (binary version 6) and the folder around it.
#pragma once

#include <memory>
#include <string>

#include "formats/tensor_file.h"

namespace mynah {

// Layout: OpenNMT/CTranslate2 python/ctranslate2/specs/model_spec.py, ModelSpec._serialize.
// Attributes are tensors of shape () ("decoder/num_heads"). int8 weights take their "_scale"
// variables as row_scales, inverted (CTranslate2 stores 127 / max); int16 becomes int32. An alias
// is metadata "alias.NAME" holding the name of the variable it stands for. "ctranslate2.spec" and
// "ctranslate2.revision" say which model it is.
[[nodiscard]] Result<TensorFile> read_ctranslate2(
    const std::shared_ptr<const MappedFile>& model_bin);

// The folder: model.bin, with config.json's values as metadata under their own keys and the tokens
// of vocabulary.json, vocabulary.txt or shared_vocabulary.* as "vocabulary".
[[nodiscard]] Result<TensorFile> read_ctranslate2_folder(const std::string& folder);

}  // namespace mynah
