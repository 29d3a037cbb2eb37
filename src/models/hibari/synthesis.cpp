#include "models/hibari/synthesis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "models/hibari/fourier.h"
#include "nn/host_math.h"

namespace mynah::hibari {

namespace {

constexpr float kVoiced = 40.0F;              // Hz
constexpr float kHighestHarmonic = 11000.0F;  // Hz
constexpr float kLoudest = 7.0F;              // of logarithms of magnitudes
constexpr size_t kTogether = 2 * kLanes;      // frames: two real ones are one complex one
constexpr size_t kOverlap = kFrameSize / kHop;

using Bins = std::array<float, kBins>;

// Periodic Hann.
const std::vector<float>& window() {
  static const std::vector<float> kWindow = [] {
    std::vector<float> values(kFrameSize);
    for (size_t i = 0; i < kFrameSize; ++i) {
      values[i] = static_cast<float>(
          0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) / kFrameSize));
    }
    return values;
  }();
  return kWindow;
}

// sin x for x of any size: the turns that do not count are taken off in double.
float sine_of(float x) {
  const double turns = static_cast<double>(x) * (0.5 / std::numbers::pi);
  return fast_sine_cosine_of_turns(static_cast<float>(turns - std::floor(turns))).sine;
}

// A sample around the signal, reflected at its ends.
float reflected(std::span<const float> signal, int64_t at) {
  const int64_t last = std::ssize(signal) - 1;
  const int64_t inside = at < 0 ? -at : at > last ? 2 * last - at : at;
  return signal[static_cast<size_t>(inside)];
}

// The pulses' spectra and what becomes of them, kTogether frames at a time.
class Synthesiser {
 public:
  Synthesiser(std::span<const float> spectra, std::span<const float> f0)
      : spectra_(spectra),
        pulses_(pulse_train(f0)),
        frames_(f0.size()),
        sums_((f0.size() + kOverlap) * kHop) {}

  std::vector<float> run(NormalNoise& noise, float noise_scale) {
    for (size_t first = 0; first < frames_; first += kTogether) {
      const size_t count = std::min(kTogether, frames_ - first);
      fill(first, count);
      transform(x_, scratch_, false);
      for (size_t i = 0; i < count; ++i) {
        take(i);
        shape(first + i, noise, noise_scale);
        put(i);
      }
      mirror();
      transform(x_, scratch_, true);
      add(first, count);
    }
    return normalised();
  }

 private:
  // Windowed pulses, frame 2 i in lane i's real part, 2 i + 1 in its imaginary one. The window is
  // such that a cosine of 1 is 1 in its bin.
  void fill(size_t first, size_t count) {
    constexpr float kScale = 4.0F / static_cast<float>(kFrameSize);
    for (size_t i = 0; i < kTogether; ++i) {
      std::vector<Lane>& side = i % 2 == 0 ? x_.real : x_.imaginary;
      const auto begin =
          static_cast<int64_t>((first + i) * kHop) - static_cast<int64_t>(kFrameSize / 2);
      for (size_t k = 0; k < kFrameSize; ++k) {
        side[k][i / 2] =
            i < count ? reflected(pulses_, begin + static_cast<int64_t>(k)) * window()[k] * kScale
                      : 0.0F;
      }
    }
  }

  // One frame's bins out of its lane: the even part of the sum's spectrum is the real frame's, the
  // odd one the imaginary frame's.
  void take(size_t frame) {
    const size_t lane = frame / 2;
    for (size_t k = 0; k < kBins; ++k) {
      const size_t opposite = (kFrameSize - k) % kFrameSize;
      const float real = x_.real[k][lane];
      const float imaginary = x_.imaginary[k][lane];
      const float opposite_real = x_.real[opposite][lane];
      const float opposite_imaginary = x_.imaginary[opposite][lane];
      if (frame % 2 == 0) {
        real_[k] = 0.5F * (real + opposite_real);
        imaginary_[k] = 0.5F * (imaginary - opposite_imaginary);
      } else {
        real_[k] = 0.5F * (imaginary + opposite_imaginary);
        imaginary_[k] = 0.5F * (opposite_real - real);
      }
    }
  }

  void shape(size_t frame, NormalNoise& noise, float noise_scale) {
    const float* const harmonic = spectra_.data() + frame * kPartsOfSpectrum * kBins;
    const float* const turn = harmonic + kBins;
    const float* const hiss = turn + kBins;
    const float* const rest = hiss + kBins;
    const float* const phase = rest + kBins;
    if (noise_scale == 0.0F) {
      noise_x_.fill(0.0F);
      noise_y_.fill(0.0F);
    } else {
      noise.next_pairs(noise_x_, noise_y_);
    }
    const auto magnitude = [](float logarithm) {
      return fast_exp(logarithm > kLoudest ? kLoudest : logarithm);
    };
    for (size_t k = 0; k < kBins; ++k) {
      const auto own = fast_sine_cosine_of_turns(0.5F * fast_tanh(turn[k]));
      const auto other =
          fast_sine_cosine_of_turns(phase[k] * static_cast<float>(0.5 / std::numbers::pi));
      const float loud = magnitude(harmonic[k]);
      const float noisy = noise_scale * magnitude(hiss[k]);
      const float free = magnitude(rest[k]);
      const float real = real_[k];
      const float imaginary = imaginary_[k];
      shaped_real_[k] = loud * (real * own.cosine - imaginary * own.sine) + noisy * noise_x_[k] +
                        free * other.cosine;
      shaped_imaginary_[k] = loud * (real * own.sine + imaginary * own.cosine) +
                             noisy * noise_y_[k] + free * other.sine;
    }
    // The spectrum of a real signal.
    shaped_imaginary_.front() = 0.0F;
    shaped_imaginary_.back() = 0.0F;
  }

