// Texts of one owner that are asked for at the same time: each as if it were alone, and what they
// begin alike with is read by the first of them.
#include <algorithm>
#include <deque>
#include <future>
#include <latch>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chat/fake_language.h"
#include "chat/fake_tasks.h"
#include "chat/generation_queue.h"

namespace mynah {
namespace {

using test::FakeLanguage;
using test::prompt_of;
using test::task_of;

// A text that was asked for, and what came of it.
struct AskedText {
  std::vector<int32_t> written;
  std::stop_source stop;
  std::promise<Result<Generated>> promise;
  std::future<Result<Generated>> done = promise.get_future();
};

void ask(GenerationQueue& queue, GenerationTask task, AskedText& text) {
  const auto also = std::move(task.on_token);
  task.on_token = [&text, also](const ChosenToken& chosen) {
    text.written.push_back(chosen.token);
    return also == nullptr || also(chosen);
  };
  ASSERT_TRUE(queue.submit(std::move(task), text.stop.get_token(), [&text](Result<Generated> end) {
    text.promise.set_value(std::move(end));
  }));
}

GenerationQueue::Limits without_guesses() {
  GenerationQueue::Limits limits;
  limits.guesses = 0;
  return limits;
}

// One of several texts behind a prompt, by its number.
GenerationTask choice_of(const std::vector<int32_t>& prompt, uint64_t number, int64_t tokens) {
  GenerationTask task = task_of(prompt, tokens, "me");
  task.options.seed = 7 + number;
  task.options.sampling.temperature = 1;
  task.options.sampling.presence_penalty = 1;
  return task;
}

constexpr uint64_t kChoices = 8;

TEST(SideBySide, TextsOfOnePromptAreThoseOfEachAloneAndReadItOnce) {
  constexpr int64_t kTokens = 30;
  const auto prompt = prompt_of(1, 300);
  const auto model = std::make_shared<FakeLanguage>(4096, true);
  GenerationQueue queue(model, without_guesses());
  std::deque<AskedText> texts(kChoices);
  for (uint64_t i = 0; i < kChoices; ++i) {
    ask(queue, choice_of(prompt, i, kTokens), texts[i]);
  }
  for (uint64_t i = 0; i < kChoices; ++i) {
    const auto done = texts[i].done.get();
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->cached_tokens, i == 0 ? 0 : 300 - kPromptRows);
  }
  for (uint64_t i = 0; i < kChoices; ++i) {
    GenerationQueue alone(std::make_shared<FakeLanguage>(4096, true), without_guesses());
    AskedText one;
    ask(alone, choice_of(prompt, i, kTokens), one);
    ASSERT_TRUE(one.done.get());
    EXPECT_EQ(texts[i].written, one.written) << i;
    EXPECT_EQ(std::ranges::count_if(
                  texts, [&](const AskedText& other) { return other.written == one.written; }),
              1)
        << "its seed is its own";
  }
  EXPECT_EQ(model->read(), 300 + 7 * kPromptRows + 8 * (kTokens - 1));
}

// What is read is read by one of them, though the others ask in the middle of it.
TEST(SideBySide, PromptsThatBeginAlikeReadThatOnce) {
  const auto system = prompt_of(2, 400);
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue::Limits limits = without_guesses();
  limits.prompt_piece = 64;
  GenerationQueue queue(model, limits);
  std::deque<AskedText> texts(kChoices);
  std::vector<std::vector<int32_t>> prompts;
  for (uint32_t i = 0; i < kChoices; ++i) {
    prompts.push_back(system);
    const auto own = prompt_of(100 + i, 20);
    prompts.back().insert(prompts.back().end(), own.begin(), own.end());
    ask(queue, task_of(prompts.back(), 5, "me"), texts[i]);
  }
  for (size_t i = 0; i < kChoices; ++i) {
    ASSERT_TRUE(texts[i].done.get());
    EXPECT_EQ(texts[i].written, FakeLanguage::continued(prompts[i], 5)) << i;
  }
  EXPECT_EQ(model->read(), 400 + 8 * 20 + 8 * 4);
}

TEST(SideBySide, OwnersShareNothing) {
  const auto prompt = prompt_of(3, 300);
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue queue(model, without_guesses());
  std::deque<AskedText> texts(3);
  ask(queue, task_of(prompt, 1, "one"), texts[0]);
  ask(queue, task_of(prompt, 1, "two"), texts[1]);
  ask(queue, task_of(prompt, 1), texts[2]);
  for (AskedText& text : texts) {
    EXPECT_EQ(text.done.get()->cached_tokens, 0);
  }
  EXPECT_EQ(model->read(), 3 * 300);
}

// Of a model whose texts do not rewind, what was read is there where it was kept.
TEST(SideBySide, TextsThatDoNotRewindBeginWhereThePromptMayBeCut) {
  const auto prompt = prompt_of(4, 200);
  const auto model = std::make_shared<FakeLanguage>(4096, false, false);
  GenerationQueue queue(model);
  std::deque<AskedText> texts(4);
  for (AskedText& text : texts) {
    GenerationTask task = task_of(prompt, 5, "me");
    task.forks = {200};
    ask(queue, std::move(task), text);
  }
  for (AskedText& text : texts) {
    const auto done = text.done.get();
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->cached_tokens, &text == &texts.front() ? 0 : 192);
    EXPECT_EQ(text.written, FakeLanguage::continued(prompt, 5));
  }
}

