// Replies that are written side by side: each as if it were alone, nothing read twice within an
// owner, nothing shared across owners.
#include "chat/generation_queue.h"

#include <atomic>
#include <future>
#include <latch>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "chat/fake_language.h"
#include "chat/fake_tasks.h"

namespace mynah {
namespace {

using test::FakeLanguage;
using test::prompt_of;
using test::task_of;
using test::telling;

TEST(GenerationQueue, WritesWhatFollows) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  std::vector<int32_t> written;
  const auto prompt = prompt_of(1, 20);
  const auto done = queue.write(telling(task_of(prompt, 30), written), {});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(written, FakeLanguage::continued(prompt, 30));
  EXPECT_EQ(done->end, TextEnd::Length);
  EXPECT_EQ(done->tokens, 30);
  EXPECT_EQ(done->prompt_tokens, 20);
  EXPECT_EQ(done->cached_tokens, 0);
}

TEST(GenerationQueue, ATokenMayEndIt) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  const auto prompt = prompt_of(2, 5);
  const auto follows = FakeLanguage::continued(prompt, 10);
  GenerationTask task = task_of(prompt, 10);
  task.options.ends = {follows[4]};
  std::vector<int32_t> written;
  const auto done = queue.write(telling(std::move(task), written), {});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->end, TextEnd::Token);
  EXPECT_EQ(done->end_token, follows[4]);
  EXPECT_EQ(written, std::vector(follows.begin(), follows.begin() + 4));
}

TEST(GenerationQueue, WhoAskedMayHaveEnough) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  GenerationTask task = task_of(prompt_of(3, 5), 0);
  int count = 0;
  task.on_token = [&count](const ChosenToken& /*chosen*/) { return ++count < 7; };
  const auto done = queue.write(std::move(task), {});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->end, TextEnd::Enough);
  EXPECT_EQ(done->tokens, 7);
}

TEST(GenerationQueue, EndsWhereTheContextDoes) {
  GenerationQueue queue(std::make_shared<FakeLanguage>(64));
  const auto done = queue.write(task_of(prompt_of(4, 60), 0), {});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->end, TextEnd::NoContext);
  EXPECT_EQ(done->tokens, 4);
  const auto refused = queue.write(task_of(prompt_of(4, 64), 0), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
  EXPECT_NE(refused.error().message.find("64 tokens and the context 64"), std::string::npos);
}

TEST(GenerationQueue, RefusesTokensThatTheModelHasNot) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  EXPECT_FALSE(queue.write(task_of({}, 1), {}));
  EXPECT_FALSE(queue.write(task_of({1, 1000}, 1), {}));
  EXPECT_FALSE(queue.write(task_of({-1}, 1), {}));
}

// Many at once, each with its own text whoever writes beside it, also where prompts are cut.
TEST(GenerationQueue, EachAsIfAlone) {
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue queue(model, {.side_by_side = 8,
                                .waiting = 100,
                                .kept_tokens = 1 << 20,
                                .prompt_piece = 32,
                                .piece_beside_others = 8,
                                .cuts = 8});
  constexpr size_t kTexts = 24;
  std::vector<std::vector<int32_t>> written(kTexts);
  std::vector<std::jthread> threads;
  threads.reserve(kTexts);
  for (size_t i = 0; i < kTexts; ++i) {
    threads.emplace_back([&, i] {
      const auto prompt = prompt_of(static_cast<uint32_t>(i), 3 + 13 * i);
      const auto done = queue.write(
          telling(task_of(prompt, 20, i % 3 == 0 ? "" : "owner" + std::to_string(i % 3)),
                  written[i]),
          {});
      EXPECT_TRUE(done);
    });
  }
  threads.clear();
  for (size_t i = 0; i < kTexts; ++i) {
    EXPECT_EQ(written[i],
              FakeLanguage::continued(prompt_of(static_cast<uint32_t>(i), 3 + 13 * i), 20))
        << i;
  }
  EXPECT_LE(model->most_together(), 8U);
}

TEST(GenerationQueue, ASecondTurnReadsWhatIsNewAlone) {
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue queue(model);
  auto conversation = prompt_of(5, 200);
  std::vector<int32_t> written;
  ASSERT_TRUE(queue.write(telling(task_of(conversation, 10, "me"), written), {}));
  conversation.insert(conversation.end(), written.begin(), written.end());
  const auto question = prompt_of(6, 12);
  conversation.insert(conversation.end(), question.begin(), question.end());
  const int64_t before = model->read();
  written.clear();
  const auto done = queue.write(telling(task_of(conversation, 5, "me"), written), {});
  ASSERT_TRUE(done);
  EXPECT_EQ(written, FakeLanguage::continued(conversation, 5));
  EXPECT_EQ(done->cached_tokens, 209);  // the last one that was written was never read
  EXPECT_EQ(model->read() - before, 222 - 209 + 4);
}

