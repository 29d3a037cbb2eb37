// Hibari's arithmetic on the host: transforms, pulses and what becomes of them.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "models/hibari/fourier.h"
#include "models/hibari/synthesis.h"
#include "nn/normal_noise.h"

namespace mynah::hibari {
namespace {

Backend& host() {
  static ThreadPool pool(2);
  static const std::unique_ptr<Backend> backend = make_cpu_backend(pool).value();
  return *backend;
}

TEST(HibariFourier, IsTheTransform) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1.0F, 1.0F);
  Frames x;
  for (size_t i = 0; i < kFrameSize; ++i) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      x.real[i][lane] = number(random);
      x.imaginary[i][lane] = number(random);
    }
  }
  const Frames before = x;
  Frames scratch;
  transform(x, scratch, false);
  for (const size_t lane : {size_t{0}, kLanes - 1}) {
    for (size_t k = 0; k < kFrameSize; k += 37) {
      std::complex<double> sum;
      for (size_t i = 0; i < kFrameSize; ++i) {
        const double angle = -2.0 * std::numbers::pi * static_cast<double>(i * k % kFrameSize) /
                             static_cast<double>(kFrameSize);
        sum += std::complex<double>(before.real[i][lane], before.imaginary[i][lane]) *
               std::polar(1.0, angle);
      }
      EXPECT_NEAR(static_cast<double>(x.real[k][lane]), sum.real(), 1e-4) << k;
      EXPECT_NEAR(static_cast<double>(x.imaginary[k][lane]), sum.imag(), 1e-4) << k;
    }
  }
  transform(x, scratch, true);
  for (size_t i = 0; i < kFrameSize; ++i) {
    EXPECT_NEAR(x.real[i][3] / static_cast<float>(kFrameSize), before.real[i][3], 2e-6F);
    EXPECT_NEAR(x.imaginary[i][3] / static_cast<float>(kFrameSize), before.imaginary[i][3], 2e-6F);
  }
}

// At 240 Hz a pulse every 100 samples, as high as there are harmonics below 11 kHz.
TEST(HibariPulses, ComeWithThePitch) {
  const std::vector<float> samples = pulse_train(std::vector<float>(8, 240.0F));
  ASSERT_EQ(samples.size(), 8 * kHop);
  for (size_t i = 0; i < samples.size(); ++i) {
    if ((i + 1) % 100 == 0) {
      EXPECT_NEAR(samples[i], 45.0F, 0.1F) << i;
    } else {
      EXPECT_LT(samples[i], 44.0F) << i;
    }
  }
}

TEST(HibariPulses, AreSilentWithoutAVoice) {
  const std::vector<float> samples = pulse_train(std::vector<float>{0.0F, -5.0F, 39.0F});
  EXPECT_EQ(samples, std::vector<float>(3 * kHop, 0.0F));
}

// A filter that lets everything pass gives the pulses back; what is around the ends apart.
TEST(HibariSynthesis, OfAnOpenFilterIsThePulses) {
  constexpr size_t kFrames = 70;
  const std::vector<float> pitch(kFrames, 200.0F);
  std::vector<float> spectra(kFrames * kPartsOfSpectrum * kBins, -40.0F);
  for (size_t frame = 0; frame < kFrames; ++frame) {
    float* const own = spectra.data() + frame * kPartsOfSpectrum * kBins;
    // The window's sum, which the transform before divides by.
    std::fill_n(own, kBins, std::log(static_cast<float>(kFrameSize) / 4.0F));
    std::fill_n(own + kBins, kBins, 0.0F);
  }
  NormalNoise noise(0);
  const std::vector<float> samples = synthesise(host(), spectra, pitch, noise, 0.0F);
  const std::vector<float> pulses = pulse_train(pitch);
  ASSERT_EQ(samples.size(), pulses.size());
  for (size_t i = kFrameSize; i + kFrameSize < samples.size(); ++i) {
    ASSERT_NEAR(samples[i], pulses[i], 1e-3F) << i;
  }
}

// White noise of magnitude 1 in every bin, seeds and loudness.
TEST(HibariSynthesis, OfNoiseIsTheSeeds) {
  constexpr size_t kFrames = 200;
  const std::vector<float> pitch(kFrames, 0.0F);
  std::vector<float> spectra(kFrames * kPartsOfSpectrum * kBins, -40.0F);
  for (size_t frame = 0; frame < kFrames; ++frame) {
    std::fill_n(spectra.data() + (frame * kPartsOfSpectrum + 2) * kBins, kBins, 0.0F);
  }
  const auto spoken = [&](uint64_t seed, float scale) {
    NormalNoise noise(seed);
    return synthesise(host(), spectra, pitch, noise, scale);
  };
  EXPECT_EQ(spoken(1, 1.0F), spoken(1, 1.0F));
  EXPECT_NE(spoken(1, 1.0F), spoken(2, 1.0F));
  EXPECT_LT(std::ranges::max(spoken(1, 0.0F)), 1e-6F);
  double squares = 0.0;
  const std::vector<float> samples = spoken(1, 1.0F);
  for (size_t i = kFrameSize; i + kFrameSize < samples.size(); ++i) {
    squares += static_cast<double>(samples[i]) * static_cast<double>(samples[i]);
  }
  // Each frame has the variance 2 / size; four of them overlap, weighted by windows w and divided
  // by the sum of w^2, which is 3/2: variance 2 / size / (3/2).
  const double variance = squares / static_cast<double>(samples.size() - 2 * kFrameSize);
  EXPECT_NEAR(variance * kFrameSize * 1.5 / 2.0, 1.0, 0.05);
}

}  // namespace
}  // namespace mynah::hibari
