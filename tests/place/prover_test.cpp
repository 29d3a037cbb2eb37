// Proofs by workers that work and by others. What is proven is the processor: it is the fastest
// here.
#include "place/proofs/prover.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/whisper_file.h"
#include "place/kinds/kinds.h"
#include "place/state/housekeeper.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A small Whisper, and a folder for what is kept.
class Proofs : public ::testing::Test {
 protected:
  Proofs() {
    file_.path = cli::write_tiny_whisper(folder_ / "model.gguf");
    be("");
  }

  // How workers are from now on (tests/place/worker.cpp).
  static void be(const char* manner) { ::setenv("MYNAH_WORKER_MANNER", manner, 1); }

  [[nodiscard]] ProverOptions options() const {
    return {.worker_program = MYNAH_TEST_WORKER,
            .settings = {},
            .cache_folder = folder_ / "cache",
            .build = "test",
            .faults = {},
            .tell = {}};
  }

  DeviceProof prove_with(Prover& prover, ProofWish wish) const {
    return prover.of_device(file_, where_, identity_, wish);
  }

  static bool passed(const DeviceProof& proof) {
    return proof.refusal.empty() && !proof.measurements.empty() &&
           std::ranges::all_of(proof.measurements, &Measurement::passed);
  }

  mynah::test::TemporaryFolder folder_;
  WindowsFile file_;
  StageDevice where_{.device = "cpu", .storage = {}};
  DeviceIdentity identity_{.device = "cpu", .name = "avx2", .driver = "", .uuid = ""};
};

TEST_F(Proofs, AreKeptUntilSomebodyWantsThemAnew) {
  {
    Prover prover(options());
    const DeviceProof made = prove_with(prover, ProofWish::IfTrusted);
    ASSERT_TRUE(passed(made)) << made.refusal;
    ASSERT_EQ(made.measurements.size(), 2U);
    EXPECT_GT(made.measurements[0].ms_per_unit, 0);
    EXPECT_GT(made.measurements[0].error_bound, 0);
  }
  // From now on a worker would crash.
  be("crashes");
  Prover prover(options());
  EXPECT_TRUE(prover.proven_at(file_, where_, identity_));
  EXPECT_TRUE(passed(prove_with(prover, ProofWish::IfTrusted)));
  EXPECT_TRUE(passed(prove_with(prover, ProofWish::Asked)));
  EXPECT_FALSE(passed(prove_with(prover, ProofWish::Anew)));
  EXPECT_FALSE(prover.proven_at(file_, where_, identity_)) << "it failed since";
}

TEST_F(Proofs, AFailureIsRememberedUntilOnePasses) {
  Prover prover(options());
  ASSERT_TRUE(prover.reference(file_));
  be("crashes");
  const DeviceProof failed = prove_with(prover, ProofWish::IfTrusted);
  ASSERT_EQ(failed.measurements.size(), 2U);
  EXPECT_THAT(failed.measurements[0].failure, StartsWith("it crashed (signal 11"));
  EXPECT_EQ(prover.store().distrust(identity_)->failures, 1);
  // It is left alone, unless somebody asks for it by name.
  be("");
  EXPECT_THAT(prove_with(prover, ProofWish::IfTrusted).refusal, StartsWith("failed "));
  EXPECT_THAT(prove_with(prover, ProofWish::IfTrusted).refusal,
              HasSubstr("crashed (signal 11, Segmentation fault); it is proven again in "));
  be("exits");
  EXPECT_THAT(prove_with(prover, ProofWish::Asked).measurements.at(0).failure,
              HasSubstr("ended with exit code 7"));
  EXPECT_EQ(prover.store().distrust(identity_)->failures, 2);
  be("");
  EXPECT_TRUE(passed(prove_with(prover, ProofWish::Asked)));
  EXPECT_FALSE(prover.store().distrust(identity_));
  EXPECT_TRUE(passed(prove_with(prover, ProofWish::IfTrusted)));
}

TEST_F(Proofs, ThatNothingCanBeKeptIsSaidOnceAndWhy) {
  std::vector<std::string> told;
  ProverOptions nowhere = options();
  nowhere.cache_folder = "/dev/null/mynah";
  nowhere.tell = [&](const std::string& line) { told.push_back(line); };
  Prover prover(nowhere);
  ASSERT_TRUE(passed(prove_with(prover, ProofWish::Anew)));
  ASSERT_TRUE(passed(prove_with(prover, ProofWish::Anew)));
  EXPECT_THAT(told, ::testing::ElementsAre(
                        AllOf(StartsWith("proving cpu for stt (not kept for the next time: cannot"),
                              HasSubstr("/dev/null/mynah/proofs: Not a directory")),
                        "proving cpu for stt"));
}

