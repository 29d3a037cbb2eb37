// The segmenter against silero-vad's own (golden/spans.txt), and against itself in pieces.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "speech/voice_detector.h"

namespace mynah {
namespace {

constexpr double kFrameSeconds = 0.032;
constexpr int kFrameSamples = 512;
constexpr double kRate = 16000;

// tools/vad_spans_golden.py: Generator.
class Generator {
 public:
  explicit Generator(uint32_t seed) : state_(seed) {}

  int next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<int>(state_ >> 16U);
  }

 private:
  uint32_t state_;
};

// tools/vad_spans_golden.py: probabilities.
std::vector<float> made_up_probabilities(uint32_t seed, size_t frames, int mean_run) {
  Generator generator(seed);
  std::vector<float> values;
  while (values.size() < frames) {
    constexpr int kBases[] = {950, 460, 40};
    const int base = kBases[generator.next() % 3];
    const int run = 1 + generator.next() % (2 * mean_run);
    for (int i = 0; i < run; ++i) {
      const int value = std::clamp(base + generator.next() % 129 - 64, 0, 1023);
      values.push_back(static_cast<float>(value) / 1024.0F);
    }
  }
  values.resize(frames);
  return values;
}

struct GoldenCase {
  std::string line;
  std::vector<float> probabilities;
  int64_t samples = 0;
  VadOptions options;
  std::vector<int64_t> expected;  // begin, end, begin, ... in samples
};

std::vector<GoldenCase> golden_cases() {
  std::ifstream file(MYNAH_TEST_SOURCE "/golden/spans.txt");
  std::vector<GoldenCase> cases;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) {
      continue;
    }
    GoldenCase golden;
    golden.line = line;
    std::istringstream in(line);
    uint32_t seed = 0;
    int64_t frames = 0;
    int64_t tail = 0;
    int mean_run = 0;
    std::string bar;
    std::string max_speech;  // "inf" is not read by operator>>
    VadOptions& options = golden.options;
    in >> seed >> frames >> mean_run >> tail >> bar >> options.threshold >>
        options.negative_threshold >> options.min_speech_ms >> max_speech >>
        options.min_silence_ms >> options.speech_pad_ms >> options.min_silence_at_max_speech_ms >>
        bar;
    options.max_speech_s = std::stod(max_speech);
    golden.expected.assign(std::istream_iterator<int64_t>(in), {});
    golden.probabilities = made_up_probabilities(seed, static_cast<size_t>(frames), mean_run);
    golden.samples = (frames - 1) * kFrameSamples + tail;
    cases.push_back(std::move(golden));
  }
  return cases;
}

// Spans of the whole, pushed in pieces of the given length.
std::vector<int64_t> segment(const GoldenCase& golden, size_t piece) {
  SpeechSegmenter segmenter(golden.options, kFrameSeconds);
  std::vector<int64_t> samples;
  const auto keep = [&](const std::vector<SpeechSpan>& spans) {
    for (const SpeechSpan& span : spans) {
      samples.push_back(std::llround(span.start_s * kRate));
      samples.push_back(std::llround(span.end_s * kRate));
    }
  };
  const std::span<const float> all = golden.probabilities;
  for (size_t begin = 0; begin < all.size(); begin += piece) {
    keep(segmenter.push(all.subspan(begin, std::min(piece, all.size() - begin))));
  }
  keep(segmenter.flush(static_cast<double>(golden.samples) / kRate));
  return samples;
}

TEST(SpeechSegmenter, finds_the_spans_that_silero_vad_finds) {
  const std::vector<GoldenCase> cases = golden_cases();
  ASSERT_EQ(cases.size(), 96U);
  for (const GoldenCase& golden : cases) {
    EXPECT_EQ(segment(golden, golden.probabilities.size()), golden.expected) << golden.line;
  }
}

TEST(SpeechSegmenter, finds_the_same_spans_in_pieces_of_any_length) {
  for (const GoldenCase& golden : golden_cases()) {
    for (const size_t piece : {1U, 2U, 7U, 100U}) {
      EXPECT_EQ(segment(golden, piece), golden.expected) << golden.line << " in " << piece;
    }
  }
}

TEST(SpeechSegmenter, never_takes_back_what_it_has_returned) {
  // Ending the recording at any frame gives the spans returned so far and then some more.
  for (const GoldenCase& golden : golden_cases()) {
    SpeechSegmenter segmenter(golden.options, kFrameSeconds);
    double returned_until = 0;
    for (const float probability : golden.probabilities) {
      for (const SpeechSpan& span : segmenter.push({&probability, 1})) {
        EXPECT_LE(returned_until, span.start_s) << golden.line;
        EXPECT_LT(span.start_s, span.end_s) << golden.line;
        returned_until = span.end_s;
      }
    }
  }
}

TEST(SpeechSegmenter, returns_a_span_as_soon_as_silence_has_ended_it) {
  SpeechSegmenter segmenter(VadOptions{}, kFrameSeconds);
  EXPECT_TRUE(segmenter.push(std::vector<float>(20, 0.9F)).empty());
  EXPECT_TRUE(segmenter.speaking());
  // 100 ms of silence have passed when the fifth quiet frame begins (128 ms).
  EXPECT_TRUE(segmenter.push(std::vector<float>(4, 0.1F)).empty());
  const std::vector<SpeechSpan> spans = segmenter.push(std::vector<float>(1, 0.1F));
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_DOUBLE_EQ(spans[0].start_s, 0.0);
  EXPECT_DOUBLE_EQ(spans[0].end_s, 20 * kFrameSeconds + 0.03);
  EXPECT_FALSE(segmenter.speaking());
}

TEST(SpeechSegmenter, starts_anew_after_reset) {
  SpeechSegmenter segmenter(VadOptions{}, kFrameSeconds);
  EXPECT_TRUE(segmenter.push(std::vector<float>(20, 0.9F)).empty());
  segmenter.reset();
  EXPECT_FALSE(segmenter.speaking());
  EXPECT_TRUE(segmenter.push(std::vector<float>(20, 0.1F)).empty());
  EXPECT_TRUE(segmenter.flush(20 * kFrameSeconds).empty());
}

TEST(SpeechSegmenter, finds_nothing_in_an_empty_recording) {
  SpeechSegmenter segmenter(VadOptions{}, kFrameSeconds);
  EXPECT_TRUE(segmenter.push({}).empty());
  EXPECT_TRUE(segmenter.flush(0).empty());
}

}  // namespace
}  // namespace mynah
