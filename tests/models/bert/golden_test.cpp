// A tiny random encoder against its equations in double precision (tools/bert_oracle.py tiny), and
// the same as GGUF files against llama.cpp (tiny-gguf).
#include "models/bert/golden.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "golden_backend.h"
#include "models/bert/checkpoint.h"
#include "models/bert/model.h"
#include "ops/ops.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah::bert {
namespace {

class BertGolden : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    backend_ = test::golden_backend(GetParam(), pool_);
    ASSERT_NE(backend_, nullptr);
  }

  void load(const std::string& name) {
    auto file = open_checkpoint(test::source_path("tests/models/bert/golden/" + name));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    auto config = Config::read(*file);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    auto model =
        Model::load(*file, *config, {.backend = backend_.get(), .precision = Precision::Exact});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = *model;
    auto tokenizer = create_text_tokenizer(*file);
    ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message;
    tokenizer_ = std::move(*tokenizer);
  }

  // Each of the additions on the way to a state can add half a unit in the last place of the
  // largest one (Higham 2002, section 3.1); a norm divides by no less than an eighth here.
  [[nodiscard]] float bound(const std::vector<float>& states) const {
    constexpr float kNorm = 8;
    const Config& c = model_->config();
    const int64_t additions = 4 * c.width + 2 * c.longest + c.feed_forward;
    float largest = 0;
    for (const float value : states) {
      largest = std::max(largest, std::abs(value));
    }
    return kNorm * largest * static_cast<float>(c.layers * additions) * 0x1p-24F;
  }

  static void expect_near(std::span<const float> found, std::span<const float> wanted, float by,
                          const std::string& what) {
    ASSERT_EQ(found.size(), wanted.size()) << what;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], wanted[i], by) << what << ", number " << i;
    }
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<TextTokenizer> tokenizer_;
};

TEST_P(BertGolden, MakesTheVectorsOfItsEquationsSideBySide) {
  load("tiny");
  const GoldenTexts golden("tiny.npz");
  ASSERT_EQ(golden.count(), 5U);
  std::vector<int32_t> tokens;
  Lengths texts;
  std::vector<float> states;
  for (size_t i = 0; i < golden.count(); ++i) {
    const auto one = golden.tokens(i);
    tokens.insert(tokens.end(), one.begin(), one.end());
    texts.add(std::ssize(one));
    const auto hidden = golden.hidden(i);
    states.insert(states.end(), hidden.end() - std::ssize(one) * model_->config().width,
                  hidden.end());
  }
  const Tensor found = model_->forward(tokens, texts);
  const float by = bound(states);
  expect_near(ops::to_host(*backend_, found), states, by, "states");
  const std::vector<float> vectors = model_->pool(found, texts);
  const auto width = static_cast<size_t>(model_->config().width);
  for (size_t i = 0; i < golden.count(); ++i) {
    // A vector is as long as one, and states are about as long as the root of their width.
    expect_near(std::span(vectors).subspan(i * width, width), golden.vector(i), by, golden.text(i));
  }
}

TEST_P(BertGolden, ATextIsTheSameAloneAndInCompany) {
  load("tiny");
  const GoldenTexts golden("tiny.npz");
  const std::vector<int32_t> own = golden.tokens(0);
  const std::vector<int32_t> other = golden.tokens(4);
  std::vector<int32_t> both = other;
  both.insert(both.end(), own.begin(), own.end());
  const Lengths alone = {std::ssize(own)};
  const Lengths beside = {std::ssize(other), std::ssize(own)};
  const std::vector<float> a = model_->pool(model_->forward(own, alone), alone);
  std::vector<float> b = model_->pool(model_->forward(both, beside), beside);
  b.erase(b.begin(), b.begin() + model_->config().width);
  EXPECT_EQ(a, b);
}

TEST_P(BertGolden, ReadsTextsAsHuggingFacesTokenizersDo) {
  load("tiny");
  const GoldenTexts golden("tiny.npz");
  EXPECT_EQ(model_->config().longest, 12);
  for (size_t i = 0; i < golden.count(); ++i) {
    std::vector<int32_t> tokens = tokenizer_->encode_whole(golden.text(i));
    if (std::ssize(tokens) > model_->config().longest) {
      tokens.resize(static_cast<size_t>(model_->config().longest));
      tokens.back() = *tokenizer_->special().eos;
    }
    EXPECT_EQ(tokens, golden.tokens(i)) << golden.text(i);
  }
}

// llama.cpp's GELU is by tanh, which is 4.8e-4 off at most, and looked up in f16: two errors of
// each number of a feed-forward block, whose sum grows as the square root of how many they are
// (Higham & Mary 2019). States are about as long as the root of their width, vectors as one.
TEST_P(BertGolden, MakesLlamaCppsVectorsOfGgufFiles) {
  for (const char* name : {"mean", "first"}) {
    load(std::string(name) + ".gguf");
    const GoldenTexts golden(std::string(name) + ".npz");
    ASSERT_EQ(golden.count(), 3U);
    const Config& c = model_->config();
    constexpr float kGelu = 4.8e-4F + 0x1p-11F;
    const float by = kGelu * static_cast<float>(c.layers) *
                     std::sqrt(static_cast<float>(c.feed_forward) / static_cast<float>(c.width));
    for (size_t i = 0; i < golden.count(); ++i) {
      const std::vector<int32_t> tokens = tokenizer_->encode_whole(golden.text(i));
      EXPECT_EQ(tokens, golden.tokens(i)) << golden.text(i);
      const Lengths texts = {std::ssize(tokens)};
      expect_near(model_->pool(model_->forward(tokens, texts), texts), golden.vector(i), by,
                  golden.text(i));
    }
  }
}

std::string device_name(const testing::TestParamInfo<DeviceKind>& info) {
  return test::golden_device(info.param);
}

INSTANTIATE_TEST_SUITE_P(, BertGolden,
                         testing::Values(DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt),
                         device_name);

}  // namespace
}  // namespace mynah::bert
