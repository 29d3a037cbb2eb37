// One model on two devices beside each other: the simulated card in a worker, and the processor.
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/placed_whisper.h"
#include "place/placer.h"

namespace mynah::place {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SpreadWindows : public test::PlacedWhisper {
 protected:
  static constexpr const char* kBoth = "stt=simt:0+cpu";

  // What this sound is heard as on each of the devices.
  [[nodiscard]] std::set<std::string> texts_of_each() const {
    std::set<std::string> texts;
    for (const char* device : {"simt:0", "cpu"}) {
      Placer alone(placer(device));
      texts.insert(test::hear(**alone.windows(file_), sound_, 1).front());
    }
    return texts;
  }

  std::vector<float> sound_ = test::noise(1, 0.2);
};

TEST_F(SpreadWindows, HearBesideEachOther) {
  const std::set<std::string> wanted = texts_of_each();
  Placer placer(this->placer(kBoth));
  const auto model = placer.windows(file_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->devices().text(), "simt:0+cpu");
  EXPECT_EQ(placer.device(placer.id_of(file_)), "simt:0+cpu");
  ASSERT_EQ((*model)->parts(), 2);
  std::atomic<int> begun = 0;
  std::vector<std::vector<std::string>> texts(2);
  (*model)->run_parts(2, [&](int part) {
    ++begun;
    while (begun < 2) {  // at the same time, or the first device could hear everything
      std::this_thread::yield();
    }
    texts[static_cast<size_t>(part)] = test::hear(**model, sound_, 3);
  });
  for (const std::vector<std::string>& of_part : texts) {
    EXPECT_THAT(of_part, SizeIs(3));
    EXPECT_THAT(of_part, Each(AnyOf(*wanted.begin(), *wanted.rbegin())));
  }
  const PlacementReport report = placer.report();
  ASSERT_EQ(report.stages.size(), 4U) << "two stages on each";
  for (const StagePlacement& stage : report.stages) {
    EXPECT_GT(stage.operations, 0U) << stage.stage << " on " << stage.device;
  }
  EXPECT_THAT(placer.state().openings().moves(), IsEmpty());
}

TEST_F(SpreadWindows, GoOnWhereOneDies) {
  PlacerOptions options = placer(kBoth);
  options.faults = {{.stage = kSttDecoder, .kind = FaultKind::Crash, .call = 2}};
  std::vector<std::string> said;
  options.say = [&](const std::string& line) { said.push_back(line); };
  const int64_t now = options.times.seconds();
  options.times.seconds = [now] { return now; };  // the card's pause is never over
  Placer placer(std::move(options));
  const auto model = placer.windows(file_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(test::hear(**model, sound_, 5), SizeIs(5));
  EXPECT_EQ((*model)->devices().text(), "cpu");
  EXPECT_EQ((*model)->parts(), 1);
  const std::vector<Move> moves = placer.state().openings().moves();
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves.front().from + " " + moves.front().to, "simt:0 cpu");
  EXPECT_THAT(said.back(), HasSubstr("stt goes on on cpu"));
}

TEST_F(SpreadWindows, GoToWhatIsFallenBackOnWhereAllDied) {
  PlacerOptions options = placer("stt=simt:0+ref,cpu");
  options.faults = {{.stage = kSttDecoder, .kind = FaultKind::Crash, .call = 2}};
  const int64_t now = options.times.seconds();
  options.times.seconds = [now] { return now; };
  Placer placer(std::move(options));
  const auto model = placer.windows(file_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(test::hear(**model, sound_, 6), SizeIs(6));
  EXPECT_THAT((*model)->devices().text(), AnyOf("ref", "cpu"));
}

TEST_F(SpreadWindows, ADeviceThatIsNotThereIsRefusedOrLeftOut) {
  Placer strict(placer("stt=simt:0+cuda:7"));
  EXPECT_FALSE(strict.check_request());
  const auto refused = strict.windows(file_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Device);
  EXPECT_THAT(refused.error().message, HasSubstr("cuda:7"));

  PlacerOptions options = placer("stt=simt:0+cuda:7,cpu");
  std::vector<std::string> said;
  options.say = [&](const std::string& line) { said.push_back(line); };
  Placer lenient(std::move(options));
  const auto model = lenient.windows(file_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->devices().text(), "simt:0");
  EXPECT_THAT(said.back(), HasSubstr("; the other devices hear without it"));

  options = this->placer("stt=cuda:7+cuda:8,cpu");
  options.say = [&](const std::string& line) { said.push_back(line); };
  Placer without(std::move(options));
  const auto alone = without.windows(file_);
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ((*alone)->devices().text(), "cpu");
  EXPECT_THAT(said.back(), AllOf(HasSubstr("cuda:7 was preferred, but it "),
                                 HasSubstr("cuda:8 was preferred, but it ")));
}

}  // namespace
}  // namespace mynah::place
