// A queue of windows over a model that hears when a test lets it.
#include "speech/window_queue.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Lets batches be heard one by one, and remembers them: the prompts of their windows.
class Ear {
 public:
  // A batch comes, and waits until it may be heard, or all of it is stopped.
  void hear(const std::vector<std::string>& names, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    batches_.push_back(names);
    changed_.notify_all();
    changed_.wait(lock, stop, [this] { return may_hear_ > 0; });
    may_hear_ -= may_hear_ > 0 ? 1 : 0;
  }

  void let(int batches) {
    const std::lock_guard lock(mutex_);
    may_hear_ += batches;
    changed_.notify_all();
  }

  // Once so many batches came.
  std::vector<std::vector<std::string>> batches(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() >= count; });
    return batches_;
  }

  void fail() { fails_ = true; }

  [[nodiscard]] bool fails() const { return fails_; }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int may_hear_ = 0;
  std::atomic<bool> fails_{false};
  std::vector<std::vector<std::string>> batches_;
};

class EarHeader final : public HearingHeader {
 public:
  [[nodiscard]] const HearingFacts& facts() const override { return facts_; }

  [[nodiscard]] Status check(const DecodingOptions& /*options*/) const override { return {}; }

  [[nodiscard]] double effort(const DecodingOptions& /*options*/) const override { return 1; }

  [[nodiscard]] std::string token_text(int32_t /*token*/) const override { return {}; }

 private:
  HearingFacts facts_{};
};

