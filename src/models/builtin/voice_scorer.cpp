#include "models/builtin/voice_scorer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/check.h"

namespace mynah {

namespace {

constexpr std::array<double, 8> kBandEdgesHz = {100, 250, 500, 1000, 2000, 3000, 4500, 7500};
constexpr double kHzPerBin = static_cast<double>(kVoiceScorerRateHz) / 1024;

// Levels and floors, dB.
constexpr double kLeastEnergy = 1e-9;
constexpr double kFloorFall = 0.3;   // of the way to a lower level, a frame
constexpr double kFloorRise = 0.08;  // a frame
constexpr double kMostAboveFloor = 30;

// Lags of pitches from 67 to 400 Hz.
constexpr size_t kLeastLag = 40;
constexpr size_t kLagsEnd = 240;

constexpr size_t kMemoryFrames = 48;
constexpr double kSmoothing = 0.3;

// tools/builtin_vad_fit.py fit, in the order of its features().
constexpr std::array<double, 19> kCoefficients = {
    -4.5487, 0.4684, 0.3359,  1.8605, -3.7917, 5.3763, 1.0915, 0.2450, -4.0920, -3.5522,
    1.7911,  5.5142, -3.6593, 0.7308, 5.6194,  2.1334, 0.8829, 8.7813, -2.2651};

bool in_band(size_t bin, double low_hz, double high_hz) {
  const double hz = static_cast<double>(bin) * kHzPerBin;
  return hz >= low_hz && hz < high_hz;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double decibel(double energy) {
  return 10 * std::log10(energy + kLeastEnergy);
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

// Of what `get` takes from each element.
template <class Range, class Get>
Moments moments(const Range& range, Get get) {
  const auto count = static_cast<double>(range.size());
  Moments result;
  for (const auto& element : range) {
    result.mean += get(element) / count;
  }
  double square = 0;
  for (const auto& element : range) {
    square += (get(element) - result.mean) * (get(element) - result.mean) / count;
  }
  result.deviation = std::sqrt(square);
  return result;
}

}  // namespace

VoiceScorer::VoiceScorer() : fourier_(kWindow), work_(kWindow), power_(kWindow / 2 + 1) {
  for (size_t i = 0; i < kWindow; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / kWindow;
    window_[i] = 0.5 - 0.5 * std::cos(angle);
  }
  reset();
}

void VoiceScorer::reset() {
  samples_.assign(kWindow, 0.0);
  floor_.reset();
  past_.clear();
  smooth_periodicity_ = 0;
  smooth_loud_ = 0;
}

// The samples, whether there is a floor and the floor, both smooth values, then frame by frame.
std::vector<double> VoiceScorer::state() const {
  std::vector<double> values = samples_;
  values.push_back(floor_ ? 1 : 0);
  const Bands floor = floor_.value_or(Bands{});
  values.insert(values.end(), floor.begin(), floor.end());
  values.push_back(smooth_periodicity_);
  values.push_back(smooth_loud_);
  for (const Frame& frame : past_) {
    values.insert(values.end(), frame.shape.begin(), frame.shape.end());
    for (const double value :
         {frame.total, frame.flux, frame.periodicity, frame.centre, frame.loud}) {
      values.push_back(value);
    }
  }
  return values;
}

bool VoiceScorer::set_state(std::span<const double> values) {
  constexpr size_t kBefore = kWindow + 1 + kBands + 2;
  if (values.size() < kBefore || (values.size() - kBefore) % kFrameValues != 0 ||
      (values.size() - kBefore) / kFrameValues > kMemoryFrames) {
    return false;
  }
  const auto take = [&values](size_t count) {
    const std::span<const double> taken = values.first(count);
    values = values.subspan(count);
    return taken;
  };
  const auto bands = [&take] {
    Bands taken{};
    std::ranges::copy(take(kBands), taken.begin());
    return taken;
  };
  std::ranges::copy(take(kWindow), samples_.begin());
  const bool has_floor = take(1).front() != 0;
  const Bands floor = bands();
  floor_ = has_floor ? std::optional(floor) : std::nullopt;
  smooth_periodicity_ = take(1).front();
  smooth_loud_ = take(1).front();
  past_.clear();
  while (!values.empty()) {
    Frame frame;
    frame.shape = bands();
    for (double* const value :
         {&frame.total, &frame.flux, &frame.periodicity, &frame.centre, &frame.loud}) {
      *value = take(1).front();
    }
    past_.push_back(frame);
  }
  return true;
}

float VoiceScorer::score(std::span<const float> frame) {
  const Spectrum spectrum = analyse(frame);
  const Bands above = above_floor(spectrum.level);
  past_.push_back(remember(spectrum, above));
  if (past_.size() > kMemoryFrames) {
    past_.pop_front();
  }
  const double loud = past_.back().loud;
  const double pitch = spectrum.periodicity;
  smooth_periodicity_ += kSmoothing * (pitch - smooth_periodicity_);
  smooth_loud_ += kSmoothing * (loud - smooth_loud_);

  double shape = 0;
  for (size_t band = 0; band < kBands; ++band) {
    shape += moments(past_, [&](const Frame& f) { return f.shape[band]; }).deviation / kBands / 10;
  }
  const double flux = moments(past_, [](const Frame& f) { return f.flux; }).mean / 3;
  const Moments pitches = moments(past_, [](const Frame& f) { return f.periodicity; });
  const std::array<double, kCoefficients.size()> features = {
      loud,
      above[0],
      above[6],
      loud * pitch,
      pitch,
      smooth_periodicity_,
      smooth_loud_,
      spectrum.flatness,
      shape,
      moments(past_, [](const Frame& f) { return f.total; }).deviation / 10,
      flux,
      pitches.deviation,
      pitches.mean,
      moments(past_, [](const Frame& f) { return f.centre; }).deviation,
      moments(past_, [](const Frame& f) { return f.loud; }).deviation,
      loud * shape,
      loud * flux,
      loud * pitches.deviation,
      1};
  const double logit =
      std::inner_product(features.begin(), features.end(), kCoefficients.begin(), 0.0);
  return static_cast<float>(1 / (1 + std::exp(-logit)));
}

VoiceScorer::Spectrum VoiceScorer::analyse(std::span<const float> frame) {
  MYNAH_CHECK(frame.size() == kVoiceScorerFrame);
  std::ranges::rotate(samples_, samples_.begin() + kVoiceScorerFrame);
  std::ranges::copy(frame, samples_.end() - kVoiceScorerFrame);
  for (size_t i = 0; i < kWindow; ++i) {
    work_[i] = samples_[i] * window_[i];
  }
  fourier_.transform(work_);

  constexpr double kLeastPower = 1e-12;
  Bands energy{};
  double all = 0;
  double weighted = 0;
  double log_tonal = 0;
  double tonal = 0;
  double tonal_bins = 0;
  for (size_t bin = 0; bin < power_.size(); ++bin) {
    const double power = std::norm(work_[bin]) / kWindow;
    power_[bin] = power;
    all += power;
    weighted += power * static_cast<double>(bin) * kHzPerBin;
    for (size_t band = 0; band < kBands; ++band) {
      energy[band] += in_band(bin, kBandEdgesHz[band], kBandEdgesHz[band + 1]) ? power : 0;
    }
    if (in_band(bin, 300, 4000)) {
      log_tonal += std::log(power + kLeastPower);
      tonal += power + kLeastPower;
      tonal_bins += 1;
    }
  }
  Spectrum spectrum;
  std::ranges::transform(energy, spectrum.level.begin(), decibel);
  spectrum.total = decibel(std::accumulate(energy.begin(), energy.end(), 0.0));
  spectrum.flatness = log_tonal / tonal_bins - std::log(tonal / tonal_bins);
  spectrum.centre = weighted / (all + kLeastPower) / 1000;
  spectrum.periodicity = periodicity(power_);
  return spectrum;
}

// The highest correlation at a lag of a pitch, from the spectrum between 80 and 2000 Hz.
double VoiceScorer::periodicity(std::span<const double> power) {
  constexpr double kLeastCorrelation = 1e-9;
  std::ranges::fill(work_, 0.0);
  for (size_t bin = 0; bin < power.size(); ++bin) {
    const double hz = static_cast<double>(bin) * kHzPerBin;
    if (hz >= 80 && hz <= 2000) {
      work_[bin] = power[bin];
      work_[kWindow - bin] = power[bin];
    }
  }
  // A power spectrum is real and even, so that its transform and its inverse differ by the factor
  // 1 / kWindow only.
  fourier_.transform(work_);
  double highest = work_[kLeastLag].real();
  for (size_t lag = kLeastLag; lag < kLagsEnd; ++lag) {
    highest = std::max(highest, work_[lag].real());
  }
  return highest / kWindow / (work_[0].real() / kWindow + kLeastCorrelation);
}

// How far each band is above its noise floor, in 10 dB. The floor falls fast and rises slowly.
VoiceScorer::Bands VoiceScorer::above_floor(const Bands& level) {
  if (!floor_) {
    floor_ = level;
  }
  Bands above{};
  for (size_t band = 0; band < kBands; ++band) {
    double& floor = (*floor_)[band];
    floor = level[band] < floor ? floor + kFloorFall * (level[band] - floor)
                                : std::min(level[band], floor + kFloorRise);
    above[band] = std::clamp(level[band] - floor, 0.0, kMostAboveFloor) / 10;
  }
  return above;
}

VoiceScorer::Frame VoiceScorer::remember(const Spectrum& spectrum, const Bands& above) {
  Frame frame{.shape = {},
              .total = spectrum.total,
              .flux = 0,
              .periodicity = spectrum.periodicity,
              .centre = spectrum.centre,
              .loud = mean(std::span(above).subspan(1, 4))};
  const double middle = mean(spectrum.level);
  for (size_t band = 0; band < kBands; ++band) {
    frame.shape[band] = spectrum.level[band] - middle;
    const double before = past_.empty() ? frame.shape[band] : past_.back().shape[band];
    frame.flux += std::abs(frame.shape[band] - before) / kBands;
  }
  return frame;
}

}  // namespace mynah
