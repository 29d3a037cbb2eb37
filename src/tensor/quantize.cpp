// Block layouts: ggml-common.h (struct block_q*); their arithmetic: ggml-quants.c. Checked against
// the `gguf` Python package (tests/tensor/quantize_test.cpp).
#include "tensor/quantize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace mynah {
namespace {

constexpr int kBlock = 32;        // elements of Q4_0 to Q8_0
constexpr int kSuperBlock = 256;  // elements of Q2_K to Q6_K

uint8_t byte_at(const std::byte* p, int i) {
  return std::to_integer<uint8_t>(p[i]);
}

float half_at(const std::byte* p) {
  uint16_t bits = 0;
  std::memcpy(&bits, p, sizeof bits);
  return f16_to_f32(bits);
}

// One block ---------------------------------------------------------------------------------------

void dequantize_q4_0(const std::byte* block, float* out) {
  const float d = half_at(block);
  for (int j = 0; j < kBlock / 2; ++j) {
    const int q = byte_at(block + 2, j);
    out[j] = static_cast<float>((q & 15) - 8) * d;
    out[j + kBlock / 2] = static_cast<float>((q >> 4) - 8) * d;
  }
}

void dequantize_q4_1(const std::byte* block, float* out) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  for (int j = 0; j < kBlock / 2; ++j) {
    const int q = byte_at(block + 4, j);
    out[j] = static_cast<float>(q & 15) * d + m;
    out[j + kBlock / 2] = static_cast<float>(q >> 4) * d + m;
  }
}

// The fifth bits of a block's elements stand in 32 bits of their own, element by element.
int fifth_bit(const std::byte* high, int element) {
  return (byte_at(high, element / 8) >> (element % 8) & 1) << 4;
}

void dequantize_q5_0(const std::byte* block, float* out) {
  const float d = half_at(block);
  for (int j = 0; j < kBlock / 2; ++j) {
    const int q = byte_at(block + 6, j);
    out[j] = static_cast<float>(((q & 15) | fifth_bit(block + 2, j)) - 16) * d;
    const int k = j + kBlock / 2;
    out[k] = static_cast<float>(((q >> 4) | fifth_bit(block + 2, k)) - 16) * d;
  }
}

void dequantize_q5_1(const std::byte* block, float* out) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  for (int j = 0; j < kBlock / 2; ++j) {
    const int q = byte_at(block + 8, j);
    out[j] = static_cast<float>((q & 15) | fifth_bit(block + 4, j)) * d + m;
    const int k = j + kBlock / 2;
    out[k] = static_cast<float>((q >> 4) | fifth_bit(block + 4, k)) * d + m;
  }
}

void dequantize_q8_0(const std::byte* block, float* out) {
  const float d = half_at(block);
  for (int j = 0; j < kBlock; ++j) {
    out[j] = static_cast<float>(static_cast<int8_t>(byte_at(block + 2, j))) * d;
  }
}

// Elements of a super-block stand in two halves of 128; inside one, two bits of byte l belong to
// element l, the next two to element l + 32, and so on. Every 16 elements have a scale.
void dequantize_q2_k(const std::byte* block, float* out) {
  const std::byte* qs = block + 16;
  const float d = half_at(block + 80);
  const float dmin = half_at(block + 82);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int scale = byte_at(block, i / 16);
    const int q = byte_at(qs, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
    out[i] = d * static_cast<float>(scale & 15) * static_cast<float>(q) -
             dmin * static_cast<float>(scale >> 4);
  }
}

void dequantize_q3_k(const std::byte* block, float* out) {
  const std::byte* qs = block + 32;
  const std::byte* scales = block + 96;
  const float d = half_at(block + 108);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int s = i / 16;
    const int low = s < 8 ? byte_at(scales, s) & 15 : byte_at(scales, s - 8) >> 4;
    const int high = byte_at(scales, 8 + s % 4) >> (s / 4 * 2) & 3;
    const float scale = d * static_cast<float>((low | high << 4) - 32);
    const int q = byte_at(qs, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
    const int third_bit = byte_at(block, i % 32) >> (i / 32) & 1;
    out[i] = scale * static_cast<float>(q - (third_bit != 0 ? 0 : 4));
  }
}

