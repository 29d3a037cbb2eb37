#include "place/terms/stage.h"

#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/terms/time_text.h"

namespace mynah::place {
namespace {

TEST(Stage, IsFoundByItsName) {
  for (const Stage stage : all_stages()) {
    EXPECT_EQ(find_stage(stage_name(stage)), stage);
  }
  EXPECT_EQ(find_stage("stt"), std::nullopt);
  EXPECT_EQ(stage_name(kTtsVocoder), "tts.vocoder");
}

TEST(Stage, GroupsHoldEachStageOnce) {
  size_t held = 0;
  for (const StageGroup group : {kVadGroup, kSttGroup, kTtsGroup, kLlmGroup, kEmbedGroup}) {
    for (const Stage stage : stages_of(group)) {
      EXPECT_EQ(group_of(stage), group);
      EXPECT_TRUE(stage_name(stage).starts_with(group_name(group)));
      ++held;
    }
  }
  EXPECT_EQ(held, all_stages().size());
  EXPECT_EQ(stages_of(kSttGroup).size(), 2U);
}

TEST(TimeText, IsInTheUnitThatLeavesTwoOrMore) {
  EXPECT_EQ(time_text(0.4), "0 s");
  EXPECT_EQ(time_text(119), "119 s");
  EXPECT_EQ(time_text(120), "2 min");
  EXPECT_EQ(time_text(7199), "120 min");
  EXPECT_EQ(time_text(7200), "2 h");
  EXPECT_EQ(time_text(47.0 * 3600), "47 h");
  EXPECT_EQ(time_text(72.0 * 3600), "3 days");
}

}  // namespace
}  // namespace mynah::place
