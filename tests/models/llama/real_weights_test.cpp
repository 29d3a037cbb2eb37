// SmolLM2-135M-Instruct with its real weights, against llama.cpp in f32 on the same numbers
// (tools/llama_oracle.py greedy, of the file that llama-quantize made of it in f32).
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "formats/open.h"
#include "models/llama/model.h"
#include "test_paths.h"

namespace mynah::llama {
namespace {

constexpr int kPrompts = 20;

class RealLlama : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = test::weights_path("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
    MYNAH_SKIP_WITHOUT(path);
    auto backend = make_cpu_backend(pool_);
    ASSERT_TRUE(backend.has_value()) << backend.error().message;
    backend_ = std::move(*backend);
    auto golden = open_tensor_file(test::source_path("tests/models/llama/golden/smollm2.npz"));
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    golden_ = std::move(*golden);
    auto file = open_tensor_file(path);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    auto config = Config::read(*file);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    auto model =
        Model::load(*file, *config, {.backend = backend_.get(), .precision = Precision::Exact});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = *model;
  }

  [[nodiscard]] std::vector<int32_t> golden(const std::string& name, int number) const {
    const StoredTensor* tensor = golden_.find(fmt::format("{}.{}", name, number));
    EXPECT_NE(tensor, nullptr) << name;
    std::vector<int32_t> values(tensor == nullptr ? 0 : tensor->bytes.size() / sizeof(int32_t));
    if (tensor != nullptr) {
      std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
    }
    return values;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  TensorFile golden_;
  std::shared_ptr<const Model> model_;
};

// Each text in one pass: where every token is the likeliest after those before it, the text is the
// one that grows token by token.
TEST_F(RealLlama, WritesLlamaCppsTexts) {
  for (int i = 0; i < kPrompts; ++i) {
    std::vector<int32_t> tokens = golden("prompt", i);
    const auto begin = std::ssize(tokens) - 1;
    const std::vector<int32_t> wanted = golden("tokens", i);
    ASSERT_EQ(wanted.size(), 256U);
    tokens.insert(tokens.end(), wanted.begin(), wanted.end() - 1);
    KvCache cache = model_->new_cache(1, std::ssize(tokens));
    const Lane lane{.sequence = cache.add(), .count = std::ssize(tokens)};
    const Tensor hidden = model_->forward(tokens, {&lane, 1}, cache);
    const Tensor logits = model_->logits(hidden.narrow(0, begin, std::ssize(wanted)));
    EXPECT_EQ(ops::to_host_i32(*backend_, ops::argmax(*backend_, logits)), wanted)
        << "prompt " << i;
  }
}

TEST_F(RealLlama, GrowsATextTokenByToken) {
  Sequences sequences(*backend_, *model_, model_->steps(), model_->new_cache(1, 64));
  const int64_t sequence = sequences.admit(golden("prompt", 0));
  std::vector<int32_t> wanted = golden("tokens", 0);
  wanted.resize(32);
  std::vector<int32_t> found;
  const SampleRow row;
  while (found.size() < wanted.size()) {
    const Sampled next = sequences.step({&sequence, 1}, {.rows = {&row, 1}});
    found.push_back(next.ids.front());
    sequences.append(sequence, found.back());
  }
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace mynah::llama
