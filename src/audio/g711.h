// ITU-T G.711: the 8-bit samples of telephony, from and to 16 bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace mynah {

// Sign, 3 bits of exponent, 4 of mantissa; μ-law is sent inverted and biased by 33 (here, in 16
// bits, by 132).
inline constexpr int kMulawBias = 132;

[[nodiscard]] constexpr int16_t mulaw_to_s16(uint8_t byte) {
  const unsigned code = ~static_cast<unsigned>(byte) & 0xFFU;
  const int magnitude = (static_cast<int>((code & 0x0FU) << 3U) + kMulawBias)
                        << ((code >> 4U) & 7U);
  const int value = magnitude - kMulawBias;
  return static_cast<int16_t>((code & 0x80U) != 0 ? -value : value);
}

// A-law is sent with every other bit inverted, a set sign bit is positive, and exponent 0 has no
// hidden bit.
[[nodiscard]] constexpr int16_t alaw_to_s16(uint8_t byte) {
  const unsigned code = byte ^ 0x55U;
  const unsigned exponent = (code >> 4U) & 7U;
  int magnitude = static_cast<int>((code & 0x0FU) << 4U) + 8;
  if (exponent > 0) {
    magnitude = (magnitude + 256) << (exponent - 1);
  }
  return static_cast<int16_t>((code & 0x80U) != 0 ? magnitude : -magnitude);
}

[[nodiscard]] constexpr uint8_t s16_to_mulaw(int16_t sample) {
  constexpr int kMost = 32635;
  const int value = sample;
  const auto magnitude =
      static_cast<unsigned>(std::min(value < 0 ? -value : value, kMost) + kMulawBias);
  const auto exponent = static_cast<unsigned>(std::bit_width(magnitude)) - 8U;
  const unsigned mantissa = (magnitude >> (exponent + 3U)) & 0x0FU;
  return static_cast<uint8_t>(~((value < 0 ? 0x80U : 0U) | exponent << 4U | mantissa));
}

[[nodiscard]] constexpr uint8_t s16_to_alaw(int16_t sample) {
  const int value = sample;
  const auto magnitude = static_cast<unsigned>(value < 0 ? ~value : value);
  const unsigned exponent = std::max(static_cast<unsigned>(std::bit_width(magnitude)), 8U) - 8U;
  const unsigned mantissa = (magnitude >> (std::max(exponent, 1U) + 3U)) & 0x0FU;
  return static_cast<uint8_t>(((value < 0 ? 0U : 0x80U) | exponent << 4U | mantissa) ^ 0x55U);
}

}  // namespace mynah
