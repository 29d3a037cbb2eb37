#include "audio/device/pulse_device.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/device/pulse_server.h"

namespace mynah {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = SoundNews::Kind;

constexpr int kVoiceHz = 24000;
// Frames that a test waits for what must happen: a minute, for a machine that others use.
constexpr int kPatience = 6000;

// Noise below some 100 Hz, the same each time: what is heard is found in what was said, and a busy
// machine's jitter of a millisecond changes little of how alike they are.
std::vector<float> noise(size_t count) {
  std::vector<float> samples(count);
  uint32_t state = 1;
  float low = 0;
  for (float& sample : samples) {
    state = state * 1664525U + 1013904223U;
    low += 0.02F * (5 * (static_cast<float>(state >> 8) / 16777216.0F - 0.5F) - low);
    sample = low;
  }
  return samples;
}

class PulseDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::PulseServer::installed()) {
      GTEST_SKIP() << "pulseaudio is not installed";
    }
    if (!server_.running()) {
      ASSERT_TRUE(server_.start()) << server_.log();
    }
  }

  // One daemon serves test after test; those that break it end it.
  static void TearDownTestSuite() { server_.kill(); }

  void open(const std::string& microphone = {}, const std::string& loudspeaker = {}) {
    auto opened = open_pulse_device(microphone, loudspeaker,
                                    {.playback_hz = kVoiceHz, .server = server_.address()});
    ASSERT_TRUE(opened) << opened.error().message << server_.log();
    device_ = std::move(*opened);
  }

  // Takes frames until one fulfils `wanted`; none where none does for long.
  std::optional<SoundFrame> frame_where(const std::function<bool(const SoundFrame&)>& wanted) {
    for (int i = 0; i < kPatience; ++i) {
      auto frame = device_->next({});
      if (!frame) {
        return std::nullopt;
      }
      EXPECT_EQ(frame->number, next_number_++);
      if (wanted(*frame)) {
        return *frame;
      }
    }
    return std::nullopt;
  }

  // The number of the only stream that plays.
  static std::string input_number() {
    const std::string list = server_.pactl({"list", "short", "sink-inputs"});
    return list.substr(0, list.find('\t'));
  }

  // Takes frames until there is news of a kind; gives its text.
  std::string news_of(Kind kind) {
    std::string text;
    frame_where([&](const SoundFrame&) {
      for (SoundNews& news : device_->take_news()) {
        if (news.kind == kind) {
          text = std::move(news.text);
          return true;
        }
      }
      return false;
    });
    return text;
  }

  inline static test::PulseServer server_;
  std::unique_ptr<SoundDevice> device_;
  int64_t next_number_ = 0;
};

TEST_F(PulseDeviceTest, WhatIsPlayedIsHeardAndTheReferenceIsThat) {
  open("box.monitor", "box");
  const std::vector<float> voice = noise(2 * kVoiceHz);
  EXPECT_EQ(device_->play(voice), 0);
  std::vector<float> heard;
  std::vector<float> played;
  ASSERT_TRUE(frame_where([&](const SoundFrame& frame) {
    heard.insert(heard.end(), frame.heard.begin(), frame.heard.end());
    played.insert(played.end(), frame.played.begin(), frame.played.end());
    return frame.said == static_cast<int64_t>(voice.size());
  }));
  // In one of the pieces of 0.2 s at least they are one sound, at most 10 ms apart: in any where
  // this machine was too busy to play it without holes, they need not be.
  constexpr int kLag = 160;
  constexpr size_t kPiece = kHeardHz / 5;
  const auto alike = [&](size_t begin, int lag) {
    double products = 1e-12;
    double hearing = 1e-12;
    double playing = 1e-12;
    for (size_t i = begin; i < begin + kPiece; ++i) {
      const double other = played[static_cast<size_t>(static_cast<int64_t>(i) + lag)];
      products += heard[i] * other;
      hearing += heard[i] * heard[i];
      playing += other * other;
    }
    return products / std::sqrt(hearing * playing);
  };
  double highest = 0;
  for (size_t begin = kLag; begin + kPiece + kLag < heard.size(); begin += kPiece) {
    for (int lag = -kLag; lag <= kLag; lag += 4) {
      highest = std::max(highest, alike(begin, lag));
    }
  }
  EXPECT_GT(highest, 0.9);
  EXPECT_EQ(device_->state().said, static_cast<int64_t>(voice.size()));
  EXPECT_EQ(device_->state().microphone.title, "Monitor of Box");
  EXPECT_EQ(device_->state().loudspeaker.title, "Box");
  EXPECT_GT(device_->state().loudspeaker.latency_s, 0.0);
}

