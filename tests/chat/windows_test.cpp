// What is asked of models whose layers see windows, and which let go of what is behind them:
// FakeLanguage refuses to go back too far, and a real one says otherwise where something is
// missing.
#include <future>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "chat/fake_language.h"
#include "chat/fake_tasks.h"
#include "chat/golden_language.h"

namespace mynah {
namespace {

using test::FakeLanguage;
using test::prompt_of;
using test::task_of;
using test::telling;

constexpr int64_t kBack = 20;
constexpr int64_t kSees = 40;

std::shared_ptr<FakeLanguage> model_with_windows(bool repeats = false) {
  return std::make_shared<FakeLanguage>(1 << 14, repeats, kBack, kSees);
}

GenerationQueue::Limits limits() {
  GenerationQueue::Limits limits;
  limits.prompt_piece = 64;
  limits.cuts = 8;
  return limits;
}

struct Written {
  std::vector<int32_t> tokens;
  Generated result;
};

Written write(GenerationQueue& queue, GenerationTask task) {
  Written written;
  const auto done = queue.write(telling(std::move(task), written.tokens), {});
  EXPECT_TRUE(done) << done.error().message;
  if (done) {
    written.result = *done;
  }
  return written;
}

void append(std::vector<int32_t>& tokens, const std::vector<int32_t>& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

TEST(Windows, OfAConversationNothingIsReadTwice) {
  const auto model = model_with_windows();
  GenerationQueue queue(model, limits());
  std::vector<int32_t> talk;
  int64_t known = 0;
  for (uint32_t turn = 0; talk.size() < 5000; ++turn) {
    append(talk, prompt_of(turn, 30 + turn % 7 * 20));
    GenerationTask task = task_of(talk, 60, "me");
    task.forks = {std::ssize(talk) - 3};
    const Written written = write(queue, std::move(task));
    EXPECT_EQ(written.result.cached_tokens, known);
    EXPECT_EQ(written.tokens, FakeLanguage::continued(talk, 60));
    append(talk, written.tokens);
    known = std::ssize(talk) - 1;  // its last token was never read
  }
}

TEST(Windows, AReplyThatIsWrittenOtherwiseIsReadAndNothingBeforeIt) {
  const auto model = model_with_windows();
  GenerationQueue queue(model, limits());
  auto talk = prompt_of(1, 1000);
  for (const int64_t reply : {15, 500}) {
    const auto said = std::ssize(talk) - 3;
    GenerationTask task = task_of(talk, reply, "me");
    task.forks = {said};
    (void)write(queue, std::move(task));
    append(talk, prompt_of(2, 40));
    task = task_of(talk, 10, "me");
    const Written written = write(queue, std::move(task));
    EXPECT_EQ(written.tokens, FakeLanguage::continued(talk, 10));
    EXPECT_GE(written.result.cached_tokens, said - limits().cuts) << "a reply of " << reply;
  }
}

TEST(Windows, WhatTwoPromptsBeganWithIsKeptForAThird) {
  const auto model = model_with_windows();
  GenerationQueue queue(model, limits());
  const auto system = prompt_of(7, 400);
  for (uint32_t i = 0; i < 5; ++i) {
    auto prompt = system;
    append(prompt, prompt_of(100 + i, 200));
    GenerationTask task = task_of(prompt, 6, "me");
    task.conversation = std::to_string(i);
    const Written written = write(queue, std::move(task));
    EXPECT_EQ(written.tokens, FakeLanguage::continued(prompt, 6));
    EXPECT_EQ(written.result.cached_tokens, i < 2 ? 0 : 400) << i;
  }
}

// A text that is completed and names nothing to go back to.
TEST(Windows, ARawTextGoesOnAnotherWayBehindItsPrompt) {
  const auto model = model_with_windows();
  GenerationQueue queue(model, limits());
  auto text = prompt_of(3, 1000);
  (void)write(queue, task_of(text, 500, "me"));
  append(text, prompt_of(4, 30));
  const Written written = write(queue, task_of(text, 10, "me"));
  EXPECT_EQ(written.tokens, FakeLanguage::continued(text, 10));
  EXPECT_GE(written.result.cached_tokens, 1000 - 2 * limits().cuts);
}

// They wait for what another is reading, or fork it while it is written, where it can go back.
TEST(Windows, TextsThatBeginAlikeAreWrittenSideBySide) {
  const auto model = model_with_windows();
  GenerationQueue queue(model, limits());
  std::mt19937 random(5);
  for (uint32_t round = 0; round < 20; ++round) {
    const auto beginning = prompt_of(round, 20 + random() % 600);
    std::vector<std::vector<int32_t>> wanted;
    std::vector<std::future<Written>> all;
    for (uint32_t i = 0; i < 8; ++i) {
      auto prompt = beginning;
      append(prompt, prompt_of(1000 + i, random() % 3 * 40));
      GenerationTask task = task_of(prompt, static_cast<int64_t>(1 + random() % 150), "me");
      if (random() % 2 == 0) {
        task.forks = {std::ssize(beginning)};
      }
      wanted.push_back(FakeLanguage::continued(prompt, task.options.most_tokens));
      all.push_back(std::async(std::launch::async, [&queue, task = std::move(task)]() mutable {
        return write(queue, std::move(task));
      }));
    }
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i].get().tokens, wanted[i]) << round << ", " << i;
    }
  }
}

