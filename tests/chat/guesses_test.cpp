// Guesses of how a text goes on: what they are, and that a text is the same with them and without.
#include <limits>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/ref/ref_backend.h"
#include "base/thread_pool.h"
#include "chat/draft.h"
#include "chat/fake_language.h"
#include "chat/generation_queue.h"
#include "chat/prompt_lookup.h"
#include "chat/step_cost.h"

namespace mynah {
namespace {

using test::FakeLanguage;
using Tokens = std::vector<int32_t>;

// The tokens 0, 1, 2 and so on: nothing comes twice.
Tokens ascending(size_t count) {
  Tokens text(count);
  std::iota(text.begin(), text.end(), 0);
  return text;
}

// What it guesses, up to so many tokens.
Tokens guessed(const PromptLookup& lookup, size_t most) {
  Tokens tokens;
  while (tokens.size() < most) {
    const auto guess = lookup.guess(tokens);
    if (!guess) {
      break;
    }
    tokens.push_back(guess->token);
  }
  return tokens;
}

TEST(PromptLookup, GuessesWhatCameBehindTheSameTokens) {
  const PromptLookup lookup(Tokens{1, 2, 3, 4, 5, 9, 9, 1, 2});
  EXPECT_EQ(guessed(lookup, 4), (Tokens{3, 4, 5, 9}));
  EXPECT_FALSE(lookup.guess(Tokens{7}));  // it did not guess that
  EXPECT_FALSE(PromptLookup(Tokens{1, 2, 3, 4}).guess({}));
  EXPECT_FALSE(PromptLookup(Tokens{}).guess({}));
}

TEST(PromptLookup, GoesOnWithItsOwnGuesses) {
  EXPECT_EQ(guessed(PromptLookup(Tokens{5, 6, 5, 6}), 5), (Tokens{5, 6, 5, 6, 5}));
}

TEST(PromptLookup, ThreeTokensAlikeSayMoreThanTwo) {
  EXPECT_EQ(guessed(PromptLookup(Tokens{1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3}), 1), (Tokens{7}));
}

TEST(PromptLookup, TrustsWhatWasRight) {
  const Tokens text = ascending(100);
  PromptLookup right(text);
  PromptLookup wrong(text);
  for (int32_t i = 0; i < 40; ++i) {
    right.take(i);
    wrong.take(i % 3 == 2 ? 500 + i : i);
  }
  ASSERT_TRUE(right.guess({}));
  EXPECT_EQ(right.guess({})->token, 40);
  EXPECT_GT(right.guess({})->chance, 0.9);
  wrong.take(60);
  wrong.take(61);
  ASSERT_TRUE(wrong.guess({}));
  EXPECT_LT(wrong.guess({})->chance, 0.25);
}

TEST(StepCost, IsALineThroughWhatWasMeasured) {
  StepCost cost;
  EXPECT_EQ(cost.of(3), 0);
  for (int i = 0; i < 300; ++i) {
    const int64_t tokens = 1 + i % 6;
    cost.note(tokens, 2 + 0.5 * static_cast<double>(tokens));
  }
  EXPECT_NEAR(cost.of(1), 2.5, 0.1);
  EXPECT_NEAR(cost.of(6), 5, 0.15);
}

// Of tokens below 64: those of a list, in its order, then any.
class Listed final : public TokenRule {
 public:
  explicit Listed(std::vector<Tokens> steps) : steps_(std::move(steps)) {}

  std::span<const uint32_t> allowed() override {
    bits_.assign(at_ < steps_.size() ? 2 : 0, 0);
    if (at_ < steps_.size()) {
      for (const int32_t token : steps_[at_]) {
        bits_[static_cast<size_t>(token) / 32] |= 1U << (token % 32);
      }
    }
    return bits_;
  }

  void take(int32_t /*token*/) override { ++at_; }

  [[nodiscard]] std::unique_ptr<TokenRule> copy() const override {
    return std::make_unique<Listed>(*this);
  }

  Listed(const Listed&) = default;
  Listed& operator=(const Listed&) = delete;

