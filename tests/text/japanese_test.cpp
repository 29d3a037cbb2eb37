// Japanese by open_jtalk: the real program, and programs that hang, die or are not there.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "temporary_folder.h"
#include "test_paths.h"
#include "text/phonemes/open_jtalk/japanese_phonemizer.h"
#include "text/phonemes/open_jtalk/kana.h"
#include "text/phonemes/open_jtalk/open_jtalk_process.h"

namespace mynah {
namespace {

using namespace std::chrono_literals;
using open_jtalk::OpenJtalkProcess;
using testing::HasSubstr;

#define SKIP_WITHOUT_OPEN_JTALK()                                                        \
  do {                                                                                   \
    if (!OpenJtalkProcess::start({})) {                                                  \
      GTEST_SKIP() << "not here: open_jtalk and its dictionary (apt install open-jtalk " \
                      "open-jtalk-mecab-naist-jdic)";                                    \
    }                                                                                    \
  } while (false)

// Lines of two columns.
std::vector<std::pair<std::string, std::string>> table(const std::string& name) {
  std::ifstream file(test::source_path("tests/text/data/" + name));
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    rows.emplace_back(line.substr(0, tab), line.substr(tab + 1));
  }
  return rows;
}

TEST(Kana, IsWhatMisakiMakesOfIt) {
  const auto rows = table("japanese_kana.tsv");
  ASSERT_GT(rows.size(), 1000U);
  for (const auto& [kana, phonemes] : rows) {
    EXPECT_EQ(open_jtalk::kokoro_phonemes(kana), phonemes) << kana;
  }
}

TEST(Kana, PassesOverWhatIsNone) {
  EXPECT_EQ(open_jtalk::kokoro_phonemes("マス’"), "masɨ");
  EXPECT_EQ(open_jtalk::kokoro_phonemes("*"), "");
  EXPECT_EQ(open_jtalk::kokoro_phonemes("\xFF"), "");
  EXPECT_EQ(open_jtalk::kokoro_phonemes("ン"), "ɴ");
}

TEST(OpenJtalk, ReadsAHundredSentencesAsPyopenjtalkDoes) {
  SKIP_WITHOUT_OPEN_JTALK();
  const auto rows = table("japanese.tsv");
  ASSERT_EQ(rows.size(), 100U);
  const auto process = OpenJtalkProcess::start({});
  ASSERT_TRUE(process.has_value()) << process.error().message;
  for (const auto& [sentence, phonemes] : rows) {
    const auto trace = process->ask(sentence);
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    EXPECT_EQ(fmt::format("{}", fmt::join(trace->phonemes, " ")), phonemes) << sentence;
  }
}

class Japanese : public testing::Test {
 protected:
  std::string said(std::string_view text, std::span<const GivenPhonemes> given = {}) {
    const auto phonemizer = japanese_phonemizer();
    EXPECT_TRUE(phonemizer.has_value()) << phonemizer.error().message;
    const auto words = (*phonemizer)->phonemes(text, given);
    EXPECT_TRUE(words.has_value()) << words.error().message;
    size_t end = 0;
    places_.clear();
    for (const PhonemeWord& word : *words) {
      EXPECT_GE(word.begin, end == 0 ? 0 : std::min(word.begin, end)) << text;
      EXPECT_LE(word.end, text.size());
      EXPECT_EQ(word.text, text.substr(word.begin, word.end - word.begin));
      end = word.end;
      places_.push_back(word.text);
    }
    return joined(*words);
  }

