// What was proven and what failed, from run to run, on a machine whose clock and sleep are made up.
#include "place/proofs/proof_store.h"

#include <filesystem>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/plan_inputs.h"
#include "place/proofs/kept_file.h"
#include "place/proofs/kept_types.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

namespace fs = std::filesystem;

const DeviceIdentity kCard{
    .device = "cuda:0", .name = "RTX 4060", .driver = "550.54", .uuid = "GPU-1"};

// A model, a cache, and a machine of which a test says when it is and how long it slept.
struct Kept {
  mynah::test::TemporaryFolder folder;
  int64_t now = 1'700'000'000;
  WakeState wake{.boot_id = "first", .suspended_ms = 5000};
  WindowsFile file;

  Kept() {
    mynah::test::write_file(folder / "model.gguf", "a model");
    file.path = folder / "model.gguf";
  }

  [[nodiscard]] ProofStore store(const std::string& build = "0.7 (abc)") const {
    return {folder / "cache",
            build,
            {.seconds = [this] { return now; }, .wake = [this] { return wake; }}};
  }

  [[nodiscard]] Proof proof() const {
    return {.measurements = {test::took(kSttEncoder, "cuda:0", DType::F16, 2.5, 90),
                             test::took(kSttDecoder, "cuda:0", DType::F16, 4, 60)},
            .made_at = now,
            .last_failure = store().last_failure(kCard)};
  }

  // The card passed a proof of some model, begun now.
  void trust() const { store().trusted(kCard, store().last_failure(kCard)); }

  void keep() const { store().keep(kCard, file, DType::F16, proof()); }

  [[nodiscard]] std::optional<Proof> find() const { return store().find(kCard, file, DType::F16); }

  // The files of this kind: ".proof".
  [[nodiscard]] std::vector<std::string> files(const std::string& extension) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder / "cache/proofs")) {
      if (entry.path().extension() == extension) {
        found.push_back(entry.path());
      }
    }
    return found;
  }
};

TEST(ProofStore, AProofIsKeptFromRunToRun) {
  Kept kept;
  EXPECT_EQ(kept.find().has_value(), false) << "nor is there a folder yet";
  kept.keep();
  const auto found = kept.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->measurements, kept.proof().measurements);
  EXPECT_EQ(found->made_at, kept.now);
}

TEST(ProofStore, WithoutAFolderNothingIsKept) {
  const Kept kept;
  const ProofStore store("", "build");
  store.keep(kCard, kept.file, DType::F16, kept.proof());
  store.failed(kCard, "lost");
  EXPECT_FALSE(store.find(kCard, kept.file, DType::F16));
  EXPECT_FALSE(store.distrust(kCard));
}

TEST(ProofStore, AProofIsOfOneDriverCardProgramModelAndType) {
  const Kept kept;
  kept.keep();
  for (const DeviceIdentity& other : {DeviceIdentity{"cuda:1", "RTX 4060", "550.54", "GPU-1"},
                                      DeviceIdentity{"cuda:0", "RTX 4070", "550.54", "GPU-1"},
                                      DeviceIdentity{"cuda:0", "RTX 4060", "550.55", "GPU-1"},
                                      DeviceIdentity{"cuda:0", "RTX 4060", "550.54", "GPU-2"}}) {
    EXPECT_FALSE(kept.store().find(other, kept.file, DType::F16))
        << other.device << other.name << other.driver << other.uuid;
  }
  EXPECT_FALSE(kept.store("0.7 (abd)").find(kCard, kept.file, DType::F16));
  EXPECT_FALSE(kept.store().find(kCard, kept.file, DType::I8));
  EXPECT_FALSE(kept.store().find(kCard, kept.file, std::nullopt));
  EXPECT_FALSE(kept.store().find(kCard, DetectorFile{.path = kept.file.path}, DType::F16));
  WindowsFile copy = kept.file;
  copy.path = kept.folder / "copy.gguf";
  EXPECT_FALSE(kept.store().find(kCard, copy, DType::F16)) << "it is not there";
  mynah::test::write_file(copy.path, "another model");
  EXPECT_FALSE(kept.store().find(kCard, copy, DType::F16));
  mynah::test::write_file(copy.path, "a model");
  EXPECT_TRUE(kept.store().find(kCard, copy, DType::F16)) << "the same model in another place";
  EXPECT_TRUE(kept.find());
}