 private:
  std::vector<Tokens> steps_;
  size_t at_ = 0;
  std::vector<uint32_t> bits_;
};

DraftWish wish_of(const PromptLookup* lookup, TokenRule* rule, std::span<const int32_t> ends = {}) {
  return {.lookup = lookup, .rule = rule, .ends = ends, .most = 4, .cost = [](int64_t more) {
            return 1 + 0.1 * static_cast<double>(more);
          }};
}

TEST(Draft, WhatARuleLeavesAloneIsNoGuess) {
  Listed rule({{5}, {40}, {1, 2}, {3}});
  const Draft draft = make_draft(wish_of(nullptr, &rule));
  EXPECT_EQ(draft.tokens, (Tokens{5, 40}));
  ASSERT_EQ(draft.allowed.size(), 3U);
  EXPECT_EQ(draft.allowed[2], (std::vector<uint32_t>{6, 0}));
  EXPECT_EQ(rule.allowed()[0], 1U << 5U);  // itself, it stands where it stood
}

TEST(Draft, KeepsToItsRuleItsEndsAndItsCost) {
  const Tokens text = ascending(30);
  PromptLookup lookup(text);
  for (int32_t i = 0; i < 12; ++i) {
    lookup.take(i);
  }
  EXPECT_EQ(make_draft(wish_of(&lookup, nullptr)).tokens, (Tokens{12, 13, 14, 15}));
  Listed rule({{12, 20}, {13, 6}, {20, 21}});
  EXPECT_EQ(make_draft(wish_of(&lookup, &rule)).tokens, (Tokens{12, 13}));
  const Tokens ends = {14};
  EXPECT_EQ(make_draft(wish_of(&lookup, nullptr, ends)).tokens, (Tokens{12, 13}));
  DraftWish dear = wish_of(&lookup, nullptr);
  dear.cost = [](int64_t more) {
    return more > 1 ? std::numeric_limits<double>::infinity() : 1.05;
  };
  EXPECT_EQ(make_draft(dear).tokens, (Tokens{12}));
  dear.cost = [](int64_t more) { return 1 + static_cast<double>(more); };
  EXPECT_TRUE(make_draft(dear).tokens.empty());
}

TEST(Draft, WhatItCostsTheOthersCounts) {
  const Tokens text = ascending(30);
  PromptLookup lookup(text);
  for (int32_t i = 0; i < 12; ++i) {
    lookup.take(i);
  }
  DraftWish wish = wish_of(&lookup, nullptr);
  EXPECT_NEAR(make_draft(wish).cost, 0.4, 1e-9);
  wish.others = 9;  // each waits a tenth longer for a guess, which then gives less than it costs
  EXPECT_TRUE(make_draft(wish).tokens.empty());
  wish.others = 3;
  EXPECT_NEAR(make_draft(wish).cost, 0.4 * static_cast<double>(make_draft(wish).tokens.size()),
              1e-9);
}

TEST(Draft, WhatIsNotSureIsTriedWithinWhatItMayCost) {
  const Tokens text = ascending(30);
  PromptLookup lookup(text);
  for (int32_t i = 0; i < 3; ++i) {
    lookup.take(i);
  }
  lookup.take(3);
  ASSERT_TRUE(lookup.guess({}));
  ASSERT_LT(lookup.guess({})->chance, 0.75);
  DraftWish wish = wish_of(&lookup, nullptr);
  wish.may_cost = 0.15;
  EXPECT_EQ(make_draft(wish).tokens, (Tokens{4}));
  wish.may_cost = 0.05;
  EXPECT_TRUE(make_draft(wish).tokens.empty());
  for (int32_t i = 4; i < 20; ++i) {
    lookup.take(i);
  }
  EXPECT_EQ(make_draft(wish).tokens, (Tokens{20, 21, 22, 23})) << "what repeats is sure";
}

GenerationQueue::Limits limits_of(int64_t guesses) {
  GenerationQueue::Limits limits;
  limits.guesses = guesses;
  limits.guesses_beside_others = 100;
  return limits;
}

struct Written {
  Tokens tokens;
  Generated result;

  bool operator==(const Written& other) const {
    return tokens == other.tokens && result.end == other.result.end &&
           result.end_token == other.result.end_token && result.tokens == other.result.tokens;
  }
};

Written write(GenerationQueue& queue, GenerationTask task) {
  Written written;
  task.on_token = [&written](const ChosenToken& chosen) {
    written.tokens.push_back(chosen.token);
    return true;
  };
  auto result = queue.write(std::move(task), {});
  EXPECT_TRUE(result);
  if (result) {
    written.result = *result;
  }
  return written;
}

// Tasks of every kind: greedy and drawn, with penalties, rules, ends and lengths.
GenerationTask task_of(int number, int64_t vocabulary) {
  GenerationTask task;
  for (int32_t i = 0; i < 9; ++i) {
    task.prompt.push_back((i * 5 + number) % 11);
  }
  GenerationOptions& options = task.options;
  options.seed = static_cast<uint64_t>(number);
  options.most_tokens = 60 + number % 5;
  options.sampling.temperature = number % 2 == 0 ? 0.0F : 0.7F;
  options.sampling.repetition_penalty = number % 3 == 0 ? 1.3F : 1.0F;
  options.sampling.presence_penalty = number % 5 == 0 ? 0.4F : 0.0F;
  options.remembered = 64;
  if (number % 4 == 1) {
    options.ends = {5};
  }
  if (number % 7 == 3) {
    class Some final : public TokenRule {
     public:
      explicit Some(int64_t vocabulary)
          : bits_(static_cast<size_t>((vocabulary + 31) / 32), 0x5AD7AD6BU) {
        bits_.back() = 1;
      }

      std::span<const uint32_t> allowed() override { return bits_; }

      // What may come depends on what came.
      void take(int32_t token) override { bits_[0] = std::rotl(bits_[0], token % 5); }

      [[nodiscard]] std::unique_ptr<TokenRule> copy() const override {
        return std::unique_ptr<TokenRule>(new Some(*this));
      }

     private:
      Some(const Some&) = default;

      std::vector<uint32_t> bits_;
    };

    options.rule = std::make_shared<Some>(vocabulary);
  }
  return task;
}

// Each of many texts, alone and beside others.
void expect_same_text(const std::shared_ptr<const LanguageModel>& model, int texts) {
  const int64_t vocabulary = model->facts().vocabulary;
  GenerationQueue plain(model, limits_of(0));
  GenerationQueue guessing(model, limits_of(6));
  std::vector<Written> wanted;
  int64_t right = 0;
  for (int i = 0; i < texts; ++i) {
    wanted.push_back(write(plain, task_of(i, vocabulary)));
    const Written alone = write(guessing, task_of(i, vocabulary));
    EXPECT_EQ(alone, wanted.back()) << i;
    right += alone.result.guessed_right;
    EXPECT_EQ(wanted.back().result.guessed, 0);
  }
  EXPECT_GT(right, texts);
  std::vector<Written> beside(wanted.size());
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<size_t>(texts));
    for (int i = 0; i < texts; ++i) {
      threads.emplace_back(
          [&, i] { beside[static_cast<size_t>(i)] = write(guessing, task_of(i, vocabulary)); });
    }
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(beside[i], wanted[i]) << i;
  }
}

