// Workers that models share: who keeps one, what it drops, and that one which failed is never lent
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

constexpr ModelId kVad{.group = kVadGroup};
constexpr ModelId kStt{.group = kSttGroup};
constexpr ModelId kTts{.group = kTtsGroup};

class Pool : public ::testing::Test {
 protected:
  Pool() { ::setenv("MYNAH_WORKER_MANNER", "", 1); }

  std::shared_ptr<WorkerProcess> lend(std::optional<ModelId> model,
                                      const std::string& devices = "cpu") {
    const auto worker = pool_.lend(
        {.program = MYNAH_TEST_WORKER, .device = devices, .settings = {}, .faults = {}}, model);
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
  const auto worker = lend(kVad);
  EXPECT_EQ(lend(kStt), worker) << "its model may still be loading";
  EXPECT_NE(lend(kTts, "ref"), worker);
  pool_.give_back(kVad);
  EXPECT_TRUE(worker->alive());
  pool_.give_back(kVad);
  EXPECT_TRUE(worker->alive());
  pool_.give_back(kStt);
  EXPECT_FALSE(worker->alive());
  EXPECT_EQ(pool_.all().size(), 1U);
  EXPECT_NE(lend(kVad), worker);
}

TEST_F(Pool, TwoModelsOfAKindNeverShareAWorker) {
  const ModelId next{.group = kSttGroup, .number = 1};
  const auto worker = lend(kStt);
  const auto other = lend(next);
  EXPECT_NE(other, worker);
  EXPECT_EQ(pool_.of(kStt), worker);
  EXPECT_EQ(pool_.of(next), other);
  EXPECT_EQ(lend(next), other);
  EXPECT_EQ(lend(kVad), worker) << "it is of another kind";
  const auto all = pool_.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].process, worker);
  EXPECT_EQ(all[1].process, other);
  EXPECT_EQ(all[1].number, 1U);
  pool_.give_back(next);
  EXPECT_FALSE(other->alive());
  EXPECT_TRUE(worker->alive());
  // What fails on a device ends all that compute there.
  const auto again = lend(next);
  EXPECT_TRUE(pool_.lose(kStt, {"cpu"}, "computes wrongly"));
  EXPECT_EQ(death_of(*again), "cpu computes wrongly");
  EXPECT_FALSE(pool_.lose(next, {"cpu"}, "computes wrongly"));
}

TEST_F(Pool, OneThatNobodyHasAModelInStays) {
  const auto worker = lend(std::nullopt);
  EXPECT_EQ(lend(kVad), worker);
  EXPECT_EQ(lend(std::nullopt), worker);
  pool_.give_back(kVad);
  EXPECT_FALSE(worker->alive());
}

TEST_F(Pool, AModelThatIsGivenBackIsDroppedByAWorkerThatStays) {
  const mynah::test::TemporaryFolder folder;
  const whisper::Config config = mynah::test::tiny_config(false);
  WindowsFile file;
  file.path =
      cli::write_whisper(folder / "model.gguf", config, mynah::test::tiny_vocabulary(config));
  lend(kVad);
  const auto worker = lend(kStt);
  const StageDevice where{.device = "cpu", .storage = {}};
  ASSERT_TRUE(worker->tell(Ask::OpenWindows, load_limit(file.path), file, where, where));
  EXPECT_TRUE(probe(*worker, kSttGroup));
  pool_.give_back(kStt);
  const Status gone = probe(*worker, kSttGroup);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "no model of stt is open");
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
  EXPECT_NE(next, worker);
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
  EXPECT_NE(lend(kVad), worker);
  EXPECT_TRUE(pool_.lose(kStt, {"cpu"}, "crashed"));
}

TEST_F(Pool, AProgramThatIsNoWorkerIsAnError) {
  EXPECT_FALSE(
      pool_.lend({.program = "/bin/true", .device = "cpu", .settings = {}, .faults = {}}, kVad));
  EXPECT_TRUE(pool_.all().empty());
  pool_.give_back(kVad);
}

}  // namespace
}  // namespace mynah::place
