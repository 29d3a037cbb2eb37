// The speaker that a channel is for, and how much of it a mix to one channel has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mynah {

// The number of a speaker's bit in the channel mask of WAVEFORMATEXTENSIBLE (Microsoft, "Multiple
// Channel Audio Data and WAVE Files"), which is FFmpeg's number of it too.
using Speaker = uint8_t;

constexpr Speaker kFrontLeft = 0;
constexpr Speaker kFrontRight = 1;
constexpr Speaker kFrontCentre = 2;
constexpr Speaker kLowFrequency = 3;
constexpr Speaker kBackLeft = 4;
constexpr Speaker kBackRight = 5;
constexpr Speaker kFrontLeftOfCentre = 6;
constexpr Speaker kFrontRightOfCentre = 7;
constexpr Speaker kBackCentre = 8;
constexpr Speaker kSideLeft = 9;
constexpr Speaker kSideRight = 10;
constexpr Speaker kDownmixLeft = 29;
constexpr Speaker kDownmixRight = 30;
constexpr Speaker kSecondLowFrequency = 35;
// A component of an ambisonic sound that is a difference of directions: its mean over the sphere is
// nothing. (The first component is the sum of all directions: kFrontCentre.)
constexpr Speaker kDirectional = 254;

// The speakers of so many channels by their mask, in its order. Empty where it has fewer or more.
std::vector<Speaker> speakers_of_mask(uint32_t mask, int channels);

// Weights of the channels in a mix to one, with the sum 1: the centre 1, fronts 0.707 (-3 dB),
// surrounds 0.5, the low frequencies' channel left out (ITU-R BS.775-3, annex 4; what FFmpeg's
// -ac 1 gives). Equal weights where nothing is known of the speakers.
std::vector<float> mono_weights(std::span<const Speaker> speakers, int channels);

}  // namespace mynah
