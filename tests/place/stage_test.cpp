#include "place/stage.h"

#include <gtest/gtest.h>

namespace mynah::place {
namespace {

TEST(Stage, IsFoundByItsName) {
  for (const Stage stage : kStages) {
    EXPECT_EQ(find_stage(stage_name(stage)), stage);
  }
  EXPECT_EQ(find_stage("stt"), std::nullopt);
  EXPECT_EQ(stage_name(Stage::TtsVocoder), "tts.vocoder");
}

TEST(Stage, GroupsHoldEachStageOnce) {
  size_t held = 0;
  for (const StageGroup group : {StageGroup::Vad, StageGroup::Stt, StageGroup::Tts}) {
    for (const Stage stage : stages_of(group)) {
      EXPECT_EQ(group_of(stage), group);
      EXPECT_TRUE(stage_name(stage).starts_with(group_name(group)));
      ++held;
    }
  }
  EXPECT_EQ(held, kStages.size());
  EXPECT_EQ(stages_of(StageGroup::Stt).size(), 2U);
}

}  // namespace
}  // namespace mynah::place
