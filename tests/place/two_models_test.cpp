// Two models of one kind in one process: each has its own places, choices, failures and workers.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "gpu/fake_driver/loaded_fake.h"
#include "place/kinds/kinds.h"
#include "place/placed_whisper.h"
#include "place/placer.h"
#include "place/state/status_page.h"
#include "store/sha256.h"

namespace mynah::place {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr ModelId kFirst{.group = kSttGroup, .number = 0};
constexpr ModelId kSecond{.group = kSttGroup, .number = 1};

class TwoModels : public test::PlacedWhisper {
 protected:
  TwoModels() {
    other_.path = cli::write_tiny_whisper(machine_.root / "other.gguf", true);
    ::setenv("MYNAH_WORKER_MANNER", "", 1);
  }

  void expect_both(PlacementState& state) const {
    EXPECT_EQ(state.context().expect(file_), kFirst);
    EXPECT_EQ(state.context().expect(other_), kSecond);
  }

  static std::vector<ModelId> loaded(PlacementState& state) {
    std::vector<ModelId> models;
    for (const LoadedStage& stage : state.openings().loaded()) {
      models.push_back(stage.stage.model);
    }
    return models;
  }

  WindowsFile other_;
};

TEST_F(TwoModels, AFileKeepsItsIdAndAnotherGetsTheNext) {
  PlacementState state(placer("cpu"));
  PlacementContext& context = state.context();
  EXPECT_EQ(context.file(kFirst), std::nullopt);
  expect_both(state);
  EXPECT_EQ(context.models().back().id, kSecond);
  EXPECT_EQ(context.expect(DetectorFile{.path = "vad"}), (ModelId{.group = kVadGroup}));
  EXPECT_EQ(context.expect(file_), kFirst);
  EXPECT_EQ(context.models().back().id, kFirst) << "it was expected last";
  EXPECT_EQ(context.file(kFirst), ModelFile(file_));
  EXPECT_EQ(context.file(kSecond), ModelFile(other_));
  WindowsFile exact = file_;
  exact.precision = Precision::Exact;
  EXPECT_EQ(context.expect(exact), (ModelId{.group = kSttGroup, .number = 2}));
  EXPECT_EQ(context.models().size(), 4U);
}

TEST_F(TwoModels, AreOpenAtOnceAndLetGoOneByOne) {
  Placer placer(this->placer("simt:0,cpu"));
  const auto first = placer.windows(file_);
  ASSERT_TRUE(first) << first.error().message;
  placer.name_work(kFirst, {"a.wav"});
  const auto second = placer.windows(other_);
  ASSERT_TRUE(second) << second.error().message;
  placer.name_work(kSecond, {"b.wav"});

  PlacementState& state = placer.state();
  Openings& openings = state.openings();
  EXPECT_EQ(devices_of(openings.places(kFirst)), "simt:0");
  EXPECT_EQ(devices_of(openings.places(kSecond)), "simt:0");
  EXPECT_EQ(openings.worker_pids().size(), 1U) << "a lane each";
  EXPECT_THAT(openings.work_names(kFirst), ElementsAre("a.wav"));
  EXPECT_THAT(openings.work_names(kSecond), ElementsAre("b.wav"));
  for (const Stage stage : {kSttEncoder, kSttDecoder}) {
    const auto one = openings.choice(kFirst, stage);
    const auto other = openings.choice(kSecond, stage);
    ASSERT_TRUE(one && other);
    EXPECT_LT(one->plan.bytes, other->plan.bytes) << "the second has more words and bands";
    EXPECT_TRUE(state.proven_at(kFirst, stage));
    EXPECT_TRUE(state.proven_at(kSecond, stage));
  }
  EXPECT_THAT(loaded(state), ElementsAre(kFirst, kFirst, kSecond, kSecond));
  const auto pools = [&placer] {
    std::vector<std::string> all;
    for (const StagePlacement& stage : placer.report().stages) {
      EXPECT_GT(stage.operations, 0U);
      all.push_back(stage.stage + " with " + stage.memory_with);
    }
    return all;
  };
  const auto each_its_own = ElementsAre("stt.encoder with ", "stt.decoder with stt.encoder",
                                        "stt.encoder with ", "stt.decoder with stt.encoder");
  EXPECT_THAT(pools(), each_its_own);
  EXPECT_THAT(placer.explain(), ElementsAre(StartsWith("stt (" + file_.path + ") on simt:0"),
                                            StartsWith("stt (" + other_.path + ") on simt:0"),
                                            StartsWith("proofs took")));

  openings.hooks().front().unload_after({});
  EXPECT_THAT(loaded(state), ElementsAre(kSecond, kSecond));
  EXPECT_EQ(openings.open_places().size(), 1U);
  EXPECT_EQ(openings.worker_pids().size(), 1U);
  EXPECT_TRUE((*second)->probe());
  EXPECT_THAT(pools(), each_its_own) << "of what was let go the last that was known";
  EXPECT_TRUE((*first)->probe()) << "it is opened again";
  EXPECT_THAT(loaded(state), ElementsAre(kFirst, kFirst, kSecond, kSecond));
  EXPECT_THAT(openings.moves(), IsEmpty());
}

// Each model's second call fails, while the other's are under way in the same worker.
TEST_F(TwoModels, AFaultOfOneEndsBothLanesAndEveryRequestFinishes) {
  const std::vector<float> sound = test::noise(1, 0.2);
  std::array<std::string, 2> on_card;
  {
    Placer placer(this->placer("simt:0"));
    on_card = {test::hear(**placer.windows(file_), sound, 1).front(),
               test::hear(**placer.windows(other_), sound, 1).front()};
  }
  PlacerOptions options = this->placer("simt:0,cpu");
  options.faults = {{.stage = kSttDecoder, .kind = FaultKind::Crash, .call = 2}};
  const int64_t now = options.times.seconds();
  options.times.seconds = [now] { return now; };  // the card's pause is never over
  Placer placer(std::move(options));
  const auto first = placer.windows(file_);
  const auto second = placer.windows(other_);
  ASSERT_TRUE(first && second);
  std::array<std::vector<std::string>, 2> texts;
  {
    const std::jthread one([&] { texts[0] = test::hear(**first, sound, 3); });
    const std::jthread two([&] { texts[1] = test::hear(**second, sound, 3); });
  }
  const std::array after = {test::hear(**first, sound, 1).front(),
                            test::hear(**second, sound, 1).front()};
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_THAT(texts[i], SizeIs(3));
    EXPECT_THAT(texts[i], Each(AnyOf(on_card[i], after[i])));
    EXPECT_THAT(after[i], Not(IsEmpty()));
  }
  EXPECT_THAT(placer.state().openings().moves(), Not(IsEmpty()));
  for (const Move& move : placer.state().openings().moves()) {
    EXPECT_THAT(move.from + " " + move.to, StartsWith("simt:0 "));
  }
}

