// The files beside the weights in a folder of transformers or sentence-transformers: what of them
// becomes keys of a GGUF file.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "formats/tensor_file.h"

namespace mynah::bert {

using Metadata = std::map<std::string, MetadataValue, std::less<>>;

// FOLDER/NAME, parsed; null where there is no such file. InvalidInput where it is damaged.
[[nodiscard]] Result<nlohmann::json> read_json_file(const std::string& folder,
                                                    const std::string& name);

// Adds what modules.json, the pooling's config.json and sentence_bert_config.json say
// (sentence_transformers/models): pooling, normalising, and how long a text may be, which is no
// more than `positions`.
[[nodiscard]] Status add_sentence_modules(const std::string& folder, int64_t positions,
                                          Metadata& metadata);

// Adds the vocabulary and what is done with a text before it is cut: tokenizer.json, else vocab.txt
// and tokenizer_config.json. Words that begin a word get U+2581 before them and others lose their
// "##", as llama.cpp's vocabularies are written. There are `size` tokens at most.
[[nodiscard]] Status add_vocabulary(const std::string& folder, int64_t size, Metadata& metadata);

}  // namespace mynah::bert
