#include "backend/cpu/packed_keys.h"

#include <algorithm>
#include <cstring>

namespace mynah::cpu {
namespace {

// Channels [column, column + d) of row i in f32; zeros past the last row.
void read_row(const Kernels& kernels, const Tensor& x, int64_t i, int64_t column, int64_t d,
              float* out) {
  if (i >= x.dim(0)) {
    std::memset(out, 0, static_cast<size_t>(d) * sizeof(float));
    return;
  }
  const std::byte* row = x.raw() + storage_bytes(x.dtype(), i * x.stride(0) + column);
  switch (x.dtype()) {
    case DType::F16:
      kernels.from_f16(reinterpret_cast<const uint16_t*>(row), d, out);
      break;
    case DType::BF16:
      kernels.from_bf16(reinterpret_cast<const uint16_t*>(row), d, out);
      break;
    default:
      std::memcpy(out, row, static_cast<size_t>(d) * sizeof(float));
      break;
  }
}

// The same in bf16, rounded once.
void read_rounded(const Kernels& kernels, const Tensor& x, int64_t i, int64_t column, int64_t d,
                  uint16_t* out) {
  if (x.dtype() == DType::F32 && i < x.dim(0)) {
    kernels.to_bf16(x.data<float>() + i * x.stride(0) + column, d, out);
    return;
  }
  float row[kMaxHead];
  read_row(kernels, x, i, column, d, row);
  kernels.to_bf16(row, d, out);
}

void pack_keys_f32(const Kernels& kernels, const PackedKeys& sizes, const Tensor& k, int64_t column,
                   float* out) {
  float row[kMaxHead];
  for (int64_t j = 0; j < sizes.padded_rows; ++j) {
    read_row(kernels, k, j, column, sizes.channels, row);
    float* to = out + j / kPanel * sizes.channels * kPanel + j % kPanel;
    for (int64_t i = 0; i < sizes.channels; ++i) {
      to[i * kPanel] = row[i];
    }
  }
}

// Codes are relative to the mean of all keys: what all keys share says nothing about which is
// meant, but would cost bits (Zhang et al. 2025, SageAttention, section 4.2).
void pack_keys_i8(const Kernels& kernels, const PackedKeys& sizes, const Tensor& k, int64_t column,
                  std::byte* out) {
  float row[kMaxHead];
  uint8_t codes[kMaxHead + 4];
  const int64_t steps = sizes.key_steps();
  auto* const mean = reinterpret_cast<float*>(out + sizes.key_mean());
  std::fill_n(mean, sizes.padded_channels, 0.0F);
  for (int64_t j = 0; j < sizes.rows; ++j) {
    read_row(kernels, k, j, column, sizes.channels, row);
    kernels.binary(BinaryOp::Add, mean, row, 1, sizes.channels, mean);
  }
  if (sizes.rows > 0) {
    kernels.affine(mean, sizes.channels, 1.0F / static_cast<float>(sizes.rows), 0.0F, mean);
  }
  for (int64_t j = 0; j < sizes.padded_rows; ++j) {
    read_row(kernels, k, j, column, sizes.channels, row);
    kernels.binary(BinaryOp::Subtract, row, mean, 1, sizes.channels, row);
    const float scale = kernels.quantize_row(row, sizes.channels, codes, steps);
    int32_t sum = 0;
    for (int64_t i = 0; i < steps * 4; ++i) {
      codes[i] ^= 0x80U;  // from the offset of 128 to two's complement
      sum += static_cast<int8_t>(codes[i]);
    }
    std::byte* const panel = out + j / kPanel * sizes.key_panel_bytes();
    for (int64_t i = 0; i < steps; ++i) {
      std::memcpy(panel + (i * kPanel + j % kPanel) * 4, codes + i * 4, 4);
    }
    std::byte* const numbers = panel + sizes.key_scales() + j % kPanel * 4;
    std::memcpy(numbers, &scale, sizeof(scale));
    std::memcpy(numbers + kPanel * 4, &sum, sizeof(sum));
  }
}

void pack_values_f32(const Kernels& kernels, const PackedKeys& sizes, const Tensor& v,
                     int64_t column, float* out) {
  float row[kMaxHead] = {};  // zero after the last channel
  for (int64_t j = 0; j < sizes.even_rows; ++j) {
    read_row(kernels, v, j, column, sizes.channels, row);
    for (int64_t c = 0; c < sizes.value_panels(); ++c) {
      std::memcpy(out + c * sizes.value_panel() + j * kPanel, row + c * kPanel,
                  kPanel * sizeof(float));
    }
  }
}

void pack_values_bf16(const Kernels& kernels, const PackedKeys& sizes, const Tensor& v,
                      int64_t column, uint16_t* out) {
  uint16_t even[kMaxHead] = {};  // zero after the last channel
  uint16_t odd[kMaxHead] = {};
  for (int64_t j = 0; j < sizes.even_rows; j += 2) {
    read_rounded(kernels, v, j, column, sizes.channels, even);
    read_rounded(kernels, v, j + 1, column, sizes.channels, odd);
    for (int64_t c = 0; c < sizes.value_panels(); ++c) {
      uint16_t* to = out + c * sizes.value_panel() + j * kPanel;
      for (int64_t i = 0; i < kPanel; ++i) {
        to[2 * i] = even[c * kPanel + i];
        to[2 * i + 1] = odd[c * kPanel + i];
      }
    }
  }
}

}  // namespace

void pack_head(const Kernels& kernels, const PackedKeys& sizes, const Tensor& k, const Tensor& v,
               int64_t column, std::byte* out) {
  std::byte* const values = out + sizes.key_bytes();
  if (sizes.fast) {
    pack_keys_i8(kernels, sizes, k, column, out);
    pack_values_bf16(kernels, sizes, v, column, reinterpret_cast<uint16_t*>(values));
  } else {
    pack_keys_f32(kernels, sizes, k, column, reinterpret_cast<float*>(out));
    pack_values_f32(kernels, sizes, v, column, reinterpret_cast<float*>(values));
  }
}

}  // namespace mynah::cpu
