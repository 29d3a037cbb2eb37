// Models whose layers keep states: a text is the one that it would be alone, whoever comes, goes on
// from it or goes beside it, bit for bit.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/llama/golden_llama.h"
#include "nn/decode/sequences.h"

namespace mynah::llama {
namespace {

class LlamaStates : public test::GoldenLlama {
 protected:
  LlamaStates() : GoldenLlama(Precision::Exact) {}

  // A text under way, and in which pieces it was read.
  struct Text {
    std::vector<std::vector<int32_t>> pieces;
    size_t tokens = 0;
  };

  [[nodiscard]] KvCache new_cache() const {
    return model_->new_cache(2, model_->config().context_length);
  }

  // Logits behind the text's last piece, read alone.
  [[nodiscard]] std::vector<float> alone(const Text& text) const {
    KvCache cache = new_cache();
    const int64_t sequence = cache.add();
    Tensor hidden;
    for (const auto& piece : text.pieces) {
      const Lane lane{.sequence = sequence, .count = std::ssize(piece)};
      hidden = model_->forward(piece, {&lane, 1}, cache);
    }
    return ops::to_host(*backend_, model_->logits(hidden));
  }
};

TEST_P(LlamaStates, AreTheSameInCompanyAndBehindForks) {
  KvCache cache = new_cache();
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  std::map<int64_t, Text> running;
  size_t compared = 0;
  for (int step = 0; step < 60; ++step) {
    if (running.size() < 5 && below(3) == 0) {
      running.emplace(cache.add(), Text());
    }
    if (!running.empty() && running.size() < 7 && below(4) == 0) {
      const auto& [sequence, text] =
          *std::next(running.begin(), static_cast<ptrdiff_t>(below(running.size())));
      const Text copy = text;
      running.emplace(cache.fork(sequence, cache.length(sequence)), copy);
    }
    std::vector<int32_t> tokens;
    std::vector<Lane> lanes;
    for (auto& [sequence, text] : running) {
      if (below(3) == 0) {
        continue;
      }
      std::vector<int32_t> piece(1 + below(2) * below(6));
      for (int32_t& token : piece) {
        token = static_cast<int32_t>(below(static_cast<size_t>(model_->config().vocabulary)));
      }
      tokens.insert(tokens.end(), piece.begin(), piece.end());
      lanes.push_back({.sequence = sequence, .count = std::ssize(piece)});
      text.tokens += piece.size();
      text.pieces.push_back(std::move(piece));
    }
    if (lanes.empty()) {
      continue;
    }
    const Tensor logits = model_->logits(model_->forward(tokens, lanes, cache));
    int64_t row = 0;
    for (const Lane& lane : lanes) {
      const Text& text = running.at(lane.sequence);
      const auto own = ops::to_host(*backend_, logits.narrow(0, row, lane.count));
      row += lane.count;
      ASSERT_EQ(own, alone(text)) << GetParam() << ": step " << step;
      ++compared;
      if (text.tokens > 40 || below(12) == 0) {
        cache.remove(lane.sequence);
        running.erase(lane.sequence);
      }
    }
  }
  EXPECT_GT(compared, 60U);
}

INSTANTIATE_TEST_SUITE_P(, LlamaStates, testing::Values("lfm2moe", "qwen3next", "qwen35"),
                         test::GoldenLlama::name_of);

}  // namespace
}  // namespace mynah::llama
