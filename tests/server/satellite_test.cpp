// A satellite's conversation with Home Assistant, message by message.
#include "server/wyoming/satellite.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test_paths.h"

namespace mynah::server {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

WyomingMessage message(const std::string& type, Json data = Json::object(),
                       std::string payload = {}) {
  return {.type = type, .data = std::move(data), .payload = std::move(payload)};
}

// What a step sends, read as the other side reads it.
std::vector<WyomingMessage> sent(const SatelliteStep& step) {
  WyomingReader reader;
  std::vector<WyomingMessage> all;
  for (const std::string& bytes : step.messages) {
    auto read = reader.take(bytes);
    EXPECT_TRUE(read) << read.error().message;
    for (WyomingMessage& one : *read) {
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<std::string> types(const SatelliteStep& step) {
  std::vector<std::string> names;
  for (const WyomingMessage& one : sent(step)) {
    names.push_back(one.type);
  }
  return names;
}

using Types = std::vector<std::string>;

std::vector<float> some_noise(size_t samples) {
  std::mt19937 random(5);
  std::vector<float> noise(samples);
  for (size_t i = 0; i < samples; ++i) {
    const float loud = (i / 4000) % 3 == 0 ? 0.9F : 0.02F;
    noise[i] = loud * (static_cast<float>(random() % 2001) / 1000.0F - 1.0F);
  }
  return noise;
}

class SatelliteTest : public testing::Test {
 protected:
  // A satellite that waits for the word of a network with random weights: noise is enough.
  [[nodiscard]] Satellite with_word() const {
    const fs::path path = fs::path(folder_.path()) / "tiny.tflite";
    fs::copy_file(test::source_path("tests/models/wake_word/golden/tiny.tflite"), path,
                  fs::copy_options::overwrite_existing);
    std::ofstream(fs::path(path).replace_extension(".json"))
        << R"({"wake_word": "Tiny", "micro": {"probability_cutoff": 0.6, "sliding_window_size": 1}})";
    const auto word = WakeWord::load(path.string());
    EXPECT_TRUE(word) << word.error().message;
    return Satellite({.name = "kitchen", .area = "Kitchen", .words = {*word}});
  }

  static SatelliteStep take(Satellite& satellite, const WyomingMessage& one) {
    auto step = satellite.take(one);
    EXPECT_TRUE(step) << step.error().message;
    return step ? *std::move(step) : SatelliteStep{};
  }

  // Lets it hear noise until it streams; what it then said.
  static SatelliteStep wake(Satellite& satellite) {
    const std::vector<float> noise = some_noise(160000);
    for (size_t at = 0; at + 160 <= noise.size(); at += 160) {
      SatelliteStep step = satellite.hear(std::span(noise).subspan(at, 160));
      if (!step.messages.empty()) {
        return step;
      }
    }
    ADD_FAILURE() << "no word in ten seconds of noise";
    return {};
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(SatelliteTest, TellsWhoItIs) {
  Satellite satellite = with_word();
  const auto told = sent(take(satellite, message("describe")));
  ASSERT_EQ(told.size(), 1U);
  const Json& info = told[0].data["satellite"];
  EXPECT_EQ(info["name"], Json("kitchen"));
  EXPECT_EQ(info["area"], Json("Kitchen"));
  EXPECT_EQ(info["active_wake_words"], Json::array({"tiny"}));
  EXPECT_EQ(told[0].data["wake"][0]["models"][0]["phrase"], Json("Tiny"));
  EXPECT_EQ(sent(take(satellite, message("ping", {{"text", "here?"}})))[0].text("text"), "here?");
}

TEST_F(SatelliteTest, StreamsFromTheWordToTheTranscript) {
  Satellite satellite = with_word();
  EXPECT_TRUE(satellite.hear(some_noise(160000)).messages.empty()) << "nobody asked for it";
  EXPECT_TRUE(take(satellite, message("run-satellite")).messages.empty());
  EXPECT_EQ(satellite.state(), Satellite::State::Waiting);
  const auto woken = sent(wake(satellite));
  ASSERT_EQ(woken.size(), 3U);
  EXPECT_EQ(woken[0].type, "detection");
  EXPECT_EQ(woken[0].text("name"), "tiny");
  EXPECT_EQ(woken[1].type, "run-pipeline");
  EXPECT_EQ(woken[1].text("start_stage"), "asr");
  EXPECT_EQ(woken[1].text("end_stage"), "tts");
  EXPECT_EQ(woken[1].text("wake_word_name"), "tiny");
  EXPECT_EQ(woken[2].type, "streaming-started");
  // Samples arrive as they were heard, whole messages at a time.
  std::vector<float> ramp(2048);
  for (size_t i = 0; i < ramp.size(); ++i) {
    ramp[i] = static_cast<float>(static_cast<int>(i) - 1024) / 32768.0F;
  }
  const auto chunks = sent(satellite.hear(ramp));
  ASSERT_EQ(chunks.size(), 2U);
  std::string bytes;
  for (const WyomingMessage& chunk : chunks) {
    EXPECT_EQ(chunk.type, "audio-chunk");
    EXPECT_EQ(chunk.number("rate", 0), 16000);
    bytes += chunk.payload;
  }
  ASSERT_EQ(bytes.size(), 2 * ramp.size());
  for (size_t i = 0; i < ramp.size(); ++i) {
    const auto low = static_cast<unsigned char>(bytes[2 * i]);
    const auto high = static_cast<signed char>(bytes[(2 * i) + 1]);
    EXPECT_EQ((high * 256) + low, static_cast<int>(i) - 1024);
  }
  EXPECT_EQ(types(take(satellite, message("transcript", {{"text", "lights on"}}))),
            Types{"streaming-stopped"});
  EXPECT_EQ(satellite.state(), Satellite::State::Waiting);
}

TEST_F(SatelliteTest, PlaysTheReplyAndSaysThatItDid) {
  Satellite satellite = with_word();
  take(satellite, message("run-satellite"));
  take(satellite, message("audio-start", {{"rate", 16000}, {"width", 2}, {"channels", 1}}));
  const std::string half = {0, 0x40};  // 16384
  const SatelliteStep piece = take(satellite, message("audio-chunk", Json::object(), half + half));
  EXPECT_EQ(piece.sound, (std::vector<float>{0.5F, 0.5F}));
  const SatelliteStep end = take(satellite, message("audio-stop"));
  EXPECT_TRUE(end.sound_ends);
  EXPECT_EQ(types(satellite.played()), Types{"played"});
}

TEST_F(SatelliteTest, StopsTheReplyWhenItsWordIsSaid) {
  Satellite satellite = with_word();
  take(satellite, message("run-satellite"));
  take(satellite, message("audio-start", {{"rate", 22050}, {"width", 2}, {"channels", 1}}));
  take(satellite, message("audio-chunk", Json::object(), std::string(20000, 'a')));
  EXPECT_TRUE(wake(satellite).stop_sound);
}

TEST_F(SatelliteTest, SendsEverythingToAServerThatListensForTheWord) {
  Satellite satellite(SatelliteOptions{});
  const auto run = sent(take(satellite, message("run-satellite")));
  ASSERT_EQ(run.size(), 2U);
  EXPECT_EQ(run[0].text("start_stage"), "wake");
  EXPECT_EQ(run[0].data["restart_on_end"], Json(true));
  EXPECT_EQ(run[1].type, "streaming-started");
  EXPECT_TRUE(take(satellite, message("transcript")).messages.empty());
  EXPECT_EQ(sent(satellite.hear(std::vector<float>(1024))).size(), 1U);
  EXPECT_EQ(types(take(satellite, message("pause-satellite"))), Types{"streaming-stopped"});
  EXPECT_TRUE(satellite.hear(std::vector<float>(4096)).messages.empty());
}

TEST_F(SatelliteTest, WaitsForAnotherServerWhenOneLeaves) {
  Satellite satellite = with_word();
  take(satellite, message("run-satellite"));
  take(satellite, message("audio-start", {{"rate", 16000}, {"width", 2}, {"channels", 1}}));
  EXPECT_TRUE(satellite.leave().stop_sound);
  EXPECT_EQ(satellite.state(), Satellite::State::Paused);
  EXPECT_TRUE(satellite.hear(some_noise(160000)).messages.empty());
  take(satellite, message("run-satellite"));
  EXPECT_EQ(satellite.state(), Satellite::State::Waiting);
}

TEST_F(SatelliteTest, RefusesSoundThatIsNone) {
  Satellite satellite = with_word();
  take(satellite, message("run-satellite"));
  for (const Json& bad : {Json{{"rate", 0}}, Json{{"rate", 16000}, {"width", 5}},
                          Json{{"rate", 16000}, {"channels", 65}}, Json{{"rate", -5}}}) {
    EXPECT_FALSE(satellite.take(message("audio-start", bad))) << bad.dump();
  }
  EXPECT_TRUE(take(satellite, message("audio-stop")).messages.empty()) << "none had begun";
  EXPECT_TRUE(take(satellite, message("timer-started")).messages.empty()) << "not for it";
}

}  // namespace
}  // namespace mynah::server
