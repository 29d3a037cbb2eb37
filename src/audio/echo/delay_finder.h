// DelayFinder: how long after it is played a sound is heard, and how that changes.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/echo/fourier.h"

namespace mynah::echo {

// A delay that changes evenly, in samples of the captured signal.
struct PathDelay {
  double samples = 0;
  double drift_ppm = 0;  // millionths of a sample that it grows by with each sample
};

// Cross-correlation by coherence (generalised cross-correlation, Knapp and Carter 1976: the
// cross-spectrum over the root of both power spectra, each averaged over some seconds), its highest
// peak, and a Kalman filter with the delay and its drift as state. One thread.
class DelayFinder {
 public:
  // Delays that are looked for, in samples: 320 ms at 16 kHz.
  static constexpr size_t kLongest = 5120;

  DelayFinder();

  // The next samples of what is captured and of what was played, as many of each: sample i of
  // `played` is what was played at the time of sample i of `captured`. Returns true where the path
  // was found, or another than the one before: what was learned of that is void.
  bool push(std::span<const float> captured, std::span<const float> played);

  // The path at the sample that comes next; none as long as nothing of what is played is heard.
  [[nodiscard]] std::optional<PathDelay> path() const;

  // Samples in which something was played and was not found again, since the last time that it was.
  [[nodiscard]] int64_t missed() const { return missed_; }

  void reset();

 private:
  struct Peak {
    double lag = 0;       // samples
    double standing = 0;  // times as high as all lags are in the root of their mean square
  };

  // Looks at the last second. Returns as push() does.
  bool look();
  void average(double since_samples);
  [[nodiscard]] Peak highest();
  // Takes a peak as a measurement of the path.
  bool measure(double lag, double since_samples);
  void begin(double lag);

  Fourier fourier_;
  std::vector<float> captured_;  // the last samples, the newest last
  std::vector<float> played_;
  size_t fresh_ = 0;  // of them: since the last look
  std::vector<float> window_;
  std::vector<std::complex<float>> captured_bins_;
  std::vector<std::complex<float>> played_bins_;
  std::vector<std::complex<float>> cross_;
  std::vector<float> captured_power_;
  std::vector<float> played_power_;

  // The state: delay in samples, drift in samples per sample, and their covariance.
  std::optional<PathDelay> path_;
  double delay_variance_ = 0;
  double covariance_ = 0;
  double drift_variance_ = 0;
  int64_t unmeasured_ = 0;  // samples since the last measurement
  int64_t missed_ = 0;
  std::vector<double> elsewhere_;  // measurements that do not fit, of late
};

}  // namespace mynah::echo