TEST(Windows, AShortTextGoesBackToAnyPosition) {
  const auto model = model_with_windows();
  GenerationQueue queue(model, limits());
  auto prompt = prompt_of(7, 50);
  (void)write(queue, task_of(prompt, 5, "me"));
  prompt.resize(30);
  append(prompt, prompt_of(8, 20));
  EXPECT_EQ(write(queue, task_of(prompt, 5, "me")).result.cached_tokens, 30);
}

TEST(Windows, OfTextsThatRestSoMuchIsKept) {
  const auto model = model_with_windows();
  GenerationQueue::Limits few = limits();
  few.kept_state_bytes = 0;  // two windows with what is kept behind them
  GenerationQueue queue(model, few);
  for (uint32_t i = 0; i < 12; ++i) {
    EXPECT_EQ(write(queue, task_of(prompt_of(i, 200), 30, "me")).result.cached_tokens, 0);
  }
  EXPECT_LE(model->texts(), 4U) << "two, and those of the one that was written";
  GenerationQueue roomy(model, limits());
  for (uint32_t i = 0; i < 12; ++i) {
    (void)write(roomy, task_of(prompt_of(i, 200), 30, "me"));
  }
  EXPECT_GE(model->texts(), 12U);
}

// Anything that clients do, with guesses and without: conversations that go on, are begun anew, go
// another way and are foreseen.
TEST(Windows, EachTextIsAsIfItWereAlone) {
  for (const bool repeats : {false, true}) {
    const auto model = model_with_windows(repeats);
    GenerationQueue queue(model, limits());
    GenerationQueue::Limits plain_limits = limits();
    plain_limits.guesses = 0;
    GenerationQueue plain(model, plain_limits);
    std::mt19937 random(11);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    std::vector<std::vector<int32_t>> talks(5);
    int64_t guessed = 0;
    for (uint32_t round = 0; round < 250; ++round) {
      const size_t which = below(talks.size());
      std::vector<int32_t>& talk = talks[which];
      const std::string owner = which < 3 ? "a" : "b";
      if (talk.size() > 1500 || (!talk.empty() && below(4) == 0)) {
        talk.resize(below(talk.size()));
      }
      if (talk.empty() && below(2) == 0) {
        talk = talks[0];  // which others began alike
      }
      append(talk, prompt_of(round, 1 + below(2) * below(150)));
      GenerationTask task = task_of(talk, static_cast<int64_t>(1 + below(80)), owner);
      task.conversation = std::to_string(which);
      if (below(2) == 0) {
        task.forks = {static_cast<int64_t>(below(talk.size()))};
      }
      const Written written = write(queue, task);
      guessed += written.result.guessed_right;
      task.owner = "";
      ASSERT_EQ(written.tokens, write(plain, task).tokens) << round;
      append(talk, written.tokens);
      if (below(3) == 0) {
        auto next = talk;
        next.resize(talk.size() - below(talk.size() / 2));
        append(next, prompt_of(round + 1000, 12));
        queue.foresee(owner, std::to_string(which), [next] { return next; });
      }
    }
    EXPECT_EQ(guessed > 100, repeats);
  }
}

// Where every number is computed alike, whoever is beside it: a conversation that passes the window
// many times says what one says that is read anew for each turn.
TEST(Windows, TurnsOfAModelSayWhatTheWholeTextSays) {
  const auto backend = make_ref_backend();
  for (const char* const name : {"gemma3", "gpt-oss_mxfp4"}) {
    SCOPED_TRACE(name);
    const auto loaded = load_language_model(test::write_golden_language(name, 2048), {}, *backend);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const LanguageFacts& facts = (*loaded)->facts();
    ASSERT_EQ(facts.context, 2048);
    ASSERT_GT(facts.window, 0);
    ASSERT_LT(facts.window + facts.rewinds, 500);
    EXPECT_GT(facts.window_bytes, 0U);
    GenerationQueue queue(*loaded);
    GenerationQueue alone(*loaded);
    std::vector<int32_t> talk;
    for (int32_t turn = 0; turn < 6; ++turn) {
      for (int32_t i = 0; i < 170; ++i) {
        talk.push_back((i * i + turn * 31 + i * 5) % static_cast<int32_t>(facts.vocabulary));
      }
      GenerationTask task = task_of(talk, 20, "me");
      task.forks = {std::ssize(talk) - 3};
      task.options.alternatives = 0;
      const Written written = write(queue, task);
      EXPECT_EQ(written.result.cached_tokens, turn == 0 ? 0 : std::ssize(talk) - 171);
      task.owner = "";
      EXPECT_EQ(written.tokens, write(alone, task).tokens) << turn;
      append(talk, written.tokens);
    }
  }
}

}  // namespace
}  // namespace mynah
