// What planning makes of a profile, and what it remembers of whom.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/placed_whisper.h"
#include "place/proofs/proof_store.h"
#include "store/sha256.h"

namespace mynah::place {
namespace {

using ::testing::AllOf;
using testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Not;
using ::testing::StartsWith;

class PlacementPlan : public test::PlacedWhisper {
 protected:
  static Measurement stage_on(Stage stage, std::string device, DType storage) {
    Measurement measurement;
    measurement.stage = stage;
    measurement.device = std::move(device);
    measurement.storage = storage;
    measurement.passed = true;
    return measurement;
  }

  // A profile of the small Whisper that holds.
  [[nodiscard]] Profile profile_of(std::vector<Measurement> stages) const {
    Profile profile;
    profile.name = "evening";
    profile.model = "some.en";
    profile.model_sha256 = model_digest(file_.path, machine_.root / "cache").value();
    profile.build = "test";
    for (const Measurement& stage : stages) {
      const DeviceIdentity device = identity_without_discovery(stage.device);
      if (std::ranges::find(profile.devices, device) == profile.devices.end()) {
        profile.devices.push_back(device);
      }
    }
    profile.stages = std::move(stages);
    return profile;
  }

  [[nodiscard]] Profile on_the_processor() const {
    return profile_of(
        {stage_on(kSttEncoder, "cpu", DType::BF16), stage_on(kSttDecoder, "cpu", DType::BF16)});
  }

  // `--device profile:evening`.
  [[nodiscard]] PlacerOptions named(Profile profile) const {
    PlacerOptions options = placer("profile:evening");
    options.profiles = {std::move(profile)};
    return options;
  }

  // The profile is in use, and no device is named.
  [[nodiscard]] PlacerOptions in_use(Profile profile) {
    PlacerOptions options = placer("auto");
    options.profiles = {std::move(profile)};
    options.say = [this](const std::string& line) { said_.push_back(line); };
    return options;
  }

  std::string refusal(PlacerOptions options) const {
    PlacementState state(std::move(options));
    const ModelId stt = state.context().expect(file_);
    const auto planned = state.planner().plan(stt);
    EXPECT_FALSE(planned);
    EXPECT_EQ(planned ? ErrorCode::Io : planned.error().code, ErrorCode::Device);
    return planned ? "" : planned.error().message;
  }

  // "simt:0 as f16", stage by stage.
  std::vector<std::string> placed(PlacerOptions options) const {
    PlacementState state(std::move(options));
    const ModelId stt = state.context().expect(file_);
    const auto planned = state.planner().plan(stt);
    EXPECT_TRUE(planned) << planned.error().message;
    std::vector<std::string> places;
    for (const auto& [stage, where] : planned.value_or(StagePlaces{})) {
      places.push_back(where.device + " as " + std::string(name(where.storage.value())));
      // With the other stage where it is, or the whole there.
      EXPECT_TRUE(
          where.device == "cpu" ||
          state.context().prover().kept_apart(file_, *planned,
                                              state.context().identities(*planned)) ||
          state.context().prover().proven_at(file_, where, state.context().identity(where.device)))
          << "nobody proved " << places.back();
    }
    return places;
  }

