#include "audio/stereo_phase.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mynah {
namespace {

// Frames that the measure remembers: 0.34 s at 48 kHz, 1 s at 16 kHz. Fewer than the second number
// say nothing.
constexpr double kMemoryFrames = 16384;
constexpr size_t kLeastFrames = 1024;
// Correlation below which the channels cancel: their mean then is 20 dB below either. It ends
// halfway to being independent; sounds of a room in between keep what was.
constexpr double kOpposed = -0.98;
constexpr double kNoLonger = -0.5;
// Mean square of what is taken for sound: -80 dB below full scale.
constexpr double kLeastSquare = 1e-8;
constexpr size_t kToldFrames = 32000;  // a second or two

}  // namespace

void StereoPhase::measure(std::span<const float> frames) {
  double left = 0;
  double right = 0;
  double both = 0;
  for (size_t i = 0; i + 1 < frames.size(); i += 2) {
    const double l = frames[i];
    const double r = frames[i + 1];
    left += l * l;
    right += r * r;
    both += l * r;
  }
  const size_t heard = frames.size() / 2;
  const auto count = static_cast<double>(heard);
  if (!(std::isfinite(left) && std::isfinite(right)) || left + right < 2 * kLeastSquare * count) {
    return;  // silence tells nothing
  }
  const double kept = std::exp(-count / kMemoryFrames);
  left_ = left_ * kept + left;
  right_ = right_ * kept + right;
  both_ = both_ * kept + both;
  measured_ = std::min(kLeastFrames, measured_ + heard);
  const double level = std::sqrt(left_ * right_);
  if (both_ > kNoLonger * level) {
    opposed_ = false;
  } else if (both_ < kOpposed * level && measured_ == kLeastFrames) {
    opposed_ = true;
  }
}

bool StereoPhase::mix(std::span<const float> frames, std::span<float> mono) {
  const bool was = opposed_;
  measure(frames);
  const float to = opposed_ ? -0.5F : 0.5F;
  const float from = begun_ && was != opposed_ ? -to : to;
  begun_ = true;
  if (from == to && !opposed_) {
    for (size_t i = 0; i < mono.size(); ++i) {
      mono[i] = (frames[2 * i] + frames[2 * i + 1]) * 0.5F;
    }
    return false;
  }
  // The second channel's sign is turned over the block: a step would click.
  const float step = (to - from) / static_cast<float>(std::max<size_t>(mono.size(), 1));
  for (size_t i = 0; i < mono.size(); ++i) {
    mono[i] = 0.5F * frames[2 * i] + (from + step * static_cast<float>(i)) * frames[2 * i + 1];
  }
  opposed_frames_ += mono.size();
  return opposed_frames_ >= kToldFrames && !std::exchange(told_, true);
}

}  // namespace mynah
