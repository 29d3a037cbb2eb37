// Turns and events of a detector that knows who speaks.
#include "speech/turn_detector.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recognizer_fixture.h"

namespace mynah {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr VadOptions kVad{.min_speech_ms = 100};
constexpr ChunkOptions kFile{.max_s = 20};
constexpr ChunkOptions kLive{
    .max_s = 20, .max_gap_s = 0.57, .pad_s = 0.3, .span_pad_s = 0.03, .live = true};

struct Run {
  double seconds = 0;
  bool speech = false;
};

std::vector<float> recording(const std::vector<Run>& runs) {
  std::vector<float> samples;
  for (const auto& [seconds, speech] : runs) {
    samples.resize(samples.size() + static_cast<size_t>(seconds * kRate_hz), speech ? 0.1F : 0.0F);
  }
  return samples;
}

class TurnDetectorTest : public testing::Test {
 protected:
  // All that is found, in pieces of a size.
  TurnDetector::Found found(const ChunkOptions& chunks, const std::vector<float>& samples,
                            size_t piece) {
    TurnDetector turns(voice_, kVad, chunks);
    TurnDetector::Found all;
    int64_t needed = 0;  // samples before it may be gone by now
    const auto take = [&](Result<TurnDetector::Found> some) {
      ASSERT_TRUE(some.has_value()) << some.error().message;
      for (const Turn& turn : some->turns) {
        EXPECT_GE(turn.range.begin, needed);
      }
      std::ranges::move(some->turns, std::back_inserter(all.turns));
      std::ranges::move(some->events, std::back_inserter(all.events));
    };
    for (size_t at = 0; at < samples.size(); at += piece) {
      const int64_t begin = turns.begin();
      take(turns.push(std::span(samples).subspan(at, std::min(piece, samples.size() - at)), {}));
      EXPECT_TRUE(all.turns.empty() || all.turns.back().range.end <= turns.heard());
      EXPECT_LE(begin, turns.heard());
      needed = std::max(needed, turns.earliest_begin());
    }
    take(turns.end({}));
    return all;
  }

  static std::vector<double> seconds(const std::vector<Turn>& turns) {
    std::vector<double> lengths;
    lengths.reserve(turns.size());
    for (const Turn& turn : turns) {
      lengths.push_back(static_cast<double>(turn.range.end - turn.range.begin) / kRate_hz);
    }
    return lengths;
  }

  FakeDetector voice_;
};

TEST_F(TurnDetectorTest, WhatIsFoundDoesNotHangOnHowTheSamplesCome) {
  const std::vector<float> samples = recording({{1, false},
                                                {3, true},
                                                {0.3, false},
                                                {9, true},
                                                {1, false},
                                                {0.05, true},
                                                {4, false},
                                                {25, true},
                                                {0.2, false},
                                                {3, true}});
  for (const ChunkOptions& chunks : {kFile, kLive}) {
    const TurnDetector::Found whole = found(chunks, samples, samples.size());
    ASSERT_GE(whole.turns.size(), 3U);
    for (const size_t piece : {size_t{100}, size_t{512}, size_t{16000}}) {
      const TurnDetector::Found pieces = found(chunks, samples, piece);
      EXPECT_EQ(pieces.turns, whole.turns) << piece;
      EXPECT_EQ(pieces.events, whole.events) << piece;
    }
  }
}

// A chunk that grows has less and less room for the silence before it; where it is cut at an
// earlier pause it has all of it again, back to the recording's begin.
TEST_F(TurnDetectorTest, NoTurnBeginsBeforeWhatIsStillNeeded) {
  const std::vector<float> samples =
      recording({{1.9, false}, {16, true}, {0.5, false}, {14, true}, {1, false}});
  const TurnDetector::Found file = found(kFile, samples, 1600);
  ASSERT_EQ(file.turns.size(), 2U);
  EXPECT_EQ(file.turns.front().range.begin, 0);
}

TEST_F(TurnDetectorTest, EventsSayWhenSomebodyBeginsPausesAndEnds) {
  const auto events =
      found(kLive, recording({{1, false}, {2, true}, {0.3, false}, {1, true}, {2, false}}), 1600)
          .events;
  std::string kinds;
  for (const VoiceEvent& event : events) {
    kinds += "BPWE"[static_cast<size_t>(event.kind)];
  }
  EXPECT_EQ(kinds, "BPWPE");
  constexpr double kFrame_s = 0.032;
  std::vector<double> late;  // behind what is told of
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    const std::vector<double> at_s = {1, 3, 3.3, 4.3};
    late.push_back(static_cast<double>(events[i].at) / kRate_hz - at_s[i]);
  }
  EXPECT_THAT(late, testing::Each(testing::AllOf(testing::Ge(0), testing::Le(2 * kFrame_s))));
  EXPECT_NEAR(static_cast<double>(events.back().at) / kRate_hz, 4.9, 0.1)
      << "0.6 s behind the last word";
}

TEST_F(TurnDetectorTest, OfSomebodyWhoIsWaitedForAnEverShorterPauseEndsATurn) {
  const auto lengths = [&](double first_s, double pause_s) {
    return seconds(
        found(kLive, recording({{first_s, true}, {pause_s, false}, {2, true}, {1, false}}), 512)
            .turns);
  };
  EXPECT_THAT(lengths(5, 0.4), SizeIs(1));
  EXPECT_THAT(lengths(12, 0.2), SizeIs(1));
  EXPECT_THAT(lengths(12, 0.5), SizeIs(2));
  EXPECT_THAT(lengths(15.5, 0.2), SizeIs(2));
}

TEST_F(TurnDetectorTest, WhoeverMakesNoPauseIsCutWhereATurnIsLongest) {
  for (const double length_s :
       seconds(found(kLive, recording({{50, true}, {1, false}}), 512).turns)) {
    EXPECT_LE(length_s, 20);
  }
  const auto turns =
      found(kLive, recording({{9, true}, {0.3, false}, {40, true}, {1, false}}), 512).turns;
  ASSERT_THAT(turns, SizeIs(3));
  EXPECT_NEAR(seconds(turns)[0], 19.4, 0.1) << "what was shown of the second run is in it, too";
  for (size_t i = 1; i < turns.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(turns[i].range.begin),
                static_cast<double>(turns[i - 1].range.end), 0.1 * kRate_hz)
        << "nothing is lost";
  }
}

TEST_F(TurnDetectorTest, ShortSoundsAreNotSurelySpeech) {
  const auto turns =
      found(kLive, recording({{1, false}, {0.3, true}, {2, false}, {1, true}, {1, false}}), 512)
          .turns;
  ASSERT_THAT(turns, SizeIs(2));
  EXPECT_FALSE(turns[0].surely_speech);
  EXPECT_TRUE(turns[1].surely_speech);
}

TEST_F(TurnDetectorTest, AfterAnEndItListensAnewAndGoesOnCounting) {
  TurnDetector turns(voice_, kVad, kLive);
  const std::vector<float> samples = recording({{2, true}});
  for (int64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(turns.push(samples, {}).has_value());
    EXPECT_TRUE(turns.holds_speech());
    const auto last = turns.end({});
    ASSERT_TRUE(last.has_value());
    ASSERT_THAT(last->turns, SizeIs(1));
    EXPECT_EQ(last->turns[0].range, (SampleRange{i * 2 * kRate_hz, (i + 1) * 2 * kRate_hz}));
    EXPECT_FALSE(turns.holds_speech() || turns.speaking());
  }
  EXPECT_THAT(turns.end({})->turns, IsEmpty());
}

}  // namespace
}  // namespace mynah
