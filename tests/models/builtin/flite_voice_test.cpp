#include "models/builtin/flite_voice.h"

#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/stop_scope.h"

namespace mynah {
namespace {

FliteSpeech say(const std::string& text, std::string_view voice, float stretch = 1) {
  auto speech = speak_with_flite(text, voice, stretch);
  EXPECT_TRUE(speech) << speech.error().message;
  return speech ? *std::move(speech) : FliteSpeech();
}

// A book that is taken up goes on with the samples that it would have had.
TEST(FliteVoices, say_the_same_whatever_was_said_before) {
  for (const FliteVoice& voice : flite_voices()) {
    const FliteSpeech first = say("She sells sea shells.", voice.name);
    ASSERT_GT(first.samples.size(), 8000U) << voice.name;
    EXPECT_NE(say("Something else.", voice.name).samples, first.samples);
    EXPECT_EQ(say("She sells sea shells.", voice.name).samples, first.samples);
  }
}

TEST(FliteVoices, say_when_each_word_is_said) {
  const FliteSpeech speech = say("one two", "slt");
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
  EXPECT_NEAR(static_cast<double>(say("one two", "slt", 2).samples.size()),
              2 * static_cast<double>(speech.samples.size()),
              0.1 * 2 * static_cast<double>(speech.samples.size()));
}

TEST(FliteVoices, say_nothing_to_who_left) {
  std::stop_source stop;
  const StopScope scope(stop.get_token());
  stop.request_stop();
  const auto speech = speak_with_flite("one two", "slt", 1);
  ASSERT_FALSE(speech);
  EXPECT_EQ(speech.error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace mynah
