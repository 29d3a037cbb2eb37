// A prompt that is read in pieces, as everything else that goes on says: wherever it is cut, and
// whoever is read beside it, the text is the same, bit for bit.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/llama/golden_llama.h"
#include "tensor/prompt_rows.h"

namespace mynah::llama {
namespace {

class LlamaCuts : public test::GoldenLlama {
 protected:
  static constexpr int64_t kTokens = 3 * kPromptGrid + kPromptRows;

  LlamaCuts() : GoldenLlama(Precision::Fast) {}

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(GoldenLlama::SetUp());
    for (int64_t i = 0; i < kTokens; ++i) {
      tokens_.push_back(static_cast<int32_t>(i * i * 7 % model_->config().vocabulary));
    }
  }

  // Logits behind the prompt, of which pieces end there. `beside`: tokens of another text that are
  // read with each.
  [[nodiscard]] std::vector<float> read(const std::vector<int64_t>& ends, size_t beside) const {
    KvCache cache = model_->new_cache(2, 2 * kTokens);
    Lane own{.sequence = cache.add()};
    const Lane other{.sequence = cache.add(), .count = static_cast<int64_t>(beside)};
    Tensor last;
    int64_t begin = 0;
    for (const int64_t end : ends) {
      own.count = end - begin;
      std::vector<int32_t> pass(tokens_.begin() + begin, tokens_.begin() + end);
      std::vector<Lane> lanes = {own};
      if (beside > 0) {
        pass.insert(pass.begin(), beside, 3);
        lanes.insert(lanes.begin(), other);
      }
      const Tensor hidden = model_->forward(pass, lanes, cache);
      last = hidden.narrow(0, hidden.dim(0) - 1, 1);
      begin = end;
    }
    return ops::to_host(*backend_, model_->logits(last));
  }

  // In all ways to cut it at the grid behind `first`.
  void expect_the_same(const std::vector<int64_t>& first) const {
    std::vector<int64_t> whole = first;
    whole.push_back(kTokens);
    const std::vector<float> wanted = read(whole, 0);
    EXPECT_TRUE(std::ranges::any_of(wanted, [](float logit) { return logit != 0.0F; }));
    for (unsigned chosen = 0; chosen < 8; ++chosen) {
      std::vector<int64_t> ends = first;
      for (int64_t i = 1; i <= 3; ++i) {
        const bool is_behind = first.empty() || i * kPromptGrid >= first.back() + kPromptRows;
        if ((chosen >> (i - 1) & 1U) != 0 && is_behind) {
          ends.push_back(i * kPromptGrid);
        }
      }
      ends.push_back(kTokens);
      for (const size_t beside : {0U, 1U, 20U}) {
        EXPECT_EQ(read(ends, beside), wanted) << ends.size() << " pieces, beside " << beside;
      }
    }
  }

  std::vector<int32_t> tokens_;
};

TEST_P(LlamaCuts, SayTheSame) {
  expect_the_same({});
}

// A beginning that was kept of another text ends anywhere.
TEST_P(LlamaCuts, SayTheSameBehindWhatWasKept) {
  expect_the_same({kPromptGrid - 4});
}

INSTANTIATE_TEST_SUITE_P(, LlamaCuts,
                         testing::Values("gemma2", "gemma4", "gpt-oss_mxfp4", "lfm2", "llama",
                                         "qwen3moe_q8_0", "qwen3next", "qwen35"),
                         test::GoldenLlama::name_of);

}  // namespace
}  // namespace mynah::llama
