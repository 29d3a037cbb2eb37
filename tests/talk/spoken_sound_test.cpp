#include "talk/loop/spoken_sound.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace mynah::talk {
namespace {

constexpr int kRate_hz = 1000;

// Words of 100 samples, without silence between them; timed by the voice or not.
SpokenClause clause_of(const std::string& text, bool timed) {
  SpokenClause clause{.text = text, .end = text.size()};
  size_t words = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (timed) {
      clause.words.push_back({.text = text.substr(at, end - at),
                              .start_s = 0.1 * static_cast<double>(words),
                              .end_s = 0.1 * static_cast<double>(words + 1)});
    }
    ++words;
    at = end + 1;
  }
  clause.samples.assign(100 * words, 0.5F);
  clause.end_s = 0.1 * static_cast<double>(words);
  return clause;
}

std::vector<float> played(SpokenSound& sound, size_t count) {
  std::vector<float> out(count);
  sound.play(out);
  return out;
}

TEST(SpokenSound, WhatWasPlayedIsKnownToTheWord) {
  SpokenSound sound(kRate_hz);
  sound.add(clause_of("one two three", true), 10);
  EXPECT_EQ(sound.text_played(), 0U);
  played(sound, 40);
  EXPECT_EQ(sound.text_played(), 0U);  // less than half of a word is none
  played(sound, 30);
  EXPECT_EQ(sound.text_played(), 13U);
  played(sound, 130);
  EXPECT_EQ(sound.text_played(), 17U);
  EXPECT_FALSE(sound.at_end());
  played(sound, 500);
  EXPECT_EQ(sound.text_played(), 23U);
  EXPECT_TRUE(sound.at_end());
}

TEST(SpokenSound, WordsThatNobodyTimedTakeTimeByTheirLetters) {
  SpokenSound sound(kRate_hz);
  sound.add(clause_of("aaaa bbbb cccc", false), 0);
  played(sound, 140);
  EXPECT_EQ(sound.text_played(), 4U);
  played(sound, 160);
  EXPECT_EQ(sound.text_played(), 14U);
}

TEST(SpokenSound, IsHeldAndGoesOnFromTheBeginOfTheWord) {
  SpokenSound sound(kRate_hz);
  sound.add(clause_of("one two three", true), 0);
  played(sound, 150);
  sound.hold();
  const auto silent = played(sound, 100);
  EXPECT_TRUE(std::all_of(silent.begin() + 8, silent.end(), [](float x) { return x == 0; }));
  EXPECT_GT(silent[2], 0);  // it fades
  sound.go_on();
  const auto rest = played(sound, 300);
  const auto sounding = std::ranges::count_if(rest, [](float x) { return x != 0; });
  EXPECT_EQ(sounding, 200);  // "two" from its begin, and "three"
  EXPECT_TRUE(sound.at_end());
}

TEST(SpokenSound, SilenceBetweenPiecesIsPlayedToo) {
  SpokenSound sound(kRate_hz);
  sound.add(clause_of("one", true), 0);
  sound.add_silence(0.05);
  sound.add(clause_of("two", true), 4);
  EXPECT_NEAR(sound.left_s(), 0.25, 1e-9);
  const auto all = played(sound, 250);
  EXPECT_EQ(all[120], 0);
  EXPECT_NE(all[160], 0);
  EXPECT_EQ(sound.text_played(), 7U);
}

TEST(SpokenSound, LongSpeechIsLetGoOfAsItIsPlayed) {
  SpokenSound sound(kRate_hz);
  for (int i = 0; i < 100; ++i) {
    sound.add(clause_of("one two three", true), static_cast<size_t>(14 * i));
    played(sound, 300);
  }
  EXPECT_TRUE(sound.at_end());
  EXPECT_EQ(sound.text_played(), 14U * 99 + 13);
}

}  // namespace
}  // namespace mynah::talk
