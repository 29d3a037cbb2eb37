// The watchdog with a made-up machine: no time passes but what a test says.
#include "place/workers/watchdog.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "place/kinds/kinds.h"

namespace mynah::place {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr pid_t kWorks = 11;
constexpr pid_t kBeats = 12;
constexpr milliseconds kStep{2000};

// A worker of two threads, and the clock.
struct Machine {
  Pulse pulse{};
  std::chrono::steady_clock::time_point now{};
  std::map<pid_t, ThreadTimes> threads{{kWorks, {.state = 'R', .waited_to_run = {}}},
                                       {kBeats, {.state = 'S', .waited_to_run = {}}}};

  Machine() { pulse.beat_thread = kBeats; }

  [[nodiscard]] Watchdog watchdog(const StepLimit& step = kStep) {
    return {1,
            pulse,
            step,
            {.now = [this] { return now; }, .times = [this](pid_t) { return threads; }}};
  }

  // Looks every kBeat until `span` has passed, `meanwhile` before each; the first word, if any.
  std::optional<std::string> pass(Watchdog& watchdog, milliseconds span,
                                  const std::function<void()>& meanwhile = {}) {
    const auto end = now + span;
    while (now < end) {
      now += kBeat;
      if (meanwhile) {
        meanwhile();
      }
      if (auto reason = watchdog.look(" in stt.decoder")) {
        return reason;
      }
    }
    return std::nullopt;
  }
};

TEST(WaitedShare, IsThatOfTheThreadThatWaitedLongest) {
  Machine machine;
  machine.threads[kWorks].waited_to_run = seconds(100);  // before
  const WaitedShare share(
      1, {.now = [&] { return machine.now; }, .times = [&](pid_t) { return machine.threads; }});
  EXPECT_EQ(share.until_now(), 0) << "no time has passed";
  machine.now += seconds(10);
  EXPECT_EQ(share.until_now(), 0);
  machine.threads[kWorks].waited_to_run += seconds(1);
  machine.threads[13] = {.state = 'R', .waited_to_run = seconds(4)};  // it began meanwhile
  EXPECT_DOUBLE_EQ(share.until_now(), 0.4);
  machine.threads[13].waited_to_run = seconds(40);  // it was told late
  EXPECT_EQ(share.until_now(), 1);
}

TEST(Watchdog, LeavesAWorkerAloneThatWorks) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  EXPECT_EQ(machine.pass(watchdog, hours(1),
                         [&] {
                           ++machine.pulse.beats;
                           ++machine.pulse.steps;
                         }),
            std::nullopt);
}

TEST(Watchdog, NoSignOfLifeForTenSeconds) {
  Machine machine;
  Watchdog watchdog = machine.watchdog(milliseconds(hours(1)));
  EXPECT_EQ(machine.pass(watchdog, seconds(10)), std::nullopt);
  const auto reason = machine.pass(watchdog, milliseconds(100));
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, StartsWith("gave no sign of life in stt.decoder for 10020"));
}

TEST(Watchdog, AThreadThatCouldBeatAndGetsNoCoreIsWaitedFor) {
  Machine machine;
  Watchdog watchdog = machine.watchdog(milliseconds(hours(1)));
  // The kernel tells of a wait once it is over, and this one is not.
  machine.threads[kBeats].state = 'R';
  EXPECT_EQ(machine.pass(watchdog, minutes(10)), std::nullopt);
}

TEST(Watchdog, AWorkerThatHasNotBegunToBeatIsAllowedWhatItWaited) {
  Machine machine;
  machine.pulse.beat_thread = 0;
  machine.threads.erase(kBeats);
  Watchdog watchdog = machine.watchdog();
  EXPECT_EQ(
      machine.pass(watchdog, minutes(1), [&] { machine.threads[kWorks].waited_to_run += kBeat; }),
      std::nullopt);
  EXPECT_TRUE(machine.pass(watchdog, kStep + milliseconds(100)));
}

void show(Machine& machine, Stage stage) {
  machine.pulse.stage = static_cast<uint32_t>(number_of(stage)) + 1;
}

TEST(Watchdog, EachStageHasALimitOfItsOwn) {
  StepLimit limit(milliseconds(1));
  limit.set(kSttEncoder, minutes(1));
  limit.set(kSttDecoder, kStep);
  for (const auto& [stage, allowed] :
       std::map<Stage, milliseconds>{{kSttEncoder, minutes(1)},
                                     {kSttDecoder, kStep},
                                     // Another group's, in the same worker, computed last.
                                     {kVadStage, minutes(1)}}) {
    Machine machine;
    show(machine, stage);
    Watchdog watchdog = machine.watchdog(limit);
    const auto beat = [&] { ++machine.pulse.beats; };
    EXPECT_EQ(machine.pass(watchdog, allowed, beat), std::nullopt) << stage_name(stage);
    EXPECT_THAT(machine.pass(watchdog, milliseconds(100), beat).value_or(""), StartsWith("hung"))
        << stage_name(stage);
  }
}