struct ScaleAndMin {
  int scale;
  int min;
};

// Eight scales and eight minima of six bits in twelve bytes, of Q4_K and Q5_K.
ScaleAndMin scale_and_min(const std::byte* packed, int j) {
  if (j < 4) {
    return {byte_at(packed, j) & 63, byte_at(packed, j + 4) & 63};
  }
  const int low = byte_at(packed, j + 4);
  return {(low & 15) | byte_at(packed, j - 4) >> 6 << 4, low >> 4 | byte_at(packed, j) >> 6 << 4};
}

void dequantize_q4_k(const std::byte* block, float* out) {
  const float d = half_at(block);
  const float dmin = half_at(block + 2);
  for (int i = 0; i < kSuperBlock; ++i) {
    const ScaleAndMin s = scale_and_min(block + 4, i / 32);
    const int q = byte_at(block + 16, i / 64 * 32 + i % 32) >> (i % 64 / 32 * 4) & 15;
    out[i] =
        d * static_cast<float>(s.scale) * static_cast<float>(q) - dmin * static_cast<float>(s.min);
  }
}

void dequantize_q5_k(const std::byte* block, float* out) {
  const float d = half_at(block);
  const float dmin = half_at(block + 2);
  for (int i = 0; i < kSuperBlock; ++i) {
    const ScaleAndMin s = scale_and_min(block + 4, i / 32);
    const int low = byte_at(block + 48, i / 64 * 32 + i % 32) >> (i % 64 / 32 * 4) & 15;
    const int high = byte_at(block + 16, i % 32) >> (i / 32) & 1;
    out[i] = d * static_cast<float>(s.scale) * static_cast<float>(low | high << 4) -
             dmin * static_cast<float>(s.min);
  }
}

void dequantize_q6_k(const std::byte* block, float* out) {
  const std::byte* high = block + 128;
  const std::byte* scales = block + 192;
  const float d = half_at(block + 208);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int half = i / 128;
    const int quarter = i % 128 / 32;
    const int low = byte_at(block, half * 64 + i % 64) >> (quarter / 2 * 4) & 15;
    const int two = byte_at(high, half * 32 + i % 32) >> (quarter * 2) & 3;
    const auto scale = static_cast<int8_t>(byte_at(scales, i / 16));
    out[i] = d * static_cast<float>(scale) * static_cast<float>((low | two << 4) - 32);
  }
}

using DequantizeBlock = void (*)(const std::byte*, float*);

DequantizeBlock dequantize_block(DType dtype) {
  switch (dtype) {
    case DType::Q4_0:
      return dequantize_q4_0;
    case DType::Q4_1:
      return dequantize_q4_1;
    case DType::Q5_0:
      return dequantize_q5_0;
    case DType::Q5_1:
      return dequantize_q5_1;
    case DType::Q8_0:
      return dequantize_q8_0;
    case DType::Q2_K:
      return dequantize_q2_k;
    case DType::Q3_K:
      return dequantize_q3_k;
    case DType::Q4_K:
      return dequantize_q4_k;
    case DType::Q5_K:
      return dequantize_q5_k;
    case DType::Q6_K:
      return dequantize_q6_k;
    default:
      return nullptr;
  }
}

// Plain types -------------------------------------------------------------------------------------

template <class T, class Convert>
void read_plain(const std::byte* source, std::span<float> out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, source + i * sizeof(T), sizeof(T));
    out[i] = convert(value);
  }
}

