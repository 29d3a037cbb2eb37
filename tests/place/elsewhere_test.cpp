// What passes between two mynahs: how one is named, what it is asked, and what it answers.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "place/elsewhere/frames.h"
#include "place/elsewhere/mynah_facts.h"
#include "place/kinds/kinds.h"
#include "place/kinds/voice/voice_questions.h"
#include "place/kinds/windows/windows_questions.h"
#include "place/made_up_values.h"
#include "place/terms/another_mynah.h"
#include "place/terms/device_name.h"
#include "place/terms/device_request.h"
#include "store/sha256.h"

namespace mynah::place {
namespace {

using test::made_up;
using test::MadeUp;
using test::wire_bytes;

std::string refusal_of(const std::string& text) {
  const auto request = parse_device_request(text);
  return request ? "taken" : request.error().message;
}

TEST(AnotherMynah, IsReadFromItsAddress) {
  const std::string fingerprint(64, 'a');
  const auto box = parse_another_mynah(
      "box=mynah://192.168.0.9:9000?key-file=%2Fa%2Cb&fingerprint=" + fingerprint);
  ASSERT_TRUE(box) << box.error().message;
  EXPECT_EQ(box->name, "box");
  EXPECT_EQ(box->address(), "https://192.168.0.9:9000");
  EXPECT_EQ(box->key_file, "/a,b");
  EXPECT_EQ(box->fingerprint.substr(0, 6), "AA:AA:");
  EXPECT_EQ(parse_another_mynah("a=mynah://h")->address(), "https://h:8080");
  EXPECT_EQ(parse_another_mynah("a=mynah://h?open")->address(), "http://h:8080");
  EXPECT_EQ(parse_another_mynah("a=mynah://[::1]:81")->address(), "http://[::1]:81");
  EXPECT_EQ(parse_another_mynah("a=mynah://127.0.0.1?ca-file=x")->address(),
            "https://127.0.0.1:8080");
  // A name that only begins like this machine's address.
  EXPECT_TRUE(parse_another_mynah("a=mynah://127.evil.example")->secure);
}

TEST(AnotherMynah, IsRefusedWithTheReason) {
  EXPECT_NE(refusal_of("box=mynah://h?key=secret").find("stands in no command line"),
            std::string::npos);
  EXPECT_EQ(refusal_of("box=mynah://h?key=secret").find("secret"), std::string::npos);
  EXPECT_NE(refusal_of("box=mynah://h?open&key-file=k").find("by https alone"), std::string::npos);
  EXPECT_NE(refusal_of("box=mynah://h?fingerprint=12").find("64 hexadecimal"), std::string::npos);
  EXPECT_NE(refusal_of("mynah://h").find("no name in front"), std::string::npos);
  EXPECT_NE(refusal_of("box=http://h").find("begins with mynah://"), std::string::npos);
  EXPECT_NE(refusal_of("cpu=mynah://h").find("no name that a device has"), std::string::npos);
  EXPECT_NE(refusal_of("stt=mynah://h").find("as a stage or a group"), std::string::npos);
  EXPECT_NE(refusal_of("a=mynah://h,a=mynah://i").find("two mynahs"), std::string::npos);
  EXPECT_NE(refusal_of("vad=box=mynah://h").find("not done by another mynah"), std::string::npos);
  EXPECT_NE(refusal_of("stt.encoder=box=mynah://h").find("does all of stt"), std::string::npos);
  EXPECT_NE(refusal_of("auto,box=mynah://h").find("auto stands alone"), std::string::npos);
}

TEST(AnotherMynah, IsTheFastestOfItsListOrTheFirst) {
  const auto list = parse_device_request("box=mynah://h,cuda:0,cpu");
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->of(kSttEncoder).automatic && list->of(kSttEncoder).fastest);
  EXPECT_EQ(list->of(kSttDecoder).devices, (std::vector<std::string>{"box", "cuda:0", "cpu"}));
  // What finds speech stays here.
  for (const StageGroup group : all_groups()) {
    if (!kind_of(group).elsewhere) {
      EXPECT_EQ(list->of(stages_of(group).front()).devices,
                (std::vector<std::string>{"cuda:0", "cpu"}));
    }
  }
  const auto first = parse_device_request("box=mynah://h?prefer,cpu");
  EXPECT_FALSE(first->of(kSttEncoder).automatic);
  EXPECT_TRUE(first->of(kSttEncoder).may_fall_back());
  const auto alone = parse_device_request("stt=box=mynah://h");
  EXPECT_FALSE(alone->of(kSttEncoder).may_fall_back());
  // Alone for everything: what goes along is done here.
  const auto everything = parse_device_request("box=mynah://h");
  EXPECT_EQ(everything->of(kTtsAcoustic).devices, std::vector<std::string>{"box"});
  EXPECT_EQ(everything->of(stages_of(kVadGroup).front()).devices, std::vector<std::string>{"cpu"});
  const auto beside = parse_device_request("stt=box=mynah://h+cpu");
  EXPECT_EQ(beside->of(kSttEncoder).beside, 2U);
  EXPECT_FALSE(beside->of(kSttEncoder).automatic);
  // It is nobody's choice where it was not named.
  EXPECT_FALSE(is_for_auto("box"));
  EXPECT_EQ(alone->of(stages_of(kVadGroup).front()).devices, std::vector<std::string>{"cpu"});
}

TEST(Frames, ComeInAnyPieces) {
  std::string all = frame(FrameKind::Alive);
  all += frame(FrameKind::Result, std::as_bytes(std::span("12345678", 8)));
  all += frame(FrameKind::End);
  for (size_t piece = 1; piece <= all.size(); ++piece) {
    std::string told;
    FrameReader reader([&](FrameKind kind, std::span<const std::byte> bytes) -> Status {
      told += std::to_string(static_cast<int>(kind)) + ":" + std::to_string(bytes.size()) + " ";
      return {};
    });
    const auto bytes = std::as_bytes(std::span(all));
    for (size_t at = 0; at < all.size(); at += piece) {
      EXPECT_FALSE(reader.is_over());
      ASSERT_TRUE(reader.take(bytes.subspan(at, std::min(piece, all.size() - at))));
    }
    EXPECT_TRUE(reader.is_over());
    EXPECT_EQ(told, "1:0 2:8 4:0 ");
  }
}

TEST(Frames, WhatIsNoneIsRefused) {
  const auto is_taken = [](const std::string& text) {
    FrameReader reader(
        [](FrameKind /*kind*/, std::span<const std::byte> /*bytes*/) { return Status{}; });
    return reader.take(std::as_bytes(std::span(text))).has_value();
  };
  EXPECT_TRUE(is_taken(frame(FrameKind::End)));
  EXPECT_FALSE(is_taken(frame(FrameKind::End) + "x"));
  EXPECT_FALSE(is_taken(frame(FrameKind::End) + frame(FrameKind::Alive)));
  EXPECT_FALSE(is_taken(frame(static_cast<FrameKind>(0))));
  EXPECT_FALSE(is_taken(frame(static_cast<FrameKind>(5))));
  std::string longer = frame(FrameKind::Result);
  longer[7] = '\x7f';
  EXPECT_FALSE(is_taken(longer));
}

TEST(MynahFacts, AreReadAsTheyAreWritten) {
  const MynahFacts facts{.version = "1.2.3",
                         .build = "abc",
                         .models = {{.name = "tiny.en", .digest = std::string(64, 'a')}}};
  const auto read = parse_facts(facts_json(facts));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->build, "abc");
  ASSERT_NE(read->find(std::string(64, 'a')), nullptr);
  EXPECT_EQ(read->find(std::string(64, 'a'))->name, "tiny.en");
  EXPECT_EQ(read->find(std::string(64, 'b')), nullptr);
  for (const char* wrong : {"", "[]", "{}", R"({"name":"mynah"})", R"({"name":"x","models":[]})",
                            R"({"name":"mynah","models":[{"name":"a","sha256":"b"}]})"}) {
    EXPECT_FALSE(parse_facts(wrong)) << wrong;
  }
}

