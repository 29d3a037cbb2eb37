// Vocabularies of real models, which lie outside the repository.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "formats/open.h"
#include "test_paths.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah::test {

inline std::string vocabulary_path(const std::string& name) {
  return shared_path("tokenizers/ggml-vocab-" + name + ".gguf");
}

// Null, and a failure of the test, where it cannot be made.
inline std::unique_ptr<TextTokenizer> tokenizer_of(const std::string& path) {
  auto file = open_tensor_file(path);
  if (!file) {
    ADD_FAILURE() << file.error().message;
    return nullptr;
  }
  auto tokenizer = create_text_tokenizer(*file);
  if (!tokenizer) {
    ADD_FAILURE() << tokenizer.error().message;
    return nullptr;
  }
  return std::move(*tokenizer);
}

}  // namespace mynah::test
