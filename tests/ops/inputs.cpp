#include "ops/inputs.h"

#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "ops/ops.h"
#include "tensor/host_pool.h"
#include "tensor/quantize.h"

namespace mynah::cases {

uint64_t Random::bits() {
  state_ += 0x9E3779B97F4A7C15ULL;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

float Random::uniform() {
  return static_cast<float>(bits() >> 40) * 0x1p-24F;
}

float Random::normal() {
  // Four uniforms have the variance 4 / 12.
  const float sum = uniform() + uniform() + uniform() + uniform() - 2.0F;
  return sum * std::sqrt(3.0F);
}

int64_t Random::below(int64_t n) {
  return static_cast<int64_t>(bits() % static_cast<uint64_t>(n));
}

std::vector<float> normals(int64_t count, uint64_t seed, float scale) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = random.normal() * scale;
  }
  return values;
}

Tensor matrix(Backend& backend, std::span<const float> values, int64_t rows, int64_t columns,
              Layout layout) {
  if (layout == Layout::Contiguous) {
    return ops::from_host(backend, values, {rows, columns});
  }
  constexpr int64_t kBefore = 3;
  constexpr int64_t kAfter = 4;
  const int64_t width = kBefore + columns + kAfter;
  std::vector<float> wide(static_cast<size_t>(rows * width), NAN);
  for (int64_t i = 0; i < rows; ++i) {
    std::memcpy(wide.data() + i * width + kBefore, values.data() + i * columns,
                static_cast<size_t>(columns) * sizeof(float));
  }
  return ops::from_host(backend, wide, {rows, width}).narrow(1, kBefore, columns);
}

namespace {

// Byte offsets of the half-precision scales in a block of the types that quantize() does not write
// (ggml-common.h); -1: none.
std::array<int, 2> half_offsets(DType dtype) {
  switch (dtype) {
    case DType::Q2_K:
      return {80, 82};
    case DType::Q3_K:
      return {108, -1};
    case DType::Q4_K:
    case DType::Q5_K:
      return {0, 2};
    case DType::Q6_K:
      return {208, -1};
    case DType::MXFP4:
      return {-1, -1};
    default:
      return {0, -1};
  }
}

void random_bytes(DType dtype, std::span<std::byte> bytes, Random& random, float scale) {
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random.bits() & 255);
  }
  if (!is_block_type(dtype)) {
    return;
  }
  for (size_t block = 0; block < bytes.size(); block += block_bytes(dtype)) {
    for (const int offset : half_offsets(dtype)) {
      if (offset >= 0) {
        const uint16_t half = f32_to_f16((random.uniform() + 0.5F) * scale / 512.0F);
        std::memcpy(bytes.data() + block + offset, &half, sizeof half);
      }
    }
    if (dtype == DType::MXFP4) {  // a block's exponent, of a scale for codes up to 12
      const int exponent = std::ilogb(scale) + 128 - 3 - static_cast<int>(random.below(3));
      bytes[block] = static_cast<std::byte>(exponent);
    }
  }
}

}  // namespace

Tensor host_tensor(const Shape& shape, DType dtype, uint64_t seed, float scale) {
  const int64_t elements = shape.elements();
  const auto bytes = std::make_shared<std::vector<std::byte>>(storage_bytes(dtype, elements) + 1);
  if (can_quantize(dtype)) {
    quantize(dtype, normals(elements, seed, scale), bytes->data());
  } else {
    Random random(seed);
    random_bytes(dtype, std::span(*bytes).first(storage_bytes(dtype, elements)), random, scale);
  }
  return {wrap_host_memory(bytes->data(), bytes->size(), bytes), 0, shape, dtype, Device{}};
}

Tensor blocks(Backend& backend, std::span<const float> values, const Shape& shape, DType dtype) {
  std::vector<std::byte> bytes(storage_bytes(dtype, std::ssize(values)));
  quantize(dtype, values, bytes.data());
  return ops::from_host(backend, bytes, shape, dtype);
}

std::span<const DType> weight_types() {
  static constexpr std::array kTypes = {
      DType::F32,  DType::F16,  DType::BF16,   DType::I8,     DType::Q4_0, DType::Q4_1,
      DType::Q5_0, DType::Q5_1, DType::Q8_0,   DType::Q2_K,   DType::Q3_K, DType::Q4_K,
      DType::Q5_K, DType::Q6_K, DType::IQ4_NL, DType::IQ4_XS, DType::MXFP4};
  return kTypes;
}

}  // namespace mynah::cases
