#include "backend/cpu/packed_keys.h"

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
                   int64_t d, float* out) {
  float row[kMaxHead] = {};
  for (int64_t j = 0; j < sizes.padded_rows; ++j) {
    read_row(kernels, k, j, column, d, row);
    float* to = out + j / kPanel * sizes.key_panel() + j % kPanel;
    for (int64_t i = 0; i < sizes.even_channels; ++i) {
      to[i * kPanel] = row[i];
    }
  }
}

void pack_keys_bf16(const Kernels& kernels, const PackedKeys& sizes, const Tensor& k,
                    int64_t column, int64_t d, uint16_t* out) {
  alignas(4) uint16_t row[kMaxHead] = {};  // zero after the last of an odd number of channels
  for (int64_t j = 0; j < sizes.padded_rows; ++j) {
    read_rounded(kernels, k, j, column, d, row);
    uint16_t* to = out + j / kPanel * sizes.key_panel() + j % kPanel * 2;
    for (int64_t i = 0; i < sizes.even_channels; i += 2) {
      std::memcpy(to + i * kPanel, row + i, sizeof(uint32_t));
    }
  }
}

void pack_values_f32(const Kernels& kernels, const PackedKeys& sizes, const Tensor& v,
                     int64_t column, int64_t d, float* out) {
  float row[kMaxHead] = {};  // zero after the last channel
  for (int64_t j = 0; j < sizes.even_rows; ++j) {
    read_row(kernels, v, j, column, d, row);
    for (int64_t c = 0; c < sizes.value_panels(); ++c) {
      std::memcpy(out + c * sizes.value_panel() + j * kPanel, row + c * kPanel,
                  kPanel * sizeof(float));
    }
  }
}

void pack_values_bf16(const Kernels& kernels, const PackedKeys& sizes, const Tensor& v,
                      int64_t column, int64_t d, uint16_t* out) {
  uint16_t even[kMaxHead] = {};  // zero after the last channel
  uint16_t odd[kMaxHead] = {};
  for (int64_t j = 0; j < sizes.even_rows; j += 2) {
    read_rounded(kernels, v, j, column, d, even);
    read_rounded(kernels, v, j + 1, column, d, odd);
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
               int64_t column, int64_t d, std::byte* out) {
  if (sizes.bf16()) {
    auto* const to = reinterpret_cast<uint16_t*>(out);
    pack_keys_bf16(kernels, sizes, k, column, d, to);
    pack_values_bf16(kernels, sizes, v, column, d, to + sizes.key_elements());
  } else {
    auto* const to = reinterpret_cast<float*>(out);
    pack_keys_f32(kernels, sizes, k, column, d, to);
    pack_values_f32(kernels, sizes, v, column, d, to + sizes.key_elements());
  }
}

}  // namespace mynah::cpu
