// Whose texts a queue writes: what they share, and how they take turns.
#include <algorithm>
#include <latch>
#include <map>
#include <mutex>
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
using test::telling;

TEST(Owners, ShareNothing) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  const auto prompt = prompt_of(8, 300);
  ASSERT_TRUE(queue.write(task_of(prompt, 4, "one"), {}));
  EXPECT_EQ(queue.write(task_of(prompt, 4, "two"), {})->cached_tokens, 0);
  EXPECT_EQ(queue.write(task_of(prompt, 4), {})->cached_tokens, 0);
  EXPECT_EQ(queue.write(task_of(prompt, 4, "one"), {})->cached_tokens, 300 - kPromptRows);
  queue.forget("one");
  EXPECT_EQ(queue.write(task_of(prompt, 4, "one"), {})->cached_tokens, 0);
}

// What two conversations of an owner begin with is read once, and each goes on with its own.
TEST(Owners, HaveConversationsThatShareTheirBeginning) {
  GenerationQueue queue(std::make_shared<FakeLanguage>());
  const auto add = [](std::vector<int32_t>& talk, const std::vector<int32_t>& more) {
    talk.insert(talk.end(), more.begin(), more.end());
  };
  std::map<std::string, std::vector<int32_t>> talks;
  for (const char* name : {"one", "two"}) {
    talks[name] = prompt_of(30, 100);
    add(talks[name], prompt_of(static_cast<uint32_t>(talks.size()), 20));
  }
  const auto cached = [&](const std::string& name) {
    std::vector<int32_t>& talk = talks[name];
    std::vector<int32_t> written;
    GenerationTask task = task_of(talk, 9, "me");
    task.conversation = name;
    const auto done = queue.write(telling(std::move(task), written), {});
    EXPECT_TRUE(done);
    EXPECT_EQ(written, FakeLanguage::continued(talk, 9));
    add(talk, written);
    add(talk, prompt_of(31, 12));
    return done ? done->cached_tokens : -1;
  };
  EXPECT_EQ(cached("one"), 0);
  EXPECT_EQ(cached("two"), 100);
  EXPECT_EQ(cached("one"), 128) << "its own is whole: but for the last token all was read";
  EXPECT_EQ(cached("two"), 128);
  // Who begins as another conversation goes on leaves it as it was.
  talks["three"] = talks["one"];
  EXPECT_EQ(cached("three"), 149);
  EXPECT_EQ(cached("one"), 162 - kPromptRows);
}

// One who asks for many texts at once leaves another his turns, and none of his own places.
TEST(Owners, TakeTurnsForPlaces) {
  GenerationQueue queue(std::make_shared<FakeLanguage>(), {.side_by_side = 2,
                                                           .waiting = 100,
                                                           .kept_tokens = 1 << 20,
                                                           .prompt_piece = 64,
                                                           .piece_beside_others = 64});
  std::latch all_ask(1);
  std::mutex mutex;
  std::string ended;  // whose, in their order
  std::latch all_ended(53);
  const auto ask = [&](const std::string& owner, uint32_t seed, bool waits) {
    GenerationTask task = task_of(prompt_of(seed, 4), 3, owner);
    if (waits) {
      task.on_token = [&all_ask](const ChosenToken& /*chosen*/) {
        all_ask.wait();
        return true;
      };
    }
    ASSERT_TRUE(queue.submit(std::move(task), {}, [&, owner](const Result<Generated>& result) {
      EXPECT_TRUE(result);
      {
        const std::lock_guard lock(mutex);
        ended += owner;
      }
      all_ended.count_down();
    }));
  };
  for (uint32_t i = 0; i < 50; ++i) {
    ask("a", i, i == 0);
  }
  for (uint32_t i = 0; i < 3; ++i) {
    ask("b", 100 + i, false);
  }
  all_ask.count_down();
  all_ended.wait();
  // Two of the first were under way. From then on one place is the other's until he has had all.
  EXPECT_LE(ended.rfind('b'), 2U + 2 * 3) << ended;
  EXPECT_EQ(std::ranges::count(ended, 'a'), 50);
}

// Nobody waits for a few words until somebody's book was read, nor behind a book of his own.
TEST(Owners, ReadAShortPromptBesideALongOne) {
  for (const char* const owner : {"a", "b"}) {
    GenerationQueue queue(std::make_shared<FakeLanguage>(), {.side_by_side = 4,
                                                             .waiting = 100,
                                                             .kept_tokens = 1 << 20,
                                                             .prompt_piece = 64,
                                                             .piece_beside_others = 64});
    std::latch all_ask(1);
    std::mutex mutex;
    std::string ended;
    std::latch all_ended(3);
    const auto ask = [&](char name, GenerationTask task) {
      ASSERT_TRUE(queue.submit(std::move(task), {}, [&, name](const Result<Generated>& result) {
        EXPECT_TRUE(result);
        {
          const std::lock_guard lock(mutex);
          ended += name;
        }
        all_ended.count_down();
      }));
    };
    GenerationTask first = task_of(prompt_of(1, 4), 1, "a");
    first.on_token = [&all_ask](const ChosenToken& /*chosen*/) {
      all_ask.wait();
      return true;
    };
    ask('1', std::move(first));
    ask('l', task_of(prompt_of(2, 640), 1, "a"));
    ask('s', task_of(prompt_of(3, 40), 1, owner));
    all_ask.count_down();
    all_ended.wait();
    EXPECT_EQ(ended, "1sl") << owner;
  }
}

}  // namespace
}  // namespace mynah