TEST(ProofStore, AProofOfStagesApartIsOfThesePlacesAndEndsWithAFailureOfEither) {
  Kept kept;
  const DeviceIdentity cpu{.device = "cpu", .name = "avx2", .driver = "", .uuid = ""};
  const StagePlaces places = {{kSttEncoder, {.device = "cuda:0", .storage = DType::F16}},
                              {kSttDecoder, {.device = "cpu", .storage = DType::I8}}};
  const std::vector<DeviceIdentity> devices = {kCard, cpu};
  const auto keep = [&] {
    kept.store().keep_apart(devices, kept.file, places,
                            {.measurements = kept.proof().measurements,
                             .made_at = kept.now,
                             .last_failure = kept.store().last_failure_of_any(devices)});
  };
  const auto find = [&] { return kept.store().find_apart(devices, kept.file, places); };
  kept.keep();
  EXPECT_FALSE(find()) << "one of the whole on the card is none of it apart";
  keep();
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->measurements, kept.proof().measurements);
  StagePlaces others = places;
  others.at(kSttDecoder).storage = DType::BF16;
  EXPECT_FALSE(kept.store().find_apart(devices, kept.file, others));
  others = {{kSttEncoder, places.at(kSttDecoder)}, {kSttDecoder, places.at(kSttEncoder)}};
  EXPECT_FALSE(kept.store().find_apart({cpu, kCard}, kept.file, others));
  DeviceIdentity updated = kCard;
  updated.driver = "550.55";
  EXPECT_FALSE(kept.store().find_apart({updated, cpu}, kept.file, places));
  EXPECT_FALSE(kept.store("0.7 (abd)").find_apart(devices, kept.file, places));
  for (const DeviceIdentity& device : devices) {
    kept.store().failed(device, "lost");
    EXPECT_FALSE(find()) << device.device;
    keep();
    EXPECT_TRUE(find());
  }
  kept.wake.suspended_ms += 60'000;
  EXPECT_FALSE(find()) << "the machine slept";
}

TEST(ProofStore, AProofEndsWhenTheMachineSleeps) {
  Kept kept;
  kept.keep();
  kept.wake.suspended_ms += 50;  // the two clocks are not read at once
  EXPECT_TRUE(kept.find());
  kept.wake.suspended_ms += 60'000;
  EXPECT_FALSE(kept.find());
  // Since its next start it has not slept as long, or longer: that says nothing of then.
  kept.wake = {.boot_id = "second", .suspended_ms = 0};
  EXPECT_TRUE(kept.find());
  kept.wake.suspended_ms = 1 << 30;
  EXPECT_TRUE(kept.find());
}

TEST(ProofStore, AFailureThrowsProofsAway) {
  Kept kept;
  kept.keep();
  kept.now += 60;
  kept.store().failed(kCard, "crashed in stt.decoder");
  EXPECT_FALSE(kept.find());
  const auto distrust = kept.store().distrust(kCard);
  ASSERT_TRUE(distrust);
  EXPECT_EQ(distrust->failures, 1);
  EXPECT_EQ(distrust->last_at, kept.now);
  EXPECT_EQ(distrust->reason, "crashed in stt.decoder");
  // Of a driver that is new it is still the card that failed; another card is another.
  EXPECT_TRUE(kept.store().distrust({"cuda:0", "RTX 4060", "999", "GPU-1"}));
  EXPECT_FALSE(kept.store().distrust({"cuda:0", "RTX 4060", "550.54", "GPU-2"}));
  // Another model is proven there.
  kept.trust();
  EXPECT_FALSE(kept.store().distrust(kCard));
  EXPECT_FALSE(kept.find()) << "that says nothing of this model";
  kept.keep();
  EXPECT_TRUE(kept.find());
  // Nor does a clock that goes back bring it to life.
  kept.store().failed(kCard, "lost");
  kept.now -= 1000;
  kept.trust();
  EXPECT_FALSE(kept.find());
  kept.now += 100000;
  EXPECT_FALSE(kept.find());
}