// Two mynahs of the same number must read each other: what passes has changed, so the number is to
// be raised, and this with it.
TEST(Protocol, HasANumberOfItsOwn) {
  MadeUp archive(31);
  std::string all;
  const auto add = [&all](const auto& value) {
    const auto bytes = wire_bytes(value);
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  add(made_up<WindowsQuestion>(archive));
  add(made_up<HeardAnswer>(archive));
  add(made_up<ProbeQuestion>(archive));
  add(made_up<Probe>(archive));
  add(made_up<VoiceQuestion>(archive));
  add(made_up<VoiceAnswer>(archive));
  add(made_up<ClauseQuestion>(archive));
  add(made_up<ClauseSound>(archive));
  add(made_up<Error>(archive));
  EXPECT_EQ(kMynahProtocol, 2);
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(all))).substr(0, 16), "745a77e96e499436");
}

HearingFacts some_facts() {
  HearingFacts facts;
  facts.languages = {"en"};
  facts.longest_window_s = 1;
  facts.sizes.n_vocab = 100;
  facts.sizes.n_text_ctx = 20;
  return facts;
}

class Question : public ::testing::Test {
 protected:
  Question() {
    question_.tasks.emplace_back();
    question_.tasks.front().samples = sound_;
    question_.tasks.front().previous = {1, 99};
  }

