// Block layouts: ggml-common.h (struct block_q*); their arithmetic: ggml-quants.c. Checked against
// the `gguf` Python package (tests/tensor/quantize_test.cpp).
#include "tensor/blocks.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "tensor/quantize.h"

namespace mynah {
namespace {

uint8_t byte_at(const std::byte* p, int i) {
  return std::to_integer<uint8_t>(p[i]);
}

float half_at(const std::byte* p) {
  uint16_t bits = 0;
  std::memcpy(&bits, p, sizeof bits);
  return f16_to_f32(bits);
}

// Where one block goes.
struct Parts {
  int8_t* codes;
  float* scales;
  float* minima;

  void code(int i, int value) const { codes[i] = static_cast<int8_t>(value); }

  void group(int i, float scale, float minimum = 0.0F) const {
    scales[i] = scale;
    minima[i] = minimum;
  }

  void groups(const SharedScales& shared, int64_t count) const {
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      group(i, shared.scale * static_cast<float>(shared.scale_codes[at]),
            shared.minimum * static_cast<float>(shared.minimum_codes[at]));
    }
  }
};

void unpack_q4_0(const std::byte* block, const Parts& to) {
  to.group(0, half_at(block));
  for (int j = 0; j < kBlockElements / 2; ++j) {
    const int q = byte_at(block + 2, j);
    to.code(j, (q & 15) - 8);
    to.code(j + kBlockElements / 2, (q >> 4) - 8);
  }
}

void unpack_q4_1(const std::byte* block, const Parts& to) {
  to.group(0, half_at(block), half_at(block + 2));
  for (int j = 0; j < kBlockElements / 2; ++j) {
    const int q = byte_at(block + 4, j);
    to.code(j, q & 15);
    to.code(j + kBlockElements / 2, q >> 4);
  }
}

// The fifth bits of a block's elements stand in 32 bits of their own, element by element.
int fifth_bit(const std::byte* high, int element) {
  return (byte_at(high, element / 8) >> (element % 8) & 1) << 4;
}

void unpack_q5_0(const std::byte* block, const Parts& to) {
  to.group(0, half_at(block));
  for (int j = 0; j < kBlockElements / 2; ++j) {
    const int q = byte_at(block + 6, j);
    const int k = j + kBlockElements / 2;
    to.code(j, ((q & 15) | fifth_bit(block + 2, j)) - 16);
    to.code(k, ((q >> 4) | fifth_bit(block + 2, k)) - 16);
  }
}

void unpack_q5_1(const std::byte* block, const Parts& to) {
  to.group(0, half_at(block), half_at(block + 2));
  for (int j = 0; j < kBlockElements / 2; ++j) {
    const int q = byte_at(block + 8, j);
    const int k = j + kBlockElements / 2;
    to.code(j, (q & 15) | fifth_bit(block + 4, j));
    to.code(k, (q >> 4) | fifth_bit(block + 4, k));
  }
}

void unpack_q8_0(const std::byte* block, const Parts& to) {
  to.group(0, half_at(block));
  std::memcpy(to.codes, block + 2, kBlockElements);
}

// Elements of a super-block stand in two halves of 128; inside one, two bits of byte l belong to
// element l, the next two to element l + 32, and so on. Every 16 elements have a scale.
int two_bits(const std::byte* qs, int i) {
  return byte_at(qs, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
}

SharedScales scales_q2_k(const std::byte* block) {
  SharedScales shared{.scale = half_at(block + 80), .minimum = -half_at(block + 82)};
  for (int s = 0; s < kSuperBlockElements / 16; ++s) {
    const int scale = byte_at(block, s);
    shared.put(s, scale & 15, scale >> 4);
  }
  return shared;
}

void unpack_q2_k(const std::byte* block, const Parts& to) {
  for (int i = 0; i < kSuperBlockElements; ++i) {
    to.code(i, two_bits(block + 16, i));
  }
}

SharedScales scales_q3_k(const std::byte* block) {
  const std::byte* scales = block + 96;
  SharedScales shared{.scale = half_at(block + 108)};
  for (int s = 0; s < kSuperBlockElements / 16; ++s) {
    const int low = s < 8 ? byte_at(scales, s) & 15 : byte_at(scales, s - 8) >> 4;
    const int high = byte_at(scales, 8 + s % 4) >> (s / 4 * 2) & 3;
    shared.put(s, (low | high << 4) - 32);
  }
  return shared;
}

void unpack_q3_k(const std::byte* block, const Parts& to) {
  for (int i = 0; i < kSuperBlockElements; ++i) {
    const int third_bit = byte_at(block, i % 32) >> (i / 32) & 1;
    to.code(i, two_bits(block + 32, i) - (third_bit != 0 ? 0 : 4));
  }
}

// Eight scales and eight minima of six bits in twelve bytes, of Q4_K and Q5_K, whose block begins
// with the two factors.
SharedScales scales_q4_k(const std::byte* block) {
  SharedScales shared{.scale = half_at(block), .minimum = -half_at(block + 2)};
  const std::byte* packed = block + 4;
  for (int j = 0; j < kSuperBlockElements / 32; ++j) {
    int scale = byte_at(packed, j) & 63;
    int minimum = byte_at(packed, j + 4) & 63;
    if (j >= 4) {
      const int low = byte_at(packed, j + 4);
      scale = (low & 15) | byte_at(packed, j - 4) >> 6 << 4;
      minimum = low >> 4 | byte_at(packed, j) >> 6 << 4;
    }
    shared.put(j, scale, minimum);
  }
  return shared;
}

// Four bits of element i of a super-block: of byte i in each 64 elements, low half first.
int four_bits(const std::byte* qs, int i) {
  return byte_at(qs, i / 64 * 32 + i % 32) >> (i % 64 / 32 * 4) & 15;
}

void unpack_q4_k(const std::byte* block, const Parts& to) {
  for (int i = 0; i < kSuperBlockElements; ++i) {
    to.code(i, four_bits(block + 16, i));
  }
}

void unpack_q5_k(const std::byte* block, const Parts& to) {
  for (int i = 0; i < kSuperBlockElements; ++i) {
    const int high = byte_at(block + 16, i % 32) >> (i / 32) & 1;
    to.code(i, four_bits(block + 48, i) | high << 4);
  }
}

SharedScales scales_q6_k(const std::byte* block) {
  SharedScales shared{.scale = half_at(block + 208)};
  for (int s = 0; s < kSuperBlockElements / 16; ++s) {
    shared.put(s, static_cast<int8_t>(byte_at(block + 192, s)));
  }
  return shared;
}

void unpack_q6_k(const std::byte* block, const Parts& to) {
  const std::byte* high = block + 128;
  for (int i = 0; i < kSuperBlockElements; ++i) {
    const int half = i / 128;
    const int quarter = i % 128 / 32;
    const int low = byte_at(block, half * 64 + i % 64) >> (quarter / 2 * 4) & 15;
    const int two = byte_at(high, half * 32 + i % 32) >> (quarter * 2) & 3;
    to.code(i, (low | two << 4) - 32);
  }
}

constexpr std::array<int8_t, 16> kIq4Codes = {-127, -104, -83, -65, -49, -35, -22, -10,
                                              1,    13,   25,  38,  53,  69,  89,  113};
constexpr std::array<int8_t, 16> kMxfp4Codes = {0, 1,  2,  3,  4,  6,  8,  12,
                                                0, -1, -2, -3, -4, -6, -8, -12};

// Blocks of 32 from `qs` on whose four bits number a code.
void unpack_table(const std::byte* qs, const std::array<int8_t, 16>& table, int64_t blocks,
                  const Parts& to) {
  for (int i = 0; i < blocks * kBlockElements; ++i) {
    const int q = byte_at(qs, i / 32 * 16 + i % 16) >> (i % 32 / 16 * 4) & 15;
    to.code(i, table[static_cast<size_t>(q)]);
  }
}

SharedScales scales_iq4_xs(const std::byte* block) {
  SharedScales shared{.scale = half_at(block)};
  const int high = byte_at(block, 2) | byte_at(block, 3) << 8;
  for (int s = 0; s < kSuperBlockElements / kBlockElements; ++s) {
    const int low = byte_at(block + 4, s / 2) >> (s % 2 * 4) & 15;
    shared.put(s, (low | (high >> (2 * s) & 3) << 4) - 32);
  }
  return shared;
}

// A power of two by its exponent, biased by 127 and halved, as the codes are doubled
// (ggml_e8m0_to_fp32_half of ggml-impl.h).
float exponent_at(const std::byte* p) {
  return std::ldexp(1.0F, byte_at(p, 0) - 128);
}

}  // namespace

const std::array<int8_t, 16>* code_table(DType dtype) {
  switch (dtype) {
    case DType::IQ4_NL:
    case DType::IQ4_XS:
      return &kIq4Codes;
    case DType::MXFP4:
      return &kMxfp4Codes;
    default:
      return nullptr;
  }
}

int64_t block_group(DType dtype) {
  const bool short_groups = dtype == DType::Q2_K || dtype == DType::Q3_K || dtype == DType::Q6_K;
  return short_groups ? 16 : 32;
}

bool has_minima(DType dtype) {
  return dtype == DType::Q4_1 || dtype == DType::Q5_1 || dtype == DType::Q2_K ||
         dtype == DType::Q4_K || dtype == DType::Q5_K;
}

bool has_shared_scales(DType dtype) {
  return block_elements(dtype) == kSuperBlockElements;
}

SharedScales unpack_shared_scales(DType dtype, const std::byte* block) {
  switch (dtype) {
    case DType::Q2_K:
      return scales_q2_k(block);
    case DType::Q3_K:
      return scales_q3_k(block);
    case DType::Q4_K:
    case DType::Q5_K:
      return scales_q4_k(block);
    case DType::Q6_K:
      return scales_q6_k(block);
    case DType::IQ4_XS:
      return scales_iq4_xs(block);
    default:
      MYNAH_CHECK(false, "[unpack_shared_scales] no blocks of 256: ", name(dtype));
  }
}

void unpack_block(DType dtype, const std::byte* block, int8_t* codes, float* scales,
                  float* minima) {
  const Parts to{codes, scales, minima};
  if (has_shared_scales(dtype)) {
    to.groups(unpack_shared_scales(dtype, block), kSuperBlockElements / block_group(dtype));
  }
  switch (dtype) {
    case DType::Q4_0:
      return unpack_q4_0(block, to);
    case DType::Q4_1:
      return unpack_q4_1(block, to);
    case DType::Q5_0:
      return unpack_q5_0(block, to);
    case DType::Q5_1:
      return unpack_q5_1(block, to);
    case DType::Q8_0:
      return unpack_q8_0(block, to);
    case DType::Q2_K:
      return unpack_q2_k(block, to);
    case DType::Q3_K:
      return unpack_q3_k(block, to);
    case DType::Q4_K:
      return unpack_q4_k(block, to);
    case DType::Q5_K:
      return unpack_q5_k(block, to);
    case DType::Q6_K:
      return unpack_q6_k(block, to);
    case DType::IQ4_NL:
      to.group(0, half_at(block));
      return unpack_table(block + 2, kIq4Codes, 1, to);
    case DType::IQ4_XS:
      return unpack_table(block + 8, kIq4Codes, kSuperBlockElements / kBlockElements, to);
    case DType::MXFP4:
      to.group(0, exponent_at(block));
      return unpack_table(block + 1, kMxfp4Codes, 1, to);
    default:
      MYNAH_CHECK(false, "[unpack_block] not a block type: ", name(dtype));
  }
}

}  // namespace mynah