TEST(Guesses, TheTextIsTheSameWithThem) {
  expect_same_text(std::make_shared<FakeLanguage>(4096, true), 40);
}

TEST(Guesses, UpToTheEndOfTheContext) {
  const auto model = std::make_shared<FakeLanguage>(70, true);
  GenerationQueue plain(model, limits_of(0));
  GenerationQueue guessing(model, limits_of(6));
  GenerationTask task = task_of(2, FakeLanguage::kVocabulary);
  task.options.most_tokens = 0;
  const Written wanted = write(plain, task);
  EXPECT_EQ(wanted.result.end, TextEnd::NoContext);
  EXPECT_EQ(write(guessing, task), wanted);
}

TEST(Guesses, ATextThatRepeatsItselfTakesFewerSteps) {
  const auto model = std::make_shared<FakeLanguage>(4096, true);
  GenerationQueue guessing(model, limits_of(6));
  GenerationTask task = task_of(2, FakeLanguage::kVocabulary);
  task.options.most_tokens = 400;
  const Written written = write(guessing, std::move(task));
  EXPECT_EQ(written.result.tokens, 400);
  // How many are guessed is by what steps take here: some hundreds, fewer beside other work.
  EXPECT_EQ(model->steps(), 400 - written.result.guessed_right);
  EXPECT_GT(written.result.guessed_right, 20);
}

// What was kept of a text is what was written of it, and no guess.
TEST(Guesses, ASecondTurnGoesOnWithTheText) {
  const auto model = std::make_shared<FakeLanguage>(4096, true);
  GenerationQueue plain(model, limits_of(0));
  GenerationQueue guessing(model, limits_of(6));
  for (int64_t length = 30; length < 60; ++length) {
    GenerationTask task = task_of(2, FakeLanguage::kVocabulary);
    task.options.most_tokens = length;
    task.owner = "me" + std::to_string(length);
    const Written first = write(guessing, task);
    task.prompt.insert(task.prompt.end(), first.tokens.begin(), first.tokens.end());
    task.prompt.push_back(3);
    const Written second = write(guessing, task);
    EXPECT_GE(second.result.cached_tokens, std::ssize(task.prompt) - 9);
    EXPECT_EQ(second, write(plain, task)) << length;
  }
}

TEST(Guesses, AModelThatCannotGoBackIsAskedForOneToken) {
  class Onward final : public LanguageModel {
   public:
    Onward() : facts_(model_.facts()) { facts_.rewinds = 0; }

    [[nodiscard]] const LanguageFacts& facts() const override { return facts_; }

    [[nodiscard]] std::unique_ptr<Session> session() const override { return model_.session(); }

    [[nodiscard]] int64_t steps() const { return model_.steps(); }

   private:
    FakeLanguage model_{4096, true};
    LanguageFacts facts_;
  };

  const auto model = std::make_shared<Onward>();
  GenerationQueue queue(model, limits_of(6));
  const Written written = write(queue, task_of(2, FakeLanguage::kVocabulary));
  EXPECT_EQ(written.result.guessed, 0);
  EXPECT_EQ(model->steps(), written.result.tokens);
}

// Bit for bit, where a device computes several rows of a text at once.
void expect_same_text_on(Backend& backend) {
  for (const char* const name : {"llama", "gemma3", "qwen3"}) {
    const auto model = load_language_model(
        std::string(MYNAH_SOURCE_DIR) + "/tests/models/llama/golden/" + name + ".gguf", {},
        backend);
    ASSERT_TRUE(model) << model.error().message;
    SCOPED_TRACE(name);
    expect_same_text(*model, 8);
  }
}

TEST(Guesses, TheTextIsTheSameOnTheReference) {
  const auto backend = make_ref_backend();
  expect_same_text_on(*backend);
}

TEST(Guesses, TheTextIsTheSameOnTheProcessor) {
  ThreadPool pool(2);
  const auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend);
  expect_same_text_on(**backend);
}

}  // namespace
}  // namespace mynah
