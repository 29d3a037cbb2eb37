// Blocks are written as ggml-quants.c (quantize_row_*_ref) writes them. Checked against the `gguf`
// Python package (tests/tensor/quantize_test.cpp).
#include "tensor/quantize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "tensor/blocks.h"

namespace mynah {
namespace {

void dequantize_block(DType dtype, const std::byte* block, float* out) {
  std::array<int8_t, kSuperBlockElements> codes{};
  std::array<float, kSuperBlockElements / 16> scales{};
  std::array<float, kSuperBlockElements / 16> minima{};
  unpack_block(dtype, block, codes.data(), scales.data(), minima.data());
  const auto group = static_cast<size_t>(block_group(dtype));
  for (size_t i = 0; i < static_cast<size_t>(block_elements(dtype)); ++i) {
    out[i] = static_cast<float>(codes[i]) * scales[i / group] + minima[i / group];
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
    case DType::I16:
      return read_plain<int16_t>(source, out, number);
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
  return *std::max_element(x, x + kBlockElements,
                           [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

// Truncates towards zero and clamps; NaN becomes 0.
int code(float value, int highest) {
  return value > 0.0F ? static_cast<int>(std::min(value, static_cast<float>(highest))) : 0;
}

// Four- or five-bit codes of a block: nibbles at `low`, fifth bits at `high` (null for four bits).
void put_codes(const std::array<int, kBlockElements>& codes, std::byte* high, std::byte* low) {
  uint32_t fifth = 0;
  for (int j = 0; j < kBlockElements / 2; ++j) {
    const int a = codes[static_cast<size_t>(j)];
    const int b = codes[static_cast<size_t>(j) + kBlockElements / 2];
    low[j] = static_cast<std::byte>((a & 15) | (b & 15) << 4);
    fifth |= static_cast<uint32_t>(a >> 4 & 1) << j | static_cast<uint32_t>(b >> 4 & 1)
                                                          << (j + kBlockElements / 2);
  }
  if (high != nullptr) {
    std::memcpy(high, &fifth, sizeof fifth);
  }
}

// Q4_0 and Q5_0: value = (code - levels / 2) * d.
void quantize_symmetric(const float* x, int levels, std::byte* out) {
  const int zero_code = levels / 2;
  const auto middle = static_cast<float>(zero_code);
  const float d = signed_peak(x) / -middle;
  const float inverse = d != 0.0F ? 1.0F / d : 0.0F;
  std::array<int, kBlockElements> codes{};
  for (int j = 0; j < kBlockElements; ++j) {
    codes[static_cast<size_t>(j)] = code(x[j] * inverse + middle + 0.5F, levels - 1);
  }
  put_half(out, d);
  put_codes(codes, levels == 32 ? out + 2 : nullptr, out + (levels == 32 ? 6 : 2));
}

// Q4_1 and Q5_1: value = code * d + smallest.
void quantize_with_offset(const float* x, int levels, std::byte* out) {
  const auto [low, high] = std::minmax_element(x, x + kBlockElements);
  const float d = (*high - *low) / static_cast<float>(levels - 1);
  const float inverse = d != 0.0F ? 1.0F / d : 0.0F;
  std::array<int, kBlockElements> codes{};
  for (int j = 0; j < kBlockElements; ++j) {
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
  for (int j = 0; j < kBlockElements; ++j) {
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
  for (size_t i = 0; i < out.size() / elements; ++i) {
    dequantize_block(dtype, source + i * block_bytes(dtype), out.data() + i * elements);
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
  MYNAH_CHECK(values.size() % kBlockElements == 0, "[quantize] not whole blocks of ", name(dtype));
  for (size_t i = 0; i < values.size() / kBlockElements; ++i) {
    quantize_block(dtype, values.data() + i * kBlockElements, out + i * block_bytes(dtype));
  }
}

namespace {

// Into how many equal steps `peak` is cut where all values are whole numbers of them; 127 where
// there is no such number. Rows of a float model fail after a few values each.
int steps_of(std::span<const float> values, float peak) {
  constexpr int kMost = 127;
  // Values are codes times a scale, rounded, and are divided and multiplied here: kMost times a few
  // roundings of f32.
  constexpr float kTolerance = 1e-4F;
  for (int steps = 1; steps < kMost; ++steps) {
    const float inverse = static_cast<float>(steps) / peak;
    if (std::ranges::all_of(values, [&](float value) {
          const float scaled = value * inverse;
          return std::fabs(scaled - std::nearbyint(scaled)) < kTolerance;
        })) {
      return steps;
    }
  }
  return kMost;
}

}  // namespace

float quantize_row_i8(std::span<const float> values, int8_t* out) {
  float peak = 0.0F;
  for (const float value : values) {
    if (!std::isnan(peak) && !(std::fabs(value) <= peak)) {  // a NaN stays
      peak = std::fabs(value);
    }
  }
  const bool finite = std::isfinite(peak) && peak > 0.0F;
  const auto steps = static_cast<float>(finite ? steps_of(values, peak) : 127);
  const float inverse = peak > 0.0F ? steps / peak : 0.0F;
  for (size_t i = 0; i < values.size(); ++i) {
    const float q = std::nearbyint(values[i] * inverse);
    out[i] = std::fabs(q) <= 127.0F ? static_cast<int8_t>(q) : int8_t{0};
  }
  return peak / steps;
}

float quantize_run_i16(std::span<const float> values, int16_t* out) {
  MYNAH_CHECK(std::ssize(values) <= kInt16Run, "[quantize] a longer run than has a scale");
  constexpr double kMostCode = std::numeric_limits<int16_t>::max();
  double peak = 0;
  double sum = 0;
  for (const float value : values) {
    const double magnitude = std::fabs(double{value});
    peak = std::max(peak, magnitude);
    sum += magnitude;
  }
  std::fill_n(out, values.size(), int16_t{0});
  if (!std::isfinite(sum)) {
    return static_cast<float>(sum);
  }
  // A code may be half a step more than its value.
  const double most_sum = static_cast<double>(std::numeric_limits<int32_t>::max()) / kInt16Peak -
                          static_cast<double>(values.size());
  const auto scale = static_cast<float>(std::max(peak / kMostCode, sum / most_sum));
  if (scale < std::numeric_limits<float>::min()) {
    return 0.0F;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const double steps = std::nearbyint(double{values[i]} / double{scale});
    out[i] = static_cast<int16_t>(std::clamp(steps, -kMostCode, kMostCode));
  }
  return scale;
}

}  // namespace mynah