// A text that goes its own way in the middle shares what stands before, and leaves the other whole.
TEST(GenerationQueue, BranchesShareTheirBeginning) {
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue queue(model);
  const auto system = prompt_of(7, 100);
  for (uint32_t i = 0; i < 5; ++i) {
    auto prompt = system;
    const auto own = prompt_of(100 + i, 20);
    prompt.insert(prompt.end(), own.begin(), own.end());
    std::vector<int32_t> written;
    const auto done = queue.write(telling(task_of(prompt, 6, "me"), written), {});
    ASSERT_TRUE(done);
    EXPECT_EQ(written, FakeLanguage::continued(prompt, 6));
    EXPECT_EQ(done->cached_tokens, i == 0 ? 0 : 100);
  }
}

// What is asked of a model whose texts do not rewind, on which FakeLanguage insists.
class NoRewinding : public testing::Test {
 protected:
  // What was not read of the prompt again; what is written behind it must be right.
  int64_t cached(const std::vector<int32_t>& prompt, std::vector<int64_t> forks = {},
                 int64_t tokens = 5) {
    std::vector<int32_t> written;
    GenerationTask task = task_of(prompt, tokens, "a");
    task.forks = std::move(forks);
    const auto done = queue_.write(telling(std::move(task), written), {});
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_EQ(written, FakeLanguage::continued(prompt, tokens));
    return done ? done->cached_tokens : -1;
  }

  // Another prompt that begins with the first of these tokens.
  static std::vector<int32_t> branch(std::vector<int32_t> prompt, size_t shared, uint32_t seed) {
    prompt.resize(shared);
    const auto more = prompt_of(seed, 10);
    prompt.insert(prompt.end(), more.begin(), more.end());
    return prompt;
  }

  static GenerationQueue::Limits limits() {
    GenerationQueue::Limits limits;
    limits.prompt_piece = 16;
    limits.cuts = 1;
    limits.kept_state_bytes = 0;  // four texts
    return limits;
  }

  std::shared_ptr<FakeLanguage> model_ = std::make_shared<FakeLanguage>(4096, false, 0);
  GenerationQueue queue_{model_, limits()};
};

TEST_F(NoRewinding, ASecondTurnGoesOnBehindTheFirst) {
  auto talk = prompt_of(5, 40);
  EXPECT_EQ(cached(talk), 0);
  const auto said = FakeLanguage::continued(talk, 5);
  talk.insert(talk.end(), said.begin(), said.end());
  EXPECT_EQ(cached(branch(talk, talk.size(), 6)), 44) << "the last token of it was never read";
}

TEST_F(NoRewinding, ABranchBeginsWhereThePromptWasKept) {
  const auto first = prompt_of(5, 40);
  EXPECT_EQ(cached(first, {36}), 0);
  EXPECT_EQ(cached(branch(first, 38, 6), {36}), 36);
  EXPECT_EQ(cached(branch(first, 37, 7)), 36) << "it is still there";
  EXPECT_EQ(cached(first), 38) << "what it had in common with the second";
  EXPECT_EQ(cached(branch(first, 35, 8)), 0) << "nothing is known of its middle";
}

TEST(GenerationQueue, WhatIsKeptOfAPromptEndsWhereItMayBeCut) {
  const auto model = std::make_shared<FakeLanguage>(4096, false, 0);
  GenerationQueue queue(model);
  const auto prompt = prompt_of(5, 200);
  GenerationTask first = task_of(prompt, 5, "a");
  first.forks = {10, 150, 195};
  ASSERT_TRUE(queue.write(std::move(first), {}));
  auto branch = prompt;
  branch.resize(160);
  branch.push_back(3);
  EXPECT_EQ(queue.write(task_of(branch, 5, "a"), {})->cached_tokens, 128);
  EXPECT_EQ(queue.write(task_of(prompt, 5, "a"), {})->cached_tokens, 192);
}

TEST_F(NoRewinding, WhatTwoPromptsBeganWithIsKeptForAThird) {
  const auto first = prompt_of(5, 40);
  EXPECT_EQ(cached(first), 0);
  EXPECT_EQ(cached(branch(first, 20, 6)), 0);
  EXPECT_EQ(cached(branch(first, 20, 7)), 20);
}

