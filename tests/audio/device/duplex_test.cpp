#include "audio/device/duplex.h"

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

using ::testing::HasSubstr;

constexpr double kTurn = 2 * std::numbers::pi;

TEST(SincReader, KeepsWhatBothRatesHoldAndDropsTheRest) {
  for (const auto& [in_hz, out_hz] : {std::pair(24000, 16000), std::pair(22050, 16000),
                                      std::pair(16000, 16000), std::pair(8000, 16000)}) {
    const SincReader reader(in_hz, out_hz);
    const double step = static_cast<double>(in_hz) / out_hz * (1 + 1e-4);
    const auto worst = [&, in = in_hz](double hz, bool kept) {
      std::vector<float> out(400);
      reader.read(
          100.3, step,
          [&](int64_t i) {
            return static_cast<float>(std::sin(kTurn * hz * static_cast<double>(i) / in));
          },
          out);
      double off = 0;
      for (size_t n = 0; n < out.size(); ++n) {
        const double exact =
            kept ? std::sin(kTurn * hz * (100.3 + step * static_cast<double>(n)) / in) : 0;
        off = std::max(off, std::abs(out[n] - exact));
      }
      return off;
    };
    // The window's ripple and what is drawn straight between two weights are 90 dB below, each.
    for (const double hz : {100.0, 440.0, 1000.0, 2500.0}) {
      EXPECT_LT(worst(hz, true), 7e-5) << in_hz << " " << hz;
    }
    if (in_hz > out_hz) {
      EXPECT_LT(worst(in_hz * 0.42, false), 7e-5) << in_hz;
    }
  }
}

SoundEnd end_named(const char* title) {
  return {.system = "test", .name = title, .title = title};
}

// A room: what is played is heard at once and as it is. Cards have clocks of their own; what each
// tells of where it stands is late by up to `jitter_s`.
struct Room {
  double playback_rate = 24000;
  double capture_rate = 16000;
  double jitter_s = 0;
};

constexpr double kToneHz = 200;

// The tone by the position of a stream of `voice_hz`.
double tone(double position, int voice_hz) {
  return 0.5 * std::sin(kTurn * kToneHz * position / voice_hz);
}

// Runs the room for `seconds` and gives the frames of its last ten.
std::vector<SoundFrame> heard_in(const Room& room, Duplex& duplex, int seconds) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> jitter(0, room.jitter_s);
  constexpr double kBegin = 1000;
  duplex.playback_begins(end_named("box"));
  duplex.capture_begins(end_named("mic"), 0);
  std::vector<float> voice(24000 * static_cast<size_t>(seconds + 1));
  for (size_t i = 0; i < voice.size(); ++i) {
    voice[i] = static_cast<float>(tone(static_cast<double>(i), 24000));
  }
  duplex.play(voice);
  std::vector<float> out(960);
  duplex.pull(out);  // 40 ms ahead
  int64_t pulled = 960;
  int64_t captured = 0;
  std::vector<SoundFrame> frames;
  for (int turn = 1; turn <= seconds * 100; ++turn) {
    const double time = kBegin + turn * 0.01;
    const double played = (time - kBegin) * room.playback_rate;
    while (static_cast<double>(pulled) < played + 960) {
      out.resize(240);
      duplex.pull(out);
      pulled += 240;
    }
    if (turn % 10 == 0) {
      duplex.playback_stood(time + jitter(random), played, 0.04);
      duplex.capture_stood(time + jitter(random), (time - kBegin) * room.capture_rate, 0.01);
    }
    std::vector<float> heard;
    for (; static_cast<double>(captured) < (time - kBegin) * room.capture_rate; ++captured) {
      const double at = static_cast<double>(captured) / room.capture_rate;
      heard.push_back(static_cast<float>(tone(at * room.playback_rate, 24000)));
    }
    duplex.captured(heard, time);
    duplex.time_is(time);
    while (duplex.state(time).microphone.name == "mic" && frames.size() < 100000) {
      std::stop_source stop;
      stop.request_stop();
      auto frame = duplex.next(stop.get_token());
      if (!frame) {
        break;
      }
      if (turn > (seconds - 10) * 100) {
        frames.push_back(*frame);
      }
    }
  }
  return frames;
}