TEST_F(PulseDeviceTest, TheUsualDevicesAreTakenWhereNoneIsNamed) {
  open();
  EXPECT_THAT(news_of(Kind::Opened), HasSubstr("Monitor of Room is heard, the voice plays on Box"));
  EXPECT_THAT(news_of(Kind::NoSignal), HasSubstr("digital silence"));
}

TEST_F(PulseDeviceTest, ANameThatIsNotThereIsRefusedWithThoseThatAre) {
  const auto opened = open_pulse_device("kitchen", "box", {.server = server_.address()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Environment);
  EXPECT_THAT(opened.error().message, HasSubstr("no microphone called kitchen"));
  EXPECT_THAT(opened.error().message, HasSubstr("pulse:room.monitor"));
}

TEST_F(PulseDeviceTest, NoServerIsAnErrorThatSaysWhatToDo) {
  server_.kill();
  const auto opened = open_pulse_device("", "", {.server = server_.address()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Environment);
  EXPECT_THAT(opened.error().message, HasSubstr("Connection refused"));
  EXPECT_THAT(opened.error().message, HasSubstr("alsa:default"));
}

TEST_F(PulseDeviceTest, AServerThatIsKilledAndStartedAgainIsReturnedTo) {
  open("box.monitor", "box");
  const std::vector<float> voice = noise(2 * kVoiceHz);
  device_->play(voice);
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said > 8000; }));
  server_.kill();
  EXPECT_THAT(news_of(Kind::Waiting), HasSubstr("the sound server is gone"));
  const auto away =
      frame_where([](const SoundFrame& frame) { return frame.listening == Listening::Away; });
  ASSERT_TRUE(away);
  const int64_t said = device_->state().said;
  EXPECT_LT(said, static_cast<int64_t>(voice.size()));
  ASSERT_TRUE(
      frame_where([&](const SoundFrame& frame) { return frame.number > away->number + 50; }));
  EXPECT_EQ(device_->state().said, said) << "nothing is played meanwhile";
  ASSERT_TRUE(server_.start()) << server_.log();
  EXPECT_THAT(news_of(Kind::Returned), HasSubstr("is back"));
  EXPECT_TRUE(frame_where([&](const SoundFrame& frame) {
    return frame.said == static_cast<int64_t>(voice.size()) &&
           frame.listening == Listening::Microphone;
  }));
}

TEST_F(PulseDeviceTest, ADeviceThatLeavesIsWaitedForOrReplaced) {
  server_.pactl({"load-module", "module-null-sink", "sink_name=headset", "norewinds=1"});
  open("headset.monitor", "headset");
  server_.pactl({"unload-module", "module-null-sink"});  // all of them
  EXPECT_THAT(news_of(Kind::Waiting), HasSubstr("waiting for headset"));
  server_.pactl({"load-module", "module-null-sink", "sink_name=headset", "norewinds=1"});
  EXPECT_THAT(news_of(Kind::Returned), HasSubstr("is back"));
  ASSERT_TRUE(frame_where(
      [](const SoundFrame& frame) { return frame.listening == Listening::Microphone; }));
  EXPECT_EQ(device_->state().loudspeaker.name, "headset");
  server_.kill();  // the other sinks are gone
}

TEST_F(PulseDeviceTest, AStreamThatTheServerMovesGoesOn) {
  open("", "");
  device_->play(noise(kVoiceHz));
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said > 4000; }));
  server_.pactl({"move-sink-input", input_number(), "room"});
  EXPECT_EQ(news_of(Kind::Moved), "the voice plays on Room now");
  EXPECT_EQ(device_->state().loudspeaker.name, "room");
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said == kVoiceHz; }));
}