  std::vector<std::string> places_;
};

TEST_F(Japanese, WordsAreInKokorosAlphabet) {
  SKIP_WITHOUT_OPEN_JTALK();
  EXPECT_EQ(said("こんにちは、世界。"), "koɲɲiʨiβa, sekai.");
  EXPECT_EQ(said("「本当ですか？」"), "“hontoː desɨ ka?”");
  EXPECT_EQ(said("ちょっと待ってください！"), "ʨoʔto maʔte kɯdasai!");
}

TEST_F(Japanese, NumbersDatesAndLatinWordsAreRead) {
  SKIP_WITHOUT_OPEN_JTALK();
  EXPECT_EQ(said("2024年5月3日にAppleへ行きます。"),
            "ɲiseɴ ɲiʥɨː joneɴ ɡoɡaʦɨ mʲiʔka ɲi aʔpɯɾɯ e ikʲimasɨ.");
  EXPECT_EQ(said("3.5キロ"), "santeɴ ɡokʲiɾo");
}

TEST_F(Japanese, WordsHaveTheirPlacesInTheText) {
  SKIP_WITHOUT_OPEN_JTALK();
  said("Appleは2024年に、 出た。");
  EXPECT_THAT(places_, testing::ElementsAre("Apple", "は", "2024", "2024", "2024年", "に", "、",
                                            "出た", "。"));
}

TEST_F(Japanese, WhatIsGivenIsSaid) {
  SKIP_WITHOUT_OPEN_JTALK();
  const std::vector<GivenPhonemes> given = {{.begin = 0, .end = 6, .phonemes = "mahiɾo"}};
  EXPECT_EQ(said("真紘です", given), "mahiɾo desɨ");
}

TEST_F(Japanese, AnyBytesAreText) {
  SKIP_WITHOUT_OPEN_JTALK();
  EXPECT_EQ(said(""), "");
  EXPECT_EQ(said("、。"), ",.");
  EXPECT_EQ(said("  \n\t"), "");
  EXPECT_EQ(said("\xFF\xFE"), "");
  said("😀 emoji, 中文 한국어 и русский \x01\x7F \" ' , %s %n \\ / `id` $(id) 123,456.78");
  said(std::string("\0a\0", 3));
}

// Longer than its buffer, with and without a place to cut.
TEST_F(Japanese, TextsOfAnyLengthAreReadWhole) {
  SKIP_WITHOUT_OPEN_JTALK();
  for (const char* part : {"猫が眠る、", "猫"}) {
    std::string text;
    std::string wanted;
    for (int i = 0; i < 500; ++i) {
      text += part;
    }
    const std::string phonemes = said(text);
    size_t cats = 0;
    for (size_t at = phonemes.find("neko"); at != std::string::npos;
         at = phonemes.find("neko", at + 1)) {
      ++cats;
    }
    EXPECT_EQ(cats, 500U);
  }
}

// A program of a few lines of shell in open_jtalk's place.
class FakeOpenJtalk : public testing::Test {
 protected:
  FakeOpenJtalk() {
    std::ofstream(folder_.path() + "/sys.dic") << "words";
    std::ofstream(folder_.path() + "/answer")
        << "[Text analysis result]\nはい,感動詞,*,*,*,*,*,はい,ハイ,ハイ,1/2,-1,-1\n";
    options_ = {.program = folder_.path() + "/program", .dictionary = folder_.path()};
  }

  Result<open_jtalk::Trace> ask(const std::string& script) {
    std::ofstream(options_.program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(options_.program, std::filesystem::perms::owner_all);
    MYNAH_TRY(const OpenJtalkProcess process, OpenJtalkProcess::start(options_));
    return process.ask("text");
  }

  test::TemporaryFolder folder_;
  open_jtalk::ProgramOptions options_;
};

TEST_F(FakeOpenJtalk, NotInstalledNamesThePackages) {
  options_.program = folder_.path() + "/nowhere";
  const auto program = japanese_phonemizer(options_);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::Environment);
  EXPECT_THAT(program.error().message,
              HasSubstr("apt install open-jtalk open-jtalk-mecab-naist-jdic"));
  std::filesystem::remove(folder_.path() + "/sys.dic");
  const auto dictionary = ask("exit 0\n");
  ASSERT_FALSE(dictionary.has_value());
  EXPECT_EQ(dictionary.error().code, ErrorCode::Environment);
  EXPECT_THAT(dictionary.error().message, HasSubstr("open-jtalk-mecab-naist-jdic"));
}

TEST_F(FakeOpenJtalk, OneThatHangsDiesOrRamblesIsGivenUp) {
  options_.patience = 300ms;
  for (const char* script :
       {"exec sleep 1000\n", "exit 3\n", "kill -SEGV $$\n", "echo nonsense >&4\n",
        "while :; do echo nonsense >&4; done\n", "exec 4>&-; exec sleep 1000\n"}) {
    const auto answer = ask(script);
    ASSERT_FALSE(answer.has_value()) << script;
    EXPECT_EQ(answer.error().code, ErrorCode::Environment) << script;
    EXPECT_THAT(answer.error().message, HasSubstr("open_jtalk")) << script;
  }
}

TEST_F(FakeOpenJtalk, IsAskedOnceMore) {
  const std::string again = folder_.path() + "/again";
  const auto answer = ask("if [ -e " + again + " ]; then cat " + folder_.path() +
                          "/answer >&4; else : > " + again + "; exit 3; fi\n");
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->morphemes.size(), 1U);
}

TEST(Trace, DamageIsAnError) {
  EXPECT_FALSE(open_jtalk::parse_trace("[Output label]\n"));
  EXPECT_FALSE(open_jtalk::parse_trace("[Text analysis result]\na,b,c\n"));
  EXPECT_FALSE(open_jtalk::parse_trace("[Text analysis result]\na,b,c,d,e,f,g,h,i,j,k,l,m\n"));
  EXPECT_FALSE(
      open_jtalk::parse_trace("[Text analysis result]\n\n[Output label]\n0 1 no phoneme\n"));
  // A comma is a word, too.
  const auto comma = open_jtalk::parse_trace(
      "[Text analysis result]\n,,記号,読点,*,*,*,*,,,、,、,0/0,*,0\n\n[Output label]\n");
  ASSERT_TRUE(comma.has_value());
  EXPECT_EQ(comma->morphemes.size(), 1U);
}

}  // namespace
}  // namespace mynah