// The worst difference of what was heard and the reference, of a tone of 0.5.
double worst_difference(const std::vector<SoundFrame>& frames) {
  double worst = 0;
  for (const SoundFrame& frame : frames) {
    for (size_t i = 0; i < kSoundFrame; ++i) {
      worst = std::max<double>(worst, std::abs(frame.heard[i] - frame.played[i]));
    }
  }
  return worst;
}

TEST(Duplex, TheReferenceIsWhatTheMicrophoneHears) {
  for (const auto& [playback_ppm, capture_ppm] :
       {std::pair(-40.0, 80.0), std::pair(100.0, -100.0)}) {
    const Room room{.playback_rate = 24000 * (1 + playback_ppm * 1e-6),
                    .capture_rate = 16000 * (1 + capture_ppm * 1e-6)};
    Duplex duplex(24000);
    const auto frames = heard_in(room, duplex, 40);
    ASSERT_GT(frames.size(), 900U);
    // A tone of amplitude 0.5 that is late by d differs by 0.5 * 2 pi f d: of one sample by 0.04;
    // the reader adds 5e-4. The clocks' slopes are held back by 0.2 % of 200 ppm over 30 s: 12
    // microseconds.
    EXPECT_LT(worst_difference(frames), 0.5 * kTurn * kToneHz * 12e-6 + 5e-4)
        << playback_ppm << " " << capture_ppm;
    EXPECT_NEAR(duplex.state(1040).drift_ppm, playback_ppm - capture_ppm,
                std::abs(playback_ppm - capture_ppm) * 0.0023 + 0.1);
  }
}

TEST(Duplex, JitterOfTheServersTimesDoesNotReachTheReference) {
  const Room room{.playback_rate = 24000 * (1 + 50e-6), .jitter_s = 0.006};
  Duplex duplex(24000);
  const auto frames = heard_in(room, duplex, 40);
  // Both lines are late by the same; the deviation of each (stream_clock_test) at its end, of both
  // together, four times.
  const double late = 4 * std::numbers::sqrt2 * 2 * 0.225 * 0.006 / std::sqrt(300.0);
  EXPECT_LT(worst_difference(frames), 0.5 * kTurn * kToneHz * late + 5e-4);
}

TEST(Duplex, WhatWasSaidIsCountedToTheSample) {
  Duplex duplex(24000);
  duplex.playback_begins(end_named("box"));
  duplex.capture_begins(end_named("mic"), 0);
  std::vector<float> silence(240);
  duplex.pull(silence);
  EXPECT_EQ(duplex.play(std::vector<float>(4800, 0.1F)), 0);
  std::vector<float> out(2400);
  duplex.pull(out);
  duplex.playback_stood(10, 0, 0.04);
  EXPECT_EQ(duplex.state(10.0).said, 0);
  EXPECT_EQ(duplex.state(10.05).said, 1200 - 240);
  EXPECT_EQ(duplex.state(10.05).waiting, 4800 - 960);
  duplex.pause(true);
  duplex.pull(out);
  EXPECT_EQ(duplex.state(10.2).said, 2400);
  EXPECT_EQ(duplex.drop(), 2400);
  EXPECT_EQ(duplex.play(std::vector<float>(10)), 2400);
}

TEST(Duplex, ALoudspeakerThatDiesSaysTheRestWhenItIsBack) {
  Duplex duplex(24000);
  duplex.playback_begins(end_named("box"));
  duplex.play(std::vector<float>(4800, 0.1F));
  std::vector<float> out(2400);
  duplex.pull(out);
  duplex.playback_stood(10, 0, 0.04);
  duplex.playback_ends(10.05);
  EXPECT_EQ(duplex.state(10.05).said, 1200);
  EXPECT_EQ(duplex.state(11).waiting, 3600);
  duplex.playback_begins(end_named("other box"));
  out.resize(4800);
  duplex.pull(out);
  duplex.playback_stood(12, 0, 0.04);
  EXPECT_EQ(duplex.state(12.05).said, 2400);
  EXPECT_EQ(duplex.state(13).said, 4800);
}

// Takes every frame that is there.
std::vector<SoundFrame> all_frames(Duplex& duplex) {
  std::stop_source stop;
  stop.request_stop();
  std::vector<SoundFrame> frames;
  while (auto frame = duplex.next(stop.get_token())) {
    frames.push_back(*frame);
  }
  return frames;
}