TEST_F(Proofs, WhoWaitsForOneIsToldAndHowLongItTookIsCounted) {
  std::vector<std::string> told;
  ProverOptions slow = options();
  slow.tell = [&](const std::string& line) { told.push_back(line); };
  slow.slow = milliseconds(0);
  Prover prover(slow);
  ASSERT_TRUE(passed(prove_with(prover, ProofWish::Behind)));
  EXPECT_THAT(told, ::testing::IsEmpty()) << "nobody waits";
  EXPECT_FALSE(prover.waited());
  ASSERT_TRUE(passed(prove_with(prover, ProofWish::Anew)));
  EXPECT_THAT(told, ::testing::ElementsAre("proving cpu for stt (kept for the next time)",
                                           ::testing::MatchesRegex("proving cpu for stt took .*")));
  ASSERT_TRUE(prover.waited());
  EXPECT_GT(prover.waited()->count(), 0);
  const auto before = *prover.waited();
  ASSERT_TRUE(passed(prove_with(prover, ProofWish::Asked)));
  EXPECT_EQ(told.size(), 2U) << "it is kept";
  EXPECT_EQ(*prover.waited(), before);
}

TEST_F(Proofs, OneThatPassesAfterAFailureBringsNoOtherBack) {
  Prover prover(options());
  ASSERT_TRUE(passed(prove_with(prover, ProofWish::IfTrusted)));
  prover.failed(identity_, "lost");
  const StageDevice other{.device = "cpu", .storage = DType::I8};
  ASSERT_TRUE(passed(prover.of_device(file_, other, identity_, ProofWish::Asked)));
  EXPECT_FALSE(prover.store().distrust(identity_)) << "it works";
  EXPECT_FALSE(prover.proven_at(file_, where_, identity_));
  EXPECT_TRUE(prover.proven_at(file_, other, identity_));
  be("crashes");
  EXPECT_FALSE(passed(prove_with(prover, ProofWish::IfTrusted)));
  EXPECT_EQ(prover.store().distrust(identity_)->failures, 2);
}

// The encoder on what checks others, the decoder on the processor.
class ProofsApart : public Proofs {
 protected:
  DeviceProof prove_apart(Prover& prover, ProofWish wish) const {
    return prover.of_stages_apart(file_, places_, identities_, wish);
  }

  StagePlaces places_ = {{kSttEncoder, {.device = "ref", .storage = {}}},
                         {kSttDecoder, {.device = "cpu", .storage = DType::I8}}};
  std::vector<DeviceIdentity> identities_ = {
      {.device = "ref", .name = "ref", .driver = "", .uuid = ""}, identity_};
};

TEST_F(ProofsApart, EachStageIsMeasuredWhereItIs) {
  std::vector<std::string> told;
  ProverOptions options_of_test = options();
  options_of_test.tell = [&](const std::string& line) { told.push_back(line); };
  Prover prover(options_of_test);
  const DeviceProof made = prove_apart(prover, ProofWish::IfTrusted);
  ASSERT_TRUE(passed(made)) << made.refusal;
  EXPECT_THAT(told, ::testing::ElementsAre("proving ref,cpu for stt (kept for the next time)"));
  ASSERT_EQ(made.measurements.size(), 2U);
  EXPECT_EQ(made.measurements[0].device, "ref");
  EXPECT_EQ(made.measurements[0].storage, std::nullopt);
  EXPECT_EQ(made.measurements[1].device, "cpu");
  EXPECT_EQ(made.measurements[1].storage, DType::I8);
  for (const Measurement& measured : made.measurements) {
    EXPECT_GT(measured.ms_per_unit, 0) << measured.device;
    EXPECT_GT(measured.bytes, 0U) << measured.device;
    EXPECT_LE(measured.worst_error, measured.error_bound) << measured.device;
  }
  be("crashes");
  EXPECT_TRUE(passed(prove_apart(prover, ProofWish::IfTrusted))) << "it is kept";
  EXPECT_FALSE(prover.proven_at(file_, places_.at(kSttEncoder), identities_[0]))
      << "the whole was proven nowhere";
  prover.failed(identities_[0], "lost");
  EXPECT_FALSE(prover.kept_apart(file_, places_, identities_));
}

