// ggml's blocks as files have them, an element at a time: for tables, of which few rows are read,
// and for what is widened once. Layouts: ggml-common.h (struct block_q*); arithmetic: ggml-quants.c
// (dequantize_row_*); tensor/blocks.cpp is the same for whole blocks.
#pragma once

#include "backend/cuda/kernels/weight_layout.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

using Bytes = Global<const uint8_t>;

inline int byte_at(const Bytes& bytes, int64_t i) {
  return static_cast<int>(static_cast<uint8_t>(bytes[i]));
}

// All blocks that have such numbers, and their parts, stand at even addresses.
inline float half_at(const Bytes& bytes, int64_t i) {
  const Vector<uint8_t, 2> pair = bytes.load<2>(i);
  return to_float(F16{static_cast<uint16_t>(pair[0] | pair[1] << 8)});
}

// Blocks of 32: byte j of `values` has the low bits of elements j and j + 16.
inline int nibble(const Bytes& bytes, int64_t values, int i) {
  return byte_at(bytes, values + i % 16) >> (i / 16 * 4) & 15;
}

inline int fifth_bit(const Bytes& bytes, int64_t high, int i) {
  return (byte_at(bytes, high + i / 8) >> (i % 8) & 1) << 4;
}

// Super-blocks of 256: two and four bits of an element, in runs of 32 bytes.
inline int two_bits(const Bytes& bytes, int64_t values, int i) {
  return byte_at(bytes, values + i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
}

inline int four_bits(const Bytes& bytes, int64_t values, int i) {
  return byte_at(bytes, values + i / 64 * 32 + i % 32) >> (i % 64 / 32 * 4) & 15;
}

// A code with what makes it a number.
struct Element {
  int code;
  float scale;
  float minimum;
};

inline Element element_q3_k(const Bytes& bytes, int64_t at, int i) {
  const int s = i / 16;
  const int64_t scales = at + 96;
  const int low = s < 8 ? byte_at(bytes, scales + s) & 15 : byte_at(bytes, scales + s - 8) >> 4;
  const int high = byte_at(bytes, scales + 8 + s % 4) >> (s / 4 * 2) & 3;
  const int third_bit = byte_at(bytes, at + i % 32) >> (i / 32) & 1;
  return {two_bits(bytes, at + 32, i) - (third_bit != 0 ? 0 : 4),
          half_at(bytes, at + 108) * static_cast<float>((low | high << 4) - 32), 0.0F};
}

// Q4_K and Q5_K: eight scales and eight minima of six bits in twelve bytes.
inline Element element_q45_k(const Bytes& bytes, int64_t at, int i, int code) {
  const int j = i / 32;
  const int64_t packed = at + 4;
  int scale = byte_at(bytes, packed + j) & 63;
  int minimum = byte_at(bytes, packed + j + 4) & 63;
  if (j >= 4) {
    const int low = byte_at(bytes, packed + j + 4);
    scale = (low & 15) | byte_at(bytes, packed + j - 4) >> 6 << 4;
    minimum = low >> 4 | byte_at(bytes, packed + j) >> 6 << 4;
  }
  return {code, half_at(bytes, at) * static_cast<float>(scale),
          -(half_at(bytes, at + 2) * static_cast<float>(minimum))};
}

inline int table_code(const uint32_t (&table)[4], int number) {
  const bool first = number < 8;
  const uint32_t picked = pick_bytes(first ? table[0] : table[2], first ? table[1] : table[3],
                                     static_cast<uint32_t>(number & 7));
  return static_cast<int8_t>(picked & 255U);
}

inline Element element_iq4_xs(const Bytes& bytes, int64_t at, int i) {
  const int s = i / 32;
  const int low = byte_at(bytes, at + 4 + s / 2) >> (s % 2 * 4) & 15;
  const int high = byte_at(bytes, at + 2 + s / 4) >> (s % 4 * 2) & 3;
  return {table_code(kIq4Table, nibble(bytes, at + 8 + s * 16, i % 32)),
          half_at(bytes, at) * static_cast<float>((low | high << 4) - 32), 0.0F};
}

// Half of 2^(exponent - 127), the scale of codes that are doubled (ggml_e8m0_to_fp32_half).
inline float half_power(int exponent) {
  return float_of(exponent < 2 ? 0x00200000U << exponent
                               : static_cast<uint32_t>(exponent - 1) << 23);
}

// Element i of the block that begins at byte `at`.
template <Storage kStorage>
inline Element block_element(const Bytes& bytes, int64_t at, int i) {
  if constexpr (kStorage == Storage::Q4_0) {
    return {nibble(bytes, at + 2, i) - 8, half_at(bytes, at), 0.0F};
  } else if constexpr (kStorage == Storage::Q4_1) {
    return {nibble(bytes, at + 4, i), half_at(bytes, at), half_at(bytes, at + 2)};
  } else if constexpr (kStorage == Storage::Q5_0) {
    return {(nibble(bytes, at + 6, i) | fifth_bit(bytes, at + 2, i)) - 16, half_at(bytes, at),
            0.0F};
  } else if constexpr (kStorage == Storage::Q5_1) {
    return {nibble(bytes, at + 8, i) | fifth_bit(bytes, at + 4, i), half_at(bytes, at),
            half_at(bytes, at + 2)};
  } else if constexpr (kStorage == Storage::Q8_0) {
    return {static_cast<int8_t>(byte_at(bytes, at + 2 + i)), half_at(bytes, at), 0.0F};
  } else if constexpr (kStorage == Storage::Q2_K) {
    const int scale = byte_at(bytes, at + i / 16);
    return {two_bits(bytes, at + 16, i), half_at(bytes, at + 80) * static_cast<float>(scale & 15),
            -(half_at(bytes, at + 82) * static_cast<float>(scale >> 4))};
  } else if constexpr (kStorage == Storage::Q3_K) {
    return element_q3_k(bytes, at, i);
  } else if constexpr (kStorage == Storage::Q4_K) {
    return element_q45_k(bytes, at, i, four_bits(bytes, at + 16, i));
  } else if constexpr (kStorage == Storage::Q5_K) {
    const int high = byte_at(bytes, at + 16 + i % 32) >> (i / 32) & 1;
    return element_q45_k(bytes, at, i, four_bits(bytes, at + 48, i) | high << 4);
  } else if constexpr (kStorage == Storage::IQ4_NL) {
    return {table_code(kIq4Table, nibble(bytes, at + 2, i)), half_at(bytes, at), 0.0F};
  } else if constexpr (kStorage == Storage::IQ4_XS) {
    return element_iq4_xs(bytes, at, i);
  } else if constexpr (kStorage == Storage::MXFP4) {
    return {table_code(kMxfp4Table, nibble(bytes, at + 1, i)), half_power(byte_at(bytes, at)),
            0.0F};
  } else {
    static_assert(kStorage == Storage::Q6_K);
    const int half = i / 128;
    const int quarter = i % 128 / 32;
    const int low = byte_at(bytes, at + half * 64 + i % 64) >> (quarter / 2 * 4) & 15;
    const int two = byte_at(bytes, at + 128 + half * 32 + i % 32) >> (quarter * 2) & 3;
    const auto scale = static_cast<int8_t>(byte_at(bytes, at + 192 + i / 16));
    return {(low | two << 4) - 32, half_at(bytes, at + 208) * static_cast<float>(scale), 0.0F};
  }
}

}  // namespace mynah::simt
