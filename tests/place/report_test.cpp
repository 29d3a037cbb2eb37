#include "place/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::place {
namespace {

using ::testing::ElementsAre;

StagePlacement on_cpu(const char* stage, const char* why) {
  StagePlacement placement;
  placement.stage = stage;
  placement.device = "cpu";
  placement.architecture = "avx2";
  placement.storage = "i8";
  placement.why = why;
  placement.others = {{.device = "cuda:0", .why = "takes 396 ms as f16"}};
  return placement;
}

TEST(ExplainReport, StagesInOneLineHaveTheReasonOfTheWhole) {
  PlacementReport report;
  report.stages = {on_cpu("tts.acoustic", "cpu is 22x cuda:0 (18 ms, 396 ms there)"),
                   on_cpu("tts.vocoder", "cpu is 27x cuda:0 (36 ms, 961 ms there)")};
  report.stages[0].together = TogetherReasons{
      .why = "cpu is 25x cuda:0 (54 ms, 1357 ms there)",
      .others = {{.device = "cuda:0", .why = "takes 1357 ms"}, {.device = "cuda:1", .why = "9 s"}}};
  EXPECT_THAT(
      explain_report(report),
      ElementsAre("tts on cpu (avx2, i8): cpu is 25x cuda:0 (54 ms, 1357 ms there); cuda:1 9 s"));
  report.stages[1].storage = "bf16";
  EXPECT_THAT(explain_report(report),
              ElementsAre("tts.acoustic on cpu (avx2, i8): cpu is 22x cuda:0 (18 ms, 396 ms there)",
                          "tts.vocoder on cpu (avx2, bf16): cpu is 27x cuda:0 (36 ms, 961 ms "
                          "there)"));
}

}  // namespace
}  // namespace mynah::place
