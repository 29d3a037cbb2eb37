// Workers that groups share: who keeps one, what it drops, and that one which failed is never lent
// again.
#include "place/workers/worker_pool.h"

#include <cstdlib>
#include <string>

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

class Pool : public ::testing::Test {
 protected:
  Pool() { ::setenv("MYNAH_WORKER_MANNER", "", 1); }

  std::shared_ptr<WorkerProcess> lend(std::optional<StageGroup> group,
                                      const std::string& devices = "cpu") {
    const auto worker = pool_.lend(
        {.program = MYNAH_TEST_WORKER, .device = devices, .settings = {}, .faults = {}}, group);
    EXPECT_TRUE(worker) << worker.error().message;
    return worker.value_or(nullptr);
  }

  static Status probe(WorkerProcess& worker, StageGroup group) {
    return worker.tell(Ask::Probe, load_limit(""), group);
  }

  // Why it can be asked for nothing.
  static std::string death_of(WorkerProcess& worker) {
    try {
      static_cast<void>(worker.tell(Ask::Report, load_limit("")));
    } catch (const DeviceError& error) {
      return error.error().message;
    }
    return {};
  }

  WorkerPool pool_;
};

TEST_F(Pool, AWorkerEndsWithTheLastGroupThatHasAModelThere) {
  const auto worker = lend(kVadGroup);
  EXPECT_EQ(lend(kSttGroup), worker) << "its model may still be loading";
  EXPECT_NE(lend(kTtsGroup, "ref"), worker);
  pool_.give_back(kVadGroup);
  EXPECT_TRUE(worker->alive());
  pool_.give_back(kVadGroup);
  EXPECT_TRUE(worker->alive());
  pool_.give_back(kSttGroup);
  EXPECT_FALSE(worker->alive());
  EXPECT_EQ(pool_.all().size(), 1U);
  EXPECT_NE(lend(kVadGroup), worker);
}

TEST_F(Pool, OneThatNobodyHasAModelInStays) {
  const auto worker = lend(std::nullopt);
  EXPECT_EQ(lend(kVadGroup), worker);
  EXPECT_EQ(lend(std::nullopt), worker);
  pool_.give_back(kVadGroup);
  EXPECT_FALSE(worker->alive());
}

TEST_F(Pool, AModelThatIsGivenBackIsDroppedByAWorkerThatStays) {
  const mynah::test::TemporaryFolder folder;
  const whisper::Config config = mynah::test::tiny_config(false);
  WindowsFile file;
  file.path =
      cli::write_whisper(folder / "model.gguf", config, mynah::test::tiny_vocabulary(config));
  lend(kVadGroup);
  const auto worker = lend(kSttGroup);
  const StageDevice where{.device = "cpu", .storage = {}};
  ASSERT_TRUE(worker->tell(Ask::OpenWindows, load_limit(file.path), file, where, where));
  EXPECT_TRUE(probe(*worker, kSttGroup));
  pool_.give_back(kSttGroup);
  const Status gone = probe(*worker, kSttGroup);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "no model of stt is open");
}

TEST_F(Pool, OneThatFailedIsEndedForAllAndNotLentAgain) {
  const auto worker = lend(kVadGroup, "cpu");
  lend(kSttGroup, "cpu");
  const auto both = lend(kTtsGroup, "cpu+ref");
  const auto other = lend(std::nullopt, "ref");
  EXPECT_TRUE(pool_.lose(kSttGroup, {"cpu"}, "computes wrongly"));
  EXPECT_EQ(death_of(*worker), "cpu computes wrongly");
  EXPECT_EQ(death_of(*both), "cpu+ref computes wrongly");
  EXPECT_TRUE(other->alive());
  // Who had a model there hears of it later, and that is no new failure: not of the worker that was
  // started since.
  const auto next = lend(kSttGroup, "cpu");
  EXPECT_NE(next, worker);
  EXPECT_FALSE(pool_.lose(kVadGroup, {"cpu"}, "computes wrongly"));
  EXPECT_FALSE(pool_.lose(kTtsGroup, {"cpu", "ref"}, "computes wrongly"));
  EXPECT_TRUE(next->alive());
  EXPECT_TRUE(other->alive());
  pool_.give_back(kVadGroup);
  EXPECT_TRUE(pool_.lose(kSttGroup, {"cpu"}, "hung"));
  EXPECT_FALSE(next->alive());
}

TEST_F(Pool, OneThatDiedIsReplacedAndItsFailureIsStillHeardOf) {
  const auto worker = lend(kSttGroup);
  worker->cancel();
  EXPECT_THAT(death_of(*worker), HasSubstr("signal 9"));
  EXPECT_NE(lend(kVadGroup), worker);
  EXPECT_TRUE(pool_.lose(kSttGroup, {"cpu"}, "crashed"));
}

TEST_F(Pool, AProgramThatIsNoWorkerIsAnError) {
  EXPECT_FALSE(pool_.lend({.program = "/bin/true", .device = "cpu", .settings = {}, .faults = {}},
                          kVadGroup));
  EXPECT_TRUE(pool_.all().empty());
  pool_.give_back(kVadGroup);
}

}  // namespace
}  // namespace mynah::place