TEST_F(ProofsApart, AFailureIsTheirsAndNotTheDevices) {
  Prover prover(options());
  ASSERT_TRUE(prover.reference(file_));
  for (const auto& [manner, says] :
       {std::pair("probes wrongly", "from what the processor computes"),
        std::pair("crashes", "it crashed (signal 11")}) {
    be(manner);
    const DeviceProof failed = prove_apart(prover, ProofWish::Anew);
    ASSERT_EQ(failed.measurements.size(), 2U);
    EXPECT_FALSE(failed.measurements[0].passed);
    EXPECT_THAT(failed.measurements[0].failure, HasSubstr(says));
    EXPECT_FALSE(prover.store().distrust(identities_[0])) << "alone it may be right";
    be("");
    EXPECT_FALSE(passed(prove_apart(prover, ProofWish::IfTrusted))) << "it is not tried again";
  }
  EXPECT_TRUE(passed(prove_apart(prover, ProofWish::Anew)));
  EXPECT_TRUE(passed(prove_apart(prover, ProofWish::IfTrusted)));
}

TEST_F(Proofs, WithoutAReferenceNothingIsProven) {
  be("crashes");
  Prover prover(options());
  const DeviceProof proof = prove_with(prover, ProofWish::Asked);
  EXPECT_THAT(proof.refusal,
              StartsWith("was not proven, since there is nothing to compare it with: "));
  EXPECT_FALSE(prover.store().distrust(identity_)) << "that says nothing of the device";
}

TEST_F(Proofs, OneThatNobodyWaitsForIsMadeInSilence) {
  std::vector<std::string> told;
  ProverOptions options_of_test = options();
  options_of_test.tell = [&](const std::string& line) { told.push_back(line); };
  Prover prover(options_of_test);
  ASSERT_TRUE(passed(prove_with(prover, ProofWish::IfTrusted)));
  EXPECT_EQ(told.size(), 1U);
  be("crashes");
  EXPECT_FALSE(passed(prove_with(prover, ProofWish::Behind))) << "whatever was kept";
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(Proofs, TheProcessorsTimesAreThoseOfSoManyThreads) {
  ProverOptions one = options();
  one.settings.threads = 1;
  ASSERT_TRUE(Prover(one).of_cpu(file_));
  ProverOptions two = options();
  two.settings.threads = 2;
  be("crashes");  // who computes anew fails
  EXPECT_TRUE(Prover(one).of_cpu(file_)) << "it was kept";
  EXPECT_FALSE(Prover(two).of_cpu(file_)) << "one thread's times say nothing of two";
}

TEST_F(Proofs, SeveralAtOnceAreAllCancelled) {
  std::atomic<int> begun{0};
  ProverOptions slow = options();
  slow.tell = [&](const std::string&) { ++begun; };
  Prover prover(slow);
  ASSERT_TRUE(prover.reference(file_));
  be("hangs");
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    threads.reserve(3);
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        EXPECT_EQ(prove_with(prover, ProofWish::Anew).refusal, "was not proven, since mynah ends");
      });
    }
    while (begun < 3) {
      std::this_thread::yield();
    }
    prover.cancel();
  }
  // A device may take a minute to open before it is given up.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(50));
  EXPECT_FALSE(prover.store().distrust(identity_));
}

TEST(Housekeeper, TendsFromTimeToTimeUntilItIsStopped) {
  std::atomic<int> tended{0};
  Housekeeper housekeeper;
  housekeeper.start([&] {
    ++tended;
    return milliseconds(1);
  });
  housekeeper.start([&] {  // it runs already
    tended = -1000000;
    return milliseconds(1);
  });
  while (tended < 5) {
    std::this_thread::yield();
  }
  housekeeper.stop();
  const int at_the_end = tended;
  EXPECT_GE(at_the_end, 5);
  std::this_thread::yield();
  EXPECT_EQ(tended, at_the_end);
  housekeeper.stop();
}

TEST(Housekeeper, EndsAtOnceHoweverSeldomItTends) {
  std::atomic<int> tended{0};
  Housekeeper housekeeper;
  housekeeper.start([&] {
    ++tended;
    return std::chrono::hours(10);
  });
  const auto until = [&tended](int count) {
    while (tended < count) {
      std::this_thread::yield();
    }
  };
  until(1);
  housekeeper.wake();
  until(2);
}

}  // namespace
}  // namespace mynah::place