TEST_F(TwoModels, HaveAPlaceEachInThisProcess) {
  Placer placer(this->placer("cpu"));
  const auto first = placer.windows(file_);
  const auto second = placer.windows(other_);
  ASSERT_TRUE(first && second);
  PlacementState& state = placer.state();
  EXPECT_THAT(loaded(state), ElementsAre(kFirst, kFirst, kSecond, kSecond));
  state.openings().hooks().back().unload_after({});
  EXPECT_THAT(loaded(state), ElementsAre(kFirst, kFirst));
  const PlacementReport report = placer.report();
  ASSERT_EQ(report.stages.size(), 4U);
  EXPECT_EQ(report.stages[0].memory_with, "");
  for (size_t i = 1; i < report.stages.size(); ++i) {
    EXPECT_EQ(report.stages[i].memory_with, "stt.encoder") << "a process has one pool";
  }
}

TEST_F(TwoModels, LearnNothingOfEachOthersWantOfMemory) {
  PlacementState state(placer("simt:0,cpu"));
  expect_both(state);
  const StagePlaces there = all_on(kSttGroup, {.device = "simt:0", .storage = DType::F16});
  const Error full{ErrorCode::OutOfMemory, "the card is full"};
  state.had_no_room(kFirst, there, full);
  EXPECT_TRUE(state.trust().no_room(kFirst));
  EXPECT_FALSE(state.trust().no_room(kSecond));
  EXPECT_NE(state.trust().refusal(kFirst, there.at(kSttEncoder)).why, "");
  EXPECT_EQ(state.trust().refusal(kSecond, there.at(kSttEncoder)).why, "");
  state.trust().limit_windows(kFirst, there, 2);
  EXPECT_EQ(state.trust().most_windows(kFirst, there, 8), 2U);
  EXPECT_EQ(state.trust().most_windows(kSecond, there, 8), 8U);
  state.trust().note_no_room_apart(kFirst, there, full);
  EXPECT_TRUE(state.trust().waits_for_room_apart(kFirst, there));
  EXPECT_FALSE(state.trust().waits_for_room_apart(kSecond, there));
}