TEST(Duplex, TheClockGoesOnWithoutAMicrophone) {
  Duplex duplex(24000);
  duplex.time_is(5);
  duplex.time_is(5.1);
  auto frames = all_frames(duplex);
  ASSERT_EQ(frames.size(), 10U);
  EXPECT_EQ(frames.back().number, 9);
  EXPECT_EQ(frames.back().listening, Listening::Away);
  duplex.capture_begins(end_named("mic"), 0);
  duplex.captured(std::vector<float>(320, 0.25F), 5.12);
  duplex.capture_ends(Listening::Muted, 5.13);
  duplex.time_is(5.1601);
  frames = all_frames(duplex);
  ASSERT_EQ(frames.size(), 5U);
  EXPECT_EQ(frames[1].listening, Listening::Microphone);
  EXPECT_EQ(frames[1].heard[159], 0.25F);
  EXPECT_EQ(frames[2].listening, Listening::Muted);
  EXPECT_EQ(frames[4].number, 14);
  EXPECT_EQ(duplex.state(5.2).microphone.name, "");
}

TEST(Duplex, AStreamThatGivesNothingIsToldAndItsReturnToo) {
  Duplex duplex(24000);
  duplex.capture_begins(end_named("mic"), 0);
  duplex.captured(std::vector<float>(160, 0.25F), 5);
  duplex.time_is(5.4);
  EXPECT_TRUE(duplex.take_news().empty());
  duplex.time_is(5.51);
  EXPECT_EQ(all_frames(duplex).size(), 52U);
  auto news = duplex.take_news();
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].kind, SoundNews::Kind::Waiting);
  EXPECT_EQ(duplex.state(5.5).listening, Listening::Away);
  duplex.captured(std::vector<float>(160, 0.25F), 5.52);
  news = duplex.take_news();
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].kind, SoundNews::Kind::Returned);
}

TEST(Duplex, NoSignalIsToldWithinASecondAndOnce) {
  Duplex duplex(24000);
  duplex.capture_begins(end_named("mic"), 0);
  duplex.captured(std::vector<float>(16000, 1e-5F), 1);
  EXPECT_TRUE(duplex.take_news().empty());
  duplex.captured(std::vector<float>(16000), 2);
  duplex.captured(std::vector<float>(16000), 3);
  auto news = duplex.take_news();
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].kind, SoundNews::Kind::NoSignal);
  EXPECT_LT(news[0].frame, 200);
  EXPECT_THAT(news[0].text, HasSubstr("digital silence"));
  duplex.captured(std::vector<float>(160, 1e-5F), 3.1);
  news = duplex.take_news();
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].kind, SoundNews::Kind::Signal);
  duplex.muted_at_server(true);
  duplex.captured(std::vector<float>(16000), 4);
  EXPECT_THAT(duplex.take_news().at(0).text, HasSubstr("muted at the sound server"));
}

TEST(Duplex, WhatWaitsToBePlayedGrowsWithTheSecondsInWhichItRanDry) {
  Duplex duplex(24000);
  duplex.playback_begins(end_named("speaker"));
  EXPECT_EQ(duplex.playback_ms(), 40);
  for (const double at_s : {5.0, 5.1, 5.9}) {
    duplex.playback_late(at_s);
  }
  EXPECT_EQ(duplex.playback_ms(), 80) << "one cause";
  duplex.playback_held(true, 7);
  duplex.playback_late(7.1);
  EXPECT_EQ(duplex.playback_ms(), 80) << "it stood still";
  duplex.playback_held(false, 8);
  duplex.playback_late(8);
  duplex.playback_late(9.5);
  EXPECT_EQ(duplex.playback_ms(), 160) << "no more than that";
  EXPECT_EQ(duplex.state(10).loudspeaker.xruns, 6);
}

TEST(Duplex, WhoTakesNothingLosesTheOldestAndItIsCounted) {
  Duplex duplex(24000);
  duplex.capture_begins(end_named("mic"), 0);
  for (int second = 0; second < 31; ++second) {
    duplex.captured(std::vector<float>(16000, 0.1F), second);
  }
  EXPECT_EQ(duplex.state(31).microphone.xruns, 100);
  const auto frames = all_frames(duplex);
  ASSERT_EQ(frames.size(), 3000U);
  EXPECT_EQ(frames.front().number, 100);
}

}  // namespace
}  // namespace mynah