  // The frame's own half of its lane's spectrum, in place of what was taken; what both halves of a
  // lane are made of is joined by mirror().
  void put(size_t frame) {
    std::vector<Lane>& real = frame % 2 == 0 ? even_real_ : odd_real_;
    std::vector<Lane>& imaginary = frame % 2 == 0 ? even_imaginary_ : odd_imaginary_;
    for (size_t k = 0; k < kBins; ++k) {
      real[k][frame / 2] = shaped_real_[k];
      imaginary[k][frame / 2] = shaped_imaginary_[k];
    }
  }

  // Even + i odd, whose transform back has the even frame as real part, the odd one as imaginary.
  void mirror() {
    for (size_t k = 0; k < kBins; ++k) {
      const size_t opposite = (kFrameSize - k) % kFrameSize;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        x_.real[opposite][lane] = even_real_[k][lane] + odd_imaginary_[k][lane];
        x_.imaginary[opposite][lane] = odd_real_[k][lane] - even_imaginary_[k][lane];
        x_.real[k][lane] = even_real_[k][lane] - odd_imaginary_[k][lane];
        x_.imaginary[k][lane] = even_imaginary_[k][lane] + odd_real_[k][lane];
      }
    }
  }

  void add(size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const std::vector<Lane>& side = i % 2 == 0 ? x_.real : x_.imaginary;
      float* const out = sums_.data() + (first + i) * kHop;
      for (size_t k = 0; k < kFrameSize; ++k) {
        out[k] += side[k][i / 2] * window()[k] / static_cast<float>(kFrameSize);
      }
    }
  }

  // Sums divided by the sums of squared windows, from the middle of the first frame on.
  [[nodiscard]] std::vector<float> normalised() const {
    constexpr float kLeast = 1e-11F;
    std::vector<float> samples(frames_ * kHop);
    for (size_t i = 0; i < samples.size(); ++i) {
      const size_t at = i + kFrameSize / 2;
      float squares = 0.0F;
      for (size_t k = 0; k < kOverlap; ++k) {
        const size_t block = at / kHop;
        if (block >= k && block - k < frames_) {
          const float weight = window()[at % kHop + k * kHop];
          squares += weight * weight;
        }
      }
      samples[i] = sums_[at] / std::max(squares, kLeast);
    }
    return samples;
  }

  std::span<const float> spectra_;
  std::vector<float> pulses_;
  size_t frames_;
  std::vector<float> sums_;
  Frames x_;
  Frames scratch_;
  Bins real_{};
  Bins imaginary_{};
  Bins noise_x_{};
  Bins noise_y_{};
  Bins shaped_real_{};
  Bins shaped_imaginary_{};
  std::vector<Lane> even_real_ = std::vector<Lane>(kBins);
  std::vector<Lane> even_imaginary_ = std::vector<Lane>(kBins);
  std::vector<Lane> odd_real_ = std::vector<Lane>(kBins);
  std::vector<Lane> odd_imaginary_ = std::vector<Lane>(kBins);
};

}  // namespace

std::vector<float> pulse_train(std::span<const float> f0) {
  const size_t frames = f0.size();
  std::vector<float> samples(frames * kHop);
  double turns = 0.0;
  for (size_t frame = 0; frame < frames; ++frame) {
    const float before = f0[frame == 0 ? 0 : frame - 1];
    const float own = f0[frame];
    const float after = f0[std::min(frame + 1, frames - 1)];
    for (size_t j = 0; j < kHop; ++j) {
      // Linear between the middles of frames.
      const bool early = j < kHop / 2;
      const double place = (static_cast<double>(j) + 0.5) / kHop + (early ? 0.5 : -0.5);
      const auto part = static_cast<float>(place);
      const float pitch =
          early ? before * (1.0F - part) + own * part : own * (1.0F - part) + after * part;
      const float steady = std::max(pitch, kVoiced);
      turns += static_cast<double>(steady);
      const double seconds = turns / kRate;
      const auto angle =
          static_cast<float>(2.0 * std::numbers::pi * (seconds - std::floor(seconds)));
      if (!(pitch > kVoiced)) {
        continue;
      }
      // The sum of cos(h angle) for h up to H is sin((H + 1/2) angle) / (2 sin(angle / 2)) - 1/2.
      const float harmonics = std::floor(kHighestHarmonic / steady) + 0.5F;
      const float below = 2.0F * sine_of(0.5F * angle);
      constexpr float kNearZero = 2e-3F;
      const float sum =
          std::abs(below) <= kNearZero ? harmonics : sine_of(harmonics * angle) / below;
      samples[frame * kHop + j] = sum - 0.5F;
    }
  }
  return samples;
}

std::vector<float> synthesise(std::span<const float> spectra, std::span<const float> f0,
                              NormalNoise& noise, float noise_scale) {
  MYNAH_CHECK(f0.size() * kHop > kFrameSize / 2, "[hibari] wants frames enough to reflect");
  MYNAH_CHECK(spectra.size() == f0.size() * kPartsOfSpectrum * kBins,
              "[hibari] wants a spectrum for each frame");
  return Synthesiser(spectra, f0).run(noise, noise_scale);
}

}  // namespace mynah::hibari
