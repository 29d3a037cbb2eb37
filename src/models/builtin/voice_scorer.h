// The built-in voice detector: a logistic regression over a few features of a frame's spectrum and
// of the last second and a half. It needs no weights file: its 19 coefficients are in the source.
// Definition and fit: tools/builtin_vad_fit.py. Golden: tests/models/builtin/golden.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "models/builtin/fourier.h"

namespace mynah {

inline constexpr int kVoiceScorerRateHz = 16000;
inline constexpr size_t kVoiceScorerFrame = 512;  // samples between probabilities: 32 ms

// One recording's state.
class VoiceScorer {
 public:
  VoiceScorer();

  // The probability that the next frame, kVoiceScorerFrame samples, has speech in it.
  float score(std::span<const float> frame);
  void reset();

  // All that is known of the recording so far, as numbers.
  [[nodiscard]] std::vector<double> state() const;
  // Takes that of another; false, and nothing changes, where there are too many of them or too few.
  [[nodiscard]] bool set_state(std::span<const double> values);

 private:
  static constexpr size_t kBands = 7;
  static constexpr size_t kWindow = 1024;
  using Bands = std::array<double, kBands>;

  // What is kept of each frame of the last second and a half.
  struct Frame {
    Bands shape{};           // band levels around their mean, dB
    double total = 0;        // level of all bands, dB
    double flux = 0;         // mean change of shape since the frame before, dB
    double periodicity = 0;  // highest correlation at a lag of a pitch, 0 to 1
    double centre = 0;       // centre of gravity of the spectrum, kHz
    double loud = 0;         // mean of the middle bands above their noise floors, 10 dB
  };

  static constexpr size_t kFrameValues = kBands + 5;  // of a Frame, as numbers

  // What is known of one frame alone.
  struct Spectrum {
    Bands level{};  // dB
    double total = 0;
    double periodicity = 0;
    double flatness = 0;  // log of geometric over arithmetic mean power, 300 to 4000 Hz
    double centre = 0;
  };

  [[nodiscard]] Spectrum analyse(std::span<const float> frame);
  [[nodiscard]] double periodicity(std::span<const double> power);
  [[nodiscard]] Bands above_floor(const Bands& level);
  [[nodiscard]] Frame remember(const Spectrum& spectrum, const Bands& above);

  Fourier fourier_;
  std::array<double, kWindow> window_{};
  std::vector<double> samples_;  // the last kWindow
  std::vector<std::complex<double>> work_;
  std::vector<double> power_;
  std::optional<Bands> floor_;  // none before the first frame
  std::deque<Frame> past_;
  double smooth_periodicity_ = 0;
  double smooth_loud_ = 0;
};

}  // namespace mynah
