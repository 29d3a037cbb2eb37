// What planning makes of a profile, and what it remembers of whom.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/placed_whisper.h"
#include "store/sha256.h"

namespace mynah::place {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
    return profile_of({stage_on(Stage::SttEncoder, "cpu", DType::BF16),
                       stage_on(Stage::SttDecoder, "cpu", DType::BF16)});
  }

  // `--device profile:evening`.
  [[nodiscard]] PlacerOptions named(Profile profile) const {
    PlacerOptions options = placer("profile:evening");
    options.profile = std::move(profile);
    return options;
  }

  // The profile is in use, and no device is named.
  [[nodiscard]] PlacerOptions in_use(Profile profile) {
    PlacerOptions options = placer("auto");
    options.profile = std::move(profile);
    options.say = [this](const std::string& line) { said_.push_back(line); };
    return options;
  }

  std::string refusal(PlacerOptions options) const {
    PlacementState state(std::move(options));
    state.expect(file_);
    const auto planned = state.plan(StageGroup::Stt);
    EXPECT_FALSE(planned);
    EXPECT_EQ(planned ? ErrorCode::Io : planned.error().code, ErrorCode::Device);
    return planned ? "" : planned.error().message;
  }

  // "simt:0 as f16", stage by stage.
  std::vector<std::string> placed(PlacerOptions options) const {
    PlacementState state(std::move(options));
    state.expect(file_);
    const auto planned = state.plan(StageGroup::Stt);
    EXPECT_TRUE(planned) << planned.error().message;
    std::vector<std::string> places;
    for (const auto& [stage, where] : planned.value_or(StagePlaces{})) {
      places.push_back(where.device + " as " + std::string(name(where.storage.value())));
      EXPECT_TRUE(where.device == "cpu" ||
                  state.prover().proven_at(file_, where, state.identity(where.device)))
          << "nobody proved " << places.back();
    }
    return places;
  }

  std::vector<std::string> said_;
};

TEST_F(PlacementPlan, AProfileThatIsNamedIsRefusedForAnotherFileOfTheModel) {
  Profile profile = on_the_processor();
  EXPECT_THAT(placed(named(profile)), ElementsAre("cpu as bf16", "cpu as bf16"));
  profile.model_sha256 = std::string(64, 'b');
  EXPECT_THAT(refusal(named(profile)),
              AllOf(HasSubstr("the profile evening no longer holds"),
                    HasSubstr("it was measured with another file of the model some.en"),
                    HasSubstr("mynah tune"), HasSubstr("leave --device out")));
}

TEST_F(PlacementPlan, AProfileThatIsNamedIsRefusedForModelsThatItDoesNotPlace) {
  EXPECT_THAT(refusal(named(profile_of({stage_on(Stage::TtsAcoustic, "cpu", DType::I8),
                                        stage_on(Stage::TtsVocoder, "cpu", DType::I8)}))),
              HasSubstr("the profile evening is of some.en, which has no stt; "));
}

TEST_F(PlacementPlan, AProfileInUseIsPassedOverForAnotherModelInALine) {
  Profile profile = on_the_processor();
  profile.model_sha256 = std::string(64, 'b');
  PlacementState state(in_use(profile));
  state.expect(file_);
  for (int i = 0; i < 2; ++i) {
    const auto planned = state.plan(StageGroup::Stt);
    ASSERT_TRUE(planned) << planned.error().message;
    EXPECT_EQ(planned->at(Stage::SttEncoder).storage, DType::I8) << "as auto has it";
  }
  EXPECT_THAT(said_, ElementsAre(AllOf(HasSubstr("the profile in use, evening, is of some.en and "
                                                 "not of "),
                                       HasSubstr("model.gguf: stt is placed by auto"))));
}

TEST_F(PlacementPlan, AProfileInUseIsRefusedWhereTheFileOfItsModelChanged) {
  Profile profile = on_the_processor();
  profile.model = "model";  // as the file is called
  EXPECT_THAT(placed(in_use(profile)), ElementsAre("cpu as bf16", "cpu as bf16"));
  profile.model_sha256 = std::string(64, 'b');
  EXPECT_THAT(refusal(in_use(profile)), HasSubstr("another file of the model model"));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(PlacementPlan, EachTypeThatAProfileNamesIsProvenAndUsed) {
  const Profile both = profile_of({stage_on(Stage::SttEncoder, "simt:0", DType::F16),
                                   stage_on(Stage::SttDecoder, "simt:0", DType::I8)});
  EXPECT_THAT(placed(named(both)), ElementsAre("simt:0 as f16", "simt:0 as i8"));
  const Profile apart = profile_of({stage_on(Stage::SttEncoder, "simt:0", DType::F16),
                                    stage_on(Stage::SttDecoder, "cpu", DType::BF16)});
  EXPECT_THAT(placed(named(apart)), ElementsAre("simt:0 as f16", "cpu as bf16"));
  PlacerOptions by_the_user = named(apart);
  by_the_user.storage = DType::F32;
  EXPECT_THAT(placed(by_the_user), ElementsAre("simt:0 as f32", "cpu as f32"));
}

TEST_F(PlacementPlan, ChoicesOfOtherGroupsStayAsTheyWerePlaced) {
  PlacementState state(placer("cpu"));
  state.expect(file_);
  state.expect(DetectorFile{.path = machine_.root / "none"});
  ASSERT_TRUE(state.plan(StageGroup::Stt));
  EXPECT_TRUE(state.choice(Stage::SttEncoder));
  EXPECT_FALSE(state.choice(Stage::Vad)) << "nobody placed it yet";
}

TEST_F(PlacementPlan, WhoeverPrefersADeviceIsToldOnceWhereAnotherComputes) {
  const auto open = [this](PlacerOptions options) {
    said_.clear();
    options.say = [this](const std::string& line) { said_.push_back(line); };
    PlacementState state(std::move(options));
    state.expect(file_);
    for (int i = 0; i < 2; ++i) {
      const auto planned = state.plan(StageGroup::Stt);
      ASSERT_TRUE(planned) << planned.error().message;
      state.opened(StageGroup::Stt, *planned);
    }
  };
  open(placer("cuda,cpu"));
  EXPECT_THAT(said_, ElementsAre("stt on cpu: cuda:0 was preferred, but it is not here"));
  open(placer("cuda,cuda:1,cpu"));
  EXPECT_THAT(said_, ElementsAre("stt on cpu: cuda:0 was preferred, but it is not here; cuda:1 was "
                                 "preferred, but it is not here"));
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
  state.expect(file_);
  state.expect(DetectorFile{.path = machine_.root / "none"});  // nobody could measure it
  state.opened(StageGroup::Vad, {{Stage::Vad, {.device = "simt:0", .storage = {}}}});
  const auto planned = state.plan(StageGroup::Stt);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->at(Stage::SttEncoder).device, "simt:0");
  EXPECT_EQ(state.places(StageGroup::Vad).at(Stage::Vad).device, "simt:0");
  EXPECT_FALSE(state.plan(StageGroup::Vad)) << "its own plan measures it";
}

}  // namespace
}  // namespace mynah::place