// What they share takes room once: they are written together where the prompt has room alone, and
// what others left there stays.
TEST(SideBySide, TakeTheRoomOfTheirPromptOnce) {
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue::Limits limits = without_guesses();
  limits.kept_tokens = 2400;
  GenerationQueue queue(model, limits);
  const auto others = prompt_of(5, 400);
  ASSERT_TRUE(queue.write(task_of(others, 2, "you"), {}));
  const auto prompt = prompt_of(6, 800);
  std::deque<AskedText> texts(kChoices);
  std::latch all_ask(1);
  for (uint64_t i = 0; i < kChoices; ++i) {
    GenerationTask task = task_of(prompt, 10, "me");
    if (i == 0) {
      task.on_token = [&all_ask](const ChosenToken& /*chosen*/) {
        all_ask.wait();
        return true;
      };
    }
    ask(queue, std::move(task), texts[i]);
  }
  all_ask.count_down();
  for (AskedText& text : texts) {
    ASSERT_TRUE(text.done.get());
  }
  EXPECT_EQ(model->most_together(), kChoices);
  EXPECT_EQ(queue.write(task_of(others, 2, "you"), {})->cached_tokens, 400 - kPromptRows);
  EXPECT_LE(queue.load().kept_tokens, 401 + 809 + 7 * (kPromptRows + 9) + kPromptRows + 1);
}

// Prompts that begin alike at any place, of three owners, of which some are stopped whenever it
// happens to be: each that is written to its end is what it is alone.
TEST(SideBySide, WhoeverComesAndGoes) {
  constexpr size_t kTexts = 60;
  const auto model = std::make_shared<FakeLanguage>();
  GenerationQueue queue(model, {.side_by_side = 8,
                                .waiting = 100,
                                .kept_tokens = 2000,
                                .prompt_piece = 32,
                                .piece_beside_others = 16,
                                .cuts = 8});
  const auto common = prompt_of(7, 300);
  std::mt19937 random(8);
  std::deque<AskedText> texts(kTexts);
  std::vector<std::vector<int32_t>> prompts;
  for (uint32_t i = 0; i < kTexts; ++i) {
    std::vector<int32_t> prompt(common.begin(),
                                common.begin() + static_cast<ptrdiff_t>(random() % 300));
    const auto own = prompt_of(1000 + i, 1 + random() % 40);
    prompt.insert(prompt.end(), own.begin(), own.end());
    prompts.push_back(prompt);
    GenerationTask task = task_of(std::move(prompt), 20, std::string(1, "abc"[i % 3]));
    task.conversation = random() % 2 == 0 ? "one" : "another";
    ask(queue, std::move(task), texts[i]);
    if (i % 7 == 6) {
      texts[i - random() % 6].stop.request_stop();
    }
  }
  for (size_t i = 0; i < kTexts; ++i) {
    const auto done = texts[i].done.get();
    const auto whole = FakeLanguage::continued(prompts[i], 20);
    if (done) {
      EXPECT_EQ(texts[i].written, whole) << i;
    } else {
      EXPECT_EQ(done.error().code, ErrorCode::Cancelled);
      EXPECT_TRUE(texts[i].stop.stop_requested());
      EXPECT_TRUE(
          std::ranges::equal(texts[i].written, std::span(whole).first(texts[i].written.size())))
          << i;
    }
  }
  EXPECT_EQ(queue.load().writing, 0U);
}

TEST(SharedPositions, CountOnceInAnyOrder) {
  struct Text {
    uint64_t number;
    int64_t length;
    SharedBeginning beginning;
  };

  // The second and the third begin as the first, the fourth as the third.
  std::vector<Text> texts = {{.number = 1, .length = 100, .beginning = {}},
                             {.number = 2, .length = 95, .beginning = {.text = 1, .length = 90}},
                             {.number = 3, .length = 97, .beginning = {.text = 1, .length = 90}},
                             {.number = 4, .length = 99, .beginning = {.text = 3, .length = 95}}};
  const auto total = [&texts] {
    SharedPositions all;
    for (const Text& text : texts) {
      all.add(text.number, text.length, text.beginning);
    }
    return all.total();
  };
  EXPECT_EQ(total(), 100 + 5 + 7 + 4);
  std::ranges::reverse(texts);
  EXPECT_EQ(total(), 100 + 5 + 7 + 4);
  texts.pop_back();  // the first
  EXPECT_EQ(total(), 90 + 5 + 7 + 4) << "what they have of it is there still";
}

}  // namespace
}  // namespace mynah
