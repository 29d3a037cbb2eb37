// A voice elsewhere: its sound as it comes, in whichever form, and where in the text it is.
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "talk/organs/speech_bytes.h"
#include "talk/service_fixture.h"

namespace mynah::talk {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr int kRate_hz = 24000;

void put(std::string& bytes, uint32_t value, int count) {
  for (int i = 0; i < count; ++i) {
    bytes += static_cast<char>(value >> (8U * static_cast<unsigned>(i)));
  }
}

// A tone of 400 Hz as 16-bit samples.
std::string tone(double seconds, int rate_hz, int channels = 1) {
  std::string bytes;
  const auto count = static_cast<int>(seconds * rate_hz);
  for (int i = 0; i < count; ++i) {
    const double x = 0.5 * std::sin(2 * std::numbers::pi * 400 * i / rate_hz);
    for (int channel = 0; channel < channels; ++channel) {
      put(bytes, static_cast<uint16_t>(std::lround(32768 * x)), 2);
    }
  }
  return bytes;
}

std::string wav(const std::string& samples, int rate_hz, int channels, uint32_t told) {
  std::string bytes = "RIFF";
  put(bytes, 0xFFFFFFFF, 4);
  bytes += "WAVEfmt ";
  put(bytes, 16, 4);
  put(bytes, 1, 2);
  put(bytes, static_cast<uint32_t>(channels), 2);
  put(bytes, static_cast<uint32_t>(rate_hz), 4);
  put(bytes, static_cast<uint32_t>(rate_hz * channels * 2), 4);
  put(bytes, static_cast<uint32_t>(channels * 2), 2);
  put(bytes, 16, 2);
  bytes += "data";
  put(bytes, told, 4);
  return bytes + samples;
}

// All that bytes give which come in pieces of that size.
Result<std::vector<float>> sound_of(const std::string& bytes, size_t piece) {
  SpeechBytes reader(kRate_hz, kRate_hz);
  std::vector<float> samples;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const std::string part = bytes.substr(at, piece);
    const Status pushed = reader.push(std::as_bytes(std::span(part)), samples);
    if (!pushed) {
      return std::unexpected(pushed.error());
    }
  }
  const Status finished = reader.finish(samples);
  return finished ? Result<std::vector<float>>(std::move(samples))
                  : std::unexpected(finished.error());
}

double loudness(std::span<const float> samples) {
  double power = 0;
  for (const float sample : samples) {
    power += static_cast<double>(sample) * sample;
  }
  return std::sqrt(power / static_cast<double>(samples.size()));
}