TEST_F(NoRewinding, TextsWithStatesAreFew) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    EXPECT_EQ(cached(prompt_of(seed, 40), {36}), 0);
  }
  EXPECT_LE(model_->texts(), 4U + 2U) << "and the one that is written, with its own";
  EXPECT_EQ(cached(branch(prompt_of(12, 40), 38, 20)), 36);
}

TEST(GenerationQueue, WhatIsKeptIsBounded) {
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue queue(model, {.side_by_side = 4,
                                .waiting = 10,
                                .kept_tokens = 1000,
                                .prompt_piece = 512,
                                .piece_beside_others = 64});
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(queue.write(task_of(prompt_of(i, 300), 2, "me"), {}));
    EXPECT_LE(queue.load().kept_tokens, 1000);
  }
  EXPECT_LE(model->texts(), 5U);
  // The one of last is there still, the first one is not.
  EXPECT_EQ(queue.write(task_of(prompt_of(19, 300), 1, "me"), {})->cached_tokens,
            300 - kPromptRows);
  EXPECT_EQ(queue.write(task_of(prompt_of(0, 300), 1, "me"), {})->cached_tokens, 0);
}

TEST(GenerationQueue, AStopEndsOneTextAlone) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  std::stop_source stop;
  std::latch begun(1);
  GenerationTask endless = task_of(prompt_of(9, 50), 0, "me");
  std::atomic_flag told;
  endless.on_token = [&](const ChosenToken& /*chosen*/) {
    if (!told.test_and_set()) {
      begun.count_down();
    }
    return true;
  };
  auto stopped = std::async(std::launch::async,
                            [&] { return queue.write(std::move(endless), stop.get_token()); });
  begun.wait();
  const auto prompt = prompt_of(10, 40);
  std::vector<int32_t> written;
  auto other = std::async(std::launch::async, [&] {
    return queue.write(telling(task_of(prompt, 50, "you"), written), {});
  });
  stop.request_stop();
  const auto done = stopped.get();
  // The context may have ended before the stop was seen.
  EXPECT_TRUE(done ? done->end == TextEnd::NoContext : done.error().code == ErrorCode::Cancelled);
  ASSERT_TRUE(other.get());
  EXPECT_EQ(written, FakeLanguage::continued(prompt, 50));
  EXPECT_EQ(queue.load().writing, 0U);
}

TEST(GenerationQueue, WhatIsStoppedBeforeItBeginsIsToldSo) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  std::stop_source stop;
  stop.request_stop();
  const auto done = queue.write(task_of(prompt_of(11, 10), 5), stop.get_token());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::Cancelled);
}

TEST(GenerationQueue, ADeviceThatFailsEndsWhatIsUnderWayAndNothingElse) {
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue queue(model);
  const auto prompt = prompt_of(12, 100);
  ASSERT_TRUE(queue.write(task_of(prompt, 3, "me"), {}));
  model->fail_step(2);
  const auto failed = queue.write(task_of(prompt, 5, "me"), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Device);
  std::vector<int32_t> written;
  const auto done = queue.write(telling(task_of(prompt, 5, "me"), written), {});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(written, FakeLanguage::continued(prompt, 5));
  EXPECT_EQ(done->cached_tokens, 0);  // nothing is known of what was there
}

// A rule is asked before each token and told of it.
TEST(GenerationQueue, ARuleHasTheLastWord) {
  class Even final : public TokenRule {
   public:
    std::span<const uint32_t> allowed() override {
      bits_.assign((FakeLanguage::kVocabulary + 31) / 32, 0x55555555U);
      return bits_;
    }

    void take(int32_t token) override { taken.push_back(token); }

    [[nodiscard]] std::unique_ptr<TokenRule> copy() const override {
      return std::make_unique<Even>();
    }

    std::vector<int32_t> taken;

   private:
    std::vector<uint32_t> bits_;
  };

  GenerationQueue queue(std::make_shared<FakeLanguage>());
  GenerationTask task = task_of(prompt_of(13, 10), 40);
  const auto rule = std::make_shared<Even>();
  task.options.rule = rule;
  std::vector<int32_t> written;
  ASSERT_TRUE(queue.write(telling(std::move(task), written), {}));
  EXPECT_EQ(rule->taken, written);
  EXPECT_TRUE(std::ranges::all_of(written, [](int32_t token) { return token % 2 == 0; }));
}

