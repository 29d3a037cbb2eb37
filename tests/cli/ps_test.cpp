#include "cli/placement/ps.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/test_context.h"

namespace mynah::cli {
namespace {

using ::testing::HasSubstr;

TEST(StatusPageText, IsReadAsItWasWritten) {
  const auto stages = parse_status_page(
      R"({"pid":7,"stages":[{"stage":"vad","device":"cuda:0","storage":null,"model":"/m","bytes":5,"idle_s":1.5},
          {"stage":"stt.encoder","device":"cpu","storage":"int8","model":"/n","bytes":6,"idle_s":0}]})");
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->size(), 2U);
  EXPECT_EQ(stages->front().stage, "vad");
  EXPECT_EQ(stages->front().device, "cuda:0");
  EXPECT_EQ(stages->front().storage, std::nullopt);
  EXPECT_EQ(stages->front().model, "/m");
  EXPECT_EQ(stages->front().bytes, 5U);
  EXPECT_EQ(stages->front().idle_s, 1.5);
  EXPECT_EQ(stages->back().storage, "int8");
}

TEST(StatusPageText, SaysWhoseMemoryAStageShares) {
  const auto stages = parse_status_page(
      R"({"stages":[{"stage":"stt.encoder","bytes":6,"memory_with":null},
                    {"stage":"stt.decoder","bytes":0,"memory_with":"stt.encoder"}]})");
  ASSERT_TRUE(stages);
  EXPECT_EQ(stages->front().memory_with, std::nullopt);
  EXPECT_EQ(stages->back().memory_with, "stt.encoder");
}

TEST(StatusPageText, SaysInWordsWhatIsLoaded) {
  const auto loaded = [](const char* stage, const char* device) {
    LoadedStage one;
    one.stage = stage;
    one.device = device;
    return one;
  };
  EXPECT_EQ(stages_text({loaded("vad", "cpu"), loaded("tts.acoustic", "simt:0"),
                         loaded("tts.vocoder", "simt:0")}),
            "vad on cpu, tts.acoustic and tts.vocoder on simt:0");
  EXPECT_EQ(stages_text({}), "nothing: it has nothing loaded");
}

TEST(Ps, AProcessThatIsNotThereOrNoMynahIsAnError) {
  for (const bool unload : {false, true}) {
    for (const auto& [pid, why] : {std::pair("999999999", "there is no process 999999999"),
                                   std::pair("1", "process 1 is no mynah")}) {
      TestProgram program({verb<PsCommand>("ps", "Show.")});
      std::vector<std::string> arguments = {"ps", pid};
      if (unload) {
        arguments.emplace_back("--unload");
      }
      EXPECT_EQ(program.run(arguments), 1) << program.out.text();
      EXPECT_THAT(program.err.text(), HasSubstr(why));
      EXPECT_EQ(program.out.text(), "");
    }
  }
}

TEST(StatusPageText, WhatIsNoPageIsNone) {
  for (const char* text :
       {"", "{", "7", "[]", "null", "\"x\"", "{\"a\":\"\xff\"}", "{\"a\":1e999}"}) {
    EXPECT_FALSE(parse_status_page(text)) << text;
  }
}

TEST(StatusPageText, AnythingMayStandInIt) {
  for (const char* text : {"{}", R"({"stages":7})", R"({"stages":{"a":{"stage":1}}})",
                           R"({"stages":null})", R"({"stages":[7,null,"x",[]]})"}) {
    const auto stages = parse_status_page(text);
    ASSERT_TRUE(stages) << text;
    EXPECT_TRUE(stages->empty()) << text;
  }
  const auto stages = parse_status_page(
      R"({"stages":[{"stage":7,"device":[],"storage":{},"model":null,"bytes":"many","idle_s":{}},
                    {"bytes":-5,"idle_s":-1},{"bytes":1e300,"stage":"a\u001b[31mb\nc"}]})");
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->size(), 3U);
  EXPECT_EQ(stages->at(0).stage, "?");
  EXPECT_EQ(stages->at(0).device, "?");
  EXPECT_EQ(stages->at(0).storage, std::nullopt);
  EXPECT_EQ(stages->at(0).model, "?");
  EXPECT_EQ(stages->at(0).bytes, 0U);
  EXPECT_EQ(stages->at(1).bytes, 0U);
  EXPECT_EQ(stages->at(1).idle_s, 0);
  EXPECT_GT(stages->at(2).bytes, 0U);
  EXPECT_EQ(stages->at(2).stage, "a [31mb c") << "it would steer the terminal";
  // As deep as a page is long.
  const std::string deep =
      "{\"stages\":[" + std::string(16000, '[') + std::string(16000, ']') + "]}";
  EXPECT_TRUE(parse_status_page(deep));
}

}  // namespace
}  // namespace mynah::cli