TEST(SpeechBytes, ReadPcmAndWavInWhicheverPieces) {
  const std::string plain = tone(0.5, kRate_hz);
  const auto unknown = wav(plain, kRate_hz, 1, 0xFFFFFFFF);
  const auto stereo = wav(tone(0.5, kRate_hz, 2), kRate_hz, 2, 48000);
  const std::vector<float> nothing;
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{100'000}}) {
    const auto expected = sound_of(plain, 100'000);
    ASSERT_TRUE(expected);
    ASSERT_EQ(expected->size(), 12'000U);
    EXPECT_NEAR(loudness(*expected), 0.5 / std::numbers::sqrt2, 1e-3);
    EXPECT_EQ(sound_of(plain, piece).value_or(nothing), *expected);
    EXPECT_EQ(sound_of(unknown, piece).value_or(nothing), *expected);
    EXPECT_EQ(sound_of(stereo, piece).value_or(nothing), *expected);
  }
}

TEST(SpeechBytes, ReadWavsThatFollowEachOther) {
  const std::string one = wav(tone(0.25, kRate_hz), kRate_hz, 1, 12'000);
  const auto twice = sound_of(one + one, 1000);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->size(), 12'000U);
  const auto followed = sound_of(one + "LISTxxxx", 1000);
  ASSERT_TRUE(followed);
  EXPECT_EQ(followed->size(), 6'000U) << "what else stands behind it is no sound";
}

TEST(SpeechBytes, ResampleWhatHasAnotherRate) {
  const auto samples = sound_of(wav(tone(1, 22050), 22050, 1, 0xFFFFFFFF), 4000);
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->size(), static_cast<size_t>(kRate_hz));
  EXPECT_NEAR(loudness(*samples), 0.5 / std::numbers::sqrt2, 0.01);
}

TEST(SpeechBytes, RefuseWhatIsNoSound) {
  const auto refusal = [](const std::string& bytes) {
    const auto read = sound_of(bytes, 64);
    return read ? std::string("it is taken") : read.error().message;
  };
  EXPECT_THAT(refusal("ID3\x04 and so on"), HasSubstr("found mp3"));
  EXPECT_THAT(refusal("OggS and so on"), HasSubstr("found Ogg"));
  EXPECT_THAT(refusal("<!DOCTYPE html>"), HasSubstr("found a page of HTML"));
  EXPECT_THAT(refusal(""), HasSubstr("found none"));
  EXPECT_THAT(refusal(wav("", kRate_hz, 1, 0xFFFFFFFF).substr(0, 20)),
              HasSubstr("ends in its header"));
}

class Kept final : public SpeechObserver {
 public:
  Status on_clause(const SpokenClause& clause) override {
    EXPECT_EQ(clause.begin, text.size()) << "clauses follow each other";
    EXPECT_EQ(clause.end, clause.begin + clause.text.size());
    EXPECT_NEAR(clause.start_s * kRate_hz, static_cast<double>(samples.size()), 0.01);
    text += clause.text;
    samples.insert(samples.end(), clause.samples.begin(), clause.samples.end());
    EXPECT_NEAR(clause.end_s * kRate_hz, static_cast<double>(samples.size()), 0.01);
    ++clauses;
    text_at_half = samples.size() <= static_cast<size_t>(kRate_hz) ? text : text_at_half;
    return {};
  }

  std::string text;
  std::string text_at_half;  // of two seconds
  std::vector<float> samples;
  int clauses = 0;
};

class RemoteMouth : public ServiceFixture {
 protected:
  Status speak(std::string_view text, const SpeakWish& wish = {}, ServedVoice voice = {}) {
    if (mouth == nullptr) {
      auto opened = remote_mouth(service("tts"), std::move(voice), {});
      if (!opened) {
        return std::unexpected(opened.error());
      }
      mouth = *std::move(opened);
    }
    kept = {};
    return mouth->speak(text, wish, kept, {});
  }

  [[nodiscard]] Json body(size_t request) const {
    return Json::parse(server->requests().at(request).body);
  }

  static bool no_models(const testing::ScriptedRequest& request,
                        const testing::ScriptedWire& wire) {
    if (request.method == "GET") {
      wire.answer(404, "", "{}");
      return true;
    }
    return false;
  }

  std::unique_ptr<Mouth> mouth;
  Kept kept;
};

TEST_F(RemoteMouth, HandsOnSoundAsItComes) {
  serve([](const auto& request, const auto& wire) {
    if (no_models(request, wire)) {
      return true;
    }
    wire.begin("audio/pcm");
    const std::string sound = tone(2, kRate_hz);
    for (size_t at = 0; at < sound.size(); at += 9600) {
      EXPECT_TRUE(wire.chunk(sound.substr(at, 9600)));
    }
    wire.end();
    return true;
  });
  const std::string text = "Two seconds of nothing but a tone.";
  ASSERT_TRUE(speak(text, {.language = "en"}));
  EXPECT_EQ(mouth->rate_hz(), kRate_hz);
  EXPECT_EQ(kept.samples.size(), 2U * kRate_hz);
  EXPECT_EQ(kept.text, text);
  EXPECT_GE(kept.clauses, 2);
  EXPECT_EQ(body(1)["model"], "tts-1");
  EXPECT_EQ(body(2)["response_format"], "pcm");
  EXPECT_EQ(body(2)["input"], text);
  EXPECT_FALSE(body(2).contains("voice"));
  EXPECT_FALSE(body(2).contains("lang_code")) << "Kokoro-FastAPI's are letters";
  EXPECT_FALSE(body(2).contains("speed"));
  // Once the voice is known the words are where they are likely to be.
  ASSERT_TRUE(speak(text));
  EXPECT_THAT(kept.text_at_half, HasSubstr("Two seconds"));
  EXPECT_THAT(kept.text_at_half, ::testing::Not(HasSubstr("tone")));
}

TEST_F(RemoteMouth, DoesWithoutWhatIsRefused) {
  serve([](const auto& request, const auto& wire) {
    if (no_models(request, wire)) {
      return true;
    }
    const Json asked = Json::parse(request.body);
    if (asked.contains("sample_rate")) {
      wire.answer(400, "", R"({"error": {"message": "Unknown parameter: 'sample_rate'."}})");
    } else if (!asked.contains("voice")) {
      wire.answer(422, "", R"({"detail": [{"loc": ["body", "voice"], "msg": "Field required"}]})");
    } else if (asked["response_format"] == "pcm") {
      wire.answer(400, "", R"({"error": {"message": "wanted wav", "param": "response_format"}})");
    } else {
      wire.answer(200, "Content-Type: audio/wav\r\n", wav(tone(1, 22050), 22050, 1, 44100));
    }
    return true;
  });
  ASSERT_TRUE(speak("Well."));
  EXPECT_EQ(kept.samples.size(), static_cast<size_t>(kRate_hz));
  const Json last = body(server->requests().size() - 1);
  EXPECT_EQ(last["voice"], "alloy");
  EXPECT_EQ(last["response_format"], "wav");
  EXPECT_EQ(server->requests().size(), 6U) << "the trial found all of it";
}

TEST_F(RemoteMouth, TellsAMynahTheLanguage) {
  serve([](const auto& request, const auto& wire) {
    if (no_models(request, wire)) {
      return true;
    }
    const Json asked = Json::parse(request.body);
    if (asked.value("lang_code", "") == "de" && asked.contains("voice")) {
      wire.answer(400, "", R"({"error": {"message": "it does not speak that"}})");
      return true;
    }
    wire.answer(200, "X-Mynah-Model: kokoro\r\nContent-Type: audio/pcm;rate=24000\r\n",
                tone(0.5, kRate_hz));
    return true;
  });
  ASSERT_TRUE(speak("Guten Tag.", {.language = "de"}, {.name = "af_heart", .speed = 1.1F}));
  EXPECT_EQ(mouth->facts().model, "kokoro");
  const Json last = body(server->requests().size() - 1);
  EXPECT_EQ(last["lang_code"], "de");
  EXPECT_FALSE(last.contains("voice")) << "one that speaks it takes its place";
  EXPECT_EQ(last["speed"], 1.1);
}

TEST_F(RemoteMouth, WhatWasSpokenBeforeItDiedStays) {
  int times = 0;
  serve([&times](const auto& request, const auto& wire) {
    if (no_models(request, wire)) {
      return true;
    }
    wire.begin("audio/pcm");
    EXPECT_TRUE(wire.chunk(tone(0.5, kRate_hz)));
    if (++times == 1) {
      wire.end();
      return true;
    }
    return false;
  });
  const Status spoken = speak("It dies in the middle of this.");
  ASSERT_FALSE(spoken);
  EXPECT_EQ(spoken.error().code, ErrorCode::Io);
  EXPECT_THAT(spoken.error().message, HasSubstr(server->url("/v1/audio/speech")));
  EXPECT_GT(kept.samples.size(), 0.45 * kRate_hz);
}

TEST_F(RemoteMouth, SpeechWithoutAnEndEnds) {
  serve([](const auto& request, const auto& wire) {
    if (no_models(request, wire)) {
      return true;
    }
    const std::string second = tone(1, kRate_hz);
    wire.begin("audio/pcm");
    while (wire.chunk(second)) {
    }
    return false;
  });
  const Status spoken = speak("Hello.");
  ASSERT_FALSE(spoken);
  EXPECT_THAT(spoken.error().message, HasSubstr("found more"));
}

}  // namespace
}  // namespace mynah::talk
