#include "audio/echo/delay_finder.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/echo/power.h"
#include "base/check.h"

namespace mynah::echo {

namespace {

// A second of what was played beside the second half of it as captured: of each lag up to half a
// second there is the whole overlap.
constexpr size_t kWindow = 16384;

// A look each half second at 16 kHz.
constexpr size_t kHop = 8000;

// What an average keeps of itself at each look: about two seconds.
constexpr float kKept = 0.7F;

// Loudspeakers and speech have little below 200 Hz, resampling leaves little above 7.2 kHz.
constexpr size_t kLowestBin = kWindow * 200 / 16000;
constexpr size_t kHighestBin = kWindow * 7200 / 16000;

// Quieter than this (-60 dBFS) nothing was played.
constexpr double kQuietPower = 1e-6;

// How far a peak has to stand out of the noise: of 5,120 normal numbers the highest is 4 deviations
// away, of a thousand times as many 5.5.
constexpr double kStandingToBegin = 9;
constexpr double kStandingToFollow = 6;

// A measurement's deviation in samples, when it is one of the path's peak: what the strongest of
// several reflections and an average under drift leave.
constexpr double kMeasureDeviation = 0.4;

// Clocks are within 100 ppm of each other, and change with temperature by less than 1 ppm a minute.
constexpr double kDriftDeviation = 100e-6;
constexpr double kDriftWalk = 0.1e-6;  // a second

// A measurement that is further than this from the path is of something else.
constexpr double kGate = 6;

// So many of these in a row, near each other, are another path.
constexpr size_t kOthersForAnother = 4;

void append(std::vector<float>& last, std::span<const float> samples) {
  std::shift_left(last.begin(), last.end(), static_cast<ptrdiff_t>(samples.size()));
  std::ranges::copy(samples, last.end() - static_cast<ptrdiff_t>(samples.size()));
}

}  // namespace

DelayFinder::DelayFinder()
    : fourier_(kWindow),
      window_(kWindow),
      captured_bins_(fourier_.bins()),
      played_bins_(fourier_.bins()) {
  reset();
}

void DelayFinder::reset() {
  captured_.assign(kWindow, 0);
  played_.assign(kWindow, 0);
  cross_.assign(fourier_.bins(), 0);
  captured_power_.assign(fourier_.bins(), 0);
  played_power_.assign(fourier_.bins(), 0);
  fresh_ = 0;
  path_.reset();
  unmeasured_ = 0;
  missed_ = 0;
  elsewhere_.clear();
}

bool DelayFinder::push(std::span<const float> captured, std::span<const float> played) {
  MYNAH_CHECK(captured.size() == played.size());
  bool found = false;
  while (!captured.empty()) {
    const size_t count = std::min(captured.size(), kHop - fresh_);
    append(captured_, captured.first(count));
    append(played_, played.first(count));
    captured = captured.subspan(count);
    played = played.subspan(count);
    fresh_ += count;
    if (path_) {
      path_->samples += path_->drift_ppm * 1e-6 * static_cast<double>(count);
    }
    if (fresh_ == kHop) {
      fresh_ = 0;
      found = look() || found;
    }
  }
  return found;
}

std::optional<PathDelay> DelayFinder::path() const {
  return path_;
}

bool DelayFinder::look() {
  unmeasured_ += static_cast<int64_t>(kHop);
  // What is heard now was played up to the longest delay ago.
  if (power(std::span(played_).last(kHop + kLongest)) < kQuietPower) {
    return false;
  }
  average(static_cast<double>(kHop));
  const Peak peak = highest();
  if (peak.standing < (path_ ? kStandingToFollow : kStandingToBegin)) {
    missed_ += static_cast<int64_t>(kHop);
    return false;
  }
  const bool found = measure(peak.lag, static_cast<double>(unmeasured_));
  if (elsewhere_.empty()) {
    missed_ = 0;
    unmeasured_ = 0;
  }
  return found;
}

void DelayFinder::average(double since_samples) {
  const size_t half = kWindow / 2;
  std::fill_n(window_.begin(), half, 0.0F);
  std::copy(captured_.begin() + static_cast<ptrdiff_t>(half), captured_.end(),
            window_.begin() + static_cast<ptrdiff_t>(half));
  fourier_.forward(window_, captured_bins_);
  fourier_.forward(played_, played_bins_);
  // What was seen before is of a path that has grown longer since.
  const double grown = path_ ? path_->drift_ppm * 1e-6 * since_samples : 0;
  const double turn = -2 * std::numbers::pi * grown / static_cast<double>(kWindow);
  const std::complex<double> step = std::polar(1.0, turn);
  std::complex<double> turned = std::polar(1.0, turn * static_cast<double>(kLowestBin));
  for (size_t bin = kLowestBin; bin < kHighestBin; ++bin) {
    cross_[bin] = kKept * cross_[bin] * std::complex<float>(turned) +
                  captured_bins_[bin] * std::conj(played_bins_[bin]);
    captured_power_[bin] = kKept * captured_power_[bin] + std::norm(captured_bins_[bin]);
    played_power_[bin] = kKept * played_power_[bin] + std::norm(played_bins_[bin]);
    turned *= step;
  }
}

DelayFinder::Peak DelayFinder::highest() {
  std::ranges::fill(captured_bins_, 0.0F);
  for (size_t bin = kLowestBin; bin < kHighestBin; ++bin) {
    const float both = std::sqrt(captured_power_[bin] * played_power_[bin]);
    captured_bins_[bin] = both > 0 ? cross_[bin] / both : 0.0F;
  }
  fourier_.inverse(captured_bins_, window_);
  const auto lags = std::span<const float>(window_).first(kLongest);
  const auto top = std::ranges::max_element(lags);
  const auto at = static_cast<size_t>(top - lags.begin());
  const double deviation = std::sqrt(power(lags));
  if (!(deviation > 0) || !std::isfinite(deviation)) {
    return {};
  }
  double between = 0;
  if (at > 0 && at + 1 < lags.size()) {
    // The top of the parabola through three lags.
    const double before = lags[at - 1];
    const double behind = lags[at + 1];
    const double bend = before - 2.0 * *top + behind;
    between = bend < 0 ? std::clamp(0.5 * (before - behind) / bend, -0.5, 0.5) : 0;
  }
  return {.lag = static_cast<double>(at) + between, .standing = *top / deviation};
}

bool DelayFinder::measure(double lag, double since_samples) {
  if (!path_) {
    begin(lag);
    return true;
  }
  const double away = lag - path_->samples;
  if (std::abs(away) > kGate) {
    if (!elsewhere_.empty() && std::abs(lag - elsewhere_.back()) > kGate) {
      elsewhere_.clear();
    }
    elsewhere_.push_back(lag);
    if (elsewhere_.size() < kOthersForAnother) {
      return false;
    }
    begin(lag);
    return true;
  }
  elsewhere_.clear();
  // Predicts the covariance, then corrects by what was measured (the delay itself is kept
  // predicted by push()).
  const double time = since_samples;
  delay_variance_ += 2 * time * covariance_ + time * time * drift_variance_;
  covariance_ += time * drift_variance_;
  drift_variance_ += kDriftWalk * kDriftWalk * time / 16000;
  const double total = delay_variance_ + kMeasureDeviation * kMeasureDeviation;
  const double delay_gain = delay_variance_ / total;
  const double drift_gain = covariance_ / total;
  path_->samples += delay_gain * away;
  path_->drift_ppm += drift_gain * away * 1e6;
  drift_variance_ -= drift_gain * covariance_;
  covariance_ -= delay_gain * covariance_;
  delay_variance_ -= delay_gain * delay_variance_;
  return false;
}

void DelayFinder::begin(double lag) {
  path_ = PathDelay{.samples = lag, .drift_ppm = path_ ? path_->drift_ppm : 0};
  delay_variance_ = kMeasureDeviation * kMeasureDeviation;
  covariance_ = 0;
  drift_variance_ = kDriftDeviation * kDriftDeviation;
  elsewhere_.clear();
}

}  // namespace mynah::echo