TEST(ProofStore, AProofThatWasBegunBeforeAFailureDoesNotHold) {
  Kept kept;
  const Proof begun_before = kept.proof();
  kept.store().failed(kCard, "lost");
  kept.store().keep(kCard, kept.file, DType::F16, begun_before);
  kept.store().trusted(kCard, begun_before.last_failure);
  EXPECT_FALSE(kept.find());
  EXPECT_TRUE(kept.store().distrust(kCard)) << "it failed after that";
  kept.keep();  // in the same second
  kept.trust();
  EXPECT_TRUE(kept.find());
  EXPECT_FALSE(kept.store().distrust(kCard));
}

TEST(ProofStore, WhatIsLostOfFailuresBringsNoProofBack) {
  Kept kept;
  kept.store().failed(kCard, "lost");
  kept.keep();
  kept.trust();
  ASSERT_TRUE(kept.find());
  // The file is thrown away, and the card fails again as its first time.
  fs::remove(kept.files(".distrust").at(0));
  EXPECT_FALSE(kept.find());
  kept.now += 1;
  kept.store().failed(kCard, "lost");
  kept.trust();
  EXPECT_FALSE(kept.find());
  // It is damaged, or was written by an older mynah.
  kept.keep();
  ASSERT_TRUE(kept.find());
  const std::string file = kept.files(".distrust").at(0);
  for (const std::string& bytes : {std::string("nonsense"), std::string()}) {
    kept.now += 1;
    mynah::test::write_file(file, bytes);
    EXPECT_FALSE(kept.find()) << "what failed since is not known";
    EXPECT_FALSE(kept.store().distrust(kCard));
    kept.keep();
    EXPECT_TRUE(kept.find());
  }
}

TEST(ProofStore, PausesGrow) {
  Kept kept;
  const std::vector<int64_t> pauses = {10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600};
  for (const int64_t pause : pauses) {
    kept.store().failed(kCard, "lost");
    EXPECT_EQ(kept.store().distrust(kCard)->again_at(), kept.now + pause);
    kept.now += pause;
  }
  for (int i = 0; i < 100; ++i) {
    kept.store().failed(kCard, "lost");
  }
  EXPECT_EQ(kept.store().distrust(kCard)->again_at(), kept.now + 3600);
}

TEST(ProofStore, ADeviceThatPassesAndFailsIsLeftAloneEverLonger) {
  Kept kept;
  for (const int64_t pause : {10, 20, 40, 80}) {
    kept.store().failed(kCard, "lost");
    EXPECT_EQ(kept.store().distrust(kCard)->again_at(), kept.now + pause);
    kept.now += pause;
    kept.trust();
    EXPECT_FALSE(kept.store().distrust(kCard));
    kept.now += 5;
  }
  // Once it went well for an hour it is as any other.
  kept.now += 3600;
  kept.store().failed(kCard, "lost");
  EXPECT_EQ(kept.store().distrust(kCard)->again_at(), kept.now + 10);
  // Time in which nobody proved it is none in which it went well.
  kept.now += 100'000;
  kept.store().failed(kCard, "lost");
  EXPECT_EQ(kept.store().distrust(kCard)->again_at(), kept.now + 20);
}

TEST(ProofStore, AnyNumberOfFailuresHasAPause) {
  for (const int failures : {0, -1, INT_MIN, INT_MAX}) {
    const int64_t again = Distrust{.failures = failures, .last_at = 100, .reason = ""}.again_at();
    EXPECT_GE(again, 110) << failures;
    EXPECT_LE(again, 3700) << failures;
  }
}

TEST(ProofStore, AFailureThatIsYetToComeWasNotedByAWrongClock) {
  Kept kept;
  kept.now += 1'000'000'000;
  kept.store().failed(kCard, "lost");
  EXPECT_TRUE(kept.store().distrust(kCard));
  kept.now -= 1'000'000'000;
  EXPECT_FALSE(kept.store().distrust(kCard)) << "nobody waits for thirty years";
}