  [[nodiscard]] bool is_taken() const {
    return check_question(question_, some_facts()).has_value();
  }

  std::vector<float> sound_ = std::vector<float>(16000);
  WindowsQuestion question_;
};

TEST_F(Question, OfAWindowIsTaken) {
  EXPECT_TRUE(is_taken());
  question_.tasks.front().language = "en";
  question_.tasks.front().samples = {};
  EXPECT_TRUE(is_taken());
}

TEST_F(Question, OfMoreSoundThanAWindowIsRefused) {
  sound_.push_back(0);
  question_.tasks.front().samples = sound_;
  EXPECT_FALSE(is_taken());
}

TEST_F(Question, OfSamplesThatAreNoneIsRefused) {
  sound_[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(is_taken());
}

TEST_F(Question, OfTokensThatTheModelHasNotIsRefused) {
  question_.tasks.front().previous = {100};
  EXPECT_FALSE(is_taken());
  question_.tasks.front().previous = {-1};
  EXPECT_FALSE(is_taken());
  question_.tasks.front().previous = {};
  question_.tasks.front().begun.emplace_back();
  EXPECT_TRUE(is_taken());
  question_.tasks.front().begun.front().tokens = {3};  // without its likelihood
  EXPECT_FALSE(is_taken());
}

TEST_F(Question, OfAnotherLanguageIsRefused) {
  question_.tasks.front().language = "xx";
  EXPECT_FALSE(is_taken());
}

TEST_F(Question, ThatWouldTakeForEverIsRefused) {
  question_.options.whisper.beam_size = 1'000'000;
  EXPECT_FALSE(is_taken());
  question_.options.whisper = {};
  question_.options.whisper.best_of = 0;
  EXPECT_FALSE(is_taken());
  question_.options.whisper = {};
  question_.options.whisper.temperatures.assign(1000, 0.5F);
  EXPECT_FALSE(is_taken());
  question_.options.whisper.temperatures = {};
  EXPECT_FALSE(is_taken());
  question_.options.whisper = {};
  question_.tasks.resize(kMostTasks + 1);
  EXPECT_FALSE(is_taken());
}

TEST(ClauseQuestion, IsAClauseOfAVoiceOfTheOther) {
  ClauseQuestion question{.digest = {},
                          .words = {{.text = "hello", .phonemes = "hɛlo"}},
                          .settings = {.voice = "anna"}};
  const auto is_taken = [&question] { return check_question(question, 5).has_value(); };
  EXPECT_TRUE(is_taken());
  question.settings.voice = "af_bella(2)+af_sky(1)";
  EXPECT_TRUE(is_taken());
  for (const char* file : {"/etc/passwd", "../x", "voice.npz"}) {
    question.settings.voice = file;
    EXPECT_FALSE(is_taken()) << file;
  }
  question.settings = {};
  question.settings.speed = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(is_taken());
  question.settings = {};
  question.settings.noise_w = -1.0F;
  EXPECT_FALSE(is_taken());
  question.settings = {};
  question.words.push_back({.text = "a", .phonemes = "aa"});
  EXPECT_FALSE(is_taken());
}

}  // namespace
}  // namespace mynah::place
