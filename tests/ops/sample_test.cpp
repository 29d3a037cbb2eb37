// What ref draws against distributions that the test works out for itself, in the words of the
// papers, and numbers by hand.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "ops/inputs.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

using Distribution = std::map<int32_t, double>;

Distribution normalised(Distribution p) {
  double sum = 0.0;
  for (const auto& [token, share] : p) {
    sum += share;
  }
  for (auto& [token, share] : p) {
    share /= sum;
  }
  return p;
}

Distribution softmax(const std::vector<float>& logits, double temperature = 1.0) {
  Distribution p;
  for (size_t i = 0; i < logits.size(); ++i) {
    p[static_cast<int32_t>(i)] = std::exp(static_cast<double>(logits[i]) / temperature);
  }
  return normalised(p);
}

// The tokens of a distribution by a score, the smallest first, the lower index in a tie.
std::vector<int32_t> ranked(const Distribution& p,
                            const std::function<double(double share)>& score) {
  std::vector<int32_t> tokens;
  tokens.reserve(p.size());
  for (const auto& [token, share] : p) {
    tokens.push_back(token);
  }
  std::ranges::stable_sort(tokens, {}, [&](int32_t token) { return score(p.at(token)); });
  return tokens;
}

Distribution of_tokens(const Distribution& p, std::span<const int32_t> tokens) {
  Distribution kept;
  for (const int32_t token : tokens) {
    kept[token] = p.at(token);
  }
  return normalised(kept);
}

// The smallest set, in this order, of at least so much probability.
Distribution nucleus(const Distribution& p, const std::vector<int32_t>& order, double share) {
  double sum = 0.0;
  size_t count = 0;
  do {
    sum += p.at(order[count++]);
  } while (sum < share && count < order.size());
  return of_tokens(p, std::span(order).first(count));
}

double less_likely(double share) {
  return -share;
}

// A distribution of temperature 1 at another: p^(1 / temperature) is e^(x / temperature) but for a
// factor.
Distribution at_temperature(Distribution p, double temperature) {
  for (auto& [token, share] : p) {
    share = std::pow(share, 1.0 / temperature);
  }
  return normalised(p);
}

// Top-k, locally typical, nucleus and min-p sampling, each where the row wants it.
Distribution filtered(Distribution p, const SampleRow& row) {
  if (row.top_k > 0) {
    const auto order = ranked(p, less_likely);
    p = of_tokens(p,
                  std::span(order).first(std::min(order.size(), static_cast<size_t>(row.top_k))));
  }
  if (row.typical_p < 1.0F) {
    double entropy = 0.0;
    for (const auto& [token, share] : p) {
      entropy -= share * std::log(share);
    }
    p = nucleus(p, ranked(p, [&](double share) { return std::abs(-std::log(share) - entropy); }),
                row.typical_p);
  }
  if (row.top_p < 1.0F) {
    p = nucleus(p, ranked(p, less_likely), row.top_p);
  }
  if (row.min_p > 0.0F) {
    const double largest =
        std::ranges::max_element(p, {}, [](const auto& entry) { return entry.second; })->second;
    std::erase_if(p, [&](const auto& entry) { return entry.second < row.min_p * largest; });
    p = normalised(p);
  }
  return at_temperature(p, row.temperature);
}

class SampleTest : public testing::Test {
 protected:
  Tensor make(const std::vector<float>& values, const Shape& shape) {
    return ops::from_host(ref_, values, shape);
  }

  std::vector<float> host(const Tensor& x) { return ops::to_host(ref_, x); }

  // How often each token is drawn by random numbers that lie evenly in [0, 1).
  Distribution drawn(const std::vector<float>& logits, const SampleRow& row) {
    const auto vocabulary = std::ssize(logits);
    std::vector<float> all;
    std::vector<SampleRow> rows(kDraws, row);
    for (size_t i = 0; i < kDraws; ++i) {
      all.insert(all.end(), logits.begin(), logits.end());
      rows[i].uniform = (static_cast<float>(i) + 0.5F) / static_cast<float>(kDraws);
    }
    const auto sampled = ops::sample(ref_, make(all, {kDraws, vocabulary}), {.rows = rows});
    Distribution shares;
    for (const int32_t token : ops::to_host_i32(ref_, sampled.ids)) {
      shares[token] += 1.0 / kDraws;
    }
    return shares;
  }

  void expect_drawn(const std::vector<float>& logits, const SampleRow& row,
                    const Distribution& wanted) {
    Distribution shares = drawn(logits, row);
    for (const auto& [token, share] : wanted) {
      // A run of [0, 1) has the numbers that lie in it, and one more or less.
      EXPECT_NEAR(shares[token], share, 1.001 / kDraws) << token;
      shares.erase(token);
    }
    EXPECT_THAT(shares, testing::IsEmpty());
  }

