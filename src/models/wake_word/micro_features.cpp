#include "models/wake_word/micro_features.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "models/wake_word/micro_tables.h"

namespace mynah::wake_word {
namespace {

// Of the noise's estimate: how fast it follows in even and in odd channels, and how much of a
// channel stays in any case, in 14 bits. 0.025, 0.06 and 0.05.
constexpr int kSmoothingBits = 14;
constexpr uint64_t kSmoothingOne = uint64_t{1} << kSmoothingBits;
constexpr std::array<uint64_t, 2> kSmoothing = {409, 983};
constexpr uint64_t kLeastRemaining = 819;
constexpr int kNoiseExtraBits = 10;

// Of the gain: a signal in units of the noise has 12 bits behind the point, what comes out 6.
constexpr int kGainShift = 6;
constexpr int kRatioBits = 12;
constexpr int kGainedBits = 6;

constexpr int kSignalBits = 3;  // that the filters' sums lost
constexpr int kLogScaleBits = 6;

// The root, rounded up where the rest is more than half; a number that 32 bits hold is rounded so
// while its root has 16.
template <class T>
T rounded_root(T number) {
  constexpr T kMostRoot = std::numeric_limits<T>::max() >> (std::numeric_limits<T>::digits / 2);
  T root = 0;
  T bit = number == 0 ? 0 : T{1} << ((std::bit_width(number) - 1) & ~1);
  for (; bit != 0; bit >>= 2) {
    if (number >= root + bit) {
      number -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return number > root && root != kMostRoot ? root + 1 : root;
}

uint32_t root_of(uint64_t number) {
  constexpr int kHalf = 32;
  return (number >> kHalf) == 0 ? rounded_root(static_cast<uint32_t>(number))
                                : static_cast<uint32_t>(rounded_root(number));
}

// What the channel's noise leaves of its signal; the estimate follows.
uint32_t without_noise(uint32_t signal, uint64_t smoothing, uint32_t& estimate) {
  const uint32_t scaled = signal << kNoiseExtraBits;
  estimate = static_cast<uint32_t>(
      ((scaled * smoothing) + (estimate * (kSmoothingOne - smoothing))) >> kSmoothingBits);
  const uint32_t floor = static_cast<uint32_t>((signal * kLeastRemaining) >> kSmoothingBits);
  return std::max((scaled - std::min(estimate, scaled)) >> kNoiseExtraBits, floor);
}

uint32_t gain_at(const MicroTables& tables, uint32_t noise) {
  const int bits = std::bit_width(noise);
  if (bits < 2) {
    return static_cast<uint32_t>(tables.gain_of_least[noise]);
  }
  // Of the number, what stands behind its highest bit: ten bits.
  constexpr int kPointBits = 11;
  const auto point = static_cast<int32_t>(
      (bits < kPointBits ? noise << (kPointBits - bits) : noise >> (bits - kPointBits)) & 0x3FFU);
  const GainPiece& piece = tables.gains[static_cast<size_t>(bits)];
  int32_t gain = (int32_t{piece.bend} * point) >> 5;
  gain += int32_t{piece.slope} * (1 << 5);
  gain = ((gain * point) + (1 << 14)) >> 15;
  return static_cast<uint32_t>(static_cast<int16_t>(gain + piece.base));
}

uint32_t gained(const MicroTables& tables, uint32_t signal, uint32_t noise) {
  const auto ratio =
      static_cast<uint32_t>((uint64_t{signal} * gain_at(tables, noise)) >> kGainShift);
  // A square where it is small, a line behind that.
  if (ratio < (2U << kRatioBits)) {
    return (ratio * ratio) >> (2 + (2 * kRatioBits) - kGainedBits);
  }
  return (ratio >> (kRatioBits - kGainedBits)) - (1U << kGainedBits);
}

uint16_t log_of(const MicroTables& tables, uint32_t signal) {
  const uint32_t value = signal << kSignalBits;
  if (value <= 1) {
    return 0;
  }
  const auto whole = static_cast<uint32_t>(std::bit_width(value) - 1);
  auto fraction = static_cast<int32_t>(value - (1U << whole));
  fraction = whole < kLogBits
                 ? fraction << (kLogBits - whole)
                 : static_cast<int32_t>(static_cast<uint32_t>(fraction) >> (whole - kLogBits));
  constexpr uint32_t kStepBits = kLogBits - kLogStepsBits;
  const auto step = static_cast<uint32_t>(fraction) >> kStepBits;
  const int32_t begin = tables.log_steps[step];
  const int32_t end = tables.log_steps[step + 1];
  const auto inside = fraction - static_cast<int32_t>(step << kStepBits);
  const auto binary =
      (whole << kLogBits) +
      static_cast<uint32_t>(fraction + begin + (((end - begin) * inside) >> kLogBits));
  constexpr uint64_t kNaturalOfBinary = 45426;  // ln 2 in 16 bits
  constexpr uint32_t kHalf = 1U << (kLogBits - 1);
  const auto natural = static_cast<uint32_t>(((kNaturalOfBinary * binary) + kHalf) >> kLogBits);
  const uint32_t scaled = ((natural << kLogScaleBits) + kHalf) >> kLogBits;
  return static_cast<uint16_t>(std::min<uint32_t>(scaled, std::numeric_limits<uint16_t>::max()));
}

const std::shared_ptr<const MicroTables>& shared_tables() {
  static const auto tables = std::make_shared<const MicroTables>();
  return tables;
}

}  // namespace

MicroFeatures::MicroFeatures() : tables_(shared_tables()) {}

void MicroFeatures::reset() {
  *this = MicroFeatures();
}

std::vector<FeatureFrame> MicroFeatures::push(std::span<const int16_t> samples) {
  std::vector<FeatureFrame> frames;
  while (!samples.empty()) {
    const size_t taken = std::min(samples.size(), kFeatureWindow - filled_);
    std::ranges::copy(samples.first(taken), window_.begin() + static_cast<ptrdiff_t>(filled_));
    samples = samples.subspan(taken);
    filled_ += taken;
    if (filled_ == kFeatureWindow) {
      frames.push_back(frame());
      std::shift_left(window_.begin(), window_.end(), kFeatureStep);
      filled_ -= kFeatureStep;
    }
  }
  return frames;
}

FeatureFrame MicroFeatures::frame() {
  const MicroTables& tables = *tables_;
  std::array<int16_t, kTransformSize> samples{};
  int32_t loudest = 0;
  for (size_t i = 0; i < kFeatureWindow; ++i) {
    samples[i] = static_cast<int16_t>((int32_t{window_[i]} * tables.window[i]) >> kWindowBits);
    // The reference keeps a magnitude in 16 bits too: that of -32768 counts for nothing.
    loudest = std::max<int32_t>(loudest, static_cast<int16_t>(std::abs(int32_t{samples[i]})));
  }
  // As loud as 16 bits hold, so that the transform loses little.
  constexpr int kMostBits = 15;
  const int louder = kMostBits - std::bit_width(static_cast<uint32_t>(loudest));
  for (size_t i = 0; i < kFeatureWindow; ++i) {
    samples[i] = static_cast<int16_t>(static_cast<uint32_t>(static_cast<uint16_t>(samples[i]))
                                      << static_cast<unsigned>(louder));
  }
  const auto bins = tables.spectrum.of(samples);

  FeatureFrame features;
  uint64_t rising = 0;  // what the half before gave to this channel
  size_t bin = tables.first_bin;
  for (size_t half = 0; half < tables.halves.size(); ++half) {
    uint64_t sum = rising;
    rising = 0;
    for (const FilterWeight& weight : tables.halves[half]) {
      const FixedComplex& value = bins[bin++];
      const auto energy = static_cast<uint64_t>((int64_t{value.real} * value.real) +
                                                (int64_t{value.imaginary} * value.imaginary));
      sum += static_cast<uint64_t>(weight.falling) * energy;
      rising += static_cast<uint64_t>(weight.rising) * energy;
    }
    if (half == 0) {
      continue;  // falls before the first channel
    }
    const size_t channel = half - 1;
    const uint32_t heard = root_of(sum) >> louder;
    const uint32_t signal = without_noise(heard, kSmoothing[channel % 2], noise_[channel]);
    features[channel] = log_of(tables, gained(tables, signal, noise_[channel]));
  }
  return features;
}

}  // namespace mynah::wake_word
