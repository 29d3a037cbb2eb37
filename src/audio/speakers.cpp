#include "audio/speakers.h"

#include <numeric>

namespace mynah {
namespace {

constexpr float kMinus3dB = 0.70710678F;

float weight(Speaker speaker) {
  switch (speaker) {
    case kFrontCentre:
      return 1;
    case kFrontLeft:
    case kFrontRight:
    case kFrontLeftOfCentre:
    case kFrontRightOfCentre:
    case kDownmixLeft:
    case kDownmixRight:
      return kMinus3dB;
    case kLowFrequency:
    case kSecondLowFrequency:
    case kDirectional:
      return 0;
    default:
      return kMinus3dB * kMinus3dB;  // a surround, folded into the fronts and then into the centre
  }
}

}  // namespace

std::vector<Speaker> speakers_of_mask(uint32_t mask, int channels) {
  std::vector<Speaker> speakers;
  for (Speaker bit = 0; bit < 32; ++bit) {
    if ((mask >> bit & 1U) != 0) {
      speakers.push_back(bit);
    }
  }
  return static_cast<int>(speakers.size()) == channels ? speakers : std::vector<Speaker>();
}

std::vector<float> mono_weights(std::span<const Speaker> speakers, int channels) {
  const auto count = static_cast<size_t>(channels);
  std::vector<float> weights(count, 1.0F / static_cast<float>(channels));
  if (speakers.size() != count) {
    return weights;
  }
  std::vector<float> told;
  told.reserve(count);
  for (const Speaker speaker : speakers) {
    told.push_back(weight(speaker));
  }
  const float sum = std::accumulate(told.begin(), told.end(), 0.0F);
  if (sum <= 0) {
    return weights;  // low frequencies alone: they are all there is
  }
  for (size_t i = 0; i < count; ++i) {
    weights[i] = told[i] / sum;
  }
  return weights;
}

}  // namespace mynah
