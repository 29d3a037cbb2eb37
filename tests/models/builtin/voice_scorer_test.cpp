// The built-in voice detector against its definition (tools/builtin_vad_fit.py), and its manners.
#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/builtin/fourier.h"
#include "models/silero/recordings.h"
#include "speech/voice_detector.h"
#include "test_paths.h"

namespace mynah {
namespace {

TEST(Fourier, is_the_sum_that_defines_it) {
  constexpr size_t kSize = 64;
  std::vector<std::complex<double>> values;
  values.reserve(kSize);
  for (size_t i = 0; i < kSize; ++i) {
    values.emplace_back(std::sin(static_cast<double>(i * i)),
                        std::cos(3.0 * static_cast<double>(i)));
  }
  std::vector<std::complex<double>> found = values;
  Fourier(kSize).transform(found);
  for (size_t k = 0; k < kSize; ++k) {
    std::complex<double> sum;
    for (size_t n = 0; n < kSize; ++n) {
      const double turn = static_cast<double>(k * n % kSize) / kSize;
      sum += values[n] * std::polar(1.0, -2 * std::numbers::pi * turn);
    }
    // 64 terms of size 1, each off by a rounding.
    EXPECT_NEAR(std::abs(found[k] - sum), 0, 64 * 64 * 2.3e-16) << k;
  }
}

TEST(BuiltinDetector, gives_the_probabilities_of_its_definition) {
  MYNAH_SKIP_WITHOUT(test::shared_path("speech"));
  std::ifstream file(test::source_path("tests/models/builtin/golden/probabilities.txt"));
  std::string name;
  std::getline(file, name);  // the comment
  const auto detector = builtin_voice_detector();
  size_t recordings = 0;
  size_t frames = 0;
  while (file >> name >> frames) {
    const std::vector<float> samples =
        test::read_recording(test::shared_path("speech/" + name + ".flac"), 16000);
    const std::span<const float> recording[] = {samples};
    const auto found = detector->probabilities(recording);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->front().size(), frames) << name;
    for (size_t i = 0; i < frames; ++i) {
      float expected = 0;
      file >> expected;
      // Printed with four digits; both sides compute in double.
      EXPECT_NEAR(found->front()[i], expected, 0.6e-4) << name << " frame " << i;
    }
    ++recordings;
  }
  EXPECT_EQ(recordings, 2U);
}

// Something between a hum and noise, the same on every machine.
std::vector<float> made_up_samples(size_t count) {
  std::vector<float> samples;
  for (size_t i = 0; i < count; ++i) {
    const auto t = static_cast<double>(i);
    samples.push_back(static_cast<float>(0.1 * std::sin(0.05 * t) + 0.05 * std::sin(t * t * 1e-3)));
  }
  return samples;
}

TEST(BuiltinDetector, gives_the_same_in_pieces_as_at_once) {
  const std::vector<float> samples = made_up_samples(20000);
  const auto detector = builtin_voice_detector();
  const std::span<const float> recording[] = {samples};
  const auto whole = detector->probabilities(recording);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->front().size(), 40U);
  const auto session = detector->session();
  for (const size_t piece : {1U, 160U, 512U, 3000U}) {
    std::vector<float> all;
    for (size_t begin = 0; begin < samples.size(); begin += piece) {
      const auto found =
          session->push(std::span(samples).subspan(begin, std::min(piece, samples.size() - begin)));
      ASSERT_TRUE(found);
      all.insert(all.end(), found->begin(), found->end());
    }
    const auto rest = session->flush();
    ASSERT_TRUE(rest);
    all.insert(all.end(), rest->begin(), rest->end());
    EXPECT_EQ(all, whole->front()) << piece;
  }
}

TEST(BuiltinDetector, leans_to_speech_where_a_recogniser_hears_what_it_finds) {
  const auto detector = builtin_voice_detector();
  const VadOptions lean = detector->for_recogniser({});
  EXPECT_FLOAT_EQ(lean.threshold, 0.1F);
  EXPECT_LT(lean.negative_threshold, 0.0F);  // still from the threshold
  EXPECT_EQ(lean.speech_pad_ms, 300);
  const VadOptions asked = detector->for_recogniser(
      {.threshold = 0.8F, .negative_threshold = 0.4F, .speech_pad_ms = 500});
  EXPECT_FLOAT_EQ(asked.threshold, 0.16F);
  EXPECT_FLOAT_EQ(asked.negative_threshold, 0.08F);
  EXPECT_EQ(asked.speech_pad_ms, 500);
  EXPECT_FALSE(detector->is_sure());
}

TEST(BuiltinDetector, hears_nothing_in_silence) {
  const std::vector<float> silence(16000, 0.0F);
  const std::span<const float> recordings[] = {silence, {}};
  const auto found = builtin_voice_detector()->probabilities(recordings);
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0].size(), 32U);
  EXPECT_LT(*std::ranges::max_element((*found)[0]), 0.5F);
  EXPECT_TRUE((*found)[1].empty());
}

}  // namespace
}  // namespace mynah
