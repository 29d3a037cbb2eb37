// Workers that models share: who keeps one, what it drops, and that one which failed is never lent
// again.
#include "place/workers/worker_pool.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/whisper_file.h"
#include "place/kinds/kinds.h"
#include "place/kinds/windows/windows_wire.h"
#include "place/wire/wire_types.h"
#include "place/workers/load_limit.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

using ::testing::HasSubstr;

constexpr ModelId kVad{.group = kVadGroup};
constexpr ModelId kStt{.group = kSttGroup};
constexpr ModelId kTts{.group = kTtsGroup};

class Pool : public ::testing::Test {
 protected:
  Pool() { ::setenv("MYNAH_WORKER_MANNER", "", 1); }

  std::shared_ptr<WorkerLane> lend(std::optional<ModelId> model,
                                   const std::string& devices = "cpu") {
    const auto worker = pool_.lend(
        {.program = MYNAH_TEST_WORKER, .device = devices, .settings = {}, .faults = {}}, model);
    EXPECT_TRUE(worker) << worker.error().message;
    return worker.value_or(nullptr);
  }

  static Status probe(WorkerLane& worker, StageGroup group) {
    return worker.tell(Ask::Probe, load_limit(""), group);
  }

  // Why it can be asked for nothing.
  static std::string death_of(WorkerLane& worker) {
    try {
      static_cast<void>(worker.tell(Ask::Report, load_limit("")));
    } catch (const DeviceError& error) {
      return error.error().message;
    }
    return {};
  }

  static size_t threads_of(pid_t process) {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process)),
                      std::filesystem::directory_iterator()));
  }

  WorkerPool pool_;
};

TEST_F(Pool, AWorkerEndsWithTheLastModelThere) {
  const auto first = lend(kVad);
  const auto second = lend(kStt);
  EXPECT_EQ(second->pid(), first->pid()) << "its model may still be loading";
  EXPECT_NE(second, first) << "each has a lane of its own";
  EXPECT_NE(lend(kTts, "ref")->pid(), first->pid());
  pool_.give_back(kVad);
  EXPECT_EQ(death_of(*first), "cpu was let go, since nobody used it");
  EXPECT_TRUE(second->alive());
  pool_.give_back(kVad);
  EXPECT_TRUE(second->alive());
  pool_.give_back(kStt);
  EXPECT_FALSE(second->alive());
  EXPECT_EQ(pool_.pids().size(), 1U);
  EXPECT_NE(lend(kVad)->pid(), first->pid());
}

TEST_F(Pool, TwoModelsOfAKindHaveALaneEach) {
  const ModelId next{.group = kSttGroup, .number = 1};
  const auto one = lend(kStt);
  const auto other = lend(next);
  EXPECT_NE(other, one);
  EXPECT_EQ(other->pid(), one->pid());
  EXPECT_EQ(pool_.of(kStt), one);
  EXPECT_EQ(pool_.of(next), other);
  EXPECT_EQ(lend(next), other);
  const auto all = pool_.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].model, kStt);
  EXPECT_EQ(all[0].lane, one);
  EXPECT_EQ(all[1].model, next);
  EXPECT_EQ(all[1].lane, other);
  pool_.give_back(next);
  EXPECT_FALSE(other->alive());
  EXPECT_TRUE(one->alive());
  // What fails on a device ends all that compute there.
  const auto again = lend(next);
  EXPECT_TRUE(pool_.lose(kStt, {"cpu"}, "computes wrongly"));
  EXPECT_EQ(death_of(*again), "cpu computes wrongly");
  EXPECT_FALSE(pool_.lose(next, {"cpu"}, "computes wrongly"));
}

TEST_F(Pool, OneThatNobodyHasAModelInStays) {
  const auto worker = lend(std::nullopt);
  EXPECT_EQ(lend(kVad)->pid(), worker->pid());
  EXPECT_EQ(lend(std::nullopt), worker);
  pool_.give_back(kVad);
  EXPECT_FALSE(worker->alive());
}

