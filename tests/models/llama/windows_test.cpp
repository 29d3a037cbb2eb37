// Models whose layers see windows: what is let go behind them changes no bit of what is computed,
// however a text is read, cut back and shared.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "formats/open.h"
#include "models/llama/model.h"
#include "tensor/prompt_rows.h"
#include "test_paths.h"

namespace mynah::llama {
namespace {

class LlamaWindows : public testing::TestWithParam<std::tuple<const char*, Precision>> {
 protected:
  static constexpr int64_t kCapacity = 4096;

  void SetUp() override {
    auto file = open_tensor_file(test::source_path(std::string("tests/models/llama/golden/") +
                                                   std::get<0>(GetParam()) + ".gguf"));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    auto config = Config::read(*file);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    auto model = Model::load(
        *file, *config, {.backend = backend_.get(), .precision = std::get<Precision>(GetParam())});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    model_ = *model;
    ASSERT_GT(model_->config().window, 0);
    ASSERT_LT(model_->config().window, 300);
  }

  // One that keeps all positions.
  [[nodiscard]] KvCache whole_cache() const {
    const std::vector<int64_t> widths = model_->config().cache_widths();
    return {*backend_,
            {.layers = std::ssize(widths),
             .sequences = 1,
             .capacity = kCapacity,
             .widths = widths,
             .in_place = true},
            model_->cache_dtype()};
  }

  [[nodiscard]] int32_t token(int64_t position) const {
    return static_cast<int32_t>(position * position * 7 % model_->config().vocabulary);
  }

  // Logits behind each of the last tokens, so many of them, of a piece of a text.
  std::vector<float> read(KvCache& cache, int64_t sequence, const std::vector<int32_t>& piece,
                          int64_t asked) const {
    const Lane lane{.sequence = sequence, .count = std::ssize(piece)};
    const Tensor hidden = model_->forward(piece, {&lane, 1}, cache);
    return ops::to_host(*backend_, model_->logits(hidden.narrow(0, hidden.dim(0) - asked, asked)));
  }

  // The next tokens of a text that has `length`.
  [[nodiscard]] std::vector<int32_t> piece(int64_t length, int64_t count) const {
    std::vector<int32_t> tokens;
    for (int64_t i = length; i < length + count; ++i) {
      tokens.push_back(token(i));
    }
    return tokens;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_ = *make_cpu_backend(pool_);
  std::shared_ptr<const Model> model_;
};

// Several thousand positions, read in pieces that end on the grid, and written token by token with
// guesses that are taken back: at each place what a cache that keeps everything says.
TEST_P(LlamaWindows, LetGoOfWhatNothingSees) {
  KvCache whole = whole_cache();
  KvCache cache = model_->new_cache(1, kCapacity);
  int64_t kept = whole.add();
  int64_t own = cache.add();
  std::mt19937 random(3);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int64_t length = 0;
  const auto go_back = [&](int64_t to) {
    for (auto [one, sequence] : {std::pair{&whole, &kept}, std::pair{&cache, &own}}) {
      ASSERT_TRUE(one->forks_at(*sequence, to)) << to << " of " << length;
      const int64_t forked = one->fork(*sequence, to);
      one->remove(*sequence);
      *sequence = forked;
    }
    length = to;
  };
  const auto go_on = [&](int64_t count, int64_t asked) {
    const std::vector<int32_t> tokens = piece(length, count);
    length += count;
    ASSERT_EQ(read(cache, own, tokens, asked), read(whole, kept, tokens, asked)) << length;
  };
  while (length < kCapacity - 600) {
    const int64_t end = (length + 64 + below(480)) / kPromptGrid * kPromptGrid;
    go_on(end - length, 1);
    for (int64_t i = below(5); i > 0 && length < kCapacity - 600; --i) {
      const int64_t guesses = 1 + below(6);
      go_on(guesses, guesses);
      go_back(length - below(guesses));
    }
    if (below(3) == 0) {
      go_back(std::max<int64_t>(0, length - below(Model::kRewinds - 8)));
    }
    if (HasFatalFailure()) {
      return;
    }
  }
  const int64_t window = model_->config().window;
  EXPECT_LT(cache.pages_in_use(window) * KvCache::kPageRows,
            window + KvCache::kFirstRows + KvCache::kGapRows + 600);
  EXPECT_EQ(cache.pages_in_use(), whole.pages_in_use());
  EXPECT_FALSE(cache.forks_at(own, length - 1000));
}

// However the same text is cut, each cut with another part of it let go.
TEST_P(LlamaWindows, SayTheSameWhereverTheyAreCut) {
  constexpr int64_t kTokens = 20 * kPromptGrid + 20;
  std::vector<float> wanted;
  for (const int64_t grid : {1, 2, 3, 5, 8, 32}) {
    KvCache cache = model_->new_cache(1, kCapacity);
    const int64_t sequence = cache.add();
    std::vector<float> logits;
    for (int64_t length = 0; length < kTokens;) {
      const int64_t cut = length + grid * kPromptGrid;
      const int64_t count = (cut + kPromptRows > kTokens ? kTokens : cut) - length;
      logits = read(cache, sequence, piece(length, count), 1);
      length += count;
    }
    wanted = wanted.empty() ? logits : wanted;
    ASSERT_EQ(logits, wanted) << grid;
  }
}

// Two that begin with more than a window, and what is kept of their beginning for a third.
TEST_P(LlamaWindows, AreSharedByTextsThatBeginAlike) {
  constexpr int64_t kAlike = 15 * kPromptGrid;
  KvCache cache = model_->new_cache(1, kCapacity);
  const int64_t first = cache.add();
  (void)read(cache, first, piece(0, kAlike), 1);
  const int64_t kept = cache.fork(first, kAlike);
  (void)read(cache, first, piece(kAlike, 512), 1);
  (void)read(cache, first, piece(kAlike + 512, 512), 1);
  EXPECT_FALSE(cache.forks_at(first, kAlike));
  const std::vector<int32_t> other(100, 5);
  std::vector<std::vector<float>> said;
  for (int i = 0; i < 2; ++i) {
    const int64_t forked = cache.fork(kept, kAlike);
    said.push_back(read(cache, forked, other, 3));
    said.push_back(read(cache, forked, {1}, 1));
  }
  KvCache whole = whole_cache();
  const int64_t alone = whole.add();
  (void)read(whole, alone, piece(0, kAlike), 1);
  EXPECT_EQ(said[0], read(whole, alone, other, 3));
  EXPECT_EQ(said[1], read(whole, alone, {1}, 1));
  EXPECT_EQ(said[2], said[0]);
  EXPECT_EQ(said[3], said[1]);
}

std::string name_of(const testing::TestParamInfo<LlamaWindows::ParamType>& of) {
  std::string text = std::get<0>(of.param);
  std::ranges::replace(text, '-', '_');
  return text + (std::get<Precision>(of.param) == Precision::Fast ? "_fast" : "_exact");
}

INSTANTIATE_TEST_SUITE_P(, LlamaWindows,
                         testing::Combine(testing::Values("gemma2", "gemma3", "gemma4",
                                                          "gpt-oss_mxfp4"),
                                          testing::Values(Precision::Fast, Precision::Exact)),
                         name_of);

}  // namespace
}  // namespace mynah::llama