TEST_F(PulseDeviceTest, ASuspendedDeviceIsWaitedFor) {
  open("room.monitor", "box");
  device_->play(noise(kVoiceHz));
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said > 4000; }));
  server_.pactl({"suspend-sink", "box", "1"});
  EXPECT_EQ(news_of(Kind::Waiting), "Box is suspended: the voice waits");
  const int64_t said = device_->state().said;
  ASSERT_TRUE(frame_where(
      [&, first = next_number_](const SoundFrame& frame) { return frame.number > first + 30; }));
  EXPECT_EQ(device_->state().said, said);
  server_.pactl({"suspend-sink", "box", "0"});
  EXPECT_EQ(news_of(Kind::Returned), "Box plays again");
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said == kVoiceHz; }));
  server_.pactl({"suspend-sink", "room", "1"});
  EXPECT_THAT(news_of(Kind::Waiting), HasSubstr("gives no sound"));
  server_.pactl({"suspend-sink", "room", "0"});
  EXPECT_THAT(news_of(Kind::Returned), HasSubstr("gives sound again"));
}

TEST_F(PulseDeviceTest, AServerThatHangsIsWaitedFor) {
  open("room.monitor", "box");
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.number > 10; }));
  server_.freeze(true);
  EXPECT_THAT(news_of(Kind::Waiting), HasSubstr("its server hangs"));
  server_.freeze(false);
  EXPECT_THAT(news_of(Kind::Returned), HasSubstr("gives sound again"));
}

TEST_F(PulseDeviceTest, MutingClosesTheMicrophoneForGood) {
  open("room.monitor", "box");
  EXPECT_THAT(server_.pactl({"list", "short", "source-outputs"}), Not(HasSubstr("done")));
  device_->mute(true);
  ASSERT_TRUE(
      frame_where([](const SoundFrame& frame) { return frame.listening == Listening::Muted; }));
  EXPECT_EQ(server_.pactl({"list", "short", "source-outputs"}), "done") << "none is left";
  EXPECT_EQ(device_->state().microphone.name, "");
  device_->mute(false);
  ASSERT_TRUE(frame_where(
      [](const SoundFrame& frame) { return frame.listening == Listening::Microphone; }));
}

TEST_F(PulseDeviceTest, AMicrophoneThatIsMutedAtTheServerIsSaidToBe) {
  server_.pactl({"set-source-mute", "room.monitor", "1"});
  open("room.monitor", "box");
  EXPECT_THAT(news_of(Kind::NoSignal), HasSubstr("Monitor of Room is muted at the sound server"));
  server_.pactl({"set-source-mute", "room.monitor", "0"});
}

TEST_F(PulseDeviceTest, AVoiceThatIsPausedGoesOnWhereItStopped) {
  open("box.monitor", "box");
  device_->play(noise(kVoiceHz));
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said > 2000; }));
  device_->pause(true);
  // What was on its way is played, and then nothing.
  int64_t said = -1;
  int still = 0;
  ASSERT_TRUE(frame_where([&](const SoundFrame& frame) {
    still = frame.said == std::exchange(said, frame.said) ? still + 1 : 0;
    return still == 50;
  }));
  EXPECT_LT(said, kVoiceHz);
  device_->pause(false);
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said == kVoiceHz; }));
  device_->play(noise(kVoiceHz));
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said > kVoiceHz + 2000; }));
  const int64_t end = device_->drop();
  EXPECT_LT(end, 2 * kVoiceHz);
  ASSERT_TRUE(frame_where([&](const SoundFrame& frame) { return frame.said == end; }));
  EXPECT_EQ(device_->state().waiting, 0);
}

TEST_F(PulseDeviceTest, DevicesAreListed) {
  server_.pactl({"set-source-mute", "room.monitor", "1"});
  const SoundSystem system = list_pulse_devices(server_.address());
  EXPECT_THAT(system.server, HasSubstr("pulseaudio"));
  ASSERT_EQ(system.devices.size(), 4U);
  const auto room = std::ranges::find(system.devices, "pulse:room.monitor", &SoundChoice::name);
  ASSERT_NE(room, system.devices.end());
  EXPECT_TRUE(room->microphone && room->usual && room->muted);
  EXPECT_EQ(room->title, "Monitor of Room");
  const auto box = std::ranges::find(system.devices, "pulse:box", &SoundChoice::name);
  ASSERT_NE(box, system.devices.end());
  EXPECT_TRUE(box->loudspeaker && box->usual && !box->muted && !box->microphone);
  server_.pactl({"set-source-mute", "room.monitor", "0"});
  server_.kill();
  EXPECT_THAT(list_pulse_devices(server_.address()).absent, HasSubstr("no sound server answers"));
}

}  // namespace
}  // namespace mynah
