// Sequences: whoever comes and goes beside it, a text is the one that it would be alone.
#include "nn/decode/sequences.h"

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/ref/ref_backend.h"
#include "nn/decode/sampling.h"

namespace mynah {
namespace {

constexpr int64_t kVocabulary = 50;
constexpr int64_t kWidth = 64;
constexpr int64_t kHeads = 2;

// Embeddings, of a token and of its context, one layer of attention over the past, and the
// embeddings again.
class OneLayer final : public TokenModel {
 public:
  explicit OneLayer(Backend& backend)
      : backend_(backend),
        table_(numbers({kVocabulary, kWidth}, 1)),
        contexts_(numbers({4, kWidth}, 2)),
        qkv_(numbers({1, kWidth, 3 * kWidth}, 3)) {}

  [[nodiscard]] KvCache new_cache(DType dtype) const {
    return {backend_, {.layers = 1, .width = kWidth, .sequences = 8, .capacity = 100}, dtype};
  }

  [[nodiscard]] Tensor forward(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                               KvCache& cache) const override {
    cache.reserve(lanes);
    const KvStep step = cache.step(lanes);
    Lengths queries;
    std::vector<int32_t> contexts;
    for (const Lane& lane : lanes) {
      queries.add(lane.count);
      contexts.insert(contexts.end(), static_cast<size_t>(lane.count),
                      static_cast<int32_t>(lane.context));
    }
    const Tensor x = ops::add(backend_, rows(table_, tokens), rows(contexts_, contexts));
    const Tensor qkv = ops::matmul(backend_, x.reshape({1, x.dim(0), kWidth}), qkv_)
                           .reshape({x.dim(0), 3 * kWidth});
    cache.write(0, qkv.narrow(1, kWidth, kWidth), qkv.narrow(1, 2 * kWidth, kWidth), step);
    const Tensor seen =
        ops::attention(backend_, qkv.narrow(1, 0, kWidth), cache.keys(0), cache.values(0),
                       {.heads = kHeads,
                        .kv_heads = kHeads,
                        .scale = 1.0F / std::sqrt(static_cast<float>(kWidth)),
                        .causal = true,
                        .queries = queries.spans(),
                        .keys = cache.spans(0, step),
                        .pages = cache.table(0, step)});
    cache.advance(lanes);
    return ops::add(backend_, x, seen);
  }

  [[nodiscard]] Tensor logits(const Tensor& hidden) const override {
    return ops::matmul(backend_, hidden.reshape({1, hidden.dim(0), kWidth}),
                       table_.reshape({1, kVocabulary, kWidth}), true)
        .reshape({hidden.dim(0), kVocabulary});
  }

 private:
  [[nodiscard]] Tensor rows(const Tensor& of, std::span<const int32_t> numbers) const {
    return ops::gather_rows(backend_, of, ops::from_host(backend_, numbers, {std::ssize(numbers)}));
  }

  [[nodiscard]] Tensor numbers(const Shape& shape, uint32_t seed) const {
    std::mt19937 random(seed);
    std::vector<float> values(static_cast<size_t>(shape.elements()));
    for (float& value : values) {
      value = static_cast<float>(static_cast<int32_t>(random() % 2001) - 1000) / 3000.0F;
    }
    return ops::from_host(backend_, std::span<const float>(values), shape);
  }

  Backend& backend_;
  Tensor table_;
  Tensor contexts_;
  Tensor qkv_;
};

// A text under way, with what it was begun with.
struct Text {
  std::vector<int32_t> tokens;
  size_t prompt = 0;
  int64_t context = 0;
  SamplingOptions sampling;
  uint64_t seed = 0;

  // Its row of a step.
  void add_to(NextTokens& next) const {
    const auto said = std::span(tokens).subspan(prompt);
    next.add({}, sampling, said, random_uniform(seed, 0, said.size()));
  }
};

struct Kind {
  const char* name;
  bool ref;
  DType dtype;
};

class SequencesTest : public testing::TestWithParam<Kind> {
 protected:
  SequencesTest() {
    if (GetParam().ref) {
      backend_ = make_ref_backend();
    } else {
      backend_ = *make_cpu_backend(pool_);
    }
    model_ = std::make_unique<OneLayer>(*backend_);
    steps_ = backend_->make_step_runner();
  }

  [[nodiscard]] Sequences sequences() const {
    return {*backend_, *model_, *steps_, model_->new_cache(GetParam().dtype)};
  }