class EarDecoder final : public WindowDecoder {
 public:
  explicit EarDecoder(Ear& ear) : ear_(ear) {}

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override {
    std::vector<std::string> names;
    for (const WindowTask& task : tasks) {
      names.push_back(task.language);
    }
    ear_.hear(names, stop);
    if (ear_.fails()) {
      return fail(ErrorCode::Device, "the ear is deaf");
    }
    std::vector<HeardWindow> heard;
    for (const WindowTask& task : tasks) {
      Segment segment;
      segment.text = task.language + " of " + std::to_string(task.samples.size());
      HeardWindow window;
      window.segments = {segment};
      heard.push_back(std::move(window));
    }
    return heard;
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override {
    MYNAH_TRY(auto heard, decode(std::span(&task, 1), stop));
    return std::move(heard.front());
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  Ear& ear_;
  WindowTimings timings_;
};

class EarModel final : public WindowModel {
 public:
  explicit EarModel(Ear& ear) : ear_(ear) {}

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override { return header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override {
    if (options.language == "none") {
      return fail(ErrorCode::InvalidInput, "no such language");
    }
    return std::make_unique<EarDecoder>(ear_);
  }

  [[nodiscard]] Result<Probe> probe() const override { return Probe(); }

  [[nodiscard]] WindowDevices devices() const override { return {}; }

 private:
  Ear& ear_;
  std::shared_ptr<const HearingHeader> header_ = std::make_shared<EarHeader>();
};

// What a client's windows became, by name.
class Told {
 public:
  WindowQueue::Done of(std::vector<std::string> names) {
    return [this, names = std::move(names)](size_t window, WindowQueue::Outcome outcome) {
      const std::lock_guard lock(mutex_);
      EXPECT_FALSE(texts_.contains(names[window])) << "told twice";
      texts_[names[window]] = outcome.heard ? outcome.heard->text() : outcome.heard.error().message;
      changed_.notify_all();
    };
  }

  std::map<std::string, std::string> texts(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return texts_.size() >= count; });
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> texts_;
};

class Queue : public ::testing::Test {
 protected:
  std::unique_ptr<WindowQueue::Client> client(Urgency urgency = Urgency::Bulk, int together = 4,
                                              const DecodingOptions& options = {},
                                              const std::string& owner = {}) {
    auto made = queue_.client(options, {.urgency = urgency, .together = together, .owner = owner});
    EXPECT_TRUE(made) << made.error().message;
    return std::move(made).value_or(nullptr);
  }

  // Windows of one sample, two, three...
  void submit(WindowQueue::Client& client, const std::vector<std::string>& names,
              const std::stop_token& stop = {}) {
    std::vector<WindowTask> tasks(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      tasks[i].samples = std::span(samples_).first(i + 1);
      tasks[i].language = names[i];
    }
    client.submit(tasks, stop, told_.of(names));
  }

  // Submits one, and waits for it.
  static Result<HeardWindow> hear(WindowQueue::Client& client, const WindowTask& task,
                                  const std::stop_token& stop) {
    const auto heard = std::make_shared<std::promise<Result<HeardWindow>>>();
    client.submit({&task, 1}, stop, [heard](size_t /*window*/, WindowQueue::Outcome outcome) {
      heard->set_value(std::move(outcome.heard));
    });
    const std::stop_callback drops(stop, [&client] { client.drop_stopped(); });
    return heard->get_future().get();
  }

  WindowTask task(const std::string& name) {
    WindowTask task;
    task.samples = std::span(samples_).first(1);
    task.language = name;
    return task;
  }

  std::vector<float> samples_ = std::vector<float>(100);
  Ear ear_;
  Told told_;
  WindowQueue queue_{std::make_shared<const EarModel>(ear_), 8};
};

TEST_F(Queue, ClientsWithTheSameOptionsShareBatchesAndEachHasItsTurn) {
  const auto first = client();
  const auto second = client();
  DecodingOptions german;
  german.language = "de";
  const auto third = client(Urgency::Bulk, 4, german);
  submit(*first, {"a1"});
  ear_.batches(1);
  submit(*first, {"a2", "a3", "a4", "a5", "a6"});
  submit(*second, {"b1"});
  submit(*third, {"c1"});
  ear_.let(10);
  EXPECT_THAT(told_.texts(8), SizeIs(8));
  const auto batches = ear_.batches(4);
  EXPECT_THAT(batches[0], ElementsAre("a1"));
  EXPECT_THAT(batches[1], ElementsAre("a2", "b1", "a3", "a4"))
      << "each one's next, round and round";
  EXPECT_THAT(batches[2], ElementsAre("c1")) << "who waited meanwhile comes first";
  EXPECT_THAT(batches[3], ElementsAre("a5", "a6"));
  EXPECT_EQ(told_.texts(8)["a3"], "a3 of 2") << "its own samples";
}

TEST_F(Queue, ClientsOfOneOwnerShareATurn) {
  const auto first = client(Urgency::Bulk, 1);
  submit(*first, {"first"});
  ear_.batches(1);
  const auto one = client(Urgency::Bulk, 1, {}, "ann");
  const auto two = client(Urgency::Bulk, 1, {}, "ann");
  const auto other = client(Urgency::Bulk, 1, {}, "ben");
  submit(*one, {"a1", "a2"});
  submit(*two, {"b1", "b2"});
  submit(*other, {"c1", "c2"});
  EXPECT_EQ(queue_.load().bulk_windows, 6U);
  ear_.let(10);
  EXPECT_THAT(told_.texts(7), SizeIs(7));
  EXPECT_THAT(ear_.batches(7), ElementsAre(ElementsAre("first"), ElementsAre("a1"),
                                           ElementsAre("c1"), ElementsAre("b1"), ElementsAre("c2"),
                                           ElementsAre("a2"), ElementsAre("b2")));
  EXPECT_GT(queue_.load().window_ms, 0);
}

TEST_F(Queue, WhoWaitsIsToldOnceThatHeIsBeingHeard) {
  std::atomic<int> begun{0};
  auto made = queue_.client({}, {.begun = [&begun] { ++begun; }});
  ASSERT_TRUE(made);
  const auto busy = client();
  submit(*busy, {"first"});
  ear_.batches(1);
  submit(**made, {"a", "b"});
  EXPECT_EQ(begun, 0) << "it waits";
  ear_.let(10);
  EXPECT_THAT(told_.texts(3), SizeIs(3));
  EXPECT_EQ(begun, 1);
}

TEST_F(Queue, ClientsThatBringAWindowEachShareABatch) {
  const auto busy = client();
  submit(*busy, {"busy"});
  ear_.batches(1);
  const std::array<std::string, 5> names = {"a", "b", "c", "d", "e"};
  std::array<bool, names.size()> brought{};
  std::vector<std::unique_ptr<WindowQueue::Client>> clients(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto bring = [&, i](size_t /*wanted*/) -> size_t {
      if (!std::exchange(brought[i], true)) {
        submit(*clients[i], {names[i]});
      }
      return 0;
    };
    auto made = queue_.client({}, {.together = 4, .refill = bring});
    ASSERT_TRUE(made);
    clients[i] = *std::move(made);
  }
  for (const auto& one : clients) {
    one->ask_again();
  }
  ear_.let(10);
  EXPECT_THAT(told_.texts(6), SizeIs(6));
  EXPECT_THAT(ear_.batches(3)[1], SizeIs(4)) << "as many as are heard together";
  EXPECT_THAT(ear_.batches(3)[2], SizeIs(1));
}

TEST_F(Queue, UrgentWindowsWaitForNoBatchOfOthers) {
  const auto bulk = client();
  const auto urgent = client(Urgency::Interactive);
  submit(*bulk, {"a", "b"});
  ear_.batches(1);
  std::jthread hearing([&] { EXPECT_EQ(hear(*urgent, task("now"), {})->text(), "now of 1"); });
  EXPECT_THAT(ear_.batches(2)[1], ElementsAre("now"));
  ear_.let(2);
  EXPECT_THAT(told_.texts(2), SizeIs(2));
}

TEST_F(Queue, WhatWaitsAndIsStoppedIsToldOfAtOnce) {
  const auto bulk = client();
  submit(*bulk, {"a"});
  ear_.batches(1);
  std::stop_source stop;
  std::jthread hearing([&] {
    const auto heard = hear(*bulk, task("b"), stop.get_token());
    EXPECT_FALSE(heard);
    EXPECT_EQ(heard.error().code, ErrorCode::Cancelled);
  });
  stop.request_stop();
  hearing.join();  // though nothing was heard
  ear_.let(1);
  EXPECT_EQ(told_.texts(1)["a"], "a of 1");
}

TEST_F(Queue, ABatchEndsWhereAllOfItIsStoppedAndNotBefore) {
  const auto one = client();
  const auto other = client();
  submit(*one, {"first"});
  ear_.batches(1);
  std::stop_source stop;
  std::stop_source later;
  submit(*one, {"a"}, stop.get_token());
  submit(*other, {"b"}, later.get_token());
  ear_.let(1);
  EXPECT_THAT(ear_.batches(2)[1], ElementsAre("a", "b"));
  stop.request_stop();
  EXPECT_THAT(told_.texts(2), SizeIs(2)) << "who stops is told, though its batch is still heard";
  EXPECT_THAT(ear_.batches(2), SizeIs(2));
  later.request_stop();
  const auto texts = told_.texts(3);  // though nobody let it be heard
  EXPECT_EQ(texts.at("a"), "stopped before the window was heard");
  EXPECT_EQ(texts.at("b"), "stopped before the window was heard");
}

TEST_F(Queue, WhoLeavesIsToldAndTheOthersAreHeard) {
  auto one = client();
  const auto other = client();
  submit(*one, {"a", "b"});
  ear_.batches(1);
  submit(*one, {"c"});
  submit(*other, {"d"});
  one.reset();
  EXPECT_THAT(told_.texts(3), SizeIs(3));
  ear_.let(2);  // the first batch may not have seen yet that nobody wants it
  EXPECT_EQ(told_.texts(4)["d"], "d of 1");
}

TEST_F(Queue, WhoComesWhileTooMuchWaitsIsToldForHowLong) {
  const auto one = client();
  submit(*one, {"first"});
  ear_.batches(1);
  std::vector<std::string> many;
  many.reserve(8);
  for (int i = 0; i < 8; ++i) {
    many.push_back(std::to_string(i));
  }
  submit(*one, many);
  const auto refused = queue_.client({}, {.together = 4});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Busy);
  EXPECT_THAT(refused.error().message, HasSubstr("8 windows wait to be heard"));
  EXPECT_TRUE(queue_.client({}, {.urgency = Urgency::Interactive, .together = 4}))
      << "those are another line";
  ear_.let(10);
  EXPECT_THAT(told_.texts(9), SizeIs(9));
  EXPECT_TRUE(queue_.client({}, {.together = 4}));
}

TEST_F(Queue, OptionsThatTheModelRefusesAreRefused) {
  DecodingOptions options;
  options.language = "none";
  const auto refused = queue_.client(options, {.together = 4});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no such language");
}

TEST_F(Queue, ADeviceThatFailsIsToldOfToEveryWindowOfTheBatch) {
  const auto one = client();
  ear_.fail();
  ear_.let(100);
  submit(*one, {"a", "b"});
  for (const auto& [name, text] : told_.texts(2)) {
    EXPECT_EQ(text, "the ear is deaf") << name;
  }
}

TEST_F(Queue, AClientIsAskedForMoreWhenItsWindowsWereTaken) {
  std::vector<std::string> left = {"a", "b", "c", "d", "e"};
  std::unique_ptr<WindowQueue::Client> asked;
  std::vector<size_t> wanted;
  const auto bring = [&](size_t windows) {
    wanted.push_back(windows);
    const size_t some = std::min({windows, left.size(), size_t{3}});
    submit(*asked, {left.begin(), left.begin() + static_cast<ptrdiff_t>(some)});
    left.erase(left.begin(), left.begin() + static_cast<ptrdiff_t>(some));
    return left.size();
  };
  asked = *queue_.client({}, {.together = 3, .refill = bring});
  asked->ask_again();
  EXPECT_THAT(ear_.batches(1)[0], ElementsAre("a", "b", "c"));
  ear_.let(2);
  EXPECT_THAT(told_.texts(5), SizeIs(5));
  asked->leave();
  EXPECT_GE(wanted.size(), 2U);
  EXPECT_THAT(wanted, Each(3));
}

TEST_F(Queue, WhoBringsMoreIsAskedInTurns) {
  std::array<std::unique_ptr<WindowQueue::Client>, 2> both;
  std::array<int, 2> brought{};
  const auto bring = [&](size_t who) {
    return [&, who](size_t /*wanted*/) {
      submit(*both[who], {std::to_string(who) + "-" + std::to_string(brought[who]++)});
      return size_t{1000};
    };
  };
  for (const size_t who : {size_t{0}, size_t{1}}) {
    both[who] = *queue_.client({}, {.together = 1, .refill = bring(who)});
  }
  both[0]->ask_again();
  ear_.batches(1);
  both[1]->ask_again();
  ear_.let(4);
  const auto batches = ear_.batches(5);
  EXPECT_EQ(batches[1], std::vector<std::string>{"1-0"});
  EXPECT_EQ(batches[2], std::vector<std::string>{"0-1"});
  EXPECT_EQ(batches[3], std::vector<std::string>{"1-1"});
  both[0]->leave();
  both[1]->leave();
}

// Any number of clients who come, stop and leave: each window is told of once.
TEST_F(Queue, EveryWindowIsToldOfOnce) {
  ear_.let(1 << 20);
  std::atomic<int> told{0};
  {
    std::vector<std::jthread> all;
    all.reserve(8);
    for (int i = 0; i < 8; ++i) {
      all.emplace_back([&, i] {
        for (int round = 0; round < 20; ++round) {
          const auto mine = queue_.client(
              {},
              {.urgency = i % 2 == 0 ? Urgency::Bulk : Urgency::Interactive, .together = 1 + i});
          if (!mine) {
            --round;  // too much waits
            continue;
          }
          const std::array tasks = {task("x"), task("y")};
          std::stop_source stop;
          (*mine)->submit(tasks, stop.get_token(),
                          [&told](size_t, const WindowQueue::Outcome&) { ++told; });
          if (round % 3 == 0) {
            stop.request_stop();
          } else if (round % 3 == 1) {
            EXPECT_TRUE(hear(**mine, task("z"), {}));
          }
        }
      });
    }
  }
  EXPECT_EQ(told, 8 * 20 * 2);
}

}  // namespace
}  // namespace mynah