// A prompt is read in pieces between the tokens of others, which wait no longer than for one.
TEST(GenerationQueue, ALongPromptLeavesRoomForOthers) {
  const auto model = std::make_shared<FakeLanguage>(1 << 16);
  GenerationQueue queue(model, {.side_by_side = 4,
                                .waiting = 10,
                                .kept_tokens = 1 << 20,
                                .prompt_piece = 256,
                                .piece_beside_others = 32,
                                .cuts = 32,
                                .guesses = 0});
  std::latch begun(1);
  std::atomic_flag told;
  std::atomic<bool> ends{false};
  GenerationTask endless = task_of(prompt_of(14, 4), 0);
  endless.on_token = [&](const ChosenToken& /*chosen*/) {
    if (!told.test_and_set()) {
      begun.count_down();
    }
    return !ends;
  };
  auto first = std::async(std::launch::async, [&] { return queue.write(std::move(endless), {}); });
  begun.wait();
  const int64_t before = model->longest_step();
  ASSERT_TRUE(queue.write(task_of(prompt_of(15, 2000), 2), {}));
  ends = true;
  ASSERT_TRUE(first.get());
  EXPECT_LE(std::max(before, model->longest_step()), 33);
}

// A prompt that differs early from one before, as by the time, and is the same behind that.
TEST(GenerationQueue, SaysWhereAPromptChangedEarly) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  auto prompt = prompt_of(20, 600);
  ASSERT_FALSE(queue.write(task_of(prompt, 2, "me"), {})->change);
  prompt[30] = 7;
  prompt.insert(prompt.begin() + 31, 8);
  EXPECT_FALSE(queue.write(task_of(prompt, 2, "another"), {})->change);
  const auto changed = queue.write(task_of(prompt, 2, "me"), {});
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->cached_tokens, 30);
  ASSERT_TRUE(changed->change);
  EXPECT_EQ(changed->change->position, 30);
  EXPECT_EQ(changed->change->alike_behind, 569);
  EXPECT_EQ(changed->change->now[3], 7);
  // What follows, and what differs late, is no such change.
  EXPECT_FALSE(queue.write(task_of(prompt, 2, "me"), {})->change);
  prompt[500] = 9;
  EXPECT_FALSE(queue.write(task_of(prompt, 2, "me"), {})->change);
}

// What a next turn begins with is read while nothing else is to be done.
TEST(GenerationQueue, ReadsAheadWhatIsForeseen) {
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue queue(model);
  auto beginning = prompt_of(21, 700);
  queue.foresee("me", "", [&] { return beginning; });
  ASSERT_TRUE(queue.write(task_of(prompt_of(22, 5), 1, "you"), {}));
  while (queue.load().kept_tokens < 700) {
    std::this_thread::yield();
  }
  auto next = beginning;
  next.resize(700 + kPromptRows, 3);
  std::vector<int32_t> written;
  const auto done = queue.write(telling(task_of(next, 4, "me"), written), {});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->cached_tokens, 700);
  EXPECT_EQ(written, FakeLanguage::continued(next, 4));
  EXPECT_EQ(queue.write(task_of(next, 1, "you"), {})->cached_tokens, 0);
  // What cannot be read is not; whatever is left when the queue goes is not read either.
  queue.foresee("me", "", [] { return std::vector<int32_t>(); });
  queue.foresee("you", "", [&] { return prompt_of(23, 3000); });
}

TEST(GenerationQueue, TooManyAreRefused) {
  GenerationQueue queue(std::make_shared<FakeLanguage>(1 << 20), {.side_by_side = 1,
                                                                  .waiting = 1,
                                                                  .kept_tokens = 0,
                                                                  .prompt_piece = 64,
                                                                  .piece_beside_others = 64});
  std::atomic<bool> ends{false};
  std::latch begun(1);
  std::atomic_flag told;
  GenerationTask endless = task_of(prompt_of(16, 4), 0);
  endless.on_token = [&](const ChosenToken& /*chosen*/) {
    if (!told.test_and_set()) {
      begun.count_down();
    }
    return !ends;
  };
  auto first = std::async(std::launch::async, [&] { return queue.write(std::move(endless), {}); });
  begun.wait();
  std::promise<void> second;
  ASSERT_TRUE(queue.submit(task_of(prompt_of(17, 4), 1), {},
                           [&](const Result<Generated>& /*result*/) { second.set_value(); }));
  const auto refused = queue.write(task_of(prompt_of(18, 4), 1), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Busy);
  ends = true;
  EXPECT_TRUE(first.get());
  second.get_future().wait();
}

}  // namespace
}  // namespace mynah