TEST(ProofStore, DamagedFilesAreNone) {
  Kept kept;
  kept.keep();
  kept.now += 100;
  kept.store().failed({"cuda:7", "Other", "1", "GPU-7"}, "lost");
  const std::string proof = kept.files(".proof").at(0);
  const std::string distrust = kept.files(".distrust").at(0);
  const std::string good_proof = mynah::test::read_file(proof);
  const std::string good_distrust = mynah::test::read_file(distrust);
  const auto found = [&](const std::string& of_proof, const std::string& of_distrust) {
    mynah::test::write_file(proof, of_proof);
    mynah::test::write_file(distrust, of_distrust);
    return kept.find() || kept.store().distrust({"cuda:7", "Other", "1", "GPU-7"});
  };
  ASSERT_TRUE(found(good_proof, ""));
  ASSERT_TRUE(found("", good_distrust));
  // Cut off anywhere, as by a full disk.
  for (size_t size = 0; size < good_proof.size(); ++size) {
    ASSERT_FALSE(found(good_proof.substr(0, size),
                       good_distrust.substr(0, std::min(size, good_distrust.size() - 1))))
        << size;
  }
  // Any byte changed.
  for (size_t at = 0; at < good_proof.size(); ++at) {
    std::string bad_proof = good_proof;
    bad_proof[at] = static_cast<char>(bad_proof[at] ^ 0x10);
    std::string bad_distrust = good_distrust;
    bad_distrust[at % bad_distrust.size()] ^= 1;
    ASSERT_FALSE(found(bad_proof, bad_distrust)) << at;
  }
  ASSERT_FALSE(found(good_proof + "x", good_distrust + "x"));
  ASSERT_FALSE(found(good_distrust, good_proof)) << "of another kind";
  // And it is kept anew over whatever stands there.
  kept.keep();
  EXPECT_TRUE(kept.find());
}

TEST(ProofStore, AWholeFileWhoseNumbersCannotBeIsNone) {
  Kept kept;
  kept.keep();
  const std::string key = [&] {
    // As it stands in the file, behind its kind.
    const std::string bytes = mynah::test::read_file(kept.files(".proof").at(0));
    WireReader reader(std::as_bytes(std::span(bytes)).subspan(kKeptChecksum));
    std::string kind;
    std::string found;
    reader(kind, found);
    EXPECT_EQ(kind, kProofKind);
    return found;
  }();
  const auto write = [&](const Proof& proof) {
    write_kept_file(kept.files(".proof").at(0), kProofKind, key, kept.wake, proof);
  };
  write(kept.proof());
  EXPECT_TRUE(kept.find());
  Proof bad = kept.proof();
  bad.measurements[0].longest_step_ms = 1e300;
  write(bad);
  EXPECT_FALSE(kept.find());
  bad = kept.proof();
  bad.measurements.pop_back();
  write(bad);
  EXPECT_FALSE(kept.find());
}

TEST(ProofStore, WhatCannotBeWrittenIsNotKept) {
  const Kept kept;
  mynah::test::write_file(kept.folder / "cache/proofs", "a file where the folder should be");
  kept.keep();
  kept.store().failed(kCard, "lost");
  EXPECT_FALSE(kept.find());
  EXPECT_FALSE(kept.store().distrust(kCard));
}

TEST(ProofStore, ManyWriteAtOnce) {
  const Kept kept;
  kept.keep();
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&kept, i] {
        const ProofStore store = kept.store();
        const DeviceIdentity other{"cuda:1", "Other", "1", "GPU-2"};
        for (int k = 0; k < 10; ++k) {
          Proof proof = kept.proof();
          proof.measurements[0].ms_per_unit = i;
          store.keep(kCard, kept.file, DType::F16, proof);
          EXPECT_TRUE(store.find(kCard, kept.file, DType::F16)) << "always a whole one";
          if (i % 2 == 0) {
            store.failed(other, "lost");
          } else {
            static_cast<void>(store.distrust(other));
          }
        }
      });
    }
  }
  ASSERT_TRUE(kept.find());
  EXPECT_LT(kept.find()->measurements[0].ms_per_unit, 8);
  const auto distrust = kept.store().distrust({"cuda:1", "Other", "1", "GPU-2"});
  ASSERT_TRUE(distrust);
  EXPECT_EQ(distrust->failures, 21) << "of forty none was lost, and more than twenty are no more";
  // Nothing half written is left over.
  EXPECT_EQ(
      std::distance(fs::directory_iterator(kept.folder / "cache/proofs"), fs::directory_iterator()),
      2);
}

TEST(WakeState, IsOfThisMachine) {
  const WakeState now = WakeState::now();
  EXPECT_FALSE(now.boot_id.empty());
  EXPECT_TRUE(WakeState::now().awake_since(now));
}

}  // namespace
}  // namespace mynah::place
