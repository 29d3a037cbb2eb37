#include "models/hibari/synthesis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/vector_clones.h"
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
inline float sine_of(float x) {
  const double turns = static_cast<double>(x) * (0.5 / std::numbers::pi);
  return fast_sine_cosine_of_turns(static_cast<float>(turns - std::floor(turns))).sine;
}

// Hz.
struct Pitch {
  float before;
  float own;
  float after;
};

// A frame's hop of pulses, `turns` Hz samples after the first one's beginning; returns where it
// ends.
MYNAH_VECTOR_CLONES double pulses_of_hop(const Pitch& frame, double turns,
                                         float* __restrict samples) {
  std::array<float, kHop> pitch{};
  // Linear between the middles of frames.
  for (size_t j = 0; j < kHop / 2; ++j) {
    const float part = (static_cast<float>(j) + 0.5F) / kHop + 0.5F;
    pitch[j] = frame.before * (1.0F - part) + frame.own * part;
    pitch[j + kHop / 2] = frame.own * (1.5F - part) + frame.after * (part - 0.5F);
  }
  std::array<double, kHop> sums{};
  for (size_t j = 0; j < kHop; ++j) {
    turns += static_cast<double>(std::max(pitch[j], kVoiced));
    sums[j] = turns;
  }
  for (size_t j = 0; j < kHop; ++j) {
    const double seconds = sums[j] / kRate;
    const auto angle = static_cast<float>(2.0 * std::numbers::pi * (seconds - std::floor(seconds)));
    // The sum of cos(h angle) for h up to H is sin((H + 1/2) angle) / (2 sin(angle / 2)) - 1/2.
    const float harmonics = std::floor(kHighestHarmonic / std::max(pitch[j], kVoiced)) + 0.5F;
    const float below = 2.0F * sine_of(0.5F * angle);
    const float above = sine_of(harmonics * angle);
    constexpr float kNearZero = 2e-3F;
    const bool near = std::abs(below) <= kNearZero;
    const float sum = near ? harmonics : above / (near ? 1.0F : below);
    samples[j] = pitch[j] > kVoiced ? sum - 0.5F : 0.0F;
  }
  return turns;
}

// A signal with what is reflected at its ends before and after it: frames are runs of it.
std::vector<float> reflected(std::span<const float> signal) {
  constexpr size_t kAround = kFrameSize / 2;
  const size_t length = signal.size();
  std::vector<float> whole(length + 2 * kAround);
  std::ranges::copy(signal, whole.begin() + kAround);
  for (size_t i = 1; i <= kAround; ++i) {
    whole[kAround - i] = signal[i];
    whole[kAround + length - 1 + i] = signal[length - 1 - i];
  }
  return whole;
}

// (rows, kLanes) -> kLanes rows, `stride` apart.
MYNAH_VECTOR_CLONES void rows_of_lanes(std::span<const Lane> lanes, float* rows, size_t stride) {
  for (size_t first = 0; first < lanes.size(); first += kLanes) {
    const size_t count = std::min(kLanes, lanes.size() - first);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      for (size_t i = first; i < first + count; ++i) {
        rows[lane * stride + i] = lanes[i][lane];
      }
    }
  }
}

// Its inverse.
MYNAH_VECTOR_CLONES void lanes_of_rows(const float* rows, size_t stride, std::span<Lane> lanes) {
  for (size_t first = 0; first < lanes.size(); first += kLanes) {
    const size_t count = std::min(kLanes, lanes.size() - first);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      for (size_t i = first; i < first + count; ++i) {
        lanes[i][lane] = rows[lane * stride + i];
      }
    }
  }
}

// Two real frames are one complex frame: the even part of its spectrum is the first one's, the odd
// part the second one's.
MYNAH_VECTOR_CLONES void take_apart(const Frames& x, std::array<std::vector<Lane>, 4>& parts) {
  for (size_t k = 0; k < kBins; ++k) {
    const size_t opposite = (kFrameSize - k) % kFrameSize;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float real = x.real[k][lane];
      const float imaginary = x.imaginary[k][lane];
      const float opposite_real = x.real[opposite][lane];
      const float opposite_imaginary = x.imaginary[opposite][lane];
      parts[0][k][lane] = 0.5F * (real + opposite_real);
      parts[1][k][lane] = 0.5F * (imaginary - opposite_imaginary);
      parts[2][k][lane] = 0.5F * (imaginary + opposite_imaginary);
      parts[3][k][lane] = 0.5F * (opposite_real - real);
    }
  }
}