// The text that `mynah ps` reads, as this process wrote it when so many stages were loaded.
nlohmann::json status_with(size_t stages) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < until) {
    for (const OtherProcess& process : find_status_pages()) {
      const auto json = nlohmann::json::parse(process.text, nullptr, false);
      if (process.pid == ::getpid() && json.is_object() && json["stages"].size() == stages) {
        return json;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

TEST_F(TwoModels, AreBothListedWithOnePoolOfThisProcess) {
  Placer placer(this->placer("cpu"));
  const auto first = placer.windows(file_);
  const auto second = placer.windows(other_);
  ASSERT_TRUE(first && second);
  const nlohmann::json stages = status_with(4)["stages"];
  ASSERT_EQ(stages.size(), 4U);
  for (size_t i = 0; i < stages.size(); ++i) {
    EXPECT_EQ(stages[i]["stage"], i % 2 == 0 ? "stt.encoder" : "stt.decoder");
    EXPECT_EQ(stages[i]["model"], i < 2 ? file_.path : other_.path);
    EXPECT_EQ(stages[i]["bytes"] > 0, i == 0) << "a process has one pool";
    EXPECT_EQ(stages[i]["memory_with"],
              i == 0 ? nlohmann::json(nullptr) : nlohmann::json("stt.encoder"));
  }
}

// Both fit the card alone, and not together.
TEST_F(TwoModels, AreNotPlannedInEachOthersMemory) {
  constexpr uint64_t kGigabyte = uint64_t{1} << 30;
  const gpu::fake::LoadedFake driver;  // its card of 8 GB is only found
  PlacerOptions options = placer("cuda:0,cpu");
  options.discovery.gpus.driver = driver.search();
  options.storage = DType::F16;
  PlacementState state(std::move(options));
  expect_both(state);
  const StageDevice card{.device = "cuda:0", .storage = DType::F16};
  test::keep_proof(state, file_, card, 3 * kGigabyte);
  test::keep_proof(state, other_, card, 3 * kGigabyte);
  const auto where = [&state](ModelId model) {
    const auto planned = state.planner().plan(model);
    EXPECT_TRUE(planned) << planned.error().message;
    return devices_of(planned.value_or(StagePlaces{}));
  };
  EXPECT_EQ(where(kFirst), "cuda:0");
  EXPECT_EQ(where(kSecond), "cuda:0") << "nobody has the memory yet";
  state.opened(kFirst, all_on(kSttGroup, card));
  EXPECT_EQ(where(kSecond), "cpu");
  EXPECT_EQ(where(kFirst), "cuda:0") << "its memory is its own";
  state.openings().left(kFirst);
  EXPECT_EQ(where(kSecond), "cuda:0");
}

TEST_F(TwoModels, AProfilePlacesItsModelAndNotTheOther) {
  std::vector<std::string> said;
  PlacerOptions options = placer("auto");
  options.say = [&said](const std::string& line) { said.push_back(line); };
  Profile profile;
  profile.name = "evening";
  profile.model = "some.en";
  profile.model_sha256 = model_digest(file_.path, machine_.root / "cache").value();
  profile.build = "test";
  profile.devices = {identity_without_discovery("cpu")};
  for (const Stage stage : {kSttEncoder, kSttDecoder}) {
    profile.stages.push_back({.stage = stage, .device = "cpu", .storage = DType::BF16});
  }
  options.profiles = {profile};
  PlacementState state(std::move(options));
  expect_both(state);
  for (int i = 0; i < 2; ++i) {
    const auto first = state.planner().plan(kFirst);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->at(kSttEncoder).storage, DType::BF16);
    EXPECT_EQ(state.planner().choice(kFirst, kSttEncoder)->plan.reason,
              "the profile evening says so");
    const auto second = state.planner().plan(kSecond);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(second->at(kSttEncoder).storage, DType::I8) << "as auto has it";
  }
  EXPECT_THAT(said, ElementsAre(AllOf(HasSubstr("is of some.en and not of "),
                                      HasSubstr("other.gguf: stt is placed by auto"))));
}

}  // namespace
}  // namespace mynah::place