TEST(StepPace, GrowsWithEachStagesOwnWork) {
  StepPace pace;
  pace.measured(kSttEncoder, 2000, 1);
  pace.measured(kSttDecoder, 500, 1);
  pace.measured(kVadStage, 10, 0.5);
  // Twenty times what was measured, for as much of its own work.
  const StepLimit batch = pace.limit({{kSttEncoder, 1}, {kSttDecoder, 4}});
  EXPECT_EQ(batch.of(kSttEncoder), seconds(40));
  EXPECT_EQ(batch.of(kSttDecoder), seconds(40));
  EXPECT_EQ(pace.limit({{kVadStage, 30}}).of(kVadStage), seconds(12));
  // Less work may take as long; what is short is given two seconds.
  EXPECT_EQ(pace.limit({{kSttDecoder, 0.1}}).of(kSttDecoder), seconds(10));
  EXPECT_EQ(pace.limit().of(kVadStage), seconds(2));
  EXPECT_EQ(pace.limit().of(std::nullopt), seconds(40)) << "nobody knows who computes";
  EXPECT_EQ(StepPace().limit().of(kVadStage), kLeastStep);
}

TEST(StepPace, NonsenseIsATimeAllTheSame) {
  StepPace pace;
  pace.measured(kVadStage, 1e300, 1e-9);
  EXPECT_GT(pace.limit({{kVadStage, 1e9}}).of(kVadStage), hours(24));
}

TEST(Watchdog, SaysThatItWasStopped) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  machine.threads[kBeats].state = 'T';
  EXPECT_EQ(machine.pass(watchdog, milliseconds(1000)), std::nullopt);
  const auto reason = machine.pass(watchdog, milliseconds(200));
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, StartsWith("was stopped, and stayed so, in stt.decoder for "));
}

TEST(Watchdog, NoStepForLongerThanIsAllowed) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  const auto beat = [&] { ++machine.pulse.beats; };
  EXPECT_EQ(machine.pass(watchdog, kStep, beat), std::nullopt);
  const auto reason = machine.pass(watchdog, milliseconds(100), beat);
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, HasSubstr("hung in stt.decoder: no step in 20"));
  EXPECT_THAT(*reason, HasSubstr("2000 are allowed"));
}

TEST(Watchdog, AStepBeginsTheTimeAnew) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  const auto beat = [&] { ++machine.pulse.beats; };
  for (int i = 0; i < 10; ++i) {
    ++machine.pulse.steps;
    EXPECT_EQ(machine.pass(watchdog, milliseconds(1900), beat), std::nullopt);
  }
}

TEST(Watchdog, TimeWithoutACoreDoesNotCount) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  // Others have the cores for an hour: neither thread gets any.
  EXPECT_EQ(machine.pass(watchdog, hours(1),
                         [&] {
                           machine.threads[kWorks].waited_to_run += kBeat;
                           machine.threads[kBeats].waited_to_run += kBeat;
                         }),
            std::nullopt);
  // Then it could work, and does not.
  EXPECT_TRUE(machine.pass(watchdog, kStep + milliseconds(100)));
}

TEST(Watchdog, ADeadlineStretchesByTheLoad) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  // Three quarters of the time its working thread waits: it has four times as long.
  const auto under_load = [&] {
    ++machine.pulse.beats;
    machine.threads[kWorks].waited_to_run += kBeat * 3 / 4;
  };
  EXPECT_EQ(machine.pass(watchdog, 4 * kStep - 2 * kBeat, under_load), std::nullopt);
  const auto reason = machine.pass(watchdog, kStep, under_load);
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, StartsWith("hung"));
}

TEST(Watchdog, WhatAThreadWaitedIsTakenBackWhenItIsTold) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  // The kernel tells of a wait once it is over: until then it looks like silence.
  EXPECT_EQ(machine.pass(watchdog, milliseconds(1900)), std::nullopt);
  machine.threads[kWorks].waited_to_run += milliseconds(1900);
  machine.threads[kBeats].waited_to_run += milliseconds(1900);
  EXPECT_EQ(machine.pass(watchdog, milliseconds(1980)), std::nullopt);
  EXPECT_TRUE(machine.pass(watchdog, milliseconds(100)));
}

TEST(Watchdog, TimeInWhichTheWatcherWasAwayDoesNotCount) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  // It was suspended for hours, ten times, and so was the worker.
  for (int i = 0; i < 10; ++i) {
    machine.now += hours(3);
    EXPECT_EQ(watchdog.look(), std::nullopt);
  }
}

TEST(Watchdog, AThreadThatBeginsMeanwhileIsNotBlamedForWhatItWaitedBefore) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  const auto beat = [&] { ++machine.pulse.beats; };
  EXPECT_EQ(machine.pass(watchdog, milliseconds(1500), beat), std::nullopt);
  machine.threads[99] = {.state = 'R', .waited_to_run = hours(1)};
  EXPECT_TRUE(machine.pass(watchdog, milliseconds(600), beat)) << "its hour was not of these looks";
}

TEST(Watchdog, AProcessThatHasGoneIsGivenUpAsWell) {
  Machine machine;
  Watchdog watchdog = machine.watchdog();
  machine.threads.clear();
  EXPECT_TRUE(machine.pass(watchdog, kStep + milliseconds(100)));
}

TEST(ReadProcessTimes, TellsOfThisProcess) {
  const auto thread = static_cast<pid_t>(::syscall(SYS_gettid));
  const auto all = read_process_times(::getpid());
  ASSERT_TRUE(all.contains(thread));
  EXPECT_EQ(all.at(thread).state, 'R');
  EXPECT_GE(all.at(thread).waited_to_run, nanoseconds{0});
  EXPECT_EQ(read_process_times(-1).size(), 0U);
  EXPECT_EQ(read_thread_times(::getpid(), -1), std::nullopt);
}

}  // namespace
}  // namespace mynah::place