// First + i second, whose transform back has the first frame as real part, the second one as
// imaginary.
MYNAH_VECTOR_CLONES void put_together(const std::array<std::vector<Lane>, 4>& parts, Frames& x) {
  for (size_t k = 0; k < kBins; ++k) {
    const size_t opposite = (kFrameSize - k) % kFrameSize;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float real = parts[0][k][lane];
      const float imaginary = parts[1][k][lane];
      const float other_real = parts[2][k][lane];
      const float other_imaginary = parts[3][k][lane];
      x.real[opposite][lane] = real + other_imaginary;
      x.imaginary[opposite][lane] = other_real - imaginary;
      x.real[k][lane] = real - other_imaginary;
      x.imaginary[k][lane] = imaginary + other_real;
    }
  }
}

// e^x, of logarithms of magnitudes.
inline float magnitude(float logarithm) {
  return fast_exp(logarithm > kLoudest ? kLoudest : logarithm);
}

// A frame's spectrum of pulses becomes its sound's. `spectra` are the frame's, as synthesise()
// takes them.
MYNAH_VECTOR_CLONES void shape(const float* __restrict spectra, const float* __restrict noise_real,
                               const float* __restrict noise_imaginary, float noise_scale,
                               float* __restrict real, float* __restrict imaginary) {
  for (size_t k = 0; k < kBins; ++k) {
    const auto own = fast_sine_cosine_of_turns(0.5F * fast_tanh(spectra[kBins + k]));
    const auto other = fast_sine_cosine_of_turns(spectra[4 * kBins + k] *
                                                 static_cast<float>(0.5 / std::numbers::pi));
    const float loud = magnitude(spectra[k]);
    const float noisy = noise_scale * magnitude(spectra[2 * kBins + k]);
    const float free = magnitude(spectra[3 * kBins + k]);
    const float x = real[k];
    const float y = imaginary[k];
    real[k] = loud * (x * own.cosine - y * own.sine) + noisy * noise_real[k] + free * other.cosine;
    imaginary[k] =
        loud * (x * own.sine + y * own.cosine) + noisy * noise_imaginary[k] + free * other.sine;
  }
  // The spectrum of a real signal.
  imaginary[0] = 0.0F;
  imaginary[kBins - 1] = 0.0F;
}

MYNAH_VECTOR_CLONES void window_into(const float* __restrict x, const float* __restrict weights,
                                     float scale, float* __restrict out) {
  for (size_t i = 0; i < kFrameSize; ++i) {
    out[i] = x[i] * weights[i] * scale;
  }
}

MYNAH_VECTOR_CLONES void add_windowed(const float* __restrict x, const float* __restrict weights,
                                      float* __restrict out) {
  for (size_t i = 0; i < kFrameSize; ++i) {
    out[i] += x[i] * weights[i];
  }
}

// The pulses' spectra and what becomes of them, kTogether frames at a time.
class Block {
 public:
  // The sound of frames [first, first + count), each of which begins a hop after the one before,
  // windowed and added up, kFrameSize times as loud: sums has (kTogether + kOverlap - 1) * kHop
  // numbers. `pulses` begin with the first frame.
  void run(const float* pulses, const float* spectra, size_t count, NormalNoise& noise,
           float noise_scale, std::span<float> sums) {
    // The window is such that a cosine of 1 is 1 in its bin.
    constexpr float kScale = 4.0F / static_cast<float>(kFrameSize);
    for (size_t i = 0; i < kTogether; ++i) {
      if (i < count) {
        window_into(pulses + i * kHop, window().data(), kScale, row(i));
      } else {
        std::fill_n(row(i), kFrameSize, 0.0F);
      }
    }
    lanes_of_rows(row(0), 2 * kRow, x_.real);
    lanes_of_rows(row(1), 2 * kRow, x_.imaginary);
    transform(x_, scratch_, false);
    take_apart(x_, parts_);
    for (size_t part = 0; part < parts_.size(); ++part) {
      rows_of_lanes(parts_[part], row(part / 2) + part % 2 * kBinsApart, 2 * kRow);
    }
    for (size_t i = 0; i < count; ++i) {
      if (noise_scale != 0.0F) {
        noise.next_pairs(noise_real_, noise_imaginary_);
      }
      shape(spectra + i * kPartsOfSpectrum * kBins, noise_real_.data(), noise_imaginary_.data(),
            noise_scale, row(i), row(i) + kBinsApart);
    }
    for (size_t part = 0; part < parts_.size(); ++part) {
      lanes_of_rows(row(part / 2) + part % 2 * kBinsApart, 2 * kRow, parts_[part]);
    }
    put_together(parts_, x_);
    transform(x_, scratch_, true);
    rows_of_lanes(x_.real, row(0), 2 * kRow);
    rows_of_lanes(x_.imaginary, row(1), 2 * kRow);
    std::ranges::fill(sums, 0.0F);
    for (size_t i = 0; i < count; ++i) {
      add_windowed(row(i), window().data(), sums.data() + i * kHop);
    }
  }

