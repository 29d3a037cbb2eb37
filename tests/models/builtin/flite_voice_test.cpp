#include "models/builtin/flite_voice.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mynah {
namespace {

// A book that is taken up goes on with the samples that it would have had.
TEST(FliteVoices, say_the_same_whatever_was_said_before) {
  for (const FliteVoice& voice : flite_voices()) {
    const FliteSpeech first = speak_with_flite("She sells sea shells.", voice.name, 1);
    ASSERT_GT(first.samples.size(), 8000U) << voice.name;
    EXPECT_NE(speak_with_flite("Something else.", voice.name, 1).samples, first.samples);
    EXPECT_EQ(speak_with_flite("She sells sea shells.", voice.name, 1).samples, first.samples);
  }
}

TEST(FliteVoices, say_when_each_word_is_said) {
  const FliteSpeech speech = speak_with_flite("one two", "slt", 1);
  ASSERT_FALSE(speech.phones.empty());
  EXPECT_EQ(speech.phones.front().word, 0U);
  EXPECT_EQ(speech.phones.back().word, 1U);
  size_t end = 0;
  for (const FlitePhone& phone : speech.phones) {
    EXPECT_GE(phone.begin, end);
    EXPECT_GT(phone.end, phone.begin);
    end = phone.end;
  }
  EXPECT_LE(end, speech.samples.size());
  // Twice as long.
  EXPECT_NEAR(static_cast<double>(speak_with_flite("one two", "slt", 2).samples.size()),
              2 * static_cast<double>(speech.samples.size()),
              0.1 * 2 * static_cast<double>(speech.samples.size()));
}

}  // namespace
}  // namespace mynah