  // The text alone, from its prompt to `length` tokens in all.
  [[nodiscard]] std::vector<int32_t> alone(Text text, size_t length) const {
    text.tokens.resize(text.prompt);
    Sequences own = sequences();
    const int64_t sequence = own.admit(text.tokens, text.context);
    while (true) {
      NextTokens next;
      text.add_to(next);
      const Sampled sampled = own.step(std::span(&sequence, 1), next.params(nullptr, 1));
      text.tokens.push_back(sampled.ids[0]);
      if (text.tokens.size() >= length) {
        return text.tokens;
      }
      own.append(sequence, sampled.ids[0]);
    }
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<OneLayer> model_;
  std::unique_ptr<StepRunner> steps_;
};

// Texts are begun, forked and ended at random while others are under way, some of them not asked
// for in every step; each is compared with itself alone.
TEST_P(SequencesTest, ComeAndGoAtAnyStepAndStayTheSame) {
  Sequences all = sequences();
  std::mt19937 random(5);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  std::map<int64_t, Text> running;
  size_t compared = 0;
  for (int step = 0; step < 150; ++step) {
    if (running.size() < 6 && below(3) == 0) {
      Text text{.tokens = {}, .context = static_cast<int64_t>(below(4)), .seed = random()};
      text.prompt = 1 + below(40);
      for (size_t i = 0; i < text.prompt; ++i) {
        text.tokens.push_back(static_cast<int32_t>(below(kVocabulary)));
      }
      if (below(2) == 0) {
        text.sampling = {.temperature = 0.7F, .top_k = 20, .top_p = 0.95F};
      }
      text.sampling.repetition_penalty = 1.2F;
      const int64_t sequence = all.admit(text.tokens, text.context);
      ASSERT_TRUE(running.emplace(sequence, text).second);
    }
    if (!running.empty() && running.size() < 8 && below(5) == 0) {
      const auto& [sequence, text] = *std::next(running.begin(), below(running.size()));
      const int64_t forked = all.fork(sequence);
      const Text copy = text;
      ASSERT_TRUE(running.emplace(forked, copy).second);
    }
    std::vector<int64_t> asked;
    NextTokens next;
    for (const auto& [sequence, text] : running) {
      if (below(4) > 0) {
        asked.push_back(sequence);
        text.add_to(next);
      }
    }
    if (asked.empty()) {
      continue;
    }
    const Sampled sampled = all.step(asked, next.params(nullptr, 1));
    for (size_t i = 0; i < asked.size(); ++i) {
      Text& text = running.at(asked[i]);
      text.tokens.push_back(sampled.ids[i]);
      if (text.tokens.size() > 80 || below(15) == 0) {
        EXPECT_EQ(text.tokens, alone(text, text.tokens.size()));
        ++compared;
        all.evict(asked[i]);
        running.erase(asked[i]);
      } else {
        all.append(asked[i], sampled.ids[i]);
      }
    }
  }
  EXPECT_GT(compared, 20U);
  for (const auto& [sequence, text] : running) {
    all.evict(sequence);
  }
  EXPECT_EQ(all.cache().pages_in_use(), 0);
}

// A prefix that two share is computed once.
TEST_P(SequencesTest, AForkSharesWhatWasComputed) {
  Sequences all = sequences();
  const std::vector<int32_t> prompt(48, 7);
  const int64_t first = all.admit(prompt);
  (void)all.run(std::span(&first, 1));
  const int64_t pages = all.cache().pages_in_use();
  const int64_t second = all.fork(first);
  EXPECT_EQ(all.cache().pages_in_use(), pages);
  all.append(first, 3);
  all.append(second, 4);
  const std::vector<int64_t> both = {first, second};
  EXPECT_EQ(all.run(both).dim(0), 2);
  EXPECT_EQ(all.cache().pages_in_use(), pages + 2);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, SequencesTest,
    testing::Values(Kind{"ref_f32", true, DType::F32}, Kind{"ref_q8_0", true, DType::Q8_0},
                    Kind{"cpu_f32", false, DType::F32}, Kind{"cpu_f16", false, DType::F16},
                    Kind{"cpu_q8_0", false, DType::Q8_0}),
    [](const testing::TestParamInfo<Kind>& kind) { return std::string(kind.param.name); });

TEST(NextTokensTest, CountsWhatWasSaidAndForbidsWhatWouldBeSaidAgain) {
  NextTokens next;
  const std::vector<int32_t> said = {5, 3, 5, 9, 5, 3};
  next.add({}, {.presence_penalty = 0.5F, .frequency_penalty = 0.25F}, said, 0.0F);
  next.add({}, {.temperature = 0.5F, .repetition_penalty = 2.0F, .no_repeat_ngram_size = 3}, said,
           0.25F);
  next.add({}, {}, said, 0.0F);
  ASSERT_EQ(next.rows.size(), 3U);
  const auto of = [&](size_t row) {
    std::map<int32_t, float> logits;  // of a logit of 1
    const SampleRow& own = next.rows[row];
    for (const TokenPenalty& penalty : std::span(next.penalties)
                                           .subspan(static_cast<size_t>(own.penalties_begin),
                                                    static_cast<size_t>(own.penalties_count))) {
      logits[penalty.token] = penalty.of(1.0F);
    }
    return logits;
  };
  EXPECT_EQ(of(0), (std::map<int32_t, float>{{3, 0.0F}, {5, -0.25F}, {9, 0.25F}}));
  // "5 3" was followed by 5.
  EXPECT_EQ(of(1), (std::map<int32_t, float>{{3, 0.5F}, {5, -INFINITY}, {9, 0.5F}}));
  EXPECT_TRUE(of(2).empty());
  EXPECT_EQ(next.rows[1].temperature, 0.5F);
  EXPECT_EQ(next.rows[1].uniform, 0.25F);
}

}  // namespace
}  // namespace mynah
