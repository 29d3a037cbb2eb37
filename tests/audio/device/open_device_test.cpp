#include "audio/device/open_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

using ::testing::HasSubstr;

TEST(OpenSoundDevice, NamesThatAreNoneAreRefused) {
  for (const char* const name : {"usb", "oss:dsp", ":", "pulsar:x"}) {
    const auto opened = open_sound_device({.microphone = name});
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code, ErrorCode::Usage);
    EXPECT_THAT(opened.error().message, HasSubstr("wanted pulse:NAME or alsa:NAME"));
  }
}

TEST(OpenSoundDevice, BothEndsAreOfOneSystem) {
  const auto opened = open_sound_device({.microphone = "pulse:a", .loudspeaker = "alsa:b"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Usage);
  EXPECT_THAT(opened.error().message, HasSubstr("different systems"));
}

}  // namespace
}  // namespace mynah