  static constexpr size_t kDraws = 2000;

  RefBackend ref_;
};

TEST_F(SampleTest, DrawsFromTheSoftmaxAtATemperature) {
  const std::vector<float> logits = normals(40, 3, 1.5F);
  for (const float temperature : {0.3F, 1.0F, 2.5F}) {
    expect_drawn(logits, {.temperature = temperature}, softmax(logits, temperature));
  }
}

TEST_F(SampleTest, DrawsFromWhatTheFiltersLeave) {
  const std::vector<SampleRow> rows = {
      {.top_k = 7},
      {.top_k = 1},
      {.top_k = 1000},
      {.typical_p = 0.41F},
      {.typical_p = 0.93F},
      {.top_p = 0.73F},
      {.top_p = 0.001F},
      {.min_p = 0.21F},
      {.top_k = 20, .top_p = 0.83F},
      {.typical_p = 0.61F, .min_p = 0.07F},
      {.top_p = 0.83F, .min_p = 0.11F},
      {.top_k = 30, .typical_p = 0.87F, .top_p = 0.83F, .min_p = 0.03F}};
  const std::vector<float> logits = normals(40, 5, 1.5F);
  std::vector<float> ties = logits;
  std::ranges::transform(ties, ties.begin(), [](float x) { return std::round(x); });
  for (SampleRow row : rows) {
    for (const float temperature : {0.6F, 1.0F}) {
      row.temperature = temperature;
      expect_drawn(logits, row, filtered(softmax(logits), row));
      expect_drawn(ties, row, filtered(softmax(ties), row));
    }
  }
}

TEST_F(SampleTest, TypicalTokensNeedNotBeTheLikeliest) {
  // -log p: 0.92, 1.61, 1.61, 1.61; H is 1.33. The likeliest is the farthest from it.
  const std::vector<float> logits = {std::log(0.4F), std::log(0.2F), std::log(0.2F),
                                     std::log(0.2F)};
  const SampleRow row{.temperature = 1.0F, .typical_p = 0.3F};
  expect_drawn(logits, row, {{1, 0.5}, {2, 0.5}});
}

TEST_F(SampleTest, MinPIsRelativeToTheLikeliestThatIsLeft) {
  // -log p - H, H 1.89: -0.88 of the likeliest, 0.76 of 0.06, 0.47 of the others. 0.06 is more than
  // half of these, but not of the likeliest.
  std::vector<float> logits(8, std::log(0.08F));
  logits[0] = std::log(0.31F);
  logits[1] = std::log(0.06F);
  const SampleRow row{.temperature = 1.0F, .typical_p = 0.6F, .min_p = 0.5F};
  expect_drawn(logits, row, normalised({{1, 6}, {2, 8}, {3, 8}, {4, 8}, {5, 8}, {6, 8}, {7, 8}}));
}

TEST_F(SampleTest, TypicalTokensAreMoreThanTheirShareTheLikeliestMayBeJustThat) {
  const std::vector<float> equal(4, 0.0F);
  expect_drawn(equal, {.temperature = 1.0F, .typical_p = 0.5F},
               normalised({{0, 1}, {1, 1}, {2, 1}}));
  expect_drawn(equal, {.temperature = 1.0F, .top_p = 0.5F}, normalised({{0, 1}, {1, 1}}));
}

TEST_F(SampleTest, LogProbabilitiesAreOfAllTokensThatMayCome) {
  const std::vector<float> logits = {1, 3, 2, 5};
  const SampleRow row{
      .first = {0, 3}, .temperature = 0.5F, .uniform = 0.99F, .top_k = 2, .top_p = 0.99F};
  const auto sampled = ops::sample(ref_, make(logits, {1, 4}), {.rows = std::span(&row, 1)});
  EXPECT_EQ(ops::to_host_i32(ref_, sampled.ids)[0], 2);
  EXPECT_NEAR(host(sampled.log_probabilities)[0],
              2 - std::log(std::exp(1.0) + std::exp(3.0) + std::exp(2.0)), 1e-6);
}

TEST_F(SampleTest, WithoutATemperatureNothingIsFiltered) {
  const std::vector<float> logits = {1, 3, 2, 5};
  const SampleRow row{.top_k = 1, .typical_p = 0.1F, .top_p = 0.1F, .min_p = 1.0F};
  const auto sampled =
      ops::sample(ref_, make(logits, {1, 4}), {.rows = std::span(&row, 1), .top = 4});
  EXPECT_THAT(std::vector<int32_t>(ops::to_host_i32(ref_, sampled.ids)),
              testing::ElementsAre(3, 1, 2, 0));
}

