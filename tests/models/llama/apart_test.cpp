// Models in two parts, each on a backend of its own: what they say is what the whole model says,
// bit for bit where both backends compute alike.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "formats/open.h"
#include "models/llama/model.h"
#include "test_paths.h"

namespace mynah::llama {
namespace {

class LlamaApart : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    file_ = open(GetParam());
    auto config = Config::read(file_);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    config_ = *config;
  }

  static TensorFile open(const std::string& name) {
    auto file = open_tensor_file(test::source_path("tests/models/llama/golden/" + name + ".gguf"));
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return file ? *std::move(file) : TensorFile();
  }

  // With so many layers below.
  [[nodiscard]] std::shared_ptr<const Model> load(int64_t lower) const {
    const auto model =
        Model::load(file_, config_,
                    {.backend = upper_.get(),
                     .precision = Precision::Exact,
                     .lower = {.count = lower, .backend = lower_.get(), .cache = nullptr}});
    EXPECT_TRUE(model.has_value()) << model.error().message;
    return model.value_or(nullptr);
  }

  // Logits of a text in pieces, of one that goes on from it, and of the first again: pages are
  // shared, copied and more of them made, and so are states.
  [[nodiscard]] std::vector<float> said_by(const Model& model) const {
    KvCache cache = model.new_cache(1, config_.context_length);
    std::vector<float> all;
    int32_t token = 1;
    const auto read = [&](int64_t sequence, int64_t count) {
      std::vector<int32_t> tokens;
      for (int64_t i = 0; i < count; ++i) {
        token = (token * 7 + 3) % static_cast<int32_t>(config_.vocabulary);
        tokens.push_back(token);
      }
      const Lane lane{.sequence = sequence, .count = count};
      const Tensor logits = model.logits(model.forward(tokens, {&lane, 1}, cache));
      const std::vector<float> values = ops::to_host(*upper_, logits);
      all.insert(all.end(), values.begin(), values.end());
    };
    const int64_t first = cache.add();
    read(first, 5);
    read(first, 1);
    const int64_t second = cache.fork(first, cache.length(first));
    read(second, 13);
    read(first, 2);
    return all;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> lower_ = *make_cpu_backend(pool_);
  std::unique_ptr<Backend> upper_ = *make_cpu_backend(pool_);
  TensorFile file_;
  Config config_;
};

TEST_P(LlamaApart, SaysTheSameWhereverItIsCut) {
  const std::vector<float> whole = said_by(*load(0));
  ASSERT_FALSE(config_.splits().empty());
  for (const int64_t lower : config_.splits()) {
    EXPECT_EQ(said_by(*load(lower)), whole) << lower << " layers below";
  }
}

INSTANTIATE_TEST_SUITE_P(, LlamaApart,
                         testing::Values("gemma3", "gemma4", "lfm2", "mistral3", "qwen35"),
                         [](const auto& one) { return std::string(one.param); });

// Layers that read keys of others are on their side.
TEST(LlamaSplits, AreWhereNothingIsReadAcross) {
  Config config;
  config.layers = 5;
  config.layer.resize(5);
  for (size_t i = 0; i < 5; ++i) {
    config.layer[i].writes_keys = i < 3;
    config.layer[i].cache = i < 3 ? static_cast<int64_t>(i) : 1;
  }
  EXPECT_EQ(config.splits(), std::vector<int64_t>{1});
  config.layer[3].cache = 2;
  config.layer[4].cache = 2;
  EXPECT_EQ(config.splits(), (std::vector<int64_t>{1, 2}));
}

}  // namespace
}  // namespace mynah::llama
