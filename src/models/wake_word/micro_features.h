// MicroFeatures: what microWakeWord's networks hear: 40 logarithms of a mel filter bank each 10 ms,
// in fixed point, without steady noise and at one level (PCAN: per-channel amplitude normalisation,
// research.google/pubs/pub45911).
//
// Equal bit for bit to the front end of TensorFlow Lite Micro (tensorflow/lite/experimental/
// microfrontend) as pymicro-features 2.0.2 sets it up. Golden: tests/models/wake_word/golden.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mynah::wake_word {

inline constexpr int kFeatureRate_hz = 16000;
inline constexpr size_t kFeatureChannels = 40;
inline constexpr size_t kFeatureStep = 160;    // samples from one frame to the next
inline constexpr size_t kFeatureWindow = 480;  // samples that a frame hears

// A frame: what a library that hands these on as floats multiplies with kFeatureScale.
using FeatureFrame = std::array<uint16_t, kFeatureChannels>;
inline constexpr double kFeatureScale = 0.0390625;

struct MicroTables;

// Everything that changes from sample to sample; a copy goes its own way.
class MicroFeatures {
 public:
  MicroFeatures();

  // Samples at 16 kHz. Returns the frames that are whole now: the first after 480 samples, then one
  // each 160, however the samples are cut.
  [[nodiscard]] std::vector<FeatureFrame> push(std::span<const int16_t> samples);

  // As before the first sample.
  void reset();

 private:
  [[nodiscard]] FeatureFrame frame();

  std::shared_ptr<const MicroTables> tables_;
  std::array<int16_t, kFeatureWindow> window_{};
  size_t filled_ = 0;
  std::array<uint32_t, kFeatureChannels> noise_{};  // estimate of each channel's, with 10 bits more
};

}  // namespace mynah::wake_word
