// Sampling options against llama.cpp's distributions of the same logits (tools/sampling_oracle.py),
// and what a row says where options meet.
#include "nn/decode/sampling.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/ref/ref_backend.h"
#include "base/ascii.h"
#include "ops/ops.h"
#include "test_paths.h"

namespace mynah {
namespace {

using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Share {
  int32_t token;
  double p;
};

// A line of sampling_llama.tsv.
struct Case {
  std::string text;
  std::vector<float> logits;
  SamplingOptions options;
  std::vector<int32_t> said;
  std::vector<Share> left;  // by token
};

template <class Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << text;
  return value;
}

struct Field {
  std::string_view name;
  float SamplingOptions::* value;
};

constexpr Field kFields[] = {{"temperature", &SamplingOptions::temperature},
                             {"typical_p", &SamplingOptions::typical_p},
                             {"top_p", &SamplingOptions::top_p},
                             {"min_p", &SamplingOptions::min_p},
                             {"repetition_penalty", &SamplingOptions::repetition_penalty},
                             {"presence_penalty", &SamplingOptions::presence_penalty},
                             {"frequency_penalty", &SamplingOptions::frequency_penalty}};

void set(std::string_view name, std::string_view value, Case& golden) {
  SamplingOptions& options = golden.options;
  if (name == "said") {
    for (const std::string_view token : split(value, ',')) {
      golden.said.push_back(number<int32_t>(token));
    }
  } else if (name == "bias") {
    for (const std::string_view pair : split(value, ',')) {
      const auto parts = split(pair, ':');
      options.logit_bias.push_back({number<int32_t>(parts[0]), number<float>(parts[1])});
    }
  } else if (name == "top_k") {
    options.top_k = number<int>(value);
  } else {
    const auto* const field = std::ranges::find(kFields, name, &Field::name);
    ASSERT_NE(field, std::end(kFields)) << name;
    options.*field->value = number<float>(value);
  }
}

std::vector<Case> llama_cases() {
  std::ifstream file(test::source_path("tests/nn/decode/sampling_llama.tsv"));
  std::vector<Case> cases;
  std::vector<float> logits;
  std::string name;
  for (std::string line; std::getline(file, line);) {
    const auto fields = split(line, '\t');
    if (fields[0] == "logits") {
      name = fields[1];
      logits.clear();
      for (const std::string_view value : std::span(fields).subspan(2)) {
        logits.push_back(number<float>(value));
      }
    } else if (fields[0] == "case") {
      Case golden{.text = name + ": " + std::string(fields[1]), .logits = logits};
      for (const std::string_view setting : split(fields[1], ' ')) {
        const auto parts = split(setting, '=');
        set(parts[0], parts[1], golden);
      }
      for (const std::string_view share : std::span(fields).subspan(2)) {
        const auto parts = split(share, ':');
        golden.left.push_back({number<int32_t>(parts[0]), number<double>(parts[1])});
      }
      cases.push_back(std::move(golden));
    }
  }
  return cases;
}

// How far sums of the shares may be from the exact ones. llama.cpp's: each of n exponentials, their
// sum and the division round, as does the logit over the temperature, from which an exponential's
// relative error is its size; then the seven digits of the file. Ours: `uniform` is a float.
double error_of(const Case& golden) {
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  double largest = 0.0;
  for (const Share& share : golden.left) {
    largest = std::max(
        largest, std::abs(static_cast<double>(golden.logits[static_cast<size_t>(share.token)])) +
                     10.0);  // biases and offsets
  }
  return kEpsilon * (static_cast<double>(golden.left.size()) + 8.0 +
                     2.0 * largest / static_cast<double>(golden.options.temperature)) +
         1e-6;
}

// Draws at both ends of each token's part of [0, 1), which together are all of it.
void expect_drawn(Backend& backend, const Case& golden) {
  const double error = error_of(golden);
  NextTokens next;
  std::vector<int32_t> wanted;
  std::vector<float> logits;
  double before = 0.0;
  for (const auto& [token, p] : golden.left) {
    for (const double uniform : {before + error, before + p - error}) {
      if (p > 4.0 * error) {
        next.add({}, golden.options, golden.said, static_cast<float>(uniform));
        wanted.push_back(token);
        logits.insert(logits.end(), golden.logits.begin(), golden.logits.end());
      }
    }
    before += p;
  }
  EXPECT_NEAR(before, 1.0, error);
  const auto vocabulary = std::ssize(golden.logits);
  const Tensor x = ops::from_host(backend, logits, {std::ssize(wanted), vocabulary});
  const auto sampled = ops::sample(backend, x, next.params(nullptr, 1));
  EXPECT_EQ(std::vector<int32_t>(ops::to_host_i32(backend, sampled.ids)), wanted) << golden.text;
}

TEST(SamplingTest, DrawsFromTheDistributionsOfLlamaCpp) {
  ThreadPool pool(1);
  const auto ref = make_ref_backend();
  const auto cpu = *make_cpu_backend(pool);
  const std::vector<Case> cases = llama_cases();
  EXPECT_GT(cases.size(), 200U);
  for (const Case& golden : cases) {
    expect_drawn(*ref, golden);
    expect_drawn(*cpu, golden);
  }
}

TEST(SamplingTest, WhatIsSaidOfATokenIsOnePenalty) {
  SamplingOptions options{.repetition_penalty = 0.5F,
                          .presence_penalty = 1.0F,
                          .frequency_penalty = 0.25F,
                          .no_repeat_ngram_size = 2,
                          .logit_bias = {{9, 2.0F}, {4, 1.5F}, {7, -kInfinity}, {9, 0.5F}}};
  NextTokens next;
  next.add({}, options, std::vector<int32_t>{3, 4, 9, 3}, 0.0F);
  // After 3 never comes 4 again.
  ASSERT_EQ(next.rows.size(), 1U);
  EXPECT_EQ(next.rows[0].penalties_count, 4);
  const auto of_token = [&](size_t i) { return next.penalties[i].token; };
  EXPECT_THAT((std::vector{of_token(0), of_token(1), of_token(2), of_token(3)}),
              ElementsAre(3, 4, 7, 9));
  EXPECT_EQ(next.penalties[0].of(1.0F), 1.0F / 0.5F - 1.5F);
  EXPECT_EQ(next.penalties[1].of(1.0F), -kInfinity);
  EXPECT_EQ(next.penalties[2].of(1.0F), -kInfinity);
  EXPECT_EQ(next.penalties[3].of(1.0F), 3.5F / 0.5F - 1.25F);
}

TEST(SamplingTest, EachRowHasItsOwnPenalties) {
  NextTokens next;
  next.add({}, {.presence_penalty = 1.0F}, std::vector<int32_t>{5, 2}, 0.0F);
  next.add({}, {}, std::vector<int32_t>{5, 2}, 0.0F);
  next.add({}, {.logit_bias = {{5, 1.0F}, {2, 1.0F}}}, {}, 0.0F);
  ASSERT_EQ(next.penalties.size(), 4U);
  EXPECT_THAT((std::vector{next.rows[0].penalties_begin, next.rows[1].penalties_begin,
                           next.rows[2].penalties_begin}),
              ElementsAre(0, 2, 2));
  EXPECT_THAT((std::vector{next.rows[0].penalties_count, next.rows[1].penalties_count,
                           next.rows[2].penalties_count}),
              ElementsAre(2, 0, 2));
  EXPECT_EQ(next.penalties[2].token, 2);
}

TEST(SamplingTest, RandomNumbersAreSplitMix64s) {
  // The first numbers of seed 0, from the generator's reference (Vigna, splitmix64.c).
  EXPECT_EQ(random_uniform(0, 0, 0), static_cast<float>(0xE220A8) * 0x1p-24F);
  EXPECT_EQ(random_uniform(0, 0, 1), static_cast<float>(0x6E789E) * 0x1p-24F);
  EXPECT_EQ(random_uniform(0, 0, 2), static_cast<float>(0x06C45D) * 0x1p-24F);
}

// Sequences of any length: none runs into another's numbers.
TEST(SamplingTest, RandomNumbersOfLongSequencesDiffer) {
  std::set<std::vector<float>> runs;
  for (uint64_t sample = 0; sample < 8; ++sample) {
    for (uint64_t begin = 0; begin < 131072; begin += 4096) {
      std::vector<float> run;
      for (uint64_t step = begin; step < begin + 3; ++step) {
        run.push_back(random_uniform(1, sample, step));
        EXPECT_TRUE(run.back() >= 0.0F && run.back() < 1.0F);
      }
      EXPECT_TRUE(runs.insert(run).second) << sample << " " << begin;
    }
  }
}

}  // namespace
}  // namespace mynah