 private:
  // Frame i's samples, or its spectrum's real parts with the imaginary ones kBinsApart after them.
  // Frames 2 j and 2 j + 1 are lane j's.
  static constexpr size_t kBinsApart = (kBins + kLanes - 1) / kLanes * kLanes;
  static constexpr size_t kRow = 2 * kBinsApart;

  float* row(size_t i) { return rows_.data() + i * kRow; }

  Frames x_;
  Frames scratch_;
  std::array<std::vector<Lane>, 4> parts_ = {std::vector<Lane>(kBins), std::vector<Lane>(kBins),
                                             std::vector<Lane>(kBins), std::vector<Lane>(kBins)};
  std::vector<float> rows_ = std::vector<float>(kTogether * kRow);
  Bins noise_real_{};
  Bins noise_imaginary_{};
};

// Sums divided by the sums of squared windows, from the middle of the first frame on.
std::vector<float> normalised(std::span<const float> sums, size_t frames) {
  constexpr float kLeast = 1e-11F;
  std::vector<float> samples(frames * kHop);
  std::array<float, kHop> factors{};
  for (size_t block = kOverlap / 2; block < frames + kOverlap / 2; ++block) {
    // Of the frames that there are: all but at the ends.
    if (block < kOverlap || block >= frames) {
      for (size_t i = 0; i < kHop; ++i) {
        float squares = 0.0F;
        for (size_t k = 0; k < kOverlap; ++k) {
          const float weight = block >= k && block - k < frames ? window()[i + k * kHop] : 0.0F;
          squares += weight * weight;
        }
        factors[i] = 1.0F / (std::max(squares, kLeast) * static_cast<float>(kFrameSize));
      }
    }
    for (size_t i = 0; i < kHop; ++i) {
      samples[(block - kOverlap / 2) * kHop + i] = sums[block * kHop + i] * factors[i];
    }
  }
  return samples;
}

}  // namespace

std::vector<float> pulse_train(std::span<const float> f0) {
  const size_t frames = f0.size();
  std::vector<float> samples(frames * kHop);
  double turns = 0.0;
  for (size_t frame = 0; frame < frames; ++frame) {
    turns = pulses_of_hop({.before = f0[frame == 0 ? 0 : frame - 1],
                           .own = f0[frame],
                           .after = f0[std::min(frame + 1, frames - 1)]},
                          turns, samples.data() + frame * kHop);
  }
  return samples;
}

std::vector<float> synthesise(Backend& backend, std::span<const float> spectra,
                              std::span<const float> f0, NormalNoise& noise, float noise_scale) {
  MYNAH_CHECK(f0.size() * kHop > kFrameSize / 2, "[hibari] wants frames enough to reflect");
  MYNAH_CHECK(spectra.size() == f0.size() * kPartsOfSpectrum * kBins,
              "[hibari] wants a spectrum for each frame");
  const size_t frames = f0.size();
  const std::vector<float> pulses = reflected(pulse_train(f0));
  const size_t blocks = (frames + kTogether - 1) / kTogether;
  constexpr size_t kBlockSamples = (kTogether + kOverlap - 1) * kHop;
  std::vector<float> parts(blocks * kBlockSamples);
  const auto threads = std::min(static_cast<size_t>(backend.parts()), blocks);
  backend.run_parts(static_cast<int>(threads), [&](int thread) {
    Block block;
    for (auto i = static_cast<size_t>(thread); i < blocks; i += threads) {
      const size_t first = i * kTogether;
      NormalNoise own = noise;
      own.skip(first * kBins);
      block.run(pulses.data() + first * kHop, spectra.data() + first * kPartsOfSpectrum * kBins,
                std::min(kTogether, frames - first), own, noise_scale,
                std::span(parts).subspan(i * kBlockSamples, kBlockSamples));
    }
  });
  noise.skip(frames * kBins);
  // In one order, whoever computed what.
  std::vector<float> sums((blocks * kTogether + kOverlap) * kHop);
  for (size_t i = 0; i < blocks; ++i) {
    float* const out = sums.data() + i * kTogether * kHop;
    for (size_t k = 0; k < kBlockSamples; ++k) {
      out[k] += parts[i * kBlockSamples + k];
    }
  }
  return normalised(sums, frames);
}

}  // namespace mynah::hibari