// A lane's model computes while another lane is made, asked and given back.
TEST_F(Pool, ACallOfOneLaneWaitsForNoOther) {
  const mynah::test::TemporaryFolder folder;
  WindowsFile file;
  file.path = cli::write_tiny_whisper(folder / "model.gguf");
  const StageDevice where{.device = "cpu", .storage = {}};
  const auto lane = lend(kStt);
  ASSERT_TRUE(lane->tell(Ask::OpenWindows, load_limit(file.path), file, where, where));
  std::atomic<int> calls{0};
  std::atomic<int> begun{0};
  std::jthread computes([&](const std::stop_token& until) {
    while (!until.stop_requested()) {
      ++begun;
      EXPECT_TRUE(probe(*lane, kSttGroup));
      ++calls;
    }
  });
  int beside = 0;  // answers of another lane between the begin and the end of a call
  while (beside < 3) {
    const int before = begun;
    const bool is_under_way = calls < before;
    const auto other = lend(kVad);
    EXPECT_TRUE(other->tell(Ask::Report, load_limit("")));
    pool_.give_back(kVad);
    beside += is_under_way && calls < before ? 1 : 0;
  }
}

TEST_F(Pool, AModelThatIsGivenBackIsDroppedByAWorkerThatStays) {
  const mynah::test::TemporaryFolder folder;
  WindowsFile file;
  file.path = cli::write_tiny_whisper(folder / "model.gguf");
  lend(kVad);
  const auto worker = lend(kStt);
  const StageDevice where{.device = "cpu", .storage = {}};
  ASSERT_TRUE(worker->tell(Ask::OpenWindows, load_limit(file.path), file, where, where));
  EXPECT_TRUE(probe(*worker, kSttGroup));
  const size_t held = threads_of(worker->pid());
  pool_.give_back(kStt);
  EXPECT_EQ(death_of(*worker), "cpu was let go, since nobody used it");
  while (threads_of(worker->pid()) == held) {
    std::this_thread::yield();  // until its lane is gone
  }
  EXPECT_TRUE(pool_.of(kVad)->tell(Ask::Report, load_limit("")));
}

TEST_F(Pool, OneThatFailedIsEndedForAllAndNotLentAgain) {
  const auto worker = lend(kVad, "cpu");
  lend(kStt, "cpu");
  const auto both = lend(kTts, "cpu+ref");
  const auto other = lend(std::nullopt, "ref");
  EXPECT_TRUE(pool_.lose(kStt, {"cpu"}, "computes wrongly"));
  EXPECT_EQ(death_of(*worker), "cpu computes wrongly");
  EXPECT_EQ(death_of(*both), "cpu+ref computes wrongly");
  EXPECT_TRUE(other->alive());
  // Who had a model there hears of it later, and that is no new failure: not of the worker that was
  // started since.
  const auto next = lend(kStt, "cpu");
  EXPECT_NE(next->pid(), worker->pid());
  EXPECT_FALSE(pool_.lose(kVad, {"cpu"}, "computes wrongly"));
  EXPECT_FALSE(pool_.lose(kTts, {"cpu", "ref"}, "computes wrongly"));
  EXPECT_TRUE(next->alive());
  EXPECT_TRUE(other->alive());
  pool_.give_back(kVad);
  EXPECT_TRUE(pool_.lose(kStt, {"cpu"}, "hung"));
  EXPECT_FALSE(next->alive());
}

TEST_F(Pool, OneThatDiedIsReplacedAndItsFailureIsStillHeardOf) {
  const auto worker = lend(kStt);
  worker->cancel();
  EXPECT_THAT(death_of(*worker), HasSubstr("signal 9"));
  EXPECT_NE(lend(kVad)->pid(), worker->pid());
  EXPECT_TRUE(pool_.lose(kStt, {"cpu"}, "crashed"));
}

TEST_F(Pool, AProgramThatIsNoWorkerIsAnError) {
  EXPECT_FALSE(
      pool_.lend({.program = "/bin/true", .device = "cpu", .settings = {}, .faults = {}}, kVad));
  EXPECT_TRUE(pool_.pids().empty());
  pool_.give_back(kVad);
}

}  // namespace
}  // namespace mynah::place
