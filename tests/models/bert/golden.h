// The texts of a .npz that tools/bert_oracle.py wrote, with what was made of them.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/open.h"
#include "test_paths.h"

namespace mynah::bert {

class GoldenTexts {
 public:
  // `name`: of a file of tests/models/bert/golden.
  explicit GoldenTexts(const std::string& name) {
    auto file = open_tensor_file(test::source_path("tests/models/bert/golden/" + name));
    EXPECT_TRUE(file.has_value()) << name;
    if (file) {
      file_ = std::move(*file);
    }
    while (file_.find(fmt::format("text.{}", count_)) != nullptr) {
      ++count_;
    }
  }

  [[nodiscard]] size_t count() const { return count_; }

  [[nodiscard]] std::string text(size_t i) const {
    const std::vector<char> bytes = values<char>("text", i);
    return {bytes.begin(), bytes.end()};
  }

  [[nodiscard]] std::vector<int32_t> tokens(size_t i) const { return values<int32_t>("tokens", i); }

  [[nodiscard]] std::vector<float> vector(size_t i) const { return values<float>("vector", i); }

  // After the embeddings and after each layer: (layers + 1, tokens, width).
  [[nodiscard]] std::vector<float> hidden(size_t i) const { return values<float>("hidden", i); }

 private:
  template <class T>
  [[nodiscard]] std::vector<T> values(const char* what, size_t i) const {
    const StoredTensor* const tensor = file_.find(fmt::format("{}.{}", what, i));
    EXPECT_NE(tensor, nullptr) << what << i;
    std::vector<T> values(tensor == nullptr ? 0 : tensor->bytes.size() / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
    }
    return values;
  }

  TensorFile file_;
  size_t count_ = 0;
};

}  // namespace mynah::bert
