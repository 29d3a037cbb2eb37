#include "audio/device/alsa_device.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/device/pulse_server.h"

namespace mynah {
namespace {

using ::testing::HasSubstr;
using Kind = SoundNews::Kind;

constexpr int kRateHz = 24000;

// ALSA's configuration is the test's own: a device without a clock that keeps what it is given, and
// one of each way through a PulseAudio of the test's own, which has clocks.
class AlsaDeviceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const TemporaryFolder& folder = server_.folder();
    std::string silence(static_cast<size_t>(16000) * 4, '\0');
    test::write_file(folder / "heard.raw", silence);
    test::write_file(
        folder / "alsa.conf",
        fmt::format(
            "pcm.kept {{ type file slave.pcm {{ type null }} format raw file '{0}/kept.raw' }}\n"
            "pcm.heard {{ type file slave.pcm {{ type null }} format raw file '/dev/null'\n"
            "  infile '{0}/heard.raw' }}\n"
            "pcm.out {{ type pulse server '{1}' device box }}\n"
            "pcm.in {{ type pulse server '{1}' device box.monitor }}\n",
            folder.path(), server_.address()));
    // Read once, at ALSA's first use in this process.
    ::setenv("ALSA_CONFIG_PATH", (folder / "alsa.conf").c_str(), 1);
  }

  static void TearDownTestSuite() { server_.kill(); }

  std::optional<SoundFrame> frame_where(const std::function<bool(const SoundFrame&)>& wanted) {
    for (int i = 0; i < 6000; ++i) {
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

  using TemporaryFolder = test::TemporaryFolder;
  inline static test::PulseServer server_;
  std::unique_ptr<SoundDevice> device_;
  int64_t next_number_ = 0;
};

TEST_F(AlsaDeviceTest, WhatIsPlayedGoesOutToTheSample) {
  auto opened = open_alsa_device("heard", "kept", kRateHz);
  ASSERT_TRUE(opened) << opened.error().message;
  device_ = std::move(*opened);
  std::vector<float> voice(kRateHz / 2);
  for (size_t i = 0; i < voice.size(); ++i) {
    voice[i] = 0.001F * static_cast<float>(i % 900 + 1);
  }
  device_->play(voice);
  ASSERT_TRUE(frame_where(
      [&](const SoundFrame& frame) { return frame.said == static_cast<int64_t>(voice.size()); }));
  device_.reset();
  const std::string bytes = server_.folder().read("kept.raw");
  std::vector<float> kept(bytes.size() / sizeof(float));
  std::memcpy(kept.data(), bytes.data(), kept.size() * sizeof(float));
  const auto first = std::ranges::find_if(kept, [](float sample) { return sample != 0; });
  ASSERT_GE(kept.end() - first, static_cast<std::ptrdiff_t>(voice.size()));
  EXPECT_TRUE(std::equal(voice.begin(), voice.end(), first));
}

TEST_F(AlsaDeviceTest, ADeviceThatIsNotThereIsAnErrorThatSaysWhatToDo) {
  const auto opened = open_alsa_device("kitchen", "kept", kRateHz);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Environment);
  EXPECT_THAT(opened.error().message, HasSubstr("cannot listen to alsa:kitchen"));
  EXPECT_THAT(opened.error().message, HasSubstr("mynah devices --sound"));
}

TEST_F(AlsaDeviceTest, BothWaysOfACardAreHeardMutedAndWaitedFor) {
  if (!test::PulseServer::installed() || !server_.start()) {
    GTEST_SKIP() << "pulseaudio is not installed";
  }
  auto opened = open_alsa_device("in", "out", kRateHz);
  if (!opened && opened.error().message.find("No such") != std::string::npos) {
    GTEST_SKIP() << "libasound2-plugins is not installed: " << opened.error().message;
  }
  ASSERT_TRUE(opened) << opened.error().message;
  device_ = std::move(*opened);
  device_->play(std::vector<float>(kRateHz, 0.25F));
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.heard[80] > 0.2F; }));
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said == kRateHz; }));
  device_->mute(true);
  ASSERT_TRUE(
      frame_where([](const SoundFrame& frame) { return frame.listening == Listening::Muted; }));
  EXPECT_EQ(server_.pactl({"list", "short", "source-outputs"}), "done") << "none is left";
  device_->mute(false);
  ASSERT_TRUE(frame_where(
      [](const SoundFrame& frame) { return frame.listening == Listening::Microphone; }));
  server_.kill();
  ASSERT_TRUE(
      frame_where([](const SoundFrame& frame) { return frame.listening == Listening::Away; }));
  ASSERT_TRUE(server_.start());
  ASSERT_TRUE(frame_where(
      [](const SoundFrame& frame) { return frame.listening == Listening::Microphone; }));
  device_->play(std::vector<float>(kRateHz / 4, 0.25F));
  ASSERT_TRUE(frame_where([](const SoundFrame& frame) { return frame.said == kRateHz * 5 / 4; }));
}

}  // namespace
}  // namespace mynah
