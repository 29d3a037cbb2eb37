#include "audio/device/play_queue.h"

#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

using ::testing::ElementsAre;

std::vector<float> pulled(PlayQueue& queue, size_t count) {
  std::vector<float> out(count, -1);
  queue.pull(out);
  return out;
}

TEST(PlayQueue, SilenceStandsWhereNoVoiceIs) {
  PlayQueue queue(100);
  EXPECT_THAT(pulled(queue, 2), ElementsAre(0, 0));
  EXPECT_EQ(queue.add(std::vector<float>{1, 2, 3}), 0);
  EXPECT_THAT(pulled(queue, 2), ElementsAre(1, 2));
  EXPECT_EQ(queue.add(std::vector<float>{4}), 3);
  EXPECT_THAT(pulled(queue, 4), ElementsAre(3, 4, 0, 0));
  EXPECT_EQ(queue.said_at(1.5), 0);
  EXPECT_EQ(queue.said_at(3), 1);
  EXPECT_EQ(queue.said_at(5), 3);
  EXPECT_EQ(queue.said_at(8), 4);
  EXPECT_EQ(queue.at(3), 2.0F);
  EXPECT_EQ(queue.at(7), 0.0F);
  EXPECT_EQ(queue.at(100), 0.0F);
}

TEST(PlayQueue, APauseHoldsTheVoiceAndDropForgetsIt) {
  PlayQueue queue(100);
  queue.add(std::vector<float>{1, 2, 3, 4});
  EXPECT_THAT(pulled(queue, 1), ElementsAre(1));
  queue.pause();
  EXPECT_THAT(pulled(queue, 2), ElementsAre(0, 0));
  queue.resume();
  EXPECT_THAT(pulled(queue, 1), ElementsAre(2));
  queue.drop();
  EXPECT_EQ(queue.add(std::vector<float>{9}), 2);
  EXPECT_THAT(pulled(queue, 2), ElementsAre(9, 0));
  EXPECT_EQ(queue.said_at(6), 3);
}

TEST(PlayQueue, WhatAStreamDidNotPlayIsPlayedByTheNext) {
  PlayQueue queue(100);
  queue.add(std::vector<float>{1, 2, 3, 4, 5});
  pulled(queue, 4);
  queue.lost(2.7);  // two samples are out whole
  EXPECT_EQ(queue.said_at(2), 2);
  EXPECT_EQ(queue.at(3), 0.0F);
  EXPECT_EQ(queue.begin_stream(), 4);
  EXPECT_THAT(pulled(queue, 4), ElementsAre(3, 4, 5, 0));
  EXPECT_EQ(queue.said_at(5), 3);
  EXPECT_EQ(queue.said_at(8), 5);
  EXPECT_EQ(queue.at(4), 3.0F);
}

// Whatever happens in between, each sample of the voice is played once, in its order, but for what
// was dropped; and its number tells when.
TEST(PlayQueue, EverySampleIsPlayedOnce) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t end) { return random() % end; };
    PlayQueue queue(2000);
    std::vector<float> voice;  // by number; what was dropped is gone from it
    std::vector<float> heard;  // by position
    float next = 1;
    for (int step = 0; step < 60; ++step) {
      switch (below(6)) {
        case 0: {
          std::vector<float> piece(below(40));
          for (float& sample : piece) {
            sample = next++;
          }
          ASSERT_EQ(queue.add(piece), static_cast<int64_t>(voice.size()));
          voice.insert(voice.end(), piece.begin(), piece.end());
          break;
        }
        case 1:
          queue.paused() ? queue.resume() : queue.pause();
          break;
        case 2:
          queue.drop();
          voice.resize(static_cast<size_t>(queue.handed_out()));
          break;
        case 3: {
          // A stream that dies plays nothing beyond: its listeners hear silence there.
          const size_t unheard = below(std::min<size_t>(heard.size() + 1, 30));
          std::fill(heard.end() - static_cast<std::ptrdiff_t>(unheard), heard.end(), 0.0F);
          queue.lost(static_cast<double>(heard.size() - unheard));
          break;
        }
        default: {
          const auto piece = pulled(queue, below(50));
          heard.insert(heard.end(), piece.begin(), piece.end());
        }
      }
    }
    ASSERT_EQ(queue.begin_stream(), static_cast<int64_t>(heard.size()));
    int64_t said = 0;
    for (size_t i = 0; i < heard.size(); ++i) {
      ASSERT_EQ(queue.said_at(static_cast<double>(i)), said) << "seed " << seed << " at " << i;
      ASSERT_EQ(queue.at(static_cast<int64_t>(i)), heard[i]);
      if (heard[i] != 0) {
        ASSERT_EQ(heard[i], voice[static_cast<size_t>(said)]) << "seed " << seed;
        ++said;
      }
    }
    ASSERT_EQ(said, queue.handed_out());
  }
}

}  // namespace
}  // namespace mynah