void dequantize_plain(DType dtype, const std::byte* source, std::span<float> out) {
  const auto number = [](auto value) { return static_cast<float>(value); };
  switch (dtype) {
    case DType::F32:
      return read_plain<float>(source, out, number);
    case DType::F16:
      return read_plain<uint16_t>(source, out, f16_to_f32);
    case DType::BF16:
      return read_plain<uint16_t>(source, out, bf16_to_f32);
    case DType::I8:
      return read_plain<int8_t>(source, out, number);
    case DType::U8:
      return read_plain<uint8_t>(source, out, number);
    case DType::I32:
      return read_plain<int32_t>(source, out, number);
    default:
      return read_plain<int64_t>(source, out, number);
  }
}

template <class T, class Convert>
void write_plain(std::span<const float> values, std::byte* out, Convert convert) {
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = convert(values[i]);
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

// Quantisation of one block of 32 -----------------------------------------------------------------

void put_half(std::byte* p, float value) {
  const uint16_t bits = f32_to_f16(value);
  std::memcpy(p, &bits, sizeof bits);
}

// The element of largest magnitude, with its sign: it maps to the one code that has no opposite.
float signed_peak(const float* x) {
  return *std::max_element(x, x + kBlock,
                           [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

// Truncates towards zero and clamps; NaN becomes 0.
int code(float value, int highest) {
  return value > 0.0F ? static_cast<int>(std::min(value, static_cast<float>(highest))) : 0;
}

// Four- or five-bit codes of a block: nibbles at `low`, fifth bits at `high` (null for four bits).
void put_codes(const std::array<int, kBlock>& codes, std::byte* high, std::byte* low) {
  uint32_t fifth = 0;
  for (int j = 0; j < kBlock / 2; ++j) {
    const int a = codes[static_cast<size_t>(j)];
    const int b = codes[static_cast<size_t>(j + kBlock / 2)];
    low[j] = static_cast<std::byte>((a & 15) | (b & 15) << 4);
    fifth |= static_cast<uint32_t>(a >> 4 & 1) << j | static_cast<uint32_t>(b >> 4 & 1)
                                                          << (j + kBlock / 2);
  }
  if (high != nullptr) {
    std::memcpy(high, &fifth, sizeof fifth);
  }
}

// Q4_0 and Q5_0: value = (code - levels / 2) * d.
void quantize_symmetric(const float* x, int levels, std::byte* out) {
  const auto middle = static_cast<float>(levels / 2);
  const float d = signed_peak(x) / -middle;
  const float inverse = d != 0.0F ? 1.0F / d : 0.0F;
  std::array<int, kBlock> codes{};
  for (int j = 0; j < kBlock; ++j) {
    codes[static_cast<size_t>(j)] = code(x[j] * inverse + middle + 0.5F, levels - 1);
  }
  put_half(out, d);
  put_codes(codes, levels == 32 ? out + 2 : nullptr, out + (levels == 32 ? 6 : 2));
}

// Q4_1 and Q5_1: value = code * d + smallest.
void quantize_with_offset(const float* x, int levels, std::byte* out) {
  const auto [low, high] = std::minmax_element(x, x + kBlock);
  const float d = (*high - *low) / static_cast<float>(levels - 1);
  const float inverse = d != 0.0F ? 1.0F / d : 0.0F;
  std::array<int, kBlock> codes{};
  for (int j = 0; j < kBlock; ++j) {
    codes[static_cast<size_t>(j)] = code((x[j] - *low) * inverse + 0.5F, levels - 1);
  }
  put_half(out, d);
  put_half(out + 2, *low);
  put_codes(codes, levels == 32 ? out + 4 : nullptr, out + (levels == 32 ? 8 : 4));
}

void quantize_q8_0(const float* x, std::byte* out) {
  const float d = std::fabs(signed_peak(x)) / 127.0F;
  const float inverse = d != 0.0F ? 1.0F / d : 0.0F;
  put_half(out, d);
  for (int j = 0; j < kBlock; ++j) {
    const float q = std::round(x[j] * inverse);
    out[2 + j] = static_cast<std::byte>(std::fabs(q) <= 127.0F ? static_cast<int>(q) : 0);
  }
}

void quantize_block(DType dtype, const float* x, std::byte* out) {
  switch (dtype) {
    case DType::Q4_0:
      return quantize_symmetric(x, 16, out);
    case DType::Q5_0:
      return quantize_symmetric(x, 32, out);
    case DType::Q4_1:
      return quantize_with_offset(x, 16, out);
    case DType::Q5_1:
      return quantize_with_offset(x, 32, out);
    default:
      return quantize_q8_0(x, out);
  }
}

}  // namespace

uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    return static_cast<uint16_t>(sign | 0x7E00U);  // NaN
  }
  if (magnitude >= 0x477FF000U) {  // 65520 and above round to infinity
    return static_cast<uint16_t>(sign | 0x7C00U);
  }
  if (magnitude < 0x38800000U) {  // below 2^-14: subnormal, a multiple of 2^-24
    // Adding 0.5 puts the multiples of 2^-24 at the end of the mantissa: the sum rounds to even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000U));
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000U + 0xFFFU + odd) >> 13));
}

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t magnitude = bits & 0x7FFFU;
  if (magnitude < 0x400U) {
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  const uint32_t exponent = magnitude >= 0x7C00U ? 0x70000000U : 0x38000000U;
  return std::bit_cast<float>(sign | ((magnitude << 13) + exponent));
}

uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) {
    return static_cast<uint16_t>(bits >> 16 | 0x40U);
  }
  return static_cast<uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1)) >> 16);
}

float bf16_to_f32(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

void dequantize(DType dtype, const std::byte* source, std::span<float> out) {
  if (!is_block_type(dtype)) {
    return dequantize_plain(dtype, source, out);
  }
  const auto elements = static_cast<size_t>(block_elements(dtype));
  MYNAH_CHECK(out.size() % elements == 0, "[dequantize] not whole blocks of ", name(dtype));
  const DequantizeBlock block = dequantize_block(dtype);
  for (size_t i = 0; i < out.size() / elements; ++i) {
    block(source + i * block_bytes(dtype), out.data() + i * elements);
  }
}

bool can_quantize(DType dtype) {
  switch (dtype) {
    case DType::F32:
    case DType::F16:
    case DType::BF16:
    case DType::Q4_0:
    case DType::Q4_1:
    case DType::Q5_0:
    case DType::Q5_1:
    case DType::Q8_0:
      return true;
    default:
      return false;
  }
}

void quantize(DType dtype, std::span<const float> values, std::byte* out) {
  MYNAH_CHECK(can_quantize(dtype), "[quantize] cannot write ", name(dtype));
  if (dtype == DType::F32) {
    return write_plain<float>(values, out, [](float value) { return value; });
  }
  if (!is_block_type(dtype)) {
    return write_plain<uint16_t>(values, out, dtype == DType::F16 ? f32_to_f16 : f32_to_bf16);
  }
  MYNAH_CHECK(values.size() % kBlock == 0, "[quantize] not whole blocks of ", name(dtype));
  for (size_t i = 0; i < values.size() / kBlock; ++i) {
    quantize_block(dtype, values.data() + i * kBlock, out + i * block_bytes(dtype));
  }
}

float quantize_row_i8(std::span<const float> values, int8_t* out) {
  float peak = 0.0F;
  for (const float value : values) {
    if (!std::isnan(peak) && !(std::fabs(value) <= peak)) {  // a NaN stays
      peak = std::fabs(value);
    }
  }
  const float inverse = peak > 0.0F ? 127.0F / peak : 0.0F;
  for (size_t i = 0; i < values.size(); ++i) {
    const float q = std::nearbyint(values[i] * inverse);
    out[i] = std::fabs(q) <= 127.0F ? static_cast<int8_t>(q) : int8_t{0};
  }
  return peak / 127.0F;
}

}  // namespace mynah
