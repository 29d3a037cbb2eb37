// GoldenLlama: tests of a model of tests/models/llama/golden on the processor.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "formats/open.h"
#include "models/llama/model.h"
#include "test_paths.h"

namespace mynah::test {

// Its parameter is the model's file, without ".gguf".
class GoldenLlama : public testing::TestWithParam<const char*> {
 public:
  // What a test is called.
  static std::string name_of(const testing::TestParamInfo<const char*>& model) {
    std::string name = model.param;
    std::ranges::replace(name, '-', '_');
    return name;
  }

 protected:
  explicit GoldenLlama(Precision precision) : precision_(precision) {}

  void SetUp() override {
    auto file = open_tensor_file(
        source_path(std::string("tests/models/llama/golden/") + GetParam() + ".gguf"));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    auto config = llama::Config::read(*file);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    auto model =
        llama::Model::load(*file, *config, {.backend = backend_.get(), .precision = precision_});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = *model;
  }

  Precision precision_;
  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_ = *make_cpu_backend(pool_);
  std::shared_ptr<const llama::Model> model_;
};

}  // namespace mynah::test