  std::vector<std::string> said_;
};

TEST_F(PlacementPlan, AProfileThatIsNamedIsRefusedForAnotherFileOfTheModel) {
  Profile profile = on_the_processor();
  profile.model = "model";  // as the file is called
  EXPECT_THAT(placed(named(profile)), ElementsAre("cpu as bf16", "cpu as bf16"));
  profile.model_sha256 = std::string(64, 'b');
  EXPECT_THAT(refusal(named(profile)),
              AllOf(HasSubstr("the profile evening no longer holds"),
                    HasSubstr("it was measured with another file of the model model"),
                    HasSubstr("mynah tune"), HasSubstr("leave --device out")));
}

TEST_F(PlacementPlan, AProfileThatIsNamedIsRefusedForAnotherModel) {
  Profile profile = on_the_processor();
  EXPECT_THAT(placed(named(profile)), ElementsAre("cpu as bf16", "cpu as bf16"))
      << "whatever it is called, it is the same file";
  profile.model_sha256 = std::string(64, 'b');
  EXPECT_THAT(refusal(named(profile)),
              AllOf(HasSubstr("the profile evening is of some.en, not of "),
                    HasSubstr("model.gguf; measure this model with `mynah tune`, or leave")));
}

TEST_F(PlacementPlan, AProfileThatIsNamedIsRefusedForModelsThatItDoesNotPlace) {
  EXPECT_THAT(refusal(named(profile_of({stage_on(kTtsAcoustic, "cpu", DType::I8),
                                        stage_on(kTtsVocoder, "cpu", DType::I8)}))),
              HasSubstr("the profile evening is of some.en, which has no stt; "));
}

TEST_F(PlacementPlan, AProfileInUseIsPassedOverForAnotherModelInALine) {
  Profile profile = on_the_processor();
  profile.model_sha256 = std::string(64, 'b');
  PlacementState state(in_use(profile));
  const ModelId stt = state.context().expect(file_);
  for (int i = 0; i < 2; ++i) {
    const auto planned = state.planner().plan(stt);
    ASSERT_TRUE(planned) << planned.error().message;
    EXPECT_EQ(planned->at(kSttEncoder).storage, DType::I8) << "as auto has it";
  }
  EXPECT_THAT(said_, ElementsAre(AllOf(HasSubstr("the profile in use, evening, is of some.en and "
                                                 "not of "),
                                       HasSubstr("model.gguf: stt is placed by auto"))));
}

TEST_F(PlacementPlan, OfSeveralProfilesInUseTheModelsOwnPlacesItAndIsSaid) {
  Profile other = on_the_processor();
  other.name = "other";
  other.model_sha256 = std::string(64, 'b');
  PlacerOptions options = in_use(other);
  options.profiles.push_back(profile_of(
      {stage_on(kSttEncoder, "simt:0", DType::F16), stage_on(kSttDecoder, "cpu", DType::BF16)}));
  options.profiles.push_back(profile_of({stage_on(kTtsAcoustic, "cpu", DType::I8)}));
  PlacementState state(std::move(options));
  const ModelId stt = state.context().expect(file_);
  const auto planned = state.planner().plan(stt);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->at(kSttEncoder).device, "simt:0");
  EXPECT_EQ(planned->at(kSttDecoder).storage, DType::BF16);
  for (const Stage stage : {kSttEncoder, kSttDecoder}) {
    EXPECT_EQ(state.planner().choice(stt, stage)->plan.reason, "the profile evening says so");
  }
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(PlacementPlan, AProfileInUseIsRefusedWhereTheFileOfItsModelChanged) {
  Profile profile = on_the_processor();
  profile.model = "model";  // as the file is called
  EXPECT_THAT(placed(in_use(profile)), ElementsAre("cpu as bf16", "cpu as bf16"));
  profile.model_sha256 = std::string(64, 'b');
  EXPECT_THAT(refusal(in_use(profile)), HasSubstr("another file of the model model"));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(PlacementPlan, AProfileInUseThatCannotBeReadIsRefusedToItsOwnModelAlone) {
  PlacerOptions options = placer("auto");
  options.say = [this](const std::string& line) { said_.push_back(line); };
  UnreadableProfile bad{
      .name = "evening", .model = "some.en", .model_sha256 = std::string(64, 'b'), .why = "bad"};
  options.unreadable_profiles = {bad};
  EXPECT_THAT(placed(options), ElementsAre("cpu as i8", "cpu as i8"));
  EXPECT_THAT(said_, IsEmpty());
  bad.model_sha256 = model_digest(file_.path, machine_.root / "cache").value();
  options.unreadable_profiles = {bad};
  EXPECT_EQ(refusal(options), "the profile in use, evening, cannot be read: bad");
  options.unreadable_profiles = {{.name = "model", .model = {}, .model_sha256 = {}, .why = "bad"}};
  EXPECT_EQ(refusal(options), "the profile in use, model, cannot be read: bad")
      << "it is called as the model";
  EXPECT_THAT(said_, IsEmpty());
  options.unreadable_profiles.front().name = "evening";
  EXPECT_THAT(placed(options), ElementsAre("cpu as i8", "cpu as i8"));
  EXPECT_THAT(said_, ElementsAre(AllOf(HasSubstr("evening, cannot be read"),
                                       HasSubstr("stt is placed by auto; bad"))));
}

TEST_F(PlacementPlan, EachTypeThatAProfileNamesIsProvenAndUsed) {
  const Profile both = profile_of(
      {stage_on(kSttEncoder, "simt:0", DType::F16), stage_on(kSttDecoder, "simt:0", DType::I8)});
  EXPECT_THAT(placed(named(both)), ElementsAre("simt:0 as f16", "simt:0 as i8"));
  const Profile apart = profile_of(
      {stage_on(kSttEncoder, "simt:0", DType::F16), stage_on(kSttDecoder, "cpu", DType::BF16)});
  EXPECT_THAT(placed(named(apart)), ElementsAre("simt:0 as f16", "cpu as bf16"));
  PlacerOptions by_the_user = named(apart);
  by_the_user.storage = DType::F32;
  EXPECT_THAT(placed(by_the_user), ElementsAre("simt:0 as f32", "cpu as f32"));
}

TEST_F(PlacementPlan, StagesThatAProfileHasApartAreProvenSoAndNotAsAWhole) {
  const Profile apart = profile_of(
      {stage_on(kSttEncoder, "simt:0", DType::F16), stage_on(kSttDecoder, "cpu", DType::I8)});
  std::vector<std::string> told;
  PlacerOptions options = named(apart);
  options.tell = [&](const std::string& line) { told.push_back(line); };
  EXPECT_THAT(placed(options), ElementsAre("simt:0 as f16", "cpu as i8"));
  EXPECT_THAT(told, Not(IsEmpty()));
  EXPECT_THAT(told, Each(HasSubstr("proving simt:0,cpu for stt")));  // and that it took long
  EXPECT_THAT(placed(options), ElementsAre("simt:0 as f16", "cpu as i8"));
  EXPECT_EQ(told.size(), 1U) << "it is kept";
  // One that fails its proof goes to the processor, as a whole that fails does.
  ProofStore(options.cache_folder, "test")
      .failed(identity_without_discovery("simt:0"), "lost in another process");
  ::setenv("MYNAH_WORKER_MANNER", "probes wrongly", 1);
  EXPECT_THAT(placed(options), ElementsAre(StartsWith("cpu as "), "cpu as i8"));
}

// Automatic stages on a machine whose only card is the simulated one, as kept proofs say that it
// is.
class PlacementApart : public PlacementPlan {
 protected:
  PlacementApart() {
    file_.precision = Precision::Exact;  // of which the processor has one type
    options_ = placer("auto");
    options_.precision = Precision::Exact;
    for (const Stage stage : {kSttEncoder, kSttDecoder}) {
      options_.request.of(stage).devices = {"cpu", "simt:0"};
    }
    options_.tell = [this](const std::string& line) { told_.push_back(line); };
  }

  [[nodiscard]] ProofStore store() const { return {options_.cache_folder, "test"}; }

  [[nodiscard]] std::string devices() const {
    PlacementState state(options_);
    const ModelId stt = state.context().expect(file_);
    const auto planned = state.planner().plan(stt);
    EXPECT_TRUE(planned) << planned.error().message;
    return devices_of(planned.value_or(StagePlaces{}));
  }

  static Measurement took(Stage stage, const StageDevice& where, double ms) {
    Measurement measured = stage_on(stage, where.device, DType::I8);
    measured.storage = where.storage;
    measured.ms_per_unit = ms;
    return measured;
  }

  // The card is much the faster with the decoder, and much the slower with the encoder.
  void keep_whole() const {
    store().keep(simt_, file_, card_.storage,
                 {.measurements = {took(kSttEncoder, card_, 1e6), took(kSttDecoder, card_, 1e-6)},
                  .made_at = 1,
                  .last_failure = 0});
  }

  void keep_apart() {
    store().keep_apart(
        identities_, file_, apart_,
        {.measurements = {took(kSttEncoder, cpu_, 1e-6), took(kSttDecoder, card_, 1e-6)},
         .made_at = 1,
         .last_failure = 0});
  }

  // Proofs that were begun; one that takes long, as on a busy machine, has a line at its end, too.
  [[nodiscard]] long proofs() const {
    return std::ranges::count_if(told_, [](const std::string& line) {
      return line.starts_with("proving cpu,simt:0 for stt (");
    });
  }

  const StageDevice card_{.device = "simt:0", .storage = {}};
  const StageDevice cpu_{.device = "cpu", .storage = {}};
  const StagePlaces apart_ = {{kSttEncoder, cpu_}, {kSttDecoder, card_}};
  const DeviceIdentity simt_ = identity_without_discovery("simt:0");
  const std::vector<DeviceIdentity> identities_ = {identity_without_discovery("cpu"), simt_};
  PlacerOptions options_;
  std::vector<std::string> told_;
};

TEST_F(PlacementApart, WhatCouldBeBetterIsProvenAndTakenOnlyWhereItIs) {
  keep_whole();
  // In truth the simulated card is much slower.
  EXPECT_EQ(devices(), "cpu");
  EXPECT_EQ(proofs(), 1);
  EXPECT_TRUE(store().find_apart(identities_, file_, apart_));
  EXPECT_EQ(devices(), "cpu");
  EXPECT_EQ(proofs(), 1) << "it is kept";
}

TEST_F(PlacementApart, WhatFailsItsProofIsLeft) {
  keep_whole();
  {
    Prover prover({.worker_program = options_.worker_program,
                   .settings = {},
                   .cache_folder = options_.cache_folder,
                   .build = "test",
                   .faults = {},
                   .tell = {}});
    ASSERT_TRUE(prover.reference(file_));
  }
  ::setenv("MYNAH_WORKER_MANNER", "probes wrongly", 1);
  EXPECT_EQ(devices(), "cpu");
  EXPECT_EQ(proofs(), 1);
  EXPECT_TRUE(store().find(simt_, file_, card_.storage)) << "the card alone is not to blame";
}

TEST_F(PlacementApart, WhatIsProvenIsTakenUntilItHasNoRoomOrFails) {
  keep_whole();
  keep_apart();
  PlacementState state(options_);
  const ModelId stt = state.context().expect(file_);
  auto planned = state.planner().plan(stt);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(*planned, apart_);
  ASSERT_TRUE(state.planner().choice(stt, kSttDecoder)->measured);
  EXPECT_EQ(state.planner().choice(stt, kSttDecoder)->measured->ms_per_unit, 1e-6)
      << "as it was so";
  EXPECT_THAT(state.planner().choice(stt, kSttEncoder)->plan.reason,
              HasSubstr("; apart from stt.decoder on simt:0, as they were proven"));
  state.opened(stt, *planned);
  EXPECT_EQ(state.proven_at(stt, kSttEncoder), 1);
  state.had_no_room(stt, *planned, {ErrorCode::OutOfMemory, "memory is full"});
  planned = state.planner().plan(stt);
  ASSERT_TRUE(planned);
  EXPECT_EQ(devices_of(*planned), "cpu");
  // Another process has room.
  PlacementState other(options_);
  const ModelId same = other.context().expect(file_);
  ASSERT_EQ(other.planner().plan(same).value(), apart_);
  other.failed(same, apart_, {ErrorCode::Device, "simt:0 is lost"}, "");
  planned = other.planner().plan(same);
  ASSERT_TRUE(planned);
  EXPECT_EQ(devices_of(*planned), "cpu");
  EXPECT_FALSE(store().find_apart(identities_, file_, apart_));
}

TEST_F(PlacementPlan, ChoicesOfOtherGroupsStayAsTheyWerePlaced) {
  PlacementState state(placer("cpu"));
  const ModelId stt = state.context().expect(file_);
  const ModelId vad = state.context().expect(DetectorFile{.path = machine_.root / "none"});
  ASSERT_TRUE(state.planner().plan(stt));
  EXPECT_TRUE(state.planner().choice(stt, kSttEncoder));
  EXPECT_FALSE(state.planner().choice(vad, kVadStage)) << "nobody placed it yet";
}

TEST_F(PlacementPlan, WhoeverPrefersADeviceIsToldOnceWhereAnotherComputes) {
  const auto open = [this](PlacerOptions options) {
    said_.clear();
    options.say = [this](const std::string& line) { said_.push_back(line); };
    PlacementState state(std::move(options));
    const ModelId stt = state.context().expect(file_);
    for (int i = 0; i < 2; ++i) {
      const auto planned = state.planner().plan(stt);
      ASSERT_TRUE(planned) << planned.error().message;
      state.opened(stt, *planned);
    }
  };
  open(placer("cuda,cpu"));
  EXPECT_THAT(said_, ElementsAre("stt on cpu: cuda:0 was preferred, but it is not here: this "
                                 "machine has no NVIDIA card"));
  open(placer("cuda,cuda:1,cpu"));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("no NVIDIA card; cuda:1 was preferred, but it is not")));
  machine_.add_pci("0000:01:00.0");
  open(placer("cuda,cpu"));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("but it is not here: NVIDIA's driver")));
  for (const std::string devices : {"cpu,cuda", "auto", "tts=cuda,cpu,stt=cpu"}) {
    open(placer(devices));
    EXPECT_THAT(said_, IsEmpty()) << devices;
  }
  ::setenv("MYNAH_WORKER_MANNER", "crashes", 1);
  open(placer("simt:0,cpu"));
  ::unsetenv("MYNAH_WORKER_MANNER");
  EXPECT_THAT(
      said_, ElementsAre(HasSubstr("stt on cpu: simt:0 was preferred, but it failed its proof: ")));
}

TEST_F(PlacementPlan, AGroupThatIsOpenStaysWhereItIsAndIsNotMeasuredForAnother) {
  PlacementState state(placer("simt:0,cpu"));
  const ModelId stt = state.context().expect(file_);
  const ModelId vad = state.context().expect(
      DetectorFile{.path = machine_.root / "none"});  // nobody could measure it
  state.opened(vad, {{kVadStage, {.device = "simt:0", .storage = {}}}});
  const auto planned = state.planner().plan(stt);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->at(kSttEncoder).device, "simt:0");
  EXPECT_EQ(state.openings().places(vad).at(kVadStage).device, "simt:0");
  EXPECT_FALSE(state.planner().plan(vad)) << "its own plan measures it";
}

}  // namespace
}  // namespace mynah::place
