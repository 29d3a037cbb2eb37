// `mynah doctor explain` as a user types it.
#include <fstream>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/doctor_fixture.h"

namespace mynah::cli {
namespace {

using mynah::test::write_file;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST_F(DoctorVerb, ExplainsWordsAFileAndStandardInput) {
  const Outcome words = mynah({"explain", kCudnnError});
  EXPECT_EQ(words.code, 0) << words.err;
  EXPECT_THAT(words.out, AllOf(HasSubstr("[E25]"), HasSubstr("    why: "), HasSubstr("    do: ")));
  write_file(folder / "log.txt", "starting\n" + std::string(kCudnnError) + "\n");
  EXPECT_THAT(mynah({"explain", folder / "log.txt"}).out, HasSubstr("    line 2: "));
  EXPECT_EQ(mynah({"explain", "-"}, kCudnnError).out, words.out);
  const Json json = Json::parse(mynah({"explain", "--json", kCudnnError}).out);
  EXPECT_EQ(json["id"], "E25");
  EXPECT_EQ(json["guess"], false);
  EXPECT_GE(json["remedies"].size(), 1U);
}

TEST_F(DoctorVerb, ExplainSaysThatThereIsNoSuchFile) {
  for (const std::string& path :
       {std::string("/nonexistent"), std::string("./none"), std::string("../none"),
        std::string("~/none"), std::string("build.log"), std::string("logs/run.txt")}) {
    const Outcome missing = mynah({"explain", path});
    EXPECT_EQ(missing.code, 1) << path;
    EXPECT_THAT(missing.err, HasSubstr("there is no file '" + path + "'")) << path;
    EXPECT_EQ(missing.out, "") << path;
  }
  const Outcome dir = mynah({"explain", folder.path()});
  EXPECT_EQ(dir.code, 1);
  EXPECT_THAT(dir.err, HasSubstr("is a folder"));
  EXPECT_THAT(mynah({"explain", "libcufft.so.11: cannot open shared object file"}).out,
              HasSubstr("[library]"));
  EXPECT_THAT(mynah({"explain", "/bin/sh: 1: ffmpeg: not found"}).out, HasSubstr("[E108]"));
}

// As `explain <(dmesg)` names one.
TEST_F(DoctorVerb, ExplainReadsAPipeThatIsNamed) {
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] { std::ofstream(pipe) << "one\n" << kCudnnError << "\n"; });
  EXPECT_THAT(mynah({"explain", pipe}).out, AllOf(HasSubstr("[E25]"), HasSubstr("line 2: ")));
}

TEST_F(DoctorVerb, ExplainSaysWhatItWaitsForAndThatNothingCame) {
  const Outcome empty = mynah({"explain"}, "");
  EXPECT_EQ(empty.code, 2);
  EXPECT_THAT(empty.err, HasSubstr("explain: wanted the text of an error"));
  EXPECT_EQ(mynah({"explain", "-"}, "").code, 2);
  // Answers from memory are a terminal's: it is told how to end them.
  EXPECT_THAT(mynah({"explain", "-"}, kCudnnError).err, HasSubstr("Ctrl-D"));
  EXPECT_EQ(mynah({"explain"}, kCudnnError).code, 2) << "a terminal without a text";
}

TEST_F(DoctorVerb, SaysThatItKnowsNothingOfAText) {
  const Outcome nothing = mynah({"explain", "all is well"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.err, HasSubstr("no known error is in this text"));
  EXPECT_EQ(Json::parse(mynah({"explain", "--json", "all is well"}).err)["error"]["code"],
            "not_found");
}

TEST_F(DoctorVerb, CallsAGuessAGuess) {
  const Outcome guess =
      mynah({"explain", "RuntimeError: unable to locate libcudnn ops tensor library of version"});
  if (guess.code == 0) {
    EXPECT_THAT(guess.out, HasSubstr("This is a guess"));
  }
}

}  // namespace
}  // namespace mynah::cli
