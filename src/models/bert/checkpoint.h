// A BERT-like encoder's file or folder, in the form that llama.cpp's converter gives it.
#pragma once

#include <string>

#include "base/result.h"
#include "formats/tensor_file.h"

namespace mynah::bert {

// Whether it is a folder of transformers' BertModel, by its config.json and its tensors.
[[nodiscard]] bool looks_like_folder(const TensorFile& file);

// Opens a GGUF file, or a folder of transformers or sentence-transformers (model.safetensors and
// config.json; tokenizer.json or vocab.txt; modules.json, 1_Pooling/config.json and
// sentence_bert_config.json where they are) as the GGUF file that would be made of it: tensors and
// keys have GGUF's names, and the vocabulary is among the keys. What is done with a folder without
// modules.json is the mean of all tokens, as sentence-transformers has it.
[[nodiscard]] Result<TensorFile> open_checkpoint(const std::string& path);

// The same of a folder that open_tensor_file() opened. InvalidInput where a file is missing or
// damaged; Unsupported, and named, for what mynah does not do: another activation, positions that
// are not absolute, another module or pooling.
[[nodiscard]] Result<TensorFile> as_gguf(TensorFile file);

}  // namespace mynah::bert
