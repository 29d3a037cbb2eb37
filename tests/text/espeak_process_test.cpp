// espeak-ng as a process: the real program, and programs that hang, die or are not there.
#include "text/phonemes/espeak/espeak_process.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah::espeak {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

#define SKIP_WITHOUT_ESPEAK()                                        \
  do {                                                               \
    if (!find_program("espeak-ng")) {                                \
      GTEST_SKIP() << "not here: espeak-ng (apt install espeak-ng)"; \
    }                                                                \
  } while (false)

// A program of a few lines of shell in espeak-ng's place.
class FakeEspeak : public testing::Test {
 protected:
  std::string program(const std::string& script) {
    const std::string path = folder_.path() + "/espeak";
    {
      std::ofstream out(path);
      out << "#!/bin/sh\n" << script;
    }
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST(EspeakProcess, AnswersLineAfterLine) {
  SKIP_WITHOUT_ESPEAK();
  auto process = EspeakProcess::start({.voice = "en-us"});
  ASSERT_TRUE(process.has_value()) << process.error().message;
  for (int i = 0; i < 100; ++i) {
    const auto answer = process->ask("hello there");
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(*answer, "həlˈo^ʊ ðˈɛ^ɹ");
  }
  EXPECT_EQ(process->ask("").value_or("error"), "");
  EXPECT_EQ(process->ask("yes").value_or("error"), "jˈɛs");
}

// Every language: nothing that it says of digits or of a line is more than a line or none at all.
TEST(EspeakProcess, SpeaksEveryLanguage) {
  SKIP_WITHOUT_ESPEAK();
  const auto languages = list_languages("espeak-ng", 5s);
  ASSERT_TRUE(languages.has_value()) << languages.error().message;
  EXPECT_GT(languages->size(), 80U);
  for (const char* code : {"es", "fr-fr", "hi", "it", "pt-br", "en-us", "en-gb", "de"}) {
    EXPECT_THAT(*languages, Contains(Field(&Language::code, code)));
  }
  for (const Language& language : *languages) {
    if (language.code == "chr-US-Qaaa-x-west") {
      continue;  // 1.51 lists it and cannot open it
    }
    auto process = EspeakProcess::start({.voice = language.code});
    ASSERT_TRUE(process.has_value()) << language.code << ": " << process.error().message;
    const auto answer = process->ask("taxi radio");
    ASSERT_TRUE(answer.has_value()) << language.code << ": " << answer.error().message;
    EXPECT_FALSE(answer->empty()) << language.code;
  }
}

TEST(EspeakProcess, NamesTheNearestVoice) {
  SKIP_WITHOUT_ESPEAK();
  const auto unknown = EspeakProcess::start({.voice = "yyue"});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("no voice 'yyue' (did you mean yue?)"));
}

TEST(EspeakProcess, IsGivenNoOptionForAVoice) {
  for (const char* voice : {"--voices", "", "en us", "../../etc/passwd", "-w", "en;ls"}) {
    const auto process = EspeakProcess::start({.voice = voice});
    ASSERT_FALSE(process.has_value()) << voice;
    EXPECT_EQ(process.error().code, ErrorCode::InvalidInput) << voice;
  }
}

TEST_F(FakeEspeak, NotInstalledNamesThePackage) {
  const auto process =
      EspeakProcess::start({.program = folder_.path() + "/nowhere", .voice = "fr-fr"});
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().code, ErrorCode::Environment);
  EXPECT_THAT(process.error().message, HasSubstr("apt install espeak-ng"));
}

TEST_F(FakeEspeak, OneThatHangsIsGivenUp) {
  const auto process = EspeakProcess::start(
      {.program = program("exec sleep 1000\n"), .voice = "fr-fr", .patience = 100ms});
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().code, ErrorCode::Environment);
  EXPECT_THAT(process.error().message, HasSubstr("gave no answer within 100 ms"));
}

TEST_F(FakeEspeak, OneThatDiesAtOnceIsGivenUp) {
  const auto process =
      EspeakProcess::start({.program = program("exit 3\n"), .voice = "fr-fr", .patience = 5s});
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().code, ErrorCode::Environment);
  EXPECT_THAT(process.error().message, HasSubstr("has ended"));
}

// Two lines to begin with, two of a question: it dies after each question, and is started again.
TEST_F(FakeEspeak, OneThatDiesIsStartedAgain) {
  auto process = EspeakProcess::start(
      {.program = program("for i in 1 2 3 4; do read -r line || exit; echo \" $line\"; done\n"),
       .voice = "fr-fr",
       .patience = 5s});
  ASSERT_TRUE(process.has_value()) << process.error().message;
  for (const char* question : {"one", "two", "three"}) {
    EXPECT_EQ(process->ask(question).value_or("error"), question);
  }
}

TEST_F(FakeEspeak, OneThatHangsInTheMiddleIsStartedAgainOnce) {
  auto process =
      EspeakProcess::start({.program = program("while read -r line; do\n"
                                               "  [ \"$line\" = hang ] && exec sleep 1000\n"
                                               "  echo \" $line\"\n"
                                               "done\n"),
                            .voice = "fr-fr",
                            .patience = 2s});
  ASSERT_TRUE(process.has_value()) << process.error().message;
  const auto answer = process->ask("hang");
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message, HasSubstr("gave no answer within 2000 ms"));
  EXPECT_EQ(process->ask("and on").value_or("error"), "and on");
}

TEST_F(FakeEspeak, OneThatNeverEndsALineIsGivenUp) {
  const auto process = EspeakProcess::start(
      {.program = program("exec tr '\\0' x </dev/zero\n"), .voice = "fr-fr", .patience = 5s});
  ASSERT_FALSE(process.has_value());
  EXPECT_THAT(process.error().message, HasSubstr("never ends its line"));
}

}  // namespace
}  // namespace mynah::espeak