TEST_F(SampleTest, TheSecondTokensComeWhenTogetherTheyAreLikelierThanAnyOfTheFirst) {
  // Tokens 0 to 2, then 3 to 5: probabilities 0.4, 0, 0, 0.25, 0.2, 0.15.
  const Tensor logits =
      make({std::log(0.4F), -INFINITY, -INFINITY, std::log(0.25F), std::log(0.2F), std::log(0.15F)},
           {1, 6});
  SampleRow row{.first = {0, 3}, .second = {3, 6}};
  const auto sample = [&] {
    const auto sampled = ops::sample(ref_, logits, {.rows = std::span(&row, 1)});
    return std::pair(ops::to_host_i32(ref_, sampled.ids)[0], host(sampled.log_probabilities)[0]);
  };
  EXPECT_EQ(sample().first, 0);
  EXPECT_NEAR(sample().second, std::log(0.4F), 1e-6F);
  row.prefer_second = true;
  EXPECT_EQ(sample().first, 3);
  EXPECT_NEAR(sample().second, std::log(0.25F / 0.6F), 1e-6F);
  row.temperature = 1.0F;
  row.uniform = 0.9F;  // 0.25 + 0.2 of 0.6 is 0.75
  EXPECT_EQ(sample().first, 5);
  EXPECT_NEAR(sample().second, std::log(0.15F / 0.6F), 1e-6F);
}

TEST_F(SampleTest, PenaltiesComeBeforeTheRangesAndTheMasks) {
  const Tensor logits = make({3, 2, -1, 1, -INFINITY, -2}, {1, 6});
  const Tensor masks = make({0, 0, 0, -INFINITY, 0, 0}, {1, 6});
  const SampleRow row{.penalties_begin = 1, .penalties_count = 5};
  // The first is another row's. 3 never comes, -1 becomes -4; 1 is suppressed and -infinity stays,
  // whatever the penalty.
  const std::vector<TokenPenalty> penalties = {{.token = 1, .factor = TokenPenalty::kNever},
                                               {.token = 0, .factor = TokenPenalty::kNever},
                                               {.token = 2, .factor = 4.0F},
                                               {.token = 3, .factor = 0.01F},
                                               {.token = 4, .factor = 0.5F},
                                               {.token = 5, .factor = 0.5F}};
  const auto sampled =
      ops::sample(ref_, logits,
                  {.masks = &masks, .rows = std::span(&row, 1), .penalties = penalties, .top = 4});
  EXPECT_THAT(std::vector<int32_t>(ops::to_host_i32(ref_, sampled.ids)),
              testing::ElementsAre(1, 5, 2, testing::_));
  const double all = std::exp(2.0) + std::exp(-1.0) + std::exp(-4.0);
  const auto log_probability = [&](double logit) {
    return testing::FloatNear(static_cast<float>(logit - std::log(all)), 1e-6F);
  };
  EXPECT_THAT(host(sampled.log_probabilities),
              testing::ElementsAre(log_probability(2), log_probability(-1), log_probability(-4),
                                   -INFINITY));
}

TEST_F(SampleTest, BiasesAreAddedBeforeFactorsAndOffsetsSubtractedAfter) {
  const TokenPenalty said_twice{.token = 0, .factor = 2.0F, .offset = 0.5F + 2 * 0.25F};
  EXPECT_EQ(said_twice.of(4.0F), 1.0F);
  EXPECT_EQ(said_twice.of(-4.0F), -9.0F);
  const TokenPenalty biased{.token = 0, .factor = 2.0F, .offset = 1.0F, .bias = 3.0F};
  EXPECT_EQ(biased.of(1.0F), 1.0F);
  EXPECT_EQ(biased.of(-4.0F), -3.0F);
  EXPECT_EQ(biased.of(-INFINITY), -INFINITY);
  const TokenPenalty never{.token = 0, .factor = TokenPenalty::kNever, .offset = -3.0F};
  EXPECT_EQ(never.of(1.0F), -INFINITY);

  const std::vector<float> logits = {4, 2, 1.5F, -1};
  const std::vector<TokenPenalty> penalties = {{.token = 0, .factor = 2.0F, .offset = 1.0F},
                                               {.token = 3, .bias = 4.0F}};
  const SampleRow row{.penalties_count = 2};
  const auto sampled = ops::sample(ref_, make(logits, {1, 4}),
                                   {.rows = std::span(&row, 1), .penalties = penalties, .top = 4});
  EXPECT_THAT(std::vector<int32_t>(ops::to_host_i32(ref_, sampled.ids)),
              testing::ElementsAre(3, 1, 2, 0));
}

}  // namespace
}  // namespace mynah::cases
